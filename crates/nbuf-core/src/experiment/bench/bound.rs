//! What bounds the rate of a row, and so by how much its next run differs.
//!
//! The processes of a run have the same neighbours, so their ranks and ranges show less than runs differ by.
//! Samples count only where nothing shared their core. What shares the memory and its last cache cannot be
//! seen, and the disc is another one each hour. The figures are from the runs in `docs/performance.md`.

use super::comparisons::waits_for_device;
use crate::experiment::result::State;

/// Rows above this part of what the processor copies in its caches are bound by memory. Mappings that are
/// read in blocks reach 0.7 here, and everything that calls at most 0.16.
const MEMORY_PART: f64 = 0.5;

/// What a row waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    /// The processor: work and calls.
    Processor,
    /// The last cache and the memory, which neighbours share.
    Memory,
    /// A device.
    Device,
}

impl Bound {
    /// Of a row that begins in this state and has this rate, where the processor copies so much in its
    /// caches, in bytes a second. A copy rate of 0 is not known.
    pub(super) fn of(state: State, rate: f64, copy_rate: f64) -> Self {
        if waits_for_device(state) {
            Self::Device
        } else if copy_rate > 0.0 && rate > MEMORY_PART * copy_rate {
            Self::Memory
        } else {
            Self::Processor
        }
    }

    /// How much wider a range is than its processes show, as a part of the rate.
    pub(super) const fn range(self) -> f64 {
        match self {
            Self::Processor => 0.0125,
            Self::Memory => 0.06,
            Self::Device => 0.12,
        }
    }

    /// By what part two runs of one program may differ before `--compare` calls that firm.
    pub(super) const fn limit(self) -> f64 {
        match self {
            Self::Processor => 0.04,
            Self::Memory | Self::Device => 0.12,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_bound_by_what_it_waits_for() {
        let check = |state, rate: f64, copy_rate: f64, want: Bound| {
            assert_eq!(Bound::of(state, rate, copy_rate), want, "{state:?} {rate} {copy_rate}");
        };
        check(State::Hot, 1e6, 5e10, Bound::Processor);
        check(State::Hot, 8e9, 5e10, Bound::Processor);
        check(State::Hot, 3.5e10, 5e10, Bound::Memory);
        check(State::Hot, 3.5e10, 0.0, Bound::Processor);
        check(State::Synced, 3.5e10, 5e10, Bound::Device);
        check(State::Cold, 1e6, 5e10, Bound::Device);
    }
}
