//! The file of a second tier, which is warm after a restart: `--tier FILE`.
//!
//! Its first page says whose blocks it has, and whether the last run ended in order. The blocks follow, and behind them
//! the index, which is written at the end of a run. While a server runs, the first page says so, on the disc, before the
//! first block changes. So after a kill, and after a change of the disc, no block is believed. A file that nbuf did not
//! write is refused at the start, and kept.

mod end;
mod header;
mod layout;
mod spec;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::time::Duration;

use rustix::fs::{FallocateFlags, FlockOperation, OFlags, fallocate, flock};
use rustix::io::Errno;

use super::in_time::{NEVER, Steps, in_time};
use super::state::{Identity, ListError, Source, StateError, StateErrorKind, difference};
use super::{Error, ExportSpec};
use crate::cache::tiered::{ENTRY_BYTES, Entry, Geometry, entries_of};
use crate::clock::Stopwatch;
use crate::experiment::notice::{Notice, ServeNotice, TierNotice};
use crate::experiment::session::Observer;
use crate::path::nbd::{Backend, Server};
use crate::sys::files::{self, Place};
use crate::units::Bytes;
use header::Header;
use layout::{index_byte, length};
pub use spec::TierSpec;

/// To write the first page or a part of the index, the disc of the tier may take this many times as long as for a request.
/// What the start reads has no limit: without it there is no server.
const STEP_TIMES: u32 = 6;

/// The file, while a server runs.
#[derive(Debug)]
pub(super) struct TierFile {
    place: Place,
    file: File,
    /// As it was read, or for an empty file.
    before: Header,
    source: Source,
    trusts: bool,
    /// Whether the disc shows that it was changed.
    shows_changes: bool,
    geometry: Geometry,
    /// Whether the first page says that a server runs.
    has_begun: bool,
    /// How long a write of the first page or of a part of the index may take.
    patience: Duration,
}

