//! How much cache programs need that run already: attach, watch for a while, let go.
//!
//! What can be said of them is a rate, and not a count: they began before anybody looked, with a cache that
//! was warm. The window is recorded as [`super::record`] does it, and its stack distances give the miss ratio
//! at each size (`meter::warm`). Nothing about the programs is changed, except that the processor's
//! marks of their mapped pages are taken away at intervals while mappings are watched.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use nbuf::experiment::live::{self, Running, Spec};
//! use nbuf::experiment::session::Session;
//!
//! let running = Running { processes: vec![1234], cgroup: None };
//! let spec = Spec { running, duration: Some(Duration::from_secs(30)), ..Spec::default() };
//! let live = live::run(&spec, &mut Session::new(&()))?;
//! println!("{} accesses a second", live.accesses_per_second);
//! # Ok::<(), live::Error>(())
//! ```

mod memory;

use std::collections::HashMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use super::record::{CaptureError, Running, RunningError};
use super::result::{LiveDocument, LiveMemory, LivePoint};
use super::session::Session;
use super::warning::Warning;
use super::warnings::{recorded, sizing_themselves};
use crate::clock::Random;
use crate::meter::distance::Distances;
use crate::meter::warm::Warm;
use crate::trace::{CacheEvent, Capture, Record, Trace};
use crate::units::{Bytes, PAGE_BYTES};
use crate::workload::record::running::{Options, record_running};
use crate::workload::record::spool::{Spool, SpoolError};

/// Sizes in each doubling.
const SIZES_PER_DOUBLING: u32 = 4;
/// The smallest size: below it a program rereads what it has just read.
const SIZE_MIN_PAGES: u64 = 64;
/// Slower than this, no curve is drawn.
const ACCESSES_MIN: u64 = 2_000;
/// A program that hits so much wants no more, unless it says so.
const HIT_DEFAULT: f64 = 0.99;

