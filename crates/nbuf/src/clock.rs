//! The one place that asks what time it is. Everything else is told.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Time since 1970; nothing when the machine's clock is set before that.
#[expect(clippy::disallowed_methods, reason = "this is the clock")]
pub fn unix_time() -> Option<Duration> {
    SystemTime::now().duration_since(UNIX_EPOCH).ok()
}
