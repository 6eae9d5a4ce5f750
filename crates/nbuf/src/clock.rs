//! The one place that asks what time it is, and where chance comes from. Everything else is told.

mod seed;

pub use seed::Random;

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Time since 1970; nothing when the machine's clock is set before that.
#[expect(clippy::disallowed_methods, reason = "this is the clock")]
pub fn unix_time() -> Option<Duration> {
    SystemTime::now().duration_since(UNIX_EPOCH).ok()
}

/// Measures elapsed time.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts now.
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Since the start.
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}