impl TierFile {
    /// Opens or makes the file, and puts it in front of a disc. Nothing that it holds changes yet.
    pub(super) fn open(
        spec: &TierSpec,
        export: &ExportSpec,
        (disc, source): (Backend, Source),
        (threads, clock): (usize, Stopwatch),
        observer: &dyn Observer,
    ) -> Result<(Self, Backend), Error> {
        let wrong = |why| Error::Tier(StateError { path: spec.path.clone(), why });
        let kernel = |error| wrong(StateErrorKind::Read(error));
        let identity = source.identity().map_err(kernel)?;
        let geometry = layout::geometry(spec, export, identity.size_bytes);
        let place = Place::of(&spec.path).map_err(kernel)?;
        let (file, is_new) = match layout::look(&spec.path)? {
            Some(file) => (File::from(files::reopen(&file, OFlags::RDWR).map_err(kernel)?), false),
            None => match layout::create(&place, &geometry) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    return Err(wrong(StateErrorKind::InUse));
                }
                made => (made.map_err(kernel)?, true),
            },
        };
        let is_locked =
            flock(&file, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK);
        // A file that lost its name meanwhile is of no use to the next start.
        if is_locked || !files::leads_to(&spec.path, &file).map_err(kernel)? {
            return Err(wrong(StateErrorKind::InUse));
        }
        // Only now no other server changes it.
        let found = layout::first_page(&file).map_err(kernel)?;
        let before = found.as_ref().cloned().unwrap_or_default();
        let (trusts, shows_changes) = (spec.trusts, identity.times != [0; 4]);
        let patience = Duration::from_nanos(spec.timeout.0).saturating_mul(STEP_TIMES);
        let this = Self {
            place,
            file,
            before,
            source,
            trusts,
            shows_changes,
            geometry,
            has_begun: false,
            patience,
        };
        let room = this.make_room();
        let is_believed = room.is_ok() && !is_new;
        let entries =
            if is_believed { this.entries(found, &identity, observer) } else { Vec::new() };
        let tier = this.file.try_clone().map_err(kernel)?;
        let (tier, _) =
            Backend::direct(tier, length(&geometry), threads, false, clock).map_err(kernel)?;
        let mut disc =
            disc.with_tier(tier, geometry, &entries, (clock, spec.timeout)).map_err(kernel)?;
        if let Err(error) = room {
            disc.lose_tier(error.to_string());
        }
        Ok((this, disc))
    }

    /// Whether a server could have its tier there.
    pub(super) fn check(path: &Path) -> Result<(), Error> {
        let wrong = |error| {
            let why = StateErrorKind::Read(error);
            Error::Tier(StateError { path: path.to_owned(), why })
        };
        Place::of(path).map_err(wrong)?;
        layout::look(path).map(drop)
    }

    /// The blocks of the run before, if the disc is as it was. Else it is said why not.
    fn entries(
        &self,
        found: Result<Header, ListError>,
        now: &Identity,
        observer: &dyn Observer,
    ) -> Vec<Entry> {
        let Geometry { part_bytes, slots, .. } = self.geometry;
        let notice = match found {
            Err(error) => TierNotice::Damaged(Box::new(error)),
            // No run has used it.
            Ok(header) if !header.is_clean && header.generation == 0 => return Vec::new(),
            Ok(header) if !header.is_clean => TierNotice::Unclean,
            Ok(header) if header.disc != *now => TierNotice::Changed(difference(&header.disc, now)),
            Ok(header) if (header.part_bytes, header.slots) != (part_bytes, slots) => {
                TierNotice::Resized
            }
            Ok(_) if !self.shows_changes && !self.trusts => TierNotice::Unknown,
            Ok(header) => match self.index(&header) {
                Ok(Some(entries)) => {
                    let parts = entries.iter().map(|entry| u64::from(entry.valid.count_ones()));
                    let bytes = parts.sum::<u64>() * u64::from(part_bytes);
                    self.say(&TierNotice::Warm(Bytes(bytes)), observer);
                    return entries;
                }
                Ok(None) => TierNotice::Damaged(Box::new(ListError::Damaged)),
                Err(error) => TierNotice::Damaged(Box::new(error)),
            },
        };
        self.say(&notice, observer);
        Vec::new()
    }

    /// The index of the run before, if it is whole.
    fn index(&self, header: &Header) -> io::Result<Option<Vec<Entry>>> {
        let most = u64::from(header.slots) * ENTRY_BYTES as u64;
        let length = Some(header.index_bytes).filter(|&length| length <= most);
        let Some(length) = length.and_then(|length| usize::try_from(length).ok()) else {
            return Ok(None);
        };
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, index_byte(&self.geometry))?;
        let is_whole = crc32fast::hash(&bytes) == header.index_sum;
        Ok(entries_of(&bytes).filter(|_| is_whole))
    }

    /// Gives the file its size, so that no later write needs room, where the file system can promise that.
    fn make_room(&self) -> io::Result<()> {
        let length = length(&self.geometry);
        if self.file.metadata()?.len() < length {
            self.file.set_len(length)?;
        }
        match fallocate(&self.file, FallocateFlags::empty(), 0, length) {
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
            other => Ok(other?),
        }
    }

    /// Notes on the disc that a server runs, before the first block of the tier of this disc changes. Its length stays: an
    /// old index behind a smaller tier counts again if the start fails.
    ///
    /// # Errors
    /// If the file would be believed at the next start, although the disc has changed then and does not show it.
    pub(super) fn begin(&mut self, server: &mut Server, disc: usize) -> Result<(), Error> {
        let header = Header { is_clean: false, ..self.header(Identity::default()) };
        match self.write_in_time(&header) {
            Err(error) if self.before.is_clean && !self.shows_changes => {
                let (path, why) = (self.place.path().to_owned(), StateErrorKind::Read(error));
                Err(Error::Tier(StateError { path, why }))
            }
            Err(error) => {
                server.lose_tier(disc, error.to_string());
                Ok(())
            }
            Ok(()) => {
                self.has_begun = true;
                Ok(())
            }
        }
    }

    /// Gives back the room behind a smaller tier, after a start that cannot fail any more. If that stays, it only takes room.
    pub(super) fn cut(&self) {
        if !self.has_begun {
            return;
        }
        let (length, Ok(file)) = (length(&self.geometry), self.file.try_clone()) else { return };
        let cut = move |_: &Steps| {
            if file.metadata()?.len() > length { file.set_len(length) } else { Ok(()) }
        };
        let _ = in_time(self.patience, NEVER, cut);
    }

    /// Notes again what a failed start has replaced. No block has changed.
    pub(super) fn put_back(&self) {
        if self.before.is_clean {
            // The start has failed already, and says why. Without this the next one is cold.
            let _ = self.write_in_time(&self.before);
        }
    }

    /// The first page of this run.
    fn header(&self, disc: Identity) -> Header {
        Header {
            generation: self.before.generation.saturating_add(1),
            part_bytes: self.geometry.part_bytes,
            slots: self.geometry.slots,
            disc,
            ..Header::default()
        }
    }

    /// Writes the first page, if the disc answers.
    fn write_in_time(&self, header: &Header) -> io::Result<()> {
        let (file, page) = (self.file.try_clone()?, page(header)?);
        in_time(self.patience, NEVER, move |_| write(&file, &page))
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        self.place.path()
    }

    /// Says something of the file.
    pub(super) fn say(&self, what: &TierNotice, observer: &dyn Observer) {
        let file = self.place.path();
        observer.notice(&Notice::Serve(ServeNotice::Tier { file, what }));
    }
}

/// The bytes of a first page.
fn page(header: &Header) -> io::Result<Vec<u8>> {
    header.to_bytes().ok_or_else(|| io::Error::other("the address of the disc is too long"))
}

/// Writes a first page, which is on the disc then.
fn write(file: &File, page: &[u8]) -> io::Result<()> {
    file.write_all_at(page, 0)?;
    file.sync_all()
}
