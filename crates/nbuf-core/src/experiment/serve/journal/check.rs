//! What a start would refuse of a journal and a mark, found without a change of either.

use std::fs::File;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::file::{look, owner};
use super::mark::{Mark, Seen};
use super::start::Start;
use super::{JournalError, JournalFile};
use crate::experiment::serve::state::Source;
use crate::experiment::serve::{BackendSpec, Error, ExportSpec, TierSpec};
use crate::path::nbd;

impl JournalFile {
    /// Refuses what a start would refuse, as far as reading shows it. That a disc refuses what it is owed only a write
    /// shows. Another server is asked nothing, so that only its journal is read. Where a server runs, journal and mark
    /// are its own, and change.
    pub(in crate::experiment::serve) fn check(export: &ExportSpec) -> Result<(), Error> {
        let path = export.tier.as_ref().map(TierSpec::journal).unwrap_or_default();
        let journal = if export.tier.is_some() { look(&path)? } else { None };
        let (BackendSpec::File(disc) | BackendSpec::Direct(disc)) = &export.disc else {
            let Some(file) = journal else { return Ok(()) };
            let checked = start(export, &path, None, false).check(&file, None);
            return checked.or_else(|error| if is_locked(&file) { Ok(()) } else { Err(error) });
        };
        let (disc, size_bytes) = nbd::look(disc)?;
        let Err(error) = check(export, &path, journal.as_ref(), (&disc, size_bytes)) else {
            return Ok(());
        };
        if is_locked(&disc) {
            return Ok(());
        }
        if journal.is_some_and(|file| is_locked(&file)) {
            return Err(JournalError::InUse { journal: path }.into());
        }
        Err(error)
    }
}

/// The same of a file or a device of this size.
fn check(
    export: &ExportSpec,
    path: &Path,
    journal: Option<&File>,
    (disc, size_bytes): (&File, u64),
) -> Result<(), Error> {
    let wrong = |error| JournalError::File { journal: path.to_owned(), error };
    let disc = disc.try_clone().map_err(wrong)?;
    let source = Source::File(disc, size_bytes);
    let (unmarkable, seen) = match Mark::of(&source) {
        Ok((_, seen)) => (None, seen),
        Err(error) => (Some(error), None),
    };
    let start = start(export, path, seen.as_ref(), unmarkable.is_none());
    let owner = owner(&source).map_err(wrong)?;
    match journal {
        Some(file) => start.check(file, Some(&owner))?,
        None => start.is_owed_nothing(None, &owner)?,
    }
    let needs_mark = |tier: &TierSpec| tier.durable && !tier.trusts && !export.is_read_only;
    match unmarkable.filter(|_| export.tier.as_ref().is_some_and(needs_mark)) {
        Some(error) => {
            Err(JournalError::Unmarkable { disc: export.disc.to_string(), error }.into())
        }
        None => Ok(()),
    }
}

/// A start that says nothing.
fn start<'a>(
    export: &'a ExportSpec,
    path: &'a Path,
    seen: Option<&'a Seen>,
    has_mark: bool,
) -> Start<'a> {
    let is_read_only = export.is_read_only;
    Start { export, path, seen, has_mark, is_read_only, observer: &() }
}

/// Whether a server has a file now. If none has it, it is locked until it is closed, which is soon.
fn is_locked(file: &File) -> bool {
    flock(file, FlockOperation::NonBlockingLockShared) == Err(Errno::WOULDBLOCK)
}
