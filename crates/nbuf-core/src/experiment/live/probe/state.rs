//! What a probe leaves in a file for the case that both it and its guard die, and how a later run puts that right.
//!
//! The file is the user's, and is used if the user alone can have written it. A reboot undoes limits: the file then
//! says nothing. A group that is probed now is locked, and is left alone.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, FileType, Mode, OFlags};
use serde::{Deserialize, Serialize};

use crate::sys::files;
use crate::sys::probe::{Error, Probed};
use crate::sys::process::{boot_id, monotonic_ns, node_name, start_ticks};
use crate::units::Bytes;

const SCHEMA: &str = "nbuf.probe-state/1";
/// A state is shorter.
const BYTES_MAX: u64 = 1 << 16;

/// What was lowered, and how it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct State {
    schema: String,
    /// The name of the machine: others may share the directory of states.
    node: String,
    boot: String,
    directory: PathBuf,
    device: u64,
    inode: u64,
    /// The name of the file of the limit.
    file: String,
    /// The limit before.
    before: Option<Bytes>,
    /// Limits that the probe may have written.
    ours: Vec<Bytes>,
}

/// A file that is to be written, or is.
#[derive(Debug)]
pub(super) struct StateFile {
    pub(super) directory: OwnedFd,
    name: String,
}

impl StateFile {
    /// A new name in this directory, which is made if it is missing.
    pub(super) fn new(spool: &Path) -> io::Result<Self> {
        files::make_directories(spool)?;
        let own = std::process::id();
        let began = start_ticks(own.cast_signed()).unwrap_or(0);
        let name = format!("probe-{own}-{began}-{}.json", monotonic_ns());
        Ok(Self { directory: files::directory(spool)?, name })
    }

    pub(super) fn c_name(&self) -> io::Result<CString> {
        Ok(CString::new(self.name.as_str())?)
    }

    pub(super) fn write(
        &self,
        probed: &Probed,
        directory: &Path,
        before: Option<Bytes>,
        ours: &[Bytes],
    ) -> io::Result<()> {
        let (device, inode) = probed.identity()?;
        let state = State {
            schema: SCHEMA.to_owned(),
            node: node_name()?,
            boot: boot_id()?,
            directory: std::path::absolute(directory)?,
            device,
            inode,
            file: probed.version().file().to_owned(),
            before,
            ours: ours.to_vec(),
        };
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
        let mode = Mode::from_raw_mode(0o600);
        let file = files::open(&self.directory, Path::new(&self.name), flags, mode)?;
        File::from(file).write_all(&serde_json::to_vec(&state)?)
    }

    /// Removes it, if it is there.
    pub(super) fn remove(&self) {
        let _ = files::unlink(&self.directory, self.name.as_ref());
    }
}

/// What became of a limit that a probe had left.
#[derive(Debug)]
#[non_exhaustive]
pub enum Left {
    /// It is what it was before the probe.
    Restored {
        /// The group.
        directory: PathBuf,
        /// The limit that was found.
        from: Bytes,
        /// The limit before the probe; nothing where there was none.
        to: Option<Bytes>,
    },
    /// It has a value that is not the probe's, and was left alone.
    NotOurs {
        /// The group.
        directory: PathBuf,
        /// The limit that was found.
        found: Option<Bytes>,
    },
    /// It could not be looked at or written.
    Failed {
        /// The group.
        directory: PathBuf,
        /// Why.
        error: Error,
    },
}

/// Puts back the limits that probes of this account have left.
pub(super) fn put_right(spool: &Path, user: u32) -> Vec<Left> {
    let Ok(directory) = files::directory(spool) else { return Vec::new() };
    let Ok(boot) = boot_id() else { return Vec::new() };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let listed = files::open_path(spool, flags).and_then(|it| Ok(Dir::read_from(it)?));
    let names = listed.into_iter().flatten().flatten();
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let names = names.filter(|name| {
        name.starts_with("probe-") && Path::new(name).extension().is_some_and(|it| it == "json")
    });
    names
        .filter_map(|name| {
            one(&StateFile { directory: directory.try_clone().ok()?, name }, &boot, user)
        })
        .collect()
}

fn one(file: &StateFile, boot: &str, user: u32) -> Option<Left> {
    let state = read(file, user)?;
    if node_name().ok().as_ref() != Some(&state.node) {
        return None;
    }
    if state.boot != boot {
        file.remove();
        return None;
    }
    let directory = state.directory.clone();
    let probed = match Probed::open(&directory, None) {
        Ok(probed) => probed,
        Err(Error::NoLimit) => {
            file.remove();
            return None;
        }
        Err(Error::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
            // A container sees other groups, and none above them either.
            if directory.parent().is_some_and(Path::exists) {
                file.remove();
            }
            return None;
        }
        Err(error) => return Some(Left::Failed { directory, error }),
    };
    // The directory may have been made again.
    let is_same = probed.identity().is_ok_and(|found| found == (state.device, state.inode));
    if !is_same || probed.version().file() != state.file {
        file.remove();
        return None;
    }
    let outcome = match probed.limit() {
        Ok(now) if now == state.before => None,
        Ok(Some(from)) if state.ours.contains(&from) => match probed.set(state.before) {
            Ok(()) => Some(Left::Restored { directory, from, to: state.before }),
            Err(error) => return Some(Left::Failed { directory, error: error.into() }),
        },
        Ok(found) => Some(Left::NotOurs { directory, found }),
        Err(error) => return Some(Left::Failed { directory, error: error.into() }),
    };
    file.remove();
    outcome
}

/// The state in a file that the user alone can have written. None of one that was never finished: its limit was not
/// written either.
fn read(file: &StateFile, user: u32) -> Option<State> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let found = files::open(&file.directory, Path::new(&file.name), flags, Mode::empty()).ok()?;
    let facts = rustix::fs::fstat(&found).ok()?;
    let is_file = FileType::from_raw_mode(facts.st_mode) == FileType::RegularFile;
    if !is_file || facts.st_uid != user || facts.st_mode & 0o022 != 0 {
        return None;
    }
    let mut text = String::new();
    File::from(found).take(BYTES_MAX).read_to_string(&mut text).ok()?;
    parse(&text)
}

/// A state, if the text is one.
fn parse(text: &str) -> Option<State> {
    let state: State = serde_json::from_str(text).ok()?;
    (state.schema == SCHEMA && state.directory.is_absolute()).then_some(state)
}

#[cfg(test)]
mod tests;
