//! The accesses of windows of a program that runs, and its curve: of one window, or of many with less weight for the
//! older ones.

mod filled;
mod push;

use std::collections::{BTreeMap, HashMap};
use std::mem;

use super::super::result::{
    LiveDocument, LiveLonger, LiveMarks, LiveMemory, LivePoint, LiveSnapshot,
};
use super::super::warning::Warning;
use super::super::warnings::{recorded, sizing_themselves};
use super::warnings::{exceeded, took};
use super::{Spec, knee, marks, snapshot};
use crate::clock::Random;
use crate::meter::long_stack::LongStack;
use crate::meter::warm::{Decayed, MissRatio, Warm};
use crate::trace::{Looks, Trace};
use crate::units::{Bytes, PAGE_BYTES};
use filled::Filled;

/// Sizes in each doubling.
const SIZES_PER_DOUBLING: u32 = 4;
/// The smallest size: below it a program rereads what it has just read.
const SIZE_MIN_PAGES: u64 = 64;
/// Slower than this, no curve is drawn.
const ACCESSES_MIN: f64 = 2_000.0;
/// Names of files that are kept before those without pages are forgotten.
const FILES_MAX: usize = 4_096;

/// The curve of one window. `memory` is what the programs had besides.
pub(super) fn analyse(spec: &Spec, trace: &Trace, memory: LiveMemory) -> LiveDocument {
    let mut watched = Rolling::new(trace.facts.elapsed_ns.max(1), u32::MAX);
    watched.take(trace, 0);
    watched.close(spec, memory)
}

/// Windows with one LRU stack for all of them.
pub(super) struct Rolling {
    stack: LongStack,
    /// Files that have pages on the stack, and more that had.
    files: HashMap<String, u64>,
    /// Numbers of files are not given twice.
    next_file: u64,
    /// Where files were seen to end: what is written behind is new.
    ends: HashMap<u64, u64>,
    /// Pages that another group was charged for when the recording began: file and page.
    decayed: Decayed,
    window_ns: u64,
    window: Window,
}

/// The window under way.
struct Window {
    warm: Warm,
    mapped: u64,
    filled: Filled,
    /// How long the programs were recorded in it, and how much of that does not count.
    seconds: f64,
    uncounted_seconds: f64,
    /// How mapped pages were looked at, in all of its recordings.
    looks: Option<Looks>,
    /// What was cached when the first of them began.
    snapshot: Option<LiveSnapshot>,
    events: u64,
    lost: u64,
    command: Vec<String>,
    backend: String,
    /// The share of the pages that was recorded, up to 1. Below 1, all accesses were counted.
    share: f64,
    counted: Option<u64>,
    reader_seconds: f64,
    /// Pages that threads of the kernel took from the cache of the machine.
    reclaimed: BTreeMap<String, u64>,
    warnings: Vec<Warning>,
}

impl Window {
    fn new(window_ns: u64) -> Self {
        Self {
            warm: Warm::new(window_ns),
            mapped: 0,
            filled: Filled::new(window_ns),
            seconds: 0.0,
            uncounted_seconds: 0.0,
            looks: None,
            snapshot: None,
            events: 0,
            lost: 0,
            command: Vec::new(),
            backend: String::new(),
            share: 1.0,
            counted: None,
            reader_seconds: 0.0,
            reclaimed: BTreeMap::new(),
            warnings: Vec::new(),
        }
    }

    fn warn(&mut self, warning: Warning) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }
}

impl Rolling {
    /// Windows of this length, with about this number of pages on the stack at most.
    pub(super) fn new(window_ns: u64, pages_max: u32) -> Self {
        Self {
            stack: LongStack::new(pages_max),
            files: HashMap::new(),
            next_file: 0,
            ends: HashMap::new(),
            decayed: Decayed::default(),
            window_ns,
            window: Window::new(window_ns),
        }
    }

    /// Adds a recording that began this long after the window.
    pub(super) fn take(&mut self, trace: &Trace, from_ns: u64) {
        let next = &mut self.next_file;
        let files: Vec<u64> = trace
            .files
            .iter()
            .map(|name| {
                *self.files.entry(name.clone()).or_insert_with(|| {
                    *next += 1;
                    *next
                })
            })
            .collect();
        // Distances come from the pages of the sample, so the share is needed first.
        if let Some(sampled) = trace.facts.capture.sampled {
            self.window.share = sampled.share();
            self.window.counted = Some(sampled.accesses);
        }
        let counts_from_ns = marks::counts_from(trace);
        trace.records.iter().for_each(|record| {
            let file = files.get(record.file.0 as usize).copied().unwrap_or(0);
            self.push(&record, file, (from_ns, counts_from_ns));
        });
        let window = &mut self.window;
        window.seconds += trace.facts.elapsed_ns as f64 / 1e9;
        window.uncounted_seconds += counts_from_ns as f64 / 1e9;
        window.snapshot = window.snapshot.or_else(|| snapshot::of(&trace.facts.capture));
        let looks = trace.facts.capture.looks;
        window.looks =
            looks.map(|looks| window.looks.unwrap_or_default().with(looks)).or(window.looks);
        window.events += trace.facts.capture.events;
        window.lost += trace.facts.capture.lost;
        window.command.clone_from(&trace.facts.command);
        window.backend.clone_from(&trace.facts.capture.backend);
        window.reader_seconds += trace.facts.capture.reader_ns as f64 / 1e9;
        for reclaimed in &trace.facts.capture.reclaimed {
            *window.reclaimed.entry(reclaimed.name.clone()).or_default() += reclaimed.pages;
        }
        let all = recorded(&trace.facts).into_iter().chain(sizing_themselves(&trace.files));
        for warning in all {
            window.warn(warning);
        }
    }

