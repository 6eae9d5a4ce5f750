//! The journal of a second tier that counts for flushes: `--durable-tier`. It is a file next to the one of the tier.
//!
//! Its first page says that nbuf wrote it; checkpoints and records follow. What a run before left in it is written to the
//! disc before the server serves, whatever the settings are now. What the disc refuses stays in the journal, if this run
//! has one too. Then the run before goes on with its mark and its records, so that no moment of a start loses anything.
//!
//! A disc has a mark while a journal may owe it bytes. So a start without that journal is refused, and so is one with the
//! journal of an earlier run: no old byte is written over a newer one. A copy that was made earlier within the same run
//! looks like the journal itself.

mod check;
mod error;
mod file;
mod mark;
mod start;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::path::{Path, PathBuf};

use super::ends::Ends;
use super::in_time::{Insisted, STEP_MAX, in_time};
use super::state::Source;
use super::{Error, ExportSpec, TierSpec};
use crate::cache::journaled::{
    Checkpoint, Owed, RING_BYTE, Refused, Replayed, Watch, WriteBackError, write_back,
};
use crate::clock::Stopwatch;
use crate::experiment::notice::{Notice, ServeNotice, TierNotice};
use crate::experiment::session::Observer;
use crate::path::nbd::Backend;
pub use error::JournalError;
use file::{look, owner, random, ready, write};
use mark::{Mark, Seen};
use start::{Start, Taken};

/// The file, while a server runs.
#[derive(Debug)]
pub(super) struct JournalFile {
    path: PathBuf,
    /// The disc, for messages.
    disc: String,
    /// None on a disc that cannot have one.
    mark: Option<Mark>,
    /// What the mark says in this run.
    run: Seen,
    /// Whether it has bytes of the run before, which the disc refused.
    owes: bool,
}

