//! The six figures, worn by any cache: meters that watch a replay.
//!
//! Tracks in cache are looked at once, at the end, as the paper has them at the end of a day; hash lists
//! too, and for their distribution each [`PERIOD`] from when the cache is full: before, its empty entries
//! stand on list 0. Of that period are hit rates and rates of operations as well. The service time of a
//! request is what cache, processor and disc took, without its turn in the queue of the disc. Cost: some
//! nanoseconds a request; a look at every entry a period, where there are lists of 16,384 entries or fewer.
//!
//! V. Jacobson, *A MAX-IV Disc Cache*, LBL-15552, 1982.

use super::watch::{Finished, Watch};
use crate::cache::front::{Front, Lookup};
use crate::experiment::result::{FigureLists, FigureStep, FigureTracks, ReplayFigures};
use crate::meter::lists::Lists;
use crate::meter::periods::Periods;
use crate::meter::times::Times;
use crate::meter::tracks::{CELLS_MAX, Tracks};
use crate::units::Nanos;
use crate::workload::process::Ask;

/// The paper's.
pub const PERIOD: Nanos = Nanos(10_000_000_000);

/// Entries of hash lists up to which they are looked at more than twice.
const LOOKED_MAX: u64 = 1 << 14;

/// Of a hundred entries, those that are not empty in a cache that is full: what was evicted leaves holes.
const FULL_PERCENT: u64 = 95;

/// Steps of rates, at most.
const RATE_STEPS: u64 = 20;

/// See the module.
#[derive(Clone, Debug)]
pub struct Figures {
    tracks: Tracks,
    track_bytes: u64,
    is_track: bool,
    /// Where the management space ends, if there is one.
    management_bytes: Option<u64>,
    units_management: u64,
    lists: Lists,
    looks_at_lists: bool,
    periods: Periods,
    service: Times,
}

impl Figures {
    /// Of so many bytes of a disc from its beginning on, in tracks if it has any; it begins with a
    /// management space that ends there, if it has one.
    pub fn new(bytes: u64, track_bytes: Option<u64>, management_bytes: Option<u64>) -> Self {
        let piece_bytes = track_bytes.unwrap_or_else(|| bytes.div_ceil(CELLS_MAX)).max(1);
        Self {
            tracks: Tracks::new(bytes, piece_bytes),
            track_bytes: piece_bytes,
            is_track: track_bytes.is_some(),
            management_bytes,
            units_management: 0,
            lists: Lists::default(),
            looks_at_lists: true,
            periods: Periods::new(PERIOD),
            service: Times::default(),
        }
    }

    /// What they show, when all is over.
    pub fn result(&self) -> ReplayFigures {
        ReplayFigures {
            tracks: self.tracks(),
            lists: self.lists(),
            period_seconds: self.periods.period().seconds(),
            hit_rates: self.periods.hit_rates().to_vec(),
            idle_periods: self.periods.idle(),
            service: self.service(),
            rates: self.rates(),
        }
    }

    fn tracks(&self) -> FigureTracks {
        let cell_bytes = self.tracks.cell_tracks().saturating_mul(self.track_bytes).max(1);
        FigureTracks {
            tracks: self.tracks.tracks(),
            track_bytes: self.track_bytes,
            is_track: self.is_track,
            tracks_held: self.tracks.tracks_held(),
            units_held: self.tracks.held(),
            units_management: self.management_bytes.map(|_| self.units_management),
            cell_tracks: self.tracks.cell_tracks(),
            cells_management: self.management_bytes.unwrap_or(0).div_ceil(cell_bytes),
            cells: self.tracks.cells().to_vec(),
        }
    }

    fn lists(&self) -> Option<FigureLists> {
        Some(FigureLists {
            mean: self.lists.mean()?,
            lengths: self.lists.lengths().to_vec(),
            looks: self.lists.looks(),
            distribution: self.lists.distribution().to_vec(),
            longest: self.lists.lengths().iter().copied().max()?,
            share_up_to_3: self.lists.share_up_to(3),
        })
    }

    fn service(&self) -> Vec<FigureStep> {
        let steps = self.service.steps().into_iter();
        let step = |step: crate::meter::times::Step| FigureStep {
            from: step.from.seconds(),
            to: step.to.seconds(),
            count: step.count,
        };
        steps.map(step).collect()
    }

    /// In equal steps of a round width, from none to the most that came.
    fn rates(&self) -> Vec<FigureStep> {
        let Some(most) = self.periods.rates().map(|busy| busy.to).max() else { return Vec::new() };
        let widths = (0..18).flat_map(|power| [1, 2, 5].map(|one| one * 10_u64.pow(power)));
        let width = widths.into_iter().find(|width| most / width < RATE_STEPS).unwrap_or(u64::MAX);
        let seconds = self.periods.period().seconds();
        let step = |number: u64| FigureStep {
            from: (number * width) as f64 / seconds,
            to: ((number + 1) * width) as f64 / seconds,
            count: 0,
        };
        let mut steps: Vec<FigureStep> = (0..=most / width).map(step).collect();
        for busy in self.periods.rates() {
            let at = usize::try_from(busy.to / width).unwrap_or(usize::MAX);
            let last = steps.len() - 1;
            steps[at.min(last)].count += busy.periods;
        }
        steps
    }
}

impl Watch for Figures {
    fn initiated(&mut self, at: Nanos, _: u32, _: &Ask, lookup: &Lookup) {
        self.periods.add(at, lookup.is_hit());
    }

    fn finished(&mut self, finished: &Finished<'_>) {
        let queued = finished.spent.map_or(Nanos::ZERO, |spent| spent.queued);
        self.service.add((finished.at - finished.asked_at) - queued);
    }

    fn period(&self) -> Option<Nanos> {
        Some(PERIOD)
    }

    fn tick(&mut self, _: Nanos, cache: &dyn Front) {
        if !self.looks_at_lists {
            return;
        }
        let lengths = cache.list_lengths();
        let entries: u64 = lengths.iter().map(|&length| u64::from(length)).sum();
        self.looks_at_lists = (1..=LOOKED_MAX).contains(&entries);
        let is_full = || cache.addresses().len() as u64 * 100 >= entries * FULL_PERCENT;
        if self.looks_at_lists && is_full() {
            self.lists.look(lengths);
        }
    }

    fn end(&mut self, at: Nanos, cache: &dyn Front) {
        self.periods.end(at);
        let lengths = cache.list_lengths();
        if !lengths.is_empty() {
            self.lists.look(lengths);
        }
        let offsets = cache.addresses();
        if let Some(end) = self.management_bytes {
            self.units_management = offsets.iter().filter(|&&offset| offset < end).count() as u64;
        }
        self.tracks.show(offsets);
    }
}