    /// Ends the window: the curve of all so far. A window without a recording counts, too.
    pub(super) fn close(&mut self, spec: &Spec, memory: LiveMemory) -> LiveDocument {
        let mut document = self.next();
        document.warnings.extend(spec.overhead.and_then(|share| exceeded(share, &document)));
        marks::add(&mut document, spec.mapped);
        let mut document = self.document(spec, memory, document);
        document.knee_bytes = knee::of(&document.points);
        document
    }

    /// Ends the window, and forgets files without pages. The figures of it alone.
    fn next(&mut self) -> LiveDocument {
        let mut window = mem::replace(&mut self.window, Window::new(self.window_ns));
        let touched = window.warm.distinct().max(self.stack.depth().into());
        let touched = crate::units::whole(touched as f64 / window.share);
        for (name, pages) in mem::take(&mut window.reclaimed) {
            if let Some(warning) = took(&name, pages, touched) {
                window.warn(warning);
            }
        }
        let fills = window.filled.rate(window.seconds, window.share);
        let new = crate::units::whole(window.warm.growth() / window.share);
        let document = LiveDocument {
            schema: LiveDocument::SCHEMA.to_owned(),
            command: window.command,
            backend: window.backend,
            sampled_share: window.share,
            reader_seconds: window.reader_seconds,
            accesses_per_second: window.counted.map_or(0.0, |all| all as f64)
                / window.seconds.max(1e-9),
            seconds: window.seconds,
            events: window.events,
            lost: window.lost,
            fills_per_second: fills.best,
            fills_per_second_low: fills.low,
            fills_per_second_high: fills.high,
            longer: Some(LiveLonger {
                seconds: 2.0 * window.seconds,
                known_bytes: Bytes((touched + new) * PAGE_BYTES),
            }),
            touched_bytes: Bytes(touched * PAGE_BYTES),
            warnings: window.warnings,
            marks: window.looks.map(LiveMarks::from),
            snapshot: window.snapshot,
            ..LiveDocument::default()
        };
        let counted_seconds = window.seconds - window.uncounted_seconds;
        self.decayed.push(window.warm, window.mapped, counted_seconds.max(0.0));
        if self.files.len() > FILES_MAX {
            let live = self.stack.files();
            self.files.retain(|_, file| live.contains(file));
            self.ends.retain(|file, _| live.contains(file));
        }
        document
    }

    /// Adds what all windows show.
    fn document(&self, spec: &Spec, memory: LiveMemory, window: LiveDocument) -> LiveDocument {
        let mut random = Random::new(spec.seed);
        let sizes = sizes(window.touched_bytes.0 / PAGE_BYTES);
        // Misses come from the sample. All accesses were counted: the part of a few hot pages, which may be in the sample
        // or not, is not known from it.
        let rate = self.decayed.rate() / window.sampled_share;
        let all = if window.accesses_per_second > 0.0 { window.accesses_per_second } else { rate };
        let point = |size: u64, ratio: MissRatio| LivePoint {
            cache_bytes: Bytes(size * PAGE_BYTES),
            limit_bytes: Bytes(size * PAGE_BYTES + memory.other_bytes().0),
            hit_ratio: (1.0 - ratio.best * rate / all.max(1e-9)).clamp(0.0, 1.0),
            misses_per_second: ratio.best * rate,
            misses_per_second_low: ratio.low * rate,
            misses_per_second_high: ratio.high * rate,
            ..LivePoint::default()
        };
        // Which pages of large ones are touched is not known.
        let unresolved = window.marks.map_or(Bytes(0), |marks| marks.large_bytes);
        let enough = self.decayed.accesses() >= ACCESSES_MIN;
        let known = if enough { self.decayed.at(&sizes, &mut random) } else { Vec::new() };
        let points: Vec<LivePoint> = sizes
            .iter()
            .zip(known)
            .filter_map(|(&size, ratio)| Some(point(size, ratio?)))
            .filter(|point| point.cache_bytes >= unresolved)
            .collect();
        let meets = |point: &&LivePoint| match spec.fills_per_second {
            Some(most) => point.misses_per_second <= most,
            None => point.hit_ratio >= spec.hit,
        };
        LiveDocument {
            accesses_per_second: all,
            mapped_share: self.decayed.mapped_share(),
            memory,
            is_steady: !enough || self.decayed.is_steady(&sizes, &mut random),
            answer: points.iter().find(meets).copied(),
            longer: window.longer.zip(points.last()).map(|(longer, last)| {
                // As large a part of what is touched is known then.
                let part = last.cache_bytes.0 as f64 / window.touched_bytes.0.max(1) as f64;
                let known = crate::units::whole(longer.known_bytes.0 as f64 * part.min(1.0));
                LiveLonger { known_bytes: Bytes(known.max(last.cache_bytes.0)), ..longer }
            }),
            points,
            hit_target: spec.hit,
            fills_target: spec.fills_per_second,
            ..window
        }
    }

