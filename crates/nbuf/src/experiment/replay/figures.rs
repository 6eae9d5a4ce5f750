//! The six figures, worn by any cache: meters that watch a replay.
//!
//! Tracks in cache and hash lists are looked at once, at the end, as the paper has them at the end of a
//! day: while a cache fills, its empty entries stand on list 0. Hit rates and rates of operations are of
//! periods of [`PERIOD`]. The service time of a request is what cache, processor and disc took, without
//! its turn in the queue of the disc. Cost: some nanoseconds a request.
//!
//! V. Jacobson, *A MAX-IV Disc Cache*, LBL-15552, 1982.

use super::watch::{Finished, Watch};
use crate::cache::front::{Front, Lookup};
use crate::experiment::result::{FigureLists, FigureStep, FigureTracks, ReplayFigures};
use crate::meter::lists::Lists;
use crate::meter::periods::Periods;
use crate::meter::times::Times;
use crate::meter::tracks::Tracks;
use crate::units::Nanos;
use crate::workload::process::Ask;

/// The paper's.
pub const PERIOD: Nanos = Nanos(10_000_000_000);

/// Steps of rates, at most.
const RATE_STEPS: u64 = 20;

/// See the module.
#[derive(Clone, Debug)]
pub struct Figures {
    tracks: Tracks,
    track_bytes: u64,
    /// Where the management space ends, if there is one.
    management_bytes: Option<u64>,
    units_management: u64,
    lists: Lists,
    periods: Periods,
    service: Times,
}

impl Figures {
    /// Of a disc of so many bytes, with so many to a track, which begins with a management space that ends
    /// there, if it has one.
    pub fn new(disc_bytes: u64, track_bytes: u64, management_bytes: Option<u64>) -> Self {
        Self {
            tracks: Tracks::new(disc_bytes, track_bytes),
            track_bytes,
            management_bytes,
            units_management: 0,
            lists: Lists::default(),
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
