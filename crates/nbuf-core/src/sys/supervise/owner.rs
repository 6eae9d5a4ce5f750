//! Whether the process we serve is still alive. Async-signal-safe, nothing allocated.
//!
//! The end of a socket tells of its death, but late: the kernel first takes its memory apart, and the rings
//! of tracepoints in it cannot be let go while a fork bomb inherits them. So its state is looked at, too.

use std::ffi::{c_char, c_int};
use std::os::fd::RawFd;

/// It is on its way out (`include/linux/sched.h`).
const PF_EXITING: u64 = 4;
/// How often to look.
pub(in crate::sys) const LOOK_MS: c_int = 100;

/// A process, by its open `/proc/PID/stat`.
#[derive(Debug)]
pub(in crate::sys) struct Owner {
    stat: RawFd,
}

impl Owner {
    /// The parent of this process. The descriptor is never closed.
    pub(in crate::sys) unsafe fn parent() -> Self {
        let mut path = [0u8; 64];
        // SAFETY: the buffer is a live local of the length that is passed, and ends with a zero byte.
        let stat = unsafe {
            let (into, form) = (path.as_mut_ptr().cast::<c_char>(), c"/proc/%d/stat".as_ptr());
            // snprintf(3) of one number allocates nothing and takes no lock.
            libc::snprintf(into, path.len(), form, libc::getppid());
            libc::open(path.as_ptr().cast(), libc::O_RDONLY | libc::O_CLOEXEC)
        };
        Self { stat }
    }

    /// Its descriptor, to be kept open.
    pub(in crate::sys) fn descriptor(&self) -> RawFd {
        self.stat
    }

    /// Whether it is dead or dying. Where that cannot be seen, it is not.
    pub(in crate::sys) unsafe fn is_dying(&self) -> bool {
        if self.stat < 0 {
            return false;
        }
        let mut text = [0u8; 1024];
        // SAFETY: the buffer is a live local of the length that is passed.
        let got = unsafe { libc::pread(self.stat, text.as_mut_ptr().cast(), text.len(), 0) };
        match usize::try_from(got) {
            Ok(got) => flags(&text[..got]).is_some_and(|flags| flags & PF_EXITING != 0),
            // It has been waited for. Any other error says nothing of it.
            // SAFETY: reading this thread's errno.
            Err(_) => unsafe { *libc::__errno_location() == libc::ESRCH },
        }
    }
}

/// The ninth field; the second is a name in brackets, in which anything may stand.
fn flags(stat: &[u8]) -> Option<u64> {
    let name_end = stat.iter().rposition(|&byte| byte == b')')?;
    let field = stat[name_end..].split(|&byte| byte == b' ').nth(7)?;
    std::str::from_utf8(field).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flags_are_found_behind_any_name() {
        let line = b"7 (a) 1 (b) S 1 7 7 0 -1 4194564 100 0 0 0 0";
        assert_eq!(flags(line), Some(4_194_564));
        assert_eq!((flags(b""), flags(b"7 (a) S 1")), (None, None));
    }
}
