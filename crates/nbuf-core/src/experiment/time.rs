//! How long a run would take at a size: its work, and its waits for the disc.
//!
//! Work is the elapsed time of the recording without what it waited and what recording cost. Waits are
//! simulated request by request, at the service time that the recording shows, or else reads of the
//! same files just now; or at a rate that is imposed. An estimate until it is verified: other work on
//! the machine, writes, and what a device does in parallel are not in it.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::predict::Overhead;
use super::result::{Curve, Recommend, TimePoint, TimeReport};
use crate::cache::kernel::{Disc, Replacement, Stream, simulate_in_time};
use crate::meter::service::{Sample, Service};
use crate::trace::Facts;
use crate::units::{Bytes, PAGE_BYTES, Pages};

/// Work of putting one page into the cache and another out, in nanoseconds.
const FILL_NS: f64 = 500.0;
/// A limit is set a moment before the run begins, and its first slice with it.
const SLICE_GONE_MAX: f64 = 0.9;
/// Sizes that are estimated for a curve.
const POINTS: usize = 10;
/// Longer traces would take too long.
const TOUCHES_MAX: usize = 30_000_000;
/// Pages of a request, where the device does not say.
const REQUEST_PAGES: u32 = 256;

/// A rate that a disc is held to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rate {
    /// Requests a second.
    pub iops: Option<u64>,
    /// Bytes a second.
    pub bytes_per_second: Option<Bytes>,
}

impl Rate {
    /// Whether it holds anything.
    pub fn is_some(&self) -> bool {
        self.iops.is_some() || self.bytes_per_second.is_some()
    }
}

/// Where the service time comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// Waits of the recorded run.
    Recorded,
    /// Reads of the same files, just now.
    Probed,
    /// Nothing is known of the disc but the rate it is held to.
    Rate,
}

/// What is known of work and disc.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// The disc, and its rate.
    pub disc: Disc,
    /// Where that comes from.
    pub basis: Basis,
    /// The rate it is held to.
    pub rate: Rate,
    work_ns: u64,
}

impl Timing {
    /// The times of a recorded workload. Nothing where the recording waited for no disc, no sample is given
    /// and no rate, nor where the command was stopped at each call and not timed otherwise.
    pub fn of(stream: &Stream, facts: &Facts, probed: &[Sample], rate: Rate) -> Option<Self> {
        if stream.len() > TOUCHES_MAX || facts.run_ns().is_none() {
            return None;
        }
        // Reads made for the purpose, of known sizes and at the same time, say more than the waits
        // that happened to occur.
        let probed = Service::fit(probed).map(|service| (service, Basis::Probed));
        let recorded = || stream.pace().service.map(|service| (service, Basis::Recorded));
        let none = Service { request_ns: 0.0, page_ns: 0.0 };
        let (service, basis) =
            probed.or_else(recorded).or_else(|| rate.is_some().then_some((none, Basis::Rate)))?;
        let io = facts.devices.first().map_or(0, |device| device.io_bytes / PAGE_BYTES);
        let request_pages = u32::try_from(io).ok().filter(|&pages| pages > 0);
        let disc = Disc {
            service,
            request_pages: request_pages.unwrap_or(REQUEST_PAGES),
            iops: rate.iops.map(|iops| iops as f64),
            bytes_per_second: rate.bytes_per_second.map(|bytes| bytes.0 as f64),
            slice_gone: 0.0,
        };
        Some(Self { disc, basis, rate, work_ns: stream.pace().work_ns })
    }

    /// Returns the seconds of a run with room for this many pages: the shortest and the longest
    /// time. They cover both models, and tasks that wait at the same time or one after the other.
    /// They also cover a slice of the rate that begins with the run or well before it.
    pub fn seconds(&self, stream: &Stream, room: Pages) -> (f64, f64) {
        let gone = if self.rate.is_some() { &[0.0, SLICE_GONE_MAX][..] } else { &[0.0] };
        let run = |(replacement, &slice_gone): (Replacement, &f64)| {
            let disc = Disc { slice_gone, ..self.disc };
            let (run, waits) = simulate_in_time(stream, replacement, room, disc);
            let work = self.work_ns as f64 + run.fills as f64 * FILL_NS;
            ((work + waits.chain_ns as f64) / 1e9, (work + waits.all_ns as f64) / 1e9)
        };
        let runs = [Replacement::Lru, stream.kernel_order()].into_par_iter();
        let runs =
            runs.flat_map_iter(|replacement| gone.iter().map(move |gone| (replacement, gone)));
        let widest = |one: (f64, f64), other: (f64, f64)| (one.0.min(other.0), one.1.max(other.1));
        runs.map(run).reduce(|| (f64::INFINITY, 0.0), widest)
    }

    /// For reports.
    pub fn report(&self, points: &[TimePoint]) -> TimeReport {
        let basis = match self.basis {
            Basis::Recorded => "recorded",
            Basis::Probed => "probed",
            Basis::Rate => "rate",
        };
        let service = self.disc.service;
        TimeReport {
            basis: basis.into(),
            work_seconds: self.work_ns as f64 / 1e9,
            request_seconds: service.request_ns / 1e9,
            page_seconds: service.page_ns / 1e9,
            iops: self.rate.iops,
            bytes_per_second: self.rate.bytes_per_second,
            points: points.to_vec(),
        }
    }

    /// Time along a curve.
    pub fn points(&self, stream: &Stream, curve: &Curve, overhead: &Overhead) -> Vec<TimePoint> {
        let sizes: Vec<Bytes> = curve
            .points
            .iter()
            .filter(|point| !point.interpolated)
            .map(|point| point.cache_bytes)
            .collect();
        let last = sizes.len().saturating_sub(1);
        let mut chosen: Vec<Bytes> =
            (0..POINTS).filter_map(|at| sizes.get(at * last / (POINTS - 1)).copied()).collect();
        chosen.dedup();
        chosen.into_par_iter().map(|size| self.point(stream, overhead, size)).collect()
    }

    /// Adds the sizes that a report names: at a cliff, the time of a size close by is another.
    pub fn add(&self, points: &mut Vec<TimePoint>, to: &Recommend, of: (&Stream, &Overhead)) {
        for size in [to.cache_bytes, to.floor_bytes] {
            if points.iter().all(|point| point.cache_bytes != size) {
                points.push(self.point(of.0, of.1, size));
            }
        }
        points.sort_by_key(|point| point.cache_bytes);
    }

    fn point(&self, stream: &Stream, overhead: &Overhead, cache_bytes: Bytes) -> TimePoint {
        let (seconds_low, seconds_high) = self.seconds(stream, cache_bytes.pages_down());
        let limit_bytes = overhead.limit_for(cache_bytes);
        TimePoint { cache_bytes, limit_bytes, seconds_low, seconds_high }
    }
}
