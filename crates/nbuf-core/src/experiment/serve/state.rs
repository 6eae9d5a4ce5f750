//! What a server keeps in a file for its next start, so that its caches are warm again: `--state FILE`.
//!
//! While a server runs the file says so, and has no pages. At an end in order it is replaced as a whole. So after a kill
//! there is no list of an older run. A file that nbuf did not write is refused at the start, and kept.

mod list;
mod source;

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::in_time::{Insisted, STEP_MAX, Steps, in_time};
use super::{Error, ExportSpec};
use crate::experiment::notice::{Notice, ServeNotice, StateNotice};
use crate::experiment::session::Observer;
use crate::path::nbd::Offer;
use crate::sys::files::{self, Place};
use crate::sys::publish::{Readers, Unfinished};
pub use list::{Held, Identity, List, ListError};
pub(super) use source::{Source, difference};

/// No list of pages is longer: four bytes for each of 4 TiB.
const BYTES_MAX: u64 = 4 << 30;
/// Bytes that are written and on the disc before the next ones.
const STEP_BYTES: usize = 8 << 20;

/// Why a file cannot keep what a server needs for its next start.
#[derive(Debug, thiserror::Error)]
#[error("{}: {why}", path.display())]
pub struct StateError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong.
    pub why: StateErrorKind,
}

/// What is wrong with such a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateErrorKind {
    /// It cannot be read, or its folder is not there.
    #[error(
        "cannot be read ({0}): give a regular file, or a new name in a directory where this user may write"
    )]
    Read(io::Error),
    /// Another program wrote it.
    #[error("no file of nbuf serve, so it is not overwritten: give another path")]
    Foreign,
    /// Another server keeps it.
    #[error("another server keeps its state there: give each its own file")]
    InUse,
}

/// The file, while a server runs.
#[derive(Debug)]
pub(super) struct State {
    place: Place,
    /// What the run before left, if it could be read.
    before: Result<Option<List>, ListError>,
    /// Keeps the lock. Other servers look for it in the file that has the name.
    lock: Option<File>,
    /// The discs.
    sources: Vec<Source>,
}

impl State {
    /// Reads what the run before left, and keeps other servers from the file. Nothing is written yet.
    pub(super) fn open(path: &Path, observer: &dyn Observer) -> Result<Self, Error> {
        let (place, before, lock) = look(path)?;
        // A writer needs no turn: the file is replaced, and never changed.
        // File systems without locks have no second server either, as far as can be seen.
        let is_free = |file: &File| {
            flock(file, FlockOperation::NonBlockingLockExclusive) != Err(Errno::WOULDBLOCK)
        };
        if !lock.as_ref().is_none_or(is_free) {
            let (path, why) = (path.to_owned(), StateErrorKind::InUse);
            return Err(Error::State(StateError { path, why }));
        }
        let state = Self { place, before, lock, sources: Vec::new() };
        match &state.before {
            Ok(Some(list)) if !list.is_clean => state.say("", &StateNotice::Unclean, observer),
            Err(error) => state.say("", &StateNotice::Damaged(Box::new(*error)), observer),
            Ok(_) => {}
        }
        Ok(state)
    }

    /// Whether a server could keep its state there.
    pub(super) fn check(path: &Path) -> Result<(), Error> {
        look(path).map(drop)
    }

    /// Gives caches the pages that they held, where their discs are as they were.
    pub(super) fn fill(
        &mut self,
        exports: &[ExportSpec],
        offers: &mut [Offer],
        sources: Vec<Source>,
        observer: &dyn Observer,
    ) {
        for ((export, offer), source) in exports.iter().zip(offers).zip(&sources) {
            let name = if exports.len() > 1 { export.name.as_str() } else { "" };
            match self.pages(export, exports.len() == 1, source) {
                None => {}
                Some(Ok(pages)) => {
                    let count = pages.len().min(offer.settings.pages as usize);
                    self.say(name, &StateNotice::Warms(count as u64), observer);
                    offer.pages = pages;
                }
                Some(Err(why)) => self.say(name, &StateNotice::Changed(why), observer),
            }
        }
        self.sources = sources;
    }

