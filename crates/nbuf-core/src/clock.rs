//! The one place that reads the clock, and the source of random numbers. Other code gets both as
//! arguments.

mod seed;

pub use seed::Random;

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::units::Nanos;

/// The time since 1970; `None` if the machine's clock is set before that.
#[expect(clippy::disallowed_methods, reason = "this is the clock")]
pub fn unix_time() -> Option<Duration> {
    SystemTime::now().duration_since(UNIX_EPOCH).ok()
}

/// Measures elapsed time on the monotonic clock.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts the measurement.
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// The time since the start.
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }

    /// The same in nanoseconds.
    pub fn nanos(&self) -> Nanos {
        Nanos(u64::try_from(self.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }
}