impl JournalFile {
    /// Writes what a journal owes to a disc, and puts a new one in front of the disc if there is to be one.
    pub(super) fn open(
        export: &ExportSpec,
        mut disc: Backend,
        source: &Source,
        (clock, ends): (Stopwatch, &Ends<'_>),
        observer: &dyn Observer,
    ) -> Result<(Option<Self>, Backend), Error> {
        let (mark, seen) = match Mark::of(source) {
            Ok((mark, seen)) => (Ok(mark), seen),
            Err(error) => (Err(error), None),
        };
        let is_read_only = export.is_read_only || disc.is_read_only();
        let path = export.tier.as_ref().map(TierSpec::journal).unwrap_or_default();
        let (seen, has_mark) = (seen.as_ref(), mark.is_ok());
        let start = Start { export, path: &path, seen, has_mark, is_read_only, observer };
        let owner = owner(source).map_err(|error| start.wrong(error))?;
        let found = if export.tier.is_some() { look(&path)? } else { None };
        let taken = match found {
            Some(file) => start.take(file, &owner, |owed| bring(&mut disc, owed, clock, ends))?,
            None => start.is_owed_nothing(None, &owner).map(|()| Taken::Nothing)?,
        };
        let (file, last) = match taken {
            Taken::Nothing => (None, Checkpoint::default()),
            Taken::Settled(file, last) => (Some(file), last),
            Taken::Owing(file, replayed) => {
                return Self::go_on(&start, (file, replayed), (disc, mark.ok()), clock);
            }
        };
        if is_read_only {
            return Ok((None, disc));
        }
        let wrong = |error| start.wrong(error);
        let next = start.next(&last, owner, random().map_err(wrong)?);
        let Some(tier) = export.tier.as_ref().filter(|tier| tier.durable) else {
            // The file keeps the room that it has.
            let next = Checkpoint { ring_bytes: last.ring_bytes, ..next };
            file.map_or(Ok(()), |file| write(&file, &next)).map_err(wrong)?;
            start.unmark(mark.as_ref().ok())?;
            return Ok((None, disc));
        };
        let mark = match mark {
            Err(error) if !tier.trusts => {
                let disc = export.disc.to_string();
                return Err(JournalError::Unmarkable { disc, error }.into());
            }
            mark => mark.ok(),
        };
        let run = Seen { id: next.id, generation: next.generation, journal: path.clone() };
        let length = RING_BYTE + next.ring_bytes;
        let file = ready(file, &path, &next)?;
        // From here on nothing is owed to the disc. A start that fails later leaves no mark of an earlier run.
        start.unmark(mark.as_ref())?;
        let journal = Backend::file(file, length, 1, clock).map_err(wrong)?;
        let disc = disc.with_journal(journal, next).map_err(wrong)?;
        let name = export.disc.to_string();
        Ok((Some(Self { path, disc: name, mark, run, owes: false }), disc))
    }

    /// Goes on with the run before, whose journal owes what the disc refuses. Its mark and its records stay as they are.
    fn go_on(
        start: &Start<'_>,
        (file, replayed): (File, Replayed),
        (disc, mark): (Backend, Option<Mark>),
        clock: Stopwatch,
    ) -> Result<(Option<Self>, Backend), Error> {
        let wrong = |error| start.wrong(error);
        file::go_on(&file, &replayed).map_err(wrong)?;
        let Checkpoint { id, generation, ring_bytes, .. } = replayed.checkpoint;
        let (path, name) = (start.path.to_owned(), start.export.disc.to_string());
        let run = Seen { id, generation, journal: path.clone() };
        let journal = Backend::file(file, RING_BYTE + ring_bytes, 1, clock).map_err(wrong)?;
        let disc = disc.with_journal(journal, replayed).map_err(wrong)?;
        Ok((Some(Self { path, disc: name, mark, run, owes: true }), disc))
    }

    /// Whether a server could have its journal there. What it owes, and to which disc, [`check`](Self::check) looks at.
    pub(super) fn look(path: &Path) -> Result<(), Error> {
        look(path).map(drop)
    }

    /// Marks the disc, before the first record.
    pub(super) fn begin(&self) -> Result<(), Error> {
        let Some(mark) = &self.mark else { return Ok(()) };
        let wrong = |error| JournalError::Mark { disc: self.disc.clone(), error };
        Ok(mark.set(&self.run).map_err(wrong)?)
    }

    /// Takes the mark off again after a failed start. Nothing was written. The mark of a run that goes on stays.
    pub(super) fn put_back(&self) {
        if let Some(mark) = self.mark.as_ref().filter(|_| !self.owes) {
            // The start has failed already, and says why. The next one takes an empty journal with a mark.
            let _ = mark.remove();
        }
    }

    /// Takes the mark off, if nothing is owed. It waits for the disc, unless a second signal comes.
    pub(super) fn end(&mut self, is_clean: bool, insisted: Insisted<'_>, observer: &dyn Observer) {
        if !is_clean {
            return say(&self.path, &TierNotice::Owes, observer);
        }
        let Some(mark) = self.mark.take() else { return };
        if let Err(error) = in_time(STEP_MAX, insisted, move |_| mark.remove()) {
            say(&self.path, &TierNotice::Marked(error), observer);
        }
    }
}

/// Writes what is owed to a disc, until a signal ends the server.
fn bring(
    disc: &mut Backend,
    owed: &Owed,
    clock: Stopwatch,
    ends: &Ends<'_>,
) -> Result<Refused, WriteBackError> {
    let (now, ends) = (|| clock.nanos(), || ends.count());
    let written = write_back(disc, owed, Watch { now: &now, ends: &ends });
    if matches!(written, Err(WriteBackError::Unreachable(_) | WriteBackError::Ended(_))) {
        // No server waits for what is under way.
        disc.abandon();
    }
    written
}

/// Says something of a journal.
fn say(file: &Path, what: &TierNotice, observer: &dyn Observer) {
    observer.notice(&Notice::Serve(ServeNotice::Tier { file, what }));
}
