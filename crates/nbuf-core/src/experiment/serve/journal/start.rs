//! What a start does with the journal of the run before, and with the mark of the disc.

use std::fs::File;
use std::io;
use std::path::Path;

use super::file::{is_known, is_ours, read};
use super::mark::{Mark, Seen};
use super::{JournalError, say};
use crate::cache::journaled::{Checkpoint, Owed, Refused, Replayed, WriteBackError, replay};
use crate::disc::DiscError;
use crate::experiment::notice::TierNotice;
use crate::experiment::serve::{Dirty, Error, ExportSpec, TierSpec};
use crate::experiment::session::Observer;
use crate::sys::files::Place;
use crate::units::Bytes;

/// No real number of a run is higher.
const GENERATION_MAX: u64 = u64::MAX / 2;

/// What is known at a start.
pub(super) struct Start<'a> {
    pub(super) export: &'a ExportSpec,
    pub(super) path: &'a Path,
    pub(super) seen: Option<&'a Seen>,
    /// Whether the disc can have a mark.
    pub(super) has_mark: bool,
    pub(super) is_read_only: bool,
    pub(super) observer: &'a dyn Observer,
}

impl Start<'_> {
    pub(super) fn wrong(&self, error: io::Error) -> Error {
        JournalError::File { journal: self.path.to_owned(), error }.into()
    }

    fn say(&self, what: &TierNotice) {
        say(self.path, what, self.observer);
    }

    /// Refuses a disc whose mark is not of the journal that was found, or of a later run of it. The mark of an earlier
    /// run stayed where nothing was owed any more. A journal of another disc owes this one nothing, but an earlier run
    /// may have.
    pub(super) fn is_owed_nothing(
        &self,
        found: Option<&Checkpoint>,
        owner: &[u8],
    ) -> Result<(), Error> {
        let Some(seen) = self.seen else { return Ok(()) };
        let found = found.filter(|last| last.id == seen.id && last.generation >= seen.generation);
        if found.is_some_and(|last| last.owner == owner) {
            return Ok(());
        }
        // The last run of the journal was the one of the mark, and had all of its bytes on its disc.
        let is_same_run = found.is_some_and(|last| last.generation == seen.generation);
        match self.export.dirty {
            Dirty::Write if is_same_run => return Ok(()),
            Dirty::Discard => {
                if !self.is_read_only {
                    say(&seen.journal, &TierNotice::GivenUp, self.observer);
                }
                return Ok(());
            }
            _ => {}
        }
        let (disc, journal) = (self.export.disc.to_string(), seen.journal.clone());
        Err(match (journal == self.path, is_same_run) {
            (_, true) => JournalError::OtherSize { disc, journal },
            (true, false) => JournalError::Replaced { disc, journal },
            (false, false) => JournalError::Elsewhere { disc, journal },
        }
        .into())
    }

    /// The first checkpoint of this run, behind the last one of the run before, by two random numbers. The numbers of
    /// runs leave gaps, so that a copy of a journal and the journal itself count differently.
    pub(super) fn next(
        &self,
        last: &Checkpoint,
        owner: Vec<u8>,
        [id, gap]: [u64; 2],
    ) -> Checkpoint {
        let marked = self.seen.map_or(0, |seen| seen.generation.min(GENERATION_MAX));
        Checkpoint {
            // It is written at both places.
            number: last.number.saturating_add(2),
            generation: marked.max(last.generation).saturating_add(1 + (gap >> 32)),
            seq: 1,
            place: 0,
            ring_bytes: self.export.tier.as_ref().map_or(0, TierSpec::ring_bytes),
            // Without a journal there is no number.
            id: if last.id == 0 { id.max(1) } else { last.id },
            owner,
        }
    }

    /// Takes the mark off, as the disc lacks nothing any more.
    pub(super) fn unmark(&self, mark: Option<&Mark>) -> Result<(), Error> {
        let (Some(mark), Some(_)) = (mark, self.seen) else { return Ok(()) };
        let wrong = |error| JournalError::Mark { disc: self.export.disc.to_string(), error };
        Ok(mark.remove().map_err(wrong)?)
    }

    /// Takes over the journal of the run before. What it owes is written before. Only what would be refused is discarded.
    pub(super) fn take(
        &self,
        file: File,
        owner: &[u8],
        write: impl FnOnce(&Owed) -> Result<Refused, WriteBackError>,
    ) -> Result<Taken, Error> {
        let journal = self.path.to_owned();
        if !is_ours(&file, self.path).map_err(|error| self.wrong(error))? {
            return Err(JournalError::InUse { journal }.into());
        }
        let mut found = match found(&file) {
            Ok(found) => found,
            Err(why) if self.is_discarded() => {
                let place = Place::of(self.path).and_then(|place| place.remove(&file));
                place.map_err(|error| self.wrong(error))?;
                self.say(&TierNotice::DiscardedUnread(why));
                return Ok(Taken::Nothing);
            }
            Err(why) => return Err(JournalError::Damaged { journal, why }.into()),
        };
        match self.fate(&found, owner)? {
            Fate::Nothing => {}
            Fate::Discard => self.say(&TierNotice::Discarded(Bytes(found.owed.bytes()))),
            Fate::Write { is_ours } => {
                // A record that a killed server left unsynced must not reach the disc in part only.
                file.sync_all().map_err(|error| self.wrong(error))?;
                let written = write(&found.owed);
                if !self.is_settled(&mut found, written, is_ours)? {
                    return Ok(Taken::Owing(file, found));
                }
            }
        }
        Ok(Taken::Settled(file, found.checkpoint))
    }

    /// Judges what was written of what a journal owed, and says it. Whether it owes nothing any more.
    fn is_settled(
        &self,
        found: &mut Replayed,
        written: Result<Refused, WriteBackError>,
        is_ours: bool,
    ) -> Result<bool, JournalError> {
        let (journal, owed) = (self.path.to_owned(), Bytes(found.owed.bytes()));
        let (bytes, error) = match written {
            Ok(refused) => {
                let Some(error) = refused.error().cloned() else {
                    self.say(&TierNotice::WrittenBack(owed));
                    return Ok(true);
                };
                found.settle(&refused);
                (Bytes(found.owed.bytes()), error)
            }
            Err(WriteBackError::TooSmall(error)) => (owed, error),
            Err(WriteBackError::Unreachable(error)) => {
                return Err(JournalError::Unreachable { journal, bytes: owed, error });
            }
            Err(WriteBackError::Ended(left_bytes)) => {
                let left = Bytes(left_bytes);
                return Err(JournalError::Ended { journal, bytes: owed, left });
            }
        };
        if self.is_discarded() {
            self.say(&TierNotice::Discarded(bytes));
            return Ok(true);
        }
        // Nothing was written to a disc that is too small, and the run of another disc cannot go on with this one.
        if !is_ours || matches!(error, DiscError::PastTheEnd { .. }) {
            return Err(JournalError::Refused { journal, bytes, error });
        }
        if !self.may_owe() {
            return Err(JournalError::NotDurable { journal, bytes, error });
        }
        self.say(&TierNotice::StillOwed { owed, left: bytes, why: error.to_string() });
        Ok(false)
    }

    /// Whether this run has a journal, which can keep what is owed.
    fn may_owe(&self) -> bool {
        let tier = self.export.tier.as_ref();
        tier.is_some_and(|tier| tier.durable && (self.has_mark || tier.trusts))
    }

    /// Refuses what [`take`](Self::take) would refuse, and changes nothing; without an owner only a journal that cannot be
    /// read. The disc is not asked whether it takes what it is owed.
    pub(super) fn check(&self, file: &File, owner: Option<&[u8]>) -> Result<(), Error> {
        match (found(file), owner) {
            (Ok(found), Some(owner)) => self.fate(&found, owner).map(drop),
            (Ok(_), None) => Ok(()),
            (Err(_), _) if self.is_discarded() => Ok(()),
            (Err(why), _) => {
                Err(JournalError::Damaged { journal: self.path.to_owned(), why }.into())
            }
        }
    }

    /// What becomes of what a journal owes, or why no server may start.
    fn fate(&self, found: &Replayed, owner: &[u8]) -> Result<Fate, Error> {
        let Replayed { checkpoint, owed, .. } = found;
        let (journal, bytes) = (self.path.to_owned(), Bytes(owed.bytes()));
        let is_ours = checkpoint.owner == owner && self.is_of_mark(checkpoint);
        if owed.is_empty() {
            self.is_owed_nothing(Some(checkpoint), owner)?;
            Ok(Fate::Nothing)
        } else if self.is_read_only {
            Err(JournalError::ReadOnly { journal, bytes }.into())
        } else if self.is_discarded() && !is_ours {
            Ok(Fate::Discard)
        } else if !is_ours && self.export.dirty != Dirty::Write {
            Err(JournalError::OtherDisc { journal, bytes }.into())
        } else {
            Ok(Fate::Write { is_ours })
        }
    }

    /// Whether what would be refused is lost instead.
    fn is_discarded(&self) -> bool {
        self.export.dirty == Dirty::Discard && !self.is_read_only
    }

    /// Whether the mark of the disc is of this run, if the disc can have one.
    fn is_of_mark(&self, last: &Checkpoint) -> bool {
        let run = (last.id, last.generation);
        !self.has_mark || self.seen.is_some_and(|seen| (seen.id, seen.generation) == run)
    }
}

/// What becomes of what a journal owes.
#[derive(Clone, Copy, Debug)]
enum Fate {
    /// It owes nothing.
    Nothing,
    /// It is lost.
    Discard,
    /// It is written to the disc, which is the one that it belongs to, or is not.
    Write { is_ours: bool },
}

/// What a start has of the journal of the run before.
#[derive(Debug)]
pub(super) enum Taken {
    /// Nothing that can be used on.
    Nothing,
    /// Its file, and its checkpoint. It owes nothing.
    Settled(File, Checkpoint),
    /// Its file, and what it still owes.
    Owing(File, Replayed),
}

/// What a journal has, or why it cannot be read.
fn found(file: &File) -> Result<Replayed, String> {
    is_known(file)?;
    replay(&mut |at, room: &mut [u8]| read(file, at, room)).map_err(|why| why.to_string())
}
