//! The accesses of a window of a program that runs, and its curve.

use std::collections::HashMap;

use super::super::result::{LiveDocument, LiveMemory, LivePoint};
use super::super::warning::Warning;
use super::super::warnings::{recorded, sizing_themselves};
use super::Spec;
use crate::clock::Random;
use crate::meter::distance::Distances;
use crate::meter::warm::Warm;
use crate::trace::{CacheEvent, Capture, Record, Trace};
use crate::units::{Bytes, PAGE_BYTES};

/// Sizes in each doubling.
const SIZES_PER_DOUBLING: u32 = 4;
/// The smallest size: below it a program rereads what it has just read.
const SIZE_MIN_PAGES: u64 = 64;
/// Slower than this, no curve is drawn.
const ACCESSES_MIN: u64 = 2_000;

/// The curve of a window. `memory` is what the programs had besides.
pub(super) fn analyse(spec: &Spec, trace: &Trace, memory: LiveMemory) -> LiveDocument {
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
