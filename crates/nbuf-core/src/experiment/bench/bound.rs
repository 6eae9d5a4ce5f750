//! What bounds the rate of a row, and so by how much its next run differs.
//!
//! The processes of a run have the same neighbours, so their ranks and ranges show less than runs differ by.
//! Samples count only where nothing shared their core. What shares the memory and its last cache cannot be
//! seen, and the speed of the disc changes from hour to hour. The figures are from the runs in `docs/performance.md`.

use super::comparisons::waits_for_device;
use crate::experiment::result::State;

/// Rows above this part of what the processor copies in its caches are bound by memory. Mappings that are
/// read in blocks reach 0.7 here, and everything that calls at most 0.16.
const MEMORY_PART: f64 = 0.5;
/// The same of files that the last cache cannot hold.
const MEMORY_PART_LARGE: f64 = 0.1;

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
    /// Of a row with this path and state, with this rate in bytes a second on a file of this many bytes. The
    /// machine has a rate of copies within its caches, and the bytes of the last of them; 0 is not known.
    pub(super) fn of(
        (path, state): (&str, State),
        (rate, size_bytes): (f64, u64),
        (copy_rate, cache_bytes): (f64, u64),
    ) -> Self {
        let is_large = cache_bytes > 0 && size_bytes > cache_bytes;
        let part = if is_large { MEMORY_PART_LARGE } else { MEMORY_PART };
        let moves_data = path != "null" && copy_rate > 0.0;
        if waits_for_device(state) {
            Self::Device
        } else if moves_data && rate > part * copy_rate {
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
        let check = |path, state, rate: f64, size_bytes, machine, want: Bound| {
            let bound = Bound::of((path, state), (rate, size_bytes), machine);
            assert_eq!(bound, want, "{path} {state:?} {rate} {size_bytes} {machine:?}");
        };
        let (here, unknown) = ((5e10, 32 << 20), (0.0, 0));
        check("read", State::Hot, 1e6, 10 << 20, here, Bound::Processor);
        check("read", State::Hot, 8e9, 10 << 20, here, Bound::Processor);
        check("mmap", State::Hot, 3.5e10, 10 << 20, here, Bound::Memory);
        check("read", State::Hot, 8e9, 64 << 20, here, Bound::Memory);
        check("read", State::Hot, 1e9, 64 << 20, here, Bound::Processor);
        check("mmap", State::Hot, 3.5e10, 64 << 20, unknown, Bound::Processor);
        check("null", State::Hot, 1e12, 64 << 20, here, Bound::Processor);
        check("write-sync", State::Synced, 3.5e10, 10 << 20, here, Bound::Device);
        check("read", State::Cold, 1e6, 10 << 20, here, Bound::Device);
    }
}
