//! The file of a journal: how it is found, made, and given room.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use rustix::fs::{FallocateFlags, FlockOperation, OFlags, fallocate, flock};
use rustix::io::{Errno, retry_on_intr};
use rustix::rand::{GetRandomFlags, getrandom};

use super::JournalError;
use crate::cache::journaled::{Checkpoint, OWNER_BYTES_MAX, PAGE_BYTES, RING_BYTE, Replayed};
use crate::experiment::serve::Error;
use crate::experiment::serve::state::Source;
use crate::sys::files::{self, Place};
use crate::sys::publish::{Readers, Unfinished};

/// The beginning of every such file, of any version.
const MAGIC: &[u8; 16] = b"nbuf-serve-jrnl\0";
/// The version that is written, and the only one that is read.
const VERSION: u32 = 1;
/// Bytes of a page.
const PAGE: usize = 4096;

/// What tells a disc from others, in all runs.
pub(super) fn owner(source: &Source) -> io::Result<Vec<u8>> {
    let now = source.identity()?;
    let mut owner = format!("{} {} {}", now.number, now.size_bytes, now.address).into_bytes();
    owner.truncate(OWNER_BYTES_MAX);
    Ok(owner)
}

/// Two numbers that nothing else has.
pub(super) fn random() -> io::Result<[u64; 2]> {
    let mut numbers = [[0_u8; 8]; 2];
    for number in &mut numbers {
        // So few bytes come as a whole.
        retry_on_intr(|| getrandom(&mut number[..], GetRandomFlags::empty()))?;
    }
    Ok(numbers.map(u64::from_ne_bytes))
}

/// What is at a path: a file of nbuf, perhaps one that was cut, or nothing.
pub(super) fn look(path: &Path) -> Result<Option<File>, Error> {
    let journal = || path.to_owned();
    let wrong = |error| Error::from(JournalError::File { journal: journal(), error });
    let file = match files::regular(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(wrong)?,
    };
    let mut bytes = Vec::new();
    (&file).take(MAGIC.len() as u64).read_to_end(&mut bytes).map_err(wrong)?;
    let is_cut = bytes.len() < MAGIC.len() && MAGIC.starts_with(&bytes);
    if bytes != MAGIC && !is_cut {
        return Err(JournalError::Foreign { journal: journal() }.into());
    }
    files::reopen(&file, OFlags::RDWR).map(|file| Some(file.into())).map_err(wrong)
}

/// Reads a part of the file; or says why not.
pub(super) fn read(file: &File, at: u64, room: &mut [u8]) -> Result<(), String> {
    file.read_exact_at(room, at).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => "it was cut".to_owned(),
        _ => error.to_string(),
    })
}

/// Whether this version reads the file.
pub(super) fn is_known(file: &File) -> Result<(), String> {
    let mut version = [0; 4];
    read(file, MAGIC.len() as u64, &mut version)?;
    match u32::from_le_bytes(version) {
        VERSION => Ok(()),
        other => Err(format!("its version is {other}, which this nbuf does not read")),
    }
}

/// Whether the file is ours alone from now on: locked, and still the one of its name. A file system without locks has no
/// second server, as far as can be seen.
pub(super) fn is_ours(file: &File, path: &Path) -> io::Result<bool> {
    let is_free = flock(file, FlockOperation::NonBlockingLockExclusive) != Err(Errno::WOULDBLOCK);
    // A server that had the lock before may have put another file there.
    Ok(is_free && files::leads_to(path, file)?)
}

/// Makes the file with a journal that owes nothing. It is locked, and on its disc as a whole, before it has its name.
///
/// # Errors
/// `AlreadyExists` if another server has just made it.
fn create(path: &Path, checkpoint: &Checkpoint) -> io::Result<File> {
    let unfinished = Unfinished::create_at(Place::of(path)?, Readers::Owner)?;
    let file = unfinished.file().try_clone()?;
    let _ = flock(&file, FlockOperation::NonBlockingLockExclusive);
    let mut page = MAGIC.to_vec();
    page.extend(VERSION.to_le_bytes());
    file.write_all_at(&page, 0)?;
    make_room(&file, checkpoint.ring_bytes)?;
    write(&file, checkpoint)?;
    unfinished.publish()?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    // A folder that cannot be read cannot be synced; without its name the file is missed at the next start.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    if let Ok(folder) = files::open_path(folder.unwrap_or(Path::new(".")), flags) {
        File::from(folder).sync_all()?;
    }
    Ok(file)
}

/// Gives the file room for records, so that no later write needs any, where the file system can promise that.
fn make_room(file: &File, ring_bytes: u64) -> io::Result<()> {
    let length = (RING_BYTE + ring_bytes).next_multiple_of(PAGE_BYTES);
    if file.metadata()?.len() < length {
        file.set_len(length)?;
    }
    match fallocate(file, FallocateFlags::empty(), 0, length) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
        other => Ok(other?),
    }
}

/// Writes the first checkpoint of a run, which is on the disc then: at both places, so that a damaged one does not lead
/// back to the run before.
pub(super) fn write(file: &File, checkpoint: &Checkpoint) -> io::Result<()> {
    let number = checkpoint.number.saturating_sub(1);
    for checkpoint in [&Checkpoint { number, ..checkpoint.clone() }, checkpoint] {
        file.write_all_at(&checkpoint.to_bytes(), checkpoint.byte())?;
        file.sync_all()?;
    }
    Ok(())
}

/// The file of a journal that owes nothing and has this checkpoint, made if it is not there.
pub(super) fn ready(
    file: Option<File>,
    path: &Path,
    checkpoint: &Checkpoint,
) -> Result<File, JournalError> {
    let journal = || path.to_owned();
    let wrong = |error| JournalError::File { journal: journal(), error };
    let Some(file) = file else {
        return create(path, checkpoint).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => JournalError::InUse { journal: journal() },
            _ => wrong(error),
        });
    };
    make_room(&file, checkpoint.ring_bytes).map_err(wrong)?;
    // A checkpoint never claims room that the file lacks.
    file.sync_all().map_err(wrong)?;
    write(&file, checkpoint).map_err(wrong)?;
    Ok(file)
}

/// Makes a journal ready whose run goes on: all records that count are safe then, and no others are left behind them.
pub(super) fn go_on(file: &File, replayed: &Replayed) -> io::Result<()> {
    make_room(file, replayed.checkpoint.ring_bytes)?;
    for &byte in replayed.late() {
        file.write_all_at(&[0; PAGE], byte)?;
    }
    file.sync_all()
}
