//! The journal of a second tier that counts for flushes: `--durable-tier`. It is a file next to the one of the tier.
//!
//! Its first page says that nbuf wrote it; checkpoints and records follow. What a run before left in it is written to the
//! disc before the server serves, whatever the settings are now. A disc has a mark while a journal may owe it bytes. So a
//! start without that journal is refused, and so is one with the journal of an earlier run: no old byte is written over a
//! newer one. A copy that was made earlier within the same run looks like the journal itself.

mod check;
mod error;
mod file;
mod mark;
mod start;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use super::in_time::{Insisted, STEP_MAX, in_time};
use super::state::Source;
use super::{Error, ExportSpec, TierSpec};
use crate::cache::journaled::{Checkpoint, RING_BYTE, write_back};
use crate::clock::Stopwatch;
use crate::experiment::notice::{Notice, ServeNotice, TierNotice};
use crate::experiment::session::Observer;
use crate::path::nbd::Backend;
pub use error::JournalError;
use file::{look, owner, random, ready, write};
use mark::{Mark, Seen};
use start::Start;

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
}

impl JournalFile {
    /// Writes what a journal owes to a disc, and puts a new one in front of the disc if there is to be one.
    pub(super) fn open(
        export: &ExportSpec,
        mut disc: Backend,
        source: &Source,
        clock: Stopwatch,
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
        let (file, last) = match found {
            Some(file) => {
                start.take(file, &owner, |owed| write_back(&mut disc, owed, &|| clock.nanos()))?
            }
            None => start.is_owed_nothing(None, &owner).map(|()| (None, None))?,
        };
        if is_read_only {
            return Ok((None, disc));
        }
        let wrong = |error| start.wrong(error);
        let last = last.unwrap_or_default();
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
        let file = ready(file, &path, &next).map_err(wrong)?;
        // From here on nothing is owed to the disc. A start that fails later leaves no mark of an earlier run.
        start.unmark(mark.as_ref())?;
        let journal = Backend::file(file, length, 1, clock).map_err(wrong)?;
        let disc = disc.with_journal(journal, next).map_err(wrong)?;
        let name = export.disc.to_string();
        Ok((Some(Self { path, disc: name, mark, run }), disc))
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

    /// Takes the mark off again after a failed start. Nothing was written.
    pub(super) fn put_back(&self) {
        if let Some(mark) = &self.mark {
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

/// Says something of a journal.
fn say(file: &Path, what: &TierNotice, observer: &dyn Observer) {
    observer.notice(&Notice::Serve(ServeNotice::Tier { file, what }));
}
