//! The signals that end a server: the first one in order, the second one at once.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::experiment::session::Cancellation;

/// The number of SIGHUP.
const HANG_UP: i32 = 1;

/// Counts them, for any thread.
#[derive(Debug)]
pub(super) struct Ends<'a> {
    cancellation: &'a Cancellation,
    /// Whether SIGHUP ends nothing, as settings are read again then.
    excepts_hang_up: bool,
    count: AtomicU32,
    /// Whether a SIGHUP came for which nothing was read again yet.
    is_hung_up: AtomicBool,
}

impl<'a> Ends<'a> {
    pub(super) fn new(cancellation: &'a Cancellation, excepts_hang_up: bool) -> Self {
        let (count, is_hung_up) = (AtomicU32::new(0), AtomicBool::new(false));
        Self { cancellation, excepts_hang_up, count, is_hung_up }
    }

    /// Takes the signals that came. How many end the server until now; a session that was stopped otherwise counts as one.
    pub(super) fn count(&self) -> u32 {
        let is_for_settings = |number: i32| self.excepts_hang_up && number == HANG_UP;
        while let Some(signal) = self.cancellation.take() {
            if is_for_settings(signal.number) {
                self.is_hung_up.store(true, Ordering::SeqCst);
            } else {
                self.count.fetch_add(1, Ordering::SeqCst);
            }
        }
        let last = self.cancellation.signal().filter(|&number| !is_for_settings(number));
        self.count.load(Ordering::SeqCst).max(u32::from(last.is_some()))
    }

    /// The same, and whether settings are to be read again.
    pub(super) fn take(&self) -> (u32, bool) {
        let count = self.count();
        (count, self.is_hung_up.swap(false, Ordering::SeqCst))
    }

    /// Whether the second one came.
    pub(super) fn is_second(&self) -> bool {
        self.count() > 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_that_was_stopped_has_one_signal() {
        let cancellation = Cancellation::without_signals();
        let ends = Ends::new(&cancellation, true);
        assert_eq!((ends.count(), ends.take()), (0, (0, false)));
        cancellation.note(HANG_UP);
        assert_eq!(ends.count(), 0, "settings are read again");
        cancellation.stopper().stop();
        assert_eq!((ends.take(), ends.is_second()), ((1, false), false));
    }
}
