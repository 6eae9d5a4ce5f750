//! The end of a step, for all users at once: a pipe that nothing is written to. Its end is the end.

use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Mutex, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::sys::process::monotonic_ns;

/// Can be waited for by many threads, and called once.
#[derive(Debug)]
pub(super) struct Stop {
    over: PipeReader,
    open: Mutex<Option<PipeWriter>>,
}

impl Stop {
    pub(super) fn new() -> io::Result<Self> {
        let (over, open) = io::pipe()?;
        Ok(Self { over, open: Mutex::new(Some(open)) })
    }

    /// The step is over now.
    pub(super) fn now(&self) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Is readable once the step is over.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.over.as_fd()
    }

    /// Waits until a time on the monotonic clock. Whether the step still goes on.
    pub(super) fn comes_not_before(&self, until_ns: u64) -> bool {
        loop {
            let left_ns = until_ns.saturating_sub(monotonic_ns());
            let seconds = i64::try_from(left_ns / 1_000_000_000).unwrap_or(i64::MAX);
            let left = i64::try_from(left_ns % 1_000_000_000).unwrap_or(0);
            let left = Timespec { tv_sec: seconds, tv_nsec: left };
            let mut waiting = [PollFd::from_borrowed_fd(self.over.as_fd(), PollFlags::IN)];
            // An interruption is no end; nothing else can fail.
            let ready = poll(&mut waiting, Some(&left)).unwrap_or(0);
            if ready > 0 {
                return false;
            }
            if left_ns == 0 {
                return true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_by_its_time_or_by_the_end_of_the_step() {
        let stop = Stop::new().unwrap();
        let until_ns = monotonic_ns() + 20_000_000;
        assert!(stop.comes_not_before(until_ns) && monotonic_ns() >= until_ns);
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| stop.comes_not_before(monotonic_ns() + (1 << 60)));
            stop.now();
            assert!(!waits.join().unwrap());
        });
        assert!(!stop.comes_not_before(0));
    }
}
