//! Descriptors of other processes, looked at again and again: `/proc/PID/fdinfo/N`, kept open.
//!
//! The kernel makes the text up again at each read, from whatever has that number then, so that
//! nothing here can be out of date. Kept open it costs half of what opening it each time does.

use std::collections::HashMap;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};

use crate::workload::record::writes::FdInfo;

/// As many as may be open at once.
const OPEN_MAX: usize = 128;

/// The texts that are held open, by task and number.
#[derive(Debug, Default)]
pub(super) struct Windows {
    open: HashMap<(i32, u32), OwnedFd>,
}

impl Windows {
    /// What descriptor `file` of `task` is now.
    pub(super) fn look(&mut self, task: i32, file: u32) -> Option<FdInfo> {
        if let Some(window) = self.open.get(&(task, file)) {
            if let Some(info) = read(window) {
                return Some(info);
            }
            // Closed, or the number of the task is another's by now.
            self.open.remove(&(task, file));
        }
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let path = format!("/proc/{task}/fdinfo/{file}");
        let window = rustix::fs::open(path, flags, Mode::empty()).ok()?;
        let info = read(&window)?;
        if self.open.len() >= OPEN_MAX {
            self.open.clear();
        }
        self.open.insert((task, file), window);
        Some(info)
    }

    /// A task is gone.
    pub(super) fn close(&mut self, task: i32) {
        self.open.retain(|&(of, _), _| of != task);
    }
}

fn read(window: &OwnedFd) -> Option<FdInfo> {
    // What is wanted stands in the first lines.
    let mut buffer = [0; 512];
    let bytes = rustix::io::pread(window, &mut buffer, 0).ok()?;
    FdInfo::parse(std::str::from_utf8(buffer.get(..bytes)?).ok()?)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Seek, SeekFrom};
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn a_number_is_what_it_is_now() {
        let directory = tempfile::tempdir().unwrap();
        let make = |name| File::create(directory.path().join(name)).unwrap();
        let (mut first, second) = (make("a"), make("b"));
        let ours = i32::try_from(std::process::id()).unwrap();
        let number = u32::try_from(first.as_raw_fd()).unwrap();
        let mut windows = Windows::default();
        first.seek(SeekFrom::Start(77)).unwrap();
        let info = windows.look(ours, number).unwrap();
        assert_eq!((info.position, info.inode), (77, first.metadata().unwrap().ino()));
        let mut same_number = OwnedFd::from(first);
        rustix::io::dup2(&second, &mut same_number).unwrap();
        let info = windows.look(ours, number).unwrap();
        assert_eq!((info.position, info.inode), (0, second.metadata().unwrap().ino()));
        drop(same_number);
        windows.close(ours);
        assert!(windows.open.is_empty());
    }
}