    /// The pages that the cache of a disc held, if anything is known of it, or why they are of no use.
    fn pages(
        &mut self,
        export: &ExportSpec,
        is_alone: bool,
        source: &Source,
    ) -> Option<Result<Vec<u64>, &'static str>> {
        let list = self.before.as_mut().ok()?.as_mut().filter(|list| list.is_clean)?;
        // One alone may have another name now.
        let is_alone = is_alone && list.held.len() == 1;
        let held = list.held.iter_mut().find(|held| is_alone || held.name == export.name)?;
        let now = source.identity().unwrap_or_default();
        Some(if now != held.disc {
            Err(difference(&held.disc, &now))
        } else if held.page_bytes != export.page_bytes {
            Err("its pages had another size")
        } else {
            Ok(std::mem::take(&mut held.pages))
        })
        .filter(|pages| pages.as_ref().ok().is_none_or(|pages| !pages.is_empty()))
    }

    /// Notes that a server runs. The list of the run before, as it was.
    pub(super) fn begin(&mut self, observer: &dyn Observer) -> Option<List> {
        let replaced = files::regular(self.place.path()).and_then(|file| read(&file));
        let before = self.before.as_ref().ok().and_then(Option::as_ref);
        let generation = before.map_or(0, |list| list.generation).saturating_add(1);
        let list = List { generation, is_clean: false, held: Vec::new() };
        if let Err(error) = self.write(&list, &|| Ok(())) {
            self.say("", &StateNotice::NotBegun(error), observer);
        }
        self.before = Ok(Some(list));
        replaced.ok()?.ok()
    }

    /// Writes the list again that a failed start has replaced.
    pub(super) fn put_back(&mut self, replaced: Option<List>) {
        if let Some(list) = replaced {
            // The start has failed already, and says why. Without the list the next one is cold.
            let _ = self.write(&list, &|| Ok(()));
        }
    }

    /// Notes that the server ended in order, and what its caches held; or says that it could not. It waits for the discs,
    /// unless a second signal comes.
    pub(super) fn end(
        self,
        exports: &[ExportSpec],
        orders: Vec<Vec<u64>>,
        insisted: Insisted<'_>,
        observer: &dyn Observer,
    ) {
        let file = self.place.path().to_owned();
        let held = exports.iter().zip(orders).map(|(export, pages)| {
            let (name, page_bytes) = (export.name.clone(), export.page_bytes);
            Held { name, page_bytes, pages, ..Held::default() }
        });
        let held: Vec<Held> = held.collect();
        if let Err(error) = in_time(STEP_MAX, insisted, move |steps| self.keep(held, steps)) {
            say(&file, "", &StateNotice::NotKept(error), observer);
        }
    }

    /// Says that the server did not end in order.
    pub(super) fn not_clean(&self, observer: &dyn Observer) {
        self.say("", &StateNotice::NotClean, observer);
    }

    fn keep(mut self, mut held: Vec<Held>, steps: &Steps) -> io::Result<()> {
        for (held, source) in held.iter_mut().zip(&self.sources) {
            held.disc = source.identity()?;
        }
        let generation = match &self.before {
            Ok(Some(list)) => list.generation,
            _ => 0,
        };
        self.write(&List { generation, is_clean: true, held }, &|| steps.done())
    }

    /// Says something of the file.
    fn say(&self, export: &str, what: &StateNotice, observer: &dyn Observer) {
        say(self.place.path(), export, what, observer);
    }

    /// Replaces the file as a whole, if nothing else has its name. After each part it calls `done`.
    fn write(&mut self, list: &List, done: &dyn Fn() -> io::Result<()>) -> io::Result<()> {
        let bytes = list.to_bytes();
        let unfinished = Unfinished::create_at(self.place.try_clone()?, Readers::Owner)?;
        let mut file = unfinished.file();
        for part in bytes.chunks(STEP_BYTES) {
            file.write_all(part)?;
            file.sync_data()?;
            done()?;
        }
        let kept = file.try_clone()?;
        let _ = flock(&kept, FlockOperation::NonBlockingLockExclusive);
        if self.place.is_taken()? {
            let there = files::regular(self.place.path())?;
            if read(&there)? == Err(ListError::Foreign) {
                return Err(io::Error::other("another program has put its own file there"));
            }
            unfinished.replace()?;
        } else {
            unfinished.publish()?;
        }
        self.lock = Some(kept);
        Ok(())
    }
}

/// Says something of a file.
fn say(file: &Path, export: &str, what: &StateNotice, observer: &dyn Observer) {
    observer.notice(&Notice::Serve(ServeNotice::State { file, export, what }));
}

/// What is at a path: a file of nbuf, or nothing in a directory.
#[expect(clippy::type_complexity, reason = "used twice, here")]
fn look(path: &Path) -> Result<(Place, Result<Option<List>, ListError>, Option<File>), Error> {
    let wrong = |why| Error::State(StateError { path: path.to_owned(), why });
    let kernel = |error| wrong(StateErrorKind::Read(error));
    let place = Place::of(path).map_err(kernel)?;
    let (before, file) = match files::regular(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok((place, Ok(None), None));
        }
        Err(error) => return Err(kernel(error)),
        Ok(file) => (read(&file).map_err(kernel)?, file),
    };
    if before == Err(ListError::Foreign) {
        return Err(wrong(StateErrorKind::Foreign));
    }
    Ok((place, before.map(Some), Some(file)))
}

/// Reads a file of nbuf; of another one only the beginning.
fn read(file: &File) -> io::Result<Result<List, ListError>> {
    let mut bytes = vec![0; list::MAGIC.len()];
    let mut file = file;
    match file.read_exact(&mut bytes) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            return Ok(Err(ListError::Foreign));
        }
        other => other?,
    }
    if bytes != list::MAGIC {
        return Ok(Err(ListError::Foreign));
    }
    let length = file.take(BYTES_MAX).read_to_end(&mut bytes)?;
    if length as u64 == BYTES_MAX {
        return Ok(Err(ListError::Damaged));
    }
    Ok(List::of_bytes(&bytes))
}
