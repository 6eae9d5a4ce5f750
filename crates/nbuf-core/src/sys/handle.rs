//! File handles: what the kernel calls a file without holding it. `name_to_handle_at(2)` and
//! `open_by_handle_at(2)`.

use std::io;
use std::mem::offset_of;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use super::rights::capability::raise;

/// The longest payload the kernel gives or takes (`MAX_HANDLE_SZ`).
const BYTES_MAX: usize = 128;

/// Inode and generation, 32 bits each (`FILEID_INO32_GEN`).
const INODE_32: i32 = 1;

/// The handle of a file: it means something to the file system that made it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FileHandle {
    kind: i32,
    payload: Box<[u8]>,
}

/// `struct file_handle` with room for every payload.
#[repr(C)]
struct Raw {
    bytes: u32,
    kind: i32,
    payload: [u8; BYTES_MAX],
}

impl FileHandle {
    /// A handle that was read elsewhere; nothing if it is longer than any.
    pub(crate) fn new(kind: i32, payload: &[u8]) -> Option<Self> {
        (payload.len() <= BYTES_MAX).then(|| Self { kind, payload: payload.into() })
    }

    /// Returns a handle of ext2, ext3 and ext4: inode and generation, where 0 stands for any
    /// generation (`fs/ext4/super.c`, `ext4_nfs_get_inode`).
    pub(crate) fn of_ext_inode(inode: u64) -> Option<Self> {
        let inode = u32::try_from(inode).ok()?;
        let payload: Vec<u8> = [inode, 0].into_iter().flat_map(u32::to_ne_bytes).collect();
        Self::new(INODE_32, &payload)
    }

    /// The handle of an open file.
    pub(crate) fn of_file(file: BorrowedFd<'_>) -> io::Result<Self> {
        let bytes = u32::try_from(BYTES_MAX).map_err(io::Error::other)?;
        let mut raw = Raw { bytes, kind: 0, payload: [0; BYTES_MAX] };
        let mut mount = 0;
        // SAFETY: the path is a C string; `raw` has the layout of `struct file_handle` with as much
        // payload as its length field says; all of them outlive the call.
        let done = unsafe {
            libc::syscall(
                libc::SYS_name_to_handle_at,
                file.as_raw_fd(),
                c"".as_ptr(),
                &raw mut raw,
                &raw mut mount,
                libc::AT_EMPTY_PATH,
            )
        };
        super::check(done)?;
        let payload = raw.payload.get(..raw.bytes as usize);
        payload.and_then(|payload| Self::new(raw.kind, payload)).ok_or(io::ErrorKind::Other.into())
    }

    /// What kind of handle it is: each file system has its own.
    pub(crate) fn kind(&self) -> i32 {
        self.kind
    }

    /// Its numbers of 32 bits.
    pub(crate) fn word(&self, at: usize) -> Option<u32> {
        let bytes = self.payload.get(at * 4..at * 4 + 4)?;
        Some(u32::from_ne_bytes(bytes.try_into().ok()?))
    }

    /// A number of 64 bits at the front.
    pub(crate) fn long(&self) -> Option<u64> {
        Some(u64::from_ne_bytes(self.payload.get(..8)?.try_into().ok()?))
    }

    /// Bytes that it takes.
    #[cfg(test)]
    pub(crate) fn payload_bytes(&self) -> usize {
        self.payload.len()
    }

    /// Opens the file on the file system that `mount` (any file or directory that is open on it)
    /// belongs to, as by `O_PATH`: to look at it, not to read it.
    ///
    /// `ESTALE` if it is no more. Needs `CAP_DAC_READ_SEARCH`.
    pub(crate) fn open(&self, mount: BorrowedFd<'_>) -> io::Result<OwnedFd> {
        let bytes = u32::try_from(self.payload.len()).map_err(io::Error::other)?;
        let mut raw = Raw { bytes, kind: self.kind, payload: [0; BYTES_MAX] };
        raw.payload[..self.payload.len()].copy_from_slice(&self.payload);
        let _raised = raise();
        // SAFETY: `raw` has the layout of `struct file_handle` and more payload than its length
        // field says, and outlives the call.
        let fd = unsafe {
            libc::syscall(
                libc::SYS_open_by_handle_at,
                mount.as_raw_fd(),
                &raw mut raw,
                libc::O_PATH | libc::O_CLOEXEC,
            )
        };
        let fd = i32::try_from(super::check(fd)?).map_err(io::Error::other)?;
        // SAFETY: just returned by the kernel, with no other owner.
        Ok(unsafe { OwnedFd::from_raw_fd(fd) })
    }
}

const _: () = assert!(offset_of!(Raw, payload) == 8);

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn a_handle_is_its_numbers() {
        let handle = FileHandle::of_ext_inode(7).unwrap();
        let words = [handle.word(0), handle.word(1), handle.word(2)];
        assert_eq!(
            (handle.kind(), handle.payload_bytes(), words),
            (1, 8, [Some(7), Some(0), None])
        );
        assert_eq!(FileHandle::of_ext_inode(1 << 32), None);
        assert_eq!(FileHandle::new(1, &[0; BYTES_MAX + 1]), None);
    }

    #[test]
    fn a_file_has_one_handle_by_whatever_name() {
        let place = tempfile::tempdir().unwrap();
        let names = ["a", "b"].map(|name| place.path().join(name));
        std::fs::write(&names[0], "").unwrap();
        std::fs::hard_link(&names[0], &names[1]).unwrap();
        let open = |name| std::fs::File::open(name).unwrap();
        let handles = names.each_ref().map(|name| FileHandle::of_file(open(name).as_fd()).ok());
        assert_eq!(handles[0], handles[1]);
        let directory = FileHandle::of_file(open(&place.path().to_path_buf()).as_fd()).ok();
        assert!(directory.is_none() || directory != handles[0]);
    }
}
