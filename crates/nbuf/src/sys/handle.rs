//! A file by its inode number: `open_by_handle_at(2)` with a handle made by hand.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// The handle of ext2, ext3 and ext4: inode and generation, 0 standing for any generation
/// (`fs/ext4/super.c`, `ext4_nfs_get_inode`).
#[repr(C)]
struct Handle {
    bytes: u32,
    kind: i32,
    inode: u32,
    generation: u32,
}

/// Opens inode `inode` of the ext file system that `mount` (any descriptor on it) belongs to.
///
/// Other file systems check the generation and refuse. Needs `CAP_DAC_READ_SEARCH`.
pub fn open_ext_inode(mount: &OwnedFd, inode: u64) -> io::Result<OwnedFd> {
    let inode = u32::try_from(inode).map_err(|_| io::ErrorKind::InvalidInput)?;
    let mut handle = Handle { bytes: 8, kind: 1, inode, generation: 0 };
    // SAFETY: `handle` has the layout of `struct file_handle` with eight bytes of payload, as its
    // length field says, and outlives the call.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_open_by_handle_at,
            mount.as_raw_fd(),
            &raw mut handle,
            libc::O_RDONLY | libc::O_PATH | libc::O_CLOEXEC,
        )
    };
    let fd = i32::try_from(super::check(fd)?).map_err(io::Error::other)?;
    // SAFETY: just returned by the kernel, owned by nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}
