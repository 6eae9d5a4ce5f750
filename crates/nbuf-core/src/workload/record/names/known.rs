//! What is known of a file that the command touched, and when that is news.

use std::io;
use std::time::Duration;

use super::Key;
use super::clues::Clue;
use crate::sys::handle::FileHandle;
use crate::workload::record::log::FileSeen;
use crate::workload::record::roots::{Look, Roots};

/// A moment, by the clock of the tracepoints and by the clock of the file systems.
#[derive(Clone, Copy, Debug)]
pub(super) struct Began {
    pub(super) monotonic_ns: u64,
    pub(super) since_1970: Duration,
}

/// What is known of a file that the command touched.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) file: Option<FileHandle>,
    pub(super) bytes: Option<u64>,
    pub(super) path: Option<Vec<u8>>,
}

/// Receives names.
pub(super) type Each<'a> = &'a mut dyn FnMut(FileSeen) -> io::Result<()>;

/// Whether a path is of a file without a name: removed, or made without one, as an overlay copies files.
fn is_deleted(path: &[u8]) -> bool {
    path.ends_with(b" (deleted)")
}

impl Known {
    /// Whether it has a name that stays.
    pub(super) fn is_named(&self) -> bool {
        self.path.as_deref().is_some_and(|path| !is_deleted(path))
    }

    /// Looks at a file that was seen, and hands on what is new.
    pub(super) fn learn(
        &mut self,
        (device, inode): Key,
        clue: Clue,
        roots: &mut Roots<'_>,
        began: Began,
        each: Each<'_>,
    ) -> io::Result<()> {
        let Clue { file, place, seen, .. } = clue;
        self.file = file.or(self.file.take());
        if let Some(seen) = seen {
            self.tell((device, inode), seen, began, each)?;
        }
        let Some(file) = &self.file else { return Ok(()) };
        let now = roots.look(device, file, place.as_ref(), !self.is_named());
        now.map_or(Ok(()), |now| self.tell((device, inode), now, began, each))
    }

    /// Hands on what a look showed, if it is new.
    fn tell(
        &mut self,
        (device, inode): Key,
        look: Look,
        began: Began,
        each: Each<'_>,
    ) -> io::Result<()> {
        let is_better = |path: &Vec<u8>| self.path.is_none() || !is_deleted(path);
        let path = look.path.filter(|path| !self.is_named() && is_better(path));
        let bytes = look.file.map(|(_, bytes)| bytes);
        if path.is_none() && (bytes.is_none() || bytes == self.bytes) {
            // Most opens are of files opened before. The first name of a living file is kept.
            return Ok(());
        }
        let is_new = self.bytes.is_none() && path.is_some();
        if is_new && look.born.is_some_and(|born| born >= began.since_1970) {
            let time_ns = began.monotonic_ns;
            each(FileSeen { time_ns, device, inode, file_bytes: 0, path: None })?;
        }
        self.bytes = bytes.or(self.bytes);
        if path.is_some() {
            self.path.clone_from(&path);
        }
        let file_bytes = bytes.unwrap_or(FileSeen::SIZE_UNKNOWN);
        each(FileSeen { time_ns: look.time_ns, device, inode, file_bytes, path })
    }
}
