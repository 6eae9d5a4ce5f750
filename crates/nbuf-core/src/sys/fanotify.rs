//! Names of files as they are opened: `fanotify(7)`, notification class only, so that we never hold
//! up a process.
//!
//! Where a file system has file handles, the kernel reports handles and names, and a report in the
//! queue holds nothing. Where it has none, the kernel hands over an open file. This file keeps its
//! file system from being unmounted until we take it. Either queue has an end.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;

use std::os::unix::ffi::OsStrExt;

use super::handle::FileHandle;
use super::rights::capability::raise;

/// A listener for opens on whole file systems.
#[derive(Debug)]
pub(crate) struct Listener {
    fd: OwnedFd,
    buffer: Vec<u8>,
}

/// What came of one look at the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    /// Files reported.
    pub files: u64,
    /// Whether the kernel's queue had overflowed.
    pub overflowed: bool,
}

/// A file that was opened.
#[derive(Debug)]
pub(crate) enum Opened {
    /// The file itself, open.
    File(OwnedFd),
    /// What it is called.
    Handle(Called),
}

/// What an opened file is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Called {
    /// The file system, as `fstatvfs` has it in `f_fsid`.
    pub filesystem: u64,
    /// The file.
    pub file: FileHandle,
    /// The directory that it was opened in and its name there.
    pub place: Option<(FileHandle, Box<[u8]>)>,
}

impl Listener {
    /// Starts a listener that watches no file system yet, and will receive handles.
    ///
    /// # Errors
    /// `EPERM` without `CAP_SYS_ADMIN`, `EINVAL` before Linux 5.9.
    pub(crate) fn for_handles() -> io::Result<Self> {
        Self::new(libc::FAN_REPORT_FID | libc::FAN_REPORT_DFID_NAME)
    }

    /// Starts a listener that watches no file system yet, and will receive open files.
    ///
    /// # Errors
    /// `EPERM` without `CAP_SYS_ADMIN`.
    pub(crate) fn for_files() -> io::Result<Self> {
        Self::new(0)
    }

    fn new(report: u32) -> io::Result<Self> {
        let flags = libc::FAN_CLASS_NOTIF | libc::FAN_CLOEXEC | libc::FAN_NONBLOCK | report;
        let open = libc::O_RDONLY | libc::O_LARGEFILE | libc::O_CLOEXEC | libc::O_NOATIME;
        let _raised = raise();
        // SAFETY: a plain system call; it returns a new descriptor or an error.
        let fd = unsafe { libc::fanotify_init(flags, open.unsigned_abs()) };
        super::check(fd.into())?;
        // SAFETY: just returned by the kernel, with no other owner.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(Self { fd, buffer: vec![0; 64 << 10] })
    }

    /// Watches every open on the file system that `path` is on.
    ///
    /// # Errors
    /// For handles, among others `EOPNOTSUPP` and `ENODEV` where there are none, and `EXDEV` where
    /// this listener must have no second file system.
    pub(crate) fn listen_to(&self, path: &Path) -> io::Result<()> {
        let path = std::ffi::CString::new(path.as_os_str().as_bytes())?;
        let _raised = raise();
        // SAFETY: `path` is a C string that outlives the call.
        let done = unsafe {
            libc::fanotify_mark(
                self.fd.as_raw_fd(),
                libc::FAN_MARK_ADD | libc::FAN_MARK_FILESYSTEM,
                libc::FAN_OPEN,
                libc::AT_FDCWD,
                path.as_ptr(),
            )
        };
        super::check(done.into()).map(drop)
    }

    /// Hands on every file opened since the last call, and the process that opened it.
    pub(crate) fn drain(&mut self, mut each: impl FnMut(Opened, i32)) -> io::Result<Seen> {
        let mut seen = Seen::default();
        loop {
            let bytes = match rustix::io::read(&self.fd, &mut self.buffer[..]) {
                Ok(bytes) => bytes,
                Err(rustix::io::Errno::INTR) => continue,
                // Empty; or out of descriptors, and the queue waits for the next call.
                Err(
                    rustix::io::Errno::AGAIN | rustix::io::Errno::MFILE | rustix::io::Errno::NFILE,
                ) => return Ok(seen),
                Err(_) => {
                    seen.overflowed = true;
                    return Ok(seen);
                }
            };
            let mut rest = &self.buffer[..bytes];
            while let Some((event, after)) = Event::first(rest) {
                rest = after;
                seen.overflowed |= event.mask & libc::FAN_Q_OVERFLOW != 0;
                let opened = if event.file >= 0 {
                    // SAFETY: the event carries a descriptor opened for this process, and is
                    // looked at once.
                    Some(Opened::File(unsafe { OwnedFd::from_raw_fd(event.file) }))
                } else {
                    called(event.records).map(Opened::Handle)
                };
                if let Some(opened) = opened {
                    seen.files += 1;
                    each(opened, event.process);
                }
            }
        }
    }

