//! How fast a client goes on where it must.

use crate::units::Nanos;

/// Bytes a second that a client moves at least while it is within a request, or has replies to take.
const BYTES_A_SECOND_MIN: f64 = 16_384.0;

/// What a client has moved since it began to owe something: the rest of a request, or the taking of replies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    since: Nanos,
    pub(super) bytes: u64,
    /// Whether a request or all replies were complete since the last look.
    pub(super) has_gone_on: bool,
}

impl Pace {
    pub(super) fn from(since: Nanos) -> Self {
        Self { since, bytes: 0, has_gone_on: false }
    }

    /// Whether it moved too little in this time. If the time is over, the next begins.
    pub(super) fn is_slow(&mut self, now: Nanos, timeout: Nanos) -> bool {
        if now - self.since <= timeout {
            return false;
        }
        let is_slow = (self.bytes as f64) < BYTES_A_SECOND_MIN * timeout.seconds();
        *self = Self::from(now);
        is_slow
    }
}
