//! The calls on files as programs make them: through the C library.
//!
//! rustix compiles the `syscall` instruction in place, which no C, C++ or Rust `std` program does. What a
//! path times are therefore these. `read-raw` shows the difference (`docs/performance.md`). Errors and short counts are given back as they come; nothing is called
//! again. Cost: a call of a shared library and the test of its result.

use std::os::fd::{AsFd, AsRawFd};

use rustix::io::Errno;

/// `read`, at the position of the descriptor.
#[inline]
pub fn read(file: impl AsFd, buffer: &mut [u8]) -> Result<usize, Errno> {
    let number = file.as_fd().as_raw_fd();
    // SAFETY: the descriptor is borrowed, and the kernel writes into the buffer alone.
    counted(unsafe { libc::read(number, buffer.as_mut_ptr().cast(), buffer.len()) })
}

/// `write`, at the position of the descriptor.
#[inline]
pub fn write(file: impl AsFd, bytes: &[u8]) -> Result<usize, Errno> {
    let number = file.as_fd().as_raw_fd();
    // SAFETY: the descriptor is borrowed, and the kernel only reads the bytes.
    counted(unsafe { libc::write(number, bytes.as_ptr().cast(), bytes.len()) })
}

/// `lseek` to a place counted from the beginning.
#[inline]
pub fn seek(file: impl AsFd, offset_bytes: u64) -> Result<(), Errno> {
    let number = file.as_fd().as_raw_fd();
    // SAFETY: the descriptor is borrowed; no memory is involved.
    let at = unsafe { libc::lseek64(number, offset_bytes.cast_signed(), libc::SEEK_SET) };
    if at < 0 { Err(last()) } else { Ok(()) }
}

/// `pread`.
#[inline]
pub fn pread(file: impl AsFd, buffer: &mut [u8], offset_bytes: u64) -> Result<usize, Errno> {
    let (number, at) = (file.as_fd().as_raw_fd(), offset_bytes.cast_signed());
    // SAFETY: as `read`.
    counted(unsafe { libc::pread64(number, buffer.as_mut_ptr().cast(), buffer.len(), at) })
}

/// `pwrite`.
#[inline]
pub fn pwrite(file: impl AsFd, bytes: &[u8], offset_bytes: u64) -> Result<usize, Errno> {
    let (number, at) = (file.as_fd().as_raw_fd(), offset_bytes.cast_signed());
    // SAFETY: as `write`.
    counted(unsafe { libc::pwrite64(number, bytes.as_ptr().cast(), bytes.len(), at) })
}

/// `preadv2` into one buffer, with flags (`RWF_…`).
#[inline]
pub fn preadv2(
    file: impl AsFd,
    buffer: &mut [u8],
    offset_bytes: u64,
    flags: i32,
) -> Result<usize, Errno> {
    let (number, at) = (file.as_fd().as_raw_fd(), offset_bytes.cast_signed());
    let part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: as `read`; the one part lives as long as the call.
    counted(unsafe { libc::preadv2(number, &raw const part, 1, at, flags) })
}

/// `pwritev2` of one buffer, with flags (`RWF_…`).
#[inline]
pub fn pwritev2(
    file: impl AsFd,
    bytes: &[u8],
    offset_bytes: u64,
    flags: i32,
) -> Result<usize, Errno> {
    let (number, at) = (file.as_fd().as_raw_fd(), offset_bytes.cast_signed());
    let part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    // SAFETY: as `write`; the one part lives as long as the call.
    counted(unsafe { libc::pwritev2(number, &raw const part, 1, at, flags) })
}

/// The name and version of the C library: `glibc 2.36`, `musl`.
///
/// musl does not tell its version to programs.
pub fn c_library() -> String {
    #[cfg(target_env = "gnu")]
    {
        // SAFETY: a string without end of life, which ends in zero.
        let version = unsafe { std::ffi::CStr::from_ptr(libc::gnu_get_libc_version()) };
        format!("glibc {}", version.to_string_lossy())
    }
    #[cfg(not(target_env = "gnu"))]
    if cfg!(target_env = "musl") { "musl".to_owned() } else { "unknown".to_owned() }
}

#[inline]
fn counted(count: isize) -> Result<usize, Errno> {
    usize::try_from(count).map_err(|_| last())
}

/// What the last call of this thread said.
#[cold]
fn last() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn calls_do_what_their_names_say() {
        let file = tempfile::tempfile().unwrap();
        assert_eq!(write(&file, b"abcdef"), Ok(6));
        assert_eq!(pwrite(&file, b"XY", 2), Ok(2));
        assert_eq!(pwritev2(&file, b"Z", 5, 0), Ok(1));
        let mut buffer = [0; 4];
        assert_eq!(pread(&file, &mut buffer, 1), Ok(4));
        assert_eq!(&buffer, b"bXYe");
        assert_eq!(seek(&file, 4), Ok(()));
        assert_eq!(read(&file, &mut buffer), Ok(2));
        assert_eq!(&buffer[..2], b"eZ");
        assert_eq!(read(&file, &mut buffer), Ok(0));
        assert_eq!(preadv2(&file, &mut buffer[..1], 0, 0), Ok(1));
        assert_eq!(buffer[0], b'a');
    }

    #[test]
    fn what_the_kernel_refuses_is_its_error() {
        let directory = File::open("/").unwrap();
        assert_eq!(read(&directory, &mut [0]), Err(Errno::ISDIR));
        assert_eq!(write(&directory, &[0]), Err(Errno::BADF));
        assert_eq!(seek(&directory, u64::MAX), Err(Errno::INVAL));
    }

    #[test]
    fn the_library_has_a_name() {
        let name = c_library();
        assert!(name == "musl" || name.starts_with("glibc 2."), "{name}");
    }
}
