//! The signals that end a server: the first one in order, the second one at once.

use std::sync::atomic::{AtomicU32, Ordering};

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
}

impl<'a> Ends<'a> {
    pub(super) fn new(cancellation: &'a Cancellation, excepts_hang_up: bool) -> Self {
        Self { cancellation, excepts_hang_up, count: AtomicU32::new(0) }
    }

    /// Takes the signals that came. How many end the server until now, and whether settings are to be read again.
    pub(super) fn take(&self) -> (u32, bool) {
        let mut is_hung_up = false;
        while let Some(signal) = self.cancellation.take() {
            if self.excepts_hang_up && signal.number == HANG_UP {
                is_hung_up = true;
            } else {
                self.count.fetch_add(1, Ordering::SeqCst);
            }
        }
        (self.count.load(Ordering::SeqCst), is_hung_up)
    }

    /// Whether the second one came.
    pub(super) fn is_second(&self) -> bool {
        self.take().0 > 1
    }
}