    /// The descriptor, to wait for.
    pub(crate) fn descriptor(&self) -> &OwnedFd {
        &self.fd
    }
}

/// `struct fanotify_event_metadata` and what follows it.
struct Event<'a> {
    mask: u64,
    file: i32,
    process: i32,
    records: &'a [u8],
}

impl<'a> Event<'a> {
    /// The first event of what was read, and the rest.
    fn first(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let length = u32::from_ne_bytes(array(bytes, 0)?) as usize;
        let head = usize::from(u16::from_ne_bytes(array(bytes, 6)?));
        let event = Self {
            mask: u64::from_ne_bytes(array(bytes, 8)?),
            file: i32::from_ne_bytes(array(bytes, 16)?),
            process: i32::from_ne_bytes(array(bytes, 20)?),
            records: bytes.get(head..length)?,
        };
        // Shorter than itself it would be met for ever.
        (length >= 24).then(|| Some((event, bytes.get(length..)?)))?
    }
}

/// What the records of an event call the file.
fn called(mut records: &[u8]) -> Option<Called> {
    let (mut found, mut place) = (None, None);
    while let Some(kind) = records.first() {
        let length = usize::from(u16::from_ne_bytes(array(records, 2)?));
        let record = records.get(..length).filter(|record| record.len() > 4)?;
        records = &records[length..];
        match *kind {
            libc::FAN_EVENT_INFO_TYPE_FID => {
                let half = |at| Some(u64::from(u32::from_ne_bytes(array(record, at)?)));
                let filesystem = half(4)? | half(8)? << 32;
                found = Some((filesystem, handle(record)?.0));
            }
            libc::FAN_EVENT_INFO_TYPE_DFID_NAME => {
                let (directory, name) = handle(record)?;
                let name = name.split(|&byte| byte == 0).next().unwrap_or_default();
                place = (!name.is_empty() && name != b".").then(|| (directory, name.into()));
            }
            _ => {}
        }
    }
    found.map(|(filesystem, file)| Called { filesystem, file, place })
}

/// The handle in a record, and what comes after it.
fn handle(record: &[u8]) -> Option<(FileHandle, &[u8])> {
    let bytes = u32::from_ne_bytes(array(record, 12)?) as usize;
    let kind = i32::from_ne_bytes(array(record, 16)?);
    let (payload, rest) = record.get(20..)?.split_at_checked(bytes)?;
    Some((FileHandle::new(kind, payload)?, rest))
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn record(kind: u8, handle: &[u8], name: &[u8]) -> Vec<u8> {
        let mut record = vec![kind, 0, 0, 0];
        record.extend(9u64.to_ne_bytes());
        record.extend(u32::try_from(handle.len()).unwrap().to_ne_bytes());
        record.extend(1i32.to_ne_bytes());
        record.extend(handle);
        record.extend(name);
        let length = u16::try_from(record.len()).unwrap().to_ne_bytes();
        record[2..4].copy_from_slice(&length);
        record
    }

    fn event(records: &[u8]) -> Vec<u8> {
        let length = u32::try_from(24 + records.len()).unwrap();
        let mut event = length.to_ne_bytes().to_vec();
        event.extend([3, 0, 24, 0]);
        event.extend(libc::FAN_OPEN.to_ne_bytes());
        event.extend((-1i32).to_ne_bytes());
        event.extend(77i32.to_ne_bytes());
        event.extend(records);
        event
    }

    #[test]
    fn an_event_is_taken_apart() {
        let file = FileHandle::new(1, &[7; 8]);
        let directory = FileHandle::new(1, &[2; 8]).unwrap();
        let with_name = [record(2, &[2; 8], b"a b\0\0"), record(1, &[7; 8], b"")].concat();
        let bytes = [event(&with_name), event(&record(1, &[7; 8], b""))].concat();
        let (first, rest) = Event::first(&bytes).unwrap();
        assert_eq!((first.process, first.file, first.mask), (77, -1, libc::FAN_OPEN));
        let got = called(first.records).unwrap();
        assert_eq!((got.filesystem, Some(&got.file)), (9, file.as_ref()));
        assert_eq!(got.place, Some((directory, b"a b".as_slice().into())));
        let (second, rest) = Event::first(rest).unwrap();
        assert_eq!(called(second.records).unwrap().place, None);
        assert!(rest.is_empty() && Event::first(rest).is_none());
    }

    proptest! {
        #[test]
        fn rubbish_is_no_event_and_no_panic(mut bytes: Vec<u8>, length in 0u8..80) {
            let _ = called(&bytes);
            if bytes.len() > 7 {
                bytes[..8].copy_from_slice(&[length, 0, 0, 0, 3, 0, 24, 0]);
            }
            let mut rest = &bytes[..];
            while let Some((event, after)) = Event::first(rest) {
                let _ = called(event.records);
                prop_assert!(after.len() < rest.len());
                rest = after;
            }
        }
    }
}
