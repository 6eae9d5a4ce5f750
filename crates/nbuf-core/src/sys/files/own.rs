//! Names that mean a descriptor of this process: `/dev/stdout`, `/dev/fd/3`, `/proc/self/fd/3`.
//!
//! They are never opened: that would be with this process's rights, and the broker has other
//! descriptors by those numbers.

use std::fs::File;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd, RawFd};
use std::path::Path;

/// The number of the descriptor that a path means; none for other paths.
pub(crate) fn descriptor(path: &Path) -> Option<RawFd> {
    let text = path.to_str()?;
    match text {
        "/dev/stdin" => return Some(0),
        "/dev/stdout" => return Some(1),
        "/dev/stderr" => return Some(2),
        _ => {}
    }
    let digits = text.strip_prefix("/dev/fd/").or_else(|| text.strip_prefix("/proc/self/fd/"))?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| is_number)
}

/// A descriptor of ours once more.
///
/// # Errors
/// `EBADF` when there is none by this number.
pub(crate) fn duplicate(number: RawFd) -> io::Result<File> {
    if number < 0 {
        return Err(io::Error::from_raw_os_error(libc::EBADF));
    }
    // SAFETY: borrowed for one call, which fails when the number is no descriptor; what it stands for is
    // neither closed nor written to here.
    let borrowed = unsafe { BorrowedFd::borrow_raw(number) };
    let file: OwnedFd = rustix::io::fcntl_dupfd_cloexec(borrowed, 3)?;
    Ok(file.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_descriptors_are_known() {
        let cases = [
            ("/dev/stdin", Some(0)),
            ("/dev/stdout", Some(1)),
            ("/dev/fd/63", Some(63)),
            ("/proc/self/fd/7", Some(7)),
            ("/dev/fd/", None),
            ("/dev/fd/+3", None),
            ("/dev/fd/3/x", None),
            ("/dev/null", None),
            ("stdout", None),
        ];
        for (path, want) in cases {
            assert_eq!(descriptor(Path::new(path)), want, "{path}");
        }
        assert!(duplicate(1_000_000).is_err() && duplicate(0).is_ok());
    }
}
