//! The meters that a cache wears in a replay: together the six figures of the MAX-IV paper.
//!
//! Adding one is a file, a row of [`METERS`], and a field of
//! [`ReplayFigures`](crate::experiment::result::ReplayFigures) for what it shows. The accumulators are in
//! [`crate::meter`]; here they are put on the joints. Cost: some nanoseconds a request and meter.
//!
//! V. Jacobson, *A MAX-IV Disc Cache*, LBL-15552, 1982.

mod lists;
mod periods;
mod service;
mod tracks;

#[cfg(all(feature = "capture", feature = "paths"))]
pub(in crate::experiment) use periods::rate_steps;

use super::observer::{Finished, Observer};
use crate::cache::layer::{Layer, Lookup};
use crate::experiment::result::ReplayFigures;
use crate::trace::request::Request;
use crate::units::Nanos;

/// How often meters look, unless it is at requests: the paper's.
pub const PERIOD: Nanos = Nanos(10_000_000_000);

/// Watches a replay, and shows what it saw.
pub trait Meter: Observer {
    /// Puts what it saw into its fields, when all is over.
    fn show(&self, figures: &mut ReplayFigures);
}

/// A row of the table of meters.
#[derive(Clone, Copy, Debug)]
pub struct MeterRow {
    /// What it is called.
    pub name: &'static str,
    /// What it shows, in a line.
    pub about: &'static str,
    /// Makes one.
    pub build: fn(&Subject) -> Box<dyn Meter>,
}

/// What is known of the cache and the disc that meters are put on.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    /// Bytes of the disc that are of interest, from its beginning on.
    pub bytes: u64,
    /// Bytes of a track, where it has any.
    pub track_bytes: Option<u64>,
    /// Where a management space ends that it begins with, if there is one.
    pub management_bytes: Option<u64>,
}

/// Every meter of a replay.
pub const METERS: &[MeterRow] = &[
    MeterRow { name: "tracks", about: "what of the disc is in the cache", build: tracks::build },
    MeterRow { name: "lists", about: "how long the hash lists are", build: lists::build },
    MeterRow { name: "periods", about: "hit rates and rates by periods", build: periods::build },
    MeterRow { name: "service", about: "what cache and disc took", build: service::build },
];

/// All of them together.
pub struct Figures {
    meters: Vec<Box<dyn Meter>>,
}

impl Figures {
    /// Creates the meters for the first `bytes` of a disc, in tracks of `track_bytes` if it has
    /// any. If the disc begins with a management space, `management_bytes` is its end.
    pub fn new(bytes: u64, track_bytes: Option<u64>, management_bytes: Option<u64>) -> Self {
        let subject = Subject { bytes, track_bytes, management_bytes };
        Self { meters: METERS.iter().map(|row| (row.build)(&subject)).collect() }
    }

    /// What they show, when all is over.
    pub fn result(&self) -> ReplayFigures {
        let mut figures = ReplayFigures::default();
        self.meters.iter().for_each(|meter| meter.show(&mut figures));
        figures
    }
}

impl Observer for Figures {
    fn initiated(&mut self, at: Nanos, process: u32, request: &Request, lookup: &Lookup) {
        for meter in &mut self.meters {
            meter.initiated(at, process, request, lookup);
        }
    }

    fn finished(&mut self, finished: &Finished<'_>) {
        for meter in &mut self.meters {
            meter.finished(finished);
        }
    }

    fn period(&self) -> Option<Nanos> {
        Some(PERIOD)
    }

    fn tick(&mut self, at: Nanos, cache: &dyn Layer) {
        for meter in &mut self.meters {
            meter.tick(at, cache);
        }
    }

    fn end(&mut self, at: Nanos, cache: &dyn Layer) {
        for meter in &mut self.meters {
            meter.end(at, cache);
        }
    }
}
