//! Time lost in a group, as the kernel accounts it.

use std::fs;
use std::path::Path;

/// Time lost to want of memory and of I/O, in nanoseconds: `/proc/pressure`, for one group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pressure {
    /// Some task waited for memory.
    pub memory_some_ns: u64,
    /// Some task waited for I/O.
    pub io_some_ns: u64,
}

impl Pressure {
    /// The pressure of a group of the unified hierarchy; zero where the kernel does not report it.
    pub(super) fn of(directory: &Path) -> Self {
        let total = |file: &str| {
            some_total_ns(&fs::read_to_string(directory.join(file)).unwrap_or_default())
        };
        Self { memory_some_ns: total("memory.pressure"), io_some_ns: total("io.pressure") }
    }
}

/// The `total=` of the `some` line of a pressure file, from microseconds.
pub(super) fn some_total_ns(text: &str) -> u64 {
    text.lines()
        .find_map(|line| line.strip_prefix("some "))
        .and_then(|line| line.split("total=").nth(1))
        .and_then(|total| total.trim().parse::<u64>().ok())
        .map_or(0, |micros| micros.saturating_mul(1000))
}