    /// Windows that the curve is made of.
    pub(super) fn windows(&self) -> u64 {
        self.decayed.windows()
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{CacheEvent, FileId, Record};

    const PAGES_MAX: u32 = 5_000;
    /// What is read at random all day, in one file.
    const HOT: u64 = 1_000;
    const ACCESSES: i64 = 320;

    /// A minute: a third of the accesses is hot, the others go through files that are new, some of them deleted.
    fn minute(number: u64, random: &mut Random) -> Trace {
        let files = vec!["/hot".to_owned()];
        let mut trace = Trace { files, ..Trace::default() };
        trace.files.extend((0..40).map(|file| format!("/log/{number}/{file}")));
        trace.facts.elapsed_ns = 60_000_000_000;
        for at in 0..ACCESSES {
            let (file, page, op) = match at % 3 {
                0 => (0, random.below(HOT), CacheEvent::Read),
                _ => (1 + at.cast_unsigned() % 40, at.cast_unsigned(), CacheEvent::Read),
            };
            let op = if at % 50 == 49 { CacheEvent::Evict } else { op };
            trace.records.push(Record {
                time_ns: at * 60_000_000_000 / ACCESSES,
                offset_bytes: page * PAGE_BYTES,
                file_bytes: 0,
                length_bytes: 4096,
                file: FileId(u32::try_from(file).unwrap()),
                task: 1,
                request: 0,
                op,
            });
        }
        trace
    }

    #[test]
    fn what_a_log_writes_is_not_missed() {
        let mut trace = Trace { files: vec!["/log".to_owned()], ..Trace::default() };
        trace.facts.elapsed_ns = 60_000_000_000;
        // 16,000 appends of a quarter of a page, and one that rewrites old pages far apart in between.
        for at in 0..20_000_u64 {
            let is_old = at % 5 == 4;
            let offset_bytes =
                if is_old { at * 7919 % 4_000 * PAGE_BYTES } else { (20_000 << 12) + at * 1024 };
            trace.records.push(Record {
                time_ns: at.cast_signed() * 3_000_000,
                offset_bytes,
                file_bytes: 20_000 << 12,
                length_bytes: 1024,
                file: FileId(0),
                task: 1,
                request: 0,
                op: CacheEvent::Write,
            });
        }
        let live = analyse(&Spec::default(), &trace, LiveMemory::default());
        let smallest = live.points.first().unwrap();
        // Appends hit in any cache; those that begin a page do not count. The others may miss.
        let others = 4_000.0 / 60.0;
        assert!((smallest.misses_per_second / others - 1.0).abs() < 0.1, "{smallest:?}");
    }

    #[test]
    fn a_day_needs_no_more_memory_than_an_hour() {
        let spec = Spec { hit: 0.2, ..Spec::default() };
        let mut random = Random::new(9);
        let mut rolling = Rolling::new(60_000_000_000, PAGES_MAX);
        let (mut pages, mut files) = (0, 0);
        for number in 0..24 * 60 {
            rolling.take(&minute(number, &mut random), 0);
            let window = rolling.next();
            pages = pages.max(rolling.stack.depth());
            files = files.max(rolling.files.len());
            if number == 24 * 60 - 1 {
                let live = rolling.document(&spec, LiveMemory::default(), window);
                // A hot page comes back after 3,000 accesses in the mean, of which two thirds are to new pages: 4,500
                // pages are about 5,300 accesses.
                let at = |pages: u64| {
                    let known = live.points.iter().find(|point| point.cache_bytes.0 >= pages << 12);
                    known.unwrap_or_else(|| panic!("{pages}: {live:?}")).hit_ratio
                };
                assert!(at(500) < 0.15 && live.is_steady, "{live:?}");
                assert!(
                    (at(4_500) - (1.0 - (-5_300.0_f64 / 3_000.0).exp()) / 3.0).abs() < 0.03,
                    "{live:?}"
                );
                assert!(live.answer.is_some(), "{live:?}");
            }
        }
        assert!(pages <= PAGES_MAX * 5 / 4, "{pages}");
        assert!(files <= FILES_MAX + 41, "{files}");
        assert_eq!(rolling.windows(), 15);
    }
}