/// What is watched, and for how long.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// The programs.
    pub running: Running,
    /// The window; until they end, or a signal comes, without.
    #[serde(rename = "duration_seconds", with = "super::seconds")]
    pub duration: Option<Duration>,
    /// The share of page accesses that is to hit, from 0 to 1; by default 0.99.
    pub hit: f64,
    /// Misses a second that are allowed at most; then `hit` does not count.
    pub fills_per_second: Option<f64>,
    /// Seed of the bootstrap.
    pub seed: u64,
    /// Size of the ring of each processor, for provoking losses.
    pub ring_bytes: Option<usize>,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            running: Running::default(),
            duration: Some(Duration::from_mins(1)),
            hit: HIT_DEFAULT,
            fills_per_second: None,
            seed: 1,
            ring_bytes: None,
        }
    }
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is nothing to attach to.
    #[error(transparent)]
    Running(#[from] RunningError),
    /// The kernel does not let us attach.
    #[error(transparent)]
    Record(#[from] CaptureError),
    /// No signal can end it.
    #[error("cannot listen for signals")]
    Signals(#[source] std::io::Error),
    /// What was recorded cannot be read again.
    #[error("the recording cannot be read: {0}; make room in the spool directory, and try again")]
    Spool(#[from] SpoolError),
}

/// Watches, and draws the curve.
///
/// # Errors
/// As [`Error`] has them.
pub fn run(spec: &Spec, session: &mut Session<'_>) -> Result<LiveDocument, Error> {
    let session = &*session;
    let signals = session.cancellation.listen().map_err(Error::Signals)?;
    spec.running.check(session.caller())?;
    let options = Options {
        running: &spec.running,
        caller: session.caller(),
        duration: spec.duration,
        ring_bytes: spec.ring_bytes,
    };
    let spool = Spool::new(session.spool.clone());
    let (ended, spool) = record_running(&options, spool, signals)?;
    let memory = memory::of(&spec.running);
    let trace = spool.trace()?;
    let mut document = analyse(spec, &trace, memory);
    document.interrupted = ended.interrupted;
    document.processes = spec.running.threads().len() as u64;
    if document.processes == 0 {
        document.warnings.push(Warning::Text("the programs ended within the window".into()));
    }
    Ok(document)
}

/// The curve of a window. `memory` is what the programs had besides.
fn analyse(spec: &Spec, trace: &Trace, memory: LiveMemory) -> LiveDocument {
    let window_ns = trace.facts.elapsed_ns.max(1);
    let seconds = window_ns as f64 / 1e9;
    let mut window = Window::new(window_ns);
    trace.records.iter().for_each(|record| window.push(&record));
    let warm = &window.warm;
    let mut random = Random::new(spec.seed);
    let sizes = sizes(warm.distinct());
    let rate = warm.accesses() as f64 / seconds;
    let point = |size: u64, (low, best, high): (f64, f64, f64)| LivePoint {
        cache_bytes: Bytes(size * PAGE_BYTES),
        limit_bytes: Bytes(size * PAGE_BYTES + memory.other_bytes().0),
        hit_ratio: 1.0 - best,
        misses_per_second: best * rate,
        misses_per_second_low: low * rate,
        misses_per_second_high: high * rate,
    };
    let enough = warm.accesses() >= ACCESSES_MIN;
    let known = if enough { warm.at(&sizes, &mut random) } else { Vec::new() };
    let points: Vec<LivePoint> = sizes
        .iter()
        .zip(known)
        .filter_map(|(&size, ratio)| Some(point(size, ratio.map(|r| (r.low, r.best, r.high))?)))
        .collect();
    let meets = |point: &&LivePoint| match spec.fills_per_second {
        Some(most) => point.misses_per_second <= most,
        None => point.hit_ratio >= spec.hit,
    };
    let answer = points.iter().find(meets).copied();
    let mut warnings = recorded(&trace.facts);
    warnings.extend(sizing_themselves(&trace.files));
    warnings.extend(unseen_touches(&trace.facts.capture).map(Warning::Text));
    LiveDocument {
        schema: LiveDocument::SCHEMA.to_owned(),
        command: trace.facts.command.clone(),
        seconds,
        events: trace.facts.capture.events,
        lost: trace.facts.capture.lost,
        accesses_per_second: rate,
        mapped_share: window.mapped as f64 / warm.accesses().max(1) as f64,
        fills_per_second: window.fills as f64 / seconds,
        touched_bytes: Bytes(warm.distinct() * PAGE_BYTES),
        memory,
        is_steady: !enough || warm.is_steady(&sizes, &mut random),
        points,
        hit_target: spec.hit,
        fills_target: spec.fills_per_second,
        answer,
        warnings,
        ..LiveDocument::default()
    }
}

/// What of mapped files could not be watched.
fn unseen_touches(capture: &Capture) -> Option<String> {
    let Some(looks) = capture.looks else {
        return Some(
            "touches of mapped files are not seen here; `nbuf doctor` says why".to_owned(),
        );
    };
    let unseen = Bytes(looks.unseen_pages * PAGE_BYTES);
    (unseen.0 > 0).then(|| {
        format!(
            "{unseen} of mapped files are in large pages, whose touches are not seen: more misses than these \
             are likely"
        )
    })
}

/// Sizes of caches, up to what was touched.
fn sizes(distinct: u64) -> Vec<u64> {
    let mut sizes: Vec<u64> = (0..60 * SIZES_PER_DOUBLING)
        .map(|step| {
            let factor = f64::from(step) / f64::from(SIZES_PER_DOUBLING);
            crate::units::whole(SIZE_MIN_PAGES as f64 * factor.exp2())
        })
        .take_while(|&size| size < distinct)
        .collect();
    sizes.push(distinct.max(1));
    sizes
}

/// The accesses of a window, as pages.
struct Window {
    warm: Warm,
    distances: Distances,
    pages: HashMap<(u32, u64), u32>,
    /// Numbers are not given twice.
    next: u32,
    mapped: u64,
    fills: u64,
}

impl Window {
    fn new(window_ns: u64) -> Self {
        Self {
            warm: Warm::new(window_ns),
            distances: Distances::new(),
            pages: HashMap::new(),
            next: 0,
            mapped: 0,
            fills: 0,
        }
    }

    fn push(&mut self, record: &Record) {
        let first = record.offset_bytes / PAGE_BYTES;
        let last = (record.offset_bytes + u64::from(record.length_bytes.max(1)) - 1) / PAGE_BYTES;
        match record.op {
            CacheEvent::Fill | CacheEvent::Readahead => self.fills += last - first + 1,
            // One page of the window was wanted: the fault that follows, or a touch, has it.
            CacheEvent::Map => {}
            CacheEvent::Evict => {
                for page in first..=last {
                    if let Some(number) = self.pages.remove(&(record.file.0, page)) {
                        self.distances.remove(number);
                    }
                }
            }
            op if op.is_demand() => {
                let time_ns = u64::try_from(record.time_ns).unwrap_or(0);
                for page in first..=last {
                    let next = &mut self.next;
                    let number = *self.pages.entry((record.file.0, page)).or_insert_with(|| {
                        *next += 1;
                        *next - 1
                    });
                    self.warm.push(time_ns, self.distances.access(number));
                    self.mapped += u64::from(op.is_mapped());
                }
            }
            _ => {}
        }
    }
}
