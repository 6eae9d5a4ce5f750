//! What bounds the rate of a row, and so by how much its next run differs.
//!
//! The processes of a run have the same neighbours, so their ranks and ranges show less than runs differ by.
//! Samples count only where nothing shared their core. What shares the memory and its last cache cannot be
//! seen, and the speed of the disc changes from hour to hour. The figures are from the runs in `docs/performance.md`.

use super::comparisons::waits_for_device;
use crate::experiment::result::{BenchSample, State};

/// Rows above this part of what the processor copies in its caches are bound by memory. Mappings that are
/// read in blocks reach 0.7 here, and everything that calls at most 0.16.
const MEMORY_PART: f64 = 0.5;
/// The same of files that the last cache cannot hold.
const MEMORY_PART_LARGE: f64 = 0.1;
/// Readers above this part use the last cache enough that its other users slow them.
const CACHE_PART: f64 = 0.05;
/// The same of writers, whose new pages are in no cache.
const CACHE_PART_WRITE: f64 = 0.01;

/// How much wider a range is where no sample had its core for itself, as a part of the rate. The neighbours slow the
/// caches for samples that look clean, too.
const DISTURBED: f64 = 0.02;

/// How much wider the range of these samples is, by the share of them that a neighbour disturbed.
pub(super) fn disturbed(samples: &[BenchSample]) -> f64 {
    let clean = samples.iter().filter(|sample| sample.is_clean).count() as f64;
    DISTURBED * (1.0 - clean / samples.len().max(1) as f64)
}

/// A loop in registers that took longer than this many times the shortest shared its core: it says nothing of the
/// clock.
const LOOP_SHARED: f64 = 1.25;

/// How much wider each range is because the processor's clock changes: the standard deviation of the loops in
/// registers that had their core for themselves, as a part of their mean. A clock stays for seconds or minutes, so
/// the next run may have another one throughout. Loops are rates.
pub(super) fn clock_part(loops: &[f64]) -> f64 {
    let fastest = loops.iter().copied().fold(0.0, f64::max);
    let alone: Vec<f64> = loops.iter().copied().filter(|it| it * LOOP_SHARED >= fastest).collect();
    let mean = alone.iter().sum::<f64>() / alone.len().max(1) as f64;
    let squares: f64 = alone.iter().map(|it| (it - mean).powi(2)).sum();
    if mean > 0.0 { (squares / alone.len() as f64).sqrt() / mean } else { 0.0 }
}

/// What a row did.
#[derive(Clone, Copy, Debug)]
pub(super) struct Did<'a> {
    /// Its path, by name.
    pub path: &'a str,
    /// What its file was like before.
    pub state: State,
    /// Whether it writes.
    pub is_write: bool,
    /// Bytes a second.
    pub rate: f64,
    /// Bytes of its file.
    pub size_bytes: u64,
}

/// What a row waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    /// The processor: work and calls.
    Processor,
    /// The processor, and for a part of its time the last cache.
    Cache,
    /// The last cache and the memory, which neighbours share.
    Memory,
    /// A device.
    Device,
}

impl Bound {
    /// The bound of a row on a machine whose caches copy at this rate and whose last cache has these bytes;
    /// 0 is not known.
    pub(super) fn of(row: Did<'_>, (copy_rate, cache_bytes): (f64, u64)) -> Self {
        let is_large = cache_bytes > 0 && row.size_bytes > cache_bytes;
        let memory_part = if is_large { MEMORY_PART_LARGE } else { MEMORY_PART };
        let cache_part = if row.is_write { CACHE_PART_WRITE } else { CACHE_PART };
        let moves_data = row.path != "null" && copy_rate > 0.0;
        if waits_for_device(row.state) {
            Self::Device
        } else if moves_data && row.rate > memory_part * copy_rate {
            Self::Memory
        } else if moves_data && row.rate > cache_part * copy_rate {
            Self::Cache
        } else {
            Self::Processor
        }
    }

    /// How much wider a range is than its processes show, as a part of the rate.
    pub(super) const fn range(self) -> f64 {
        match self {
            Self::Processor => 0.005,
            Self::Cache => 0.02,
            Self::Memory => 0.06,
            Self::Device => 0.03,
        }
    }

    /// By what part two runs of one program may differ before `--compare` calls that firm.
    pub(super) const fn limit(self) -> f64 {
        match self {
            Self::Processor | Self::Cache => 0.04,
            Self::Memory | Self::Device => 0.12,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disturbed_samples_make_a_range_wider() {
        let check = |clean: usize, all: usize, want: f64| {
            let sample = |at| BenchSample { is_clean: at < clean, ..BenchSample::default() };
            let samples: Vec<BenchSample> = (0..all).map(sample).collect();
            assert!((disturbed(&samples) - want).abs() < 1e-12, "{clean} of {all}");
        };
        check(8, 8, 0.0);
        check(4, 8, DISTURBED / 2.0);
        check(0, 8, DISTURBED);
    }

    #[test]
    fn a_clock_that_changes_makes_ranges_wider() {
        let check = |loops: &[f64], want: f64| {
            assert!((clock_part(loops) - want).abs() < 1e-12, "{loops:?}");
        };
        check(&[], 0.0);
        check(&[100.0; 7], 0.0);
        check(&[95.0, 105.0, 95.0, 105.0], 0.05);
        // Two of these had company.
        check(&[95.0, 105.0, 60.0, 95.0, 50.0, 105.0], 0.05);
    }

    #[test]
    fn a_row_is_bound_by_what_it_waits_for() {
        let check = |path, state, rate: f64, size_bytes, machine, want: Bound| {
            for is_write in [false, true] {
                let row = Did { path, state, is_write, rate, size_bytes };
                assert_eq!(Bound::of(row, machine), want, "{row:?} {machine:?}");
            }
        };
        let (here, unknown) = ((5e10, 32 << 20), (0.0, 0));
        check("read", State::Hot, 1e6, 10 << 20, here, Bound::Processor);
        check("read", State::Hot, 8e9, 10 << 20, here, Bound::Cache);
        check("mmap", State::Hot, 3.5e10, 10 << 20, here, Bound::Memory);
        check("read", State::Hot, 8e9, 64 << 20, here, Bound::Memory);
        check("read", State::Hot, 4e8, 64 << 20, here, Bound::Processor);
        check("mmap", State::Hot, 3.5e10, 64 << 20, unknown, Bound::Processor);
        check("null", State::Hot, 1e12, 64 << 20, here, Bound::Processor);
        check("write-sync", State::Synced, 3.5e10, 10 << 20, here, Bound::Device);
        check("read", State::Cold, 1e6, 10 << 20, here, Bound::Device);
        let (path, state, size_bytes) = ("read", State::Hot, 10 << 20);
        let of = |is_write| Bound::of(Did { path, state, is_write, rate: 1e9, size_bytes }, here);
        assert_eq!([of(false), of(true)], [Bound::Processor, Bound::Cache]);
    }
}
