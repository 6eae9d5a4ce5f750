//! Pages a second that the kernel would bring in at each size: misses, and what it reads ahead for them.
//!
//! The miss ratio of a warm program is known (`meter::warm`), and is of single pages. What a miss brings depends on
//! the windows of the discs and on the pages that are cached next to it. So the window is played twice to the model
//! of the kernel (`cache::kernel`): once to warm it, and once to count. Fills for each miss of an LRU of pages, in
//! the second, times the misses of the warm program, are the fills. The order of eviction is a band: LRU, and
//! the kernel's active and inactive lists; the best guess is between them.
//!
//! Not for a sample of the pages, of which readahead brings others; nor for many windows with weights. Cost: four
//! simulations of the window for each of a dozen sizes, on all processors; six with folios that were cached before.
//!
//! The kernel keeps a large folio while any page of it is used, so the model begins with the folios that were cached
//! (`live::snapshot`). Pages that another group is charged for are always there.

use std::collections::{BTreeSet, HashSet};

use rayon::prelude::*;

use super::snapshot;
use crate::cache::kernel::{Replacement, Stream, simulate_again};
use crate::experiment::result::{LiveDocument, LivePoint};
use crate::meter::long_stack::LongStack;
use crate::trace::{CacheEvent, Record, Trace};
use crate::units::{PAGE_BYTES, Pages};

/// More records are not played, nor more pages of them: it would take a minute.
const RECORDS_MAX: usize = 8_000_000;
const PAGES_MAX: u64 = 50_000_000;
/// A ratio of fewer misses says little.
const MISSES_MIN: u64 = 200;
/// Below this part of what was touched no size is played.
const PART_MIN: u64 = 8;
/// Nor below this number of times the pages touched in the interval of a look, of which the order is not known.
const LOOKS_MIN: u64 = 4;

/// Adds them to the points of a window. Points that it cannot know are left without. `text` has the files whose text
/// the programs execute.
pub(super) fn add(document: &mut LiveDocument, trace: &Trace, text: &BTreeSet<String>) {
    let is_whole = document.sampled_share >= 1.0 && trace.records.len() <= RECORDS_MAX;
    let touched = || trace.records.iter().map(|record| pages(&record).count() as u64).sum::<u64>();
    if !is_whole || document.points.is_empty() || touched() > PAGES_MAX {
        return;
    }
    let text: Vec<bool> = trace.files.iter().map(|name| text.contains(name)).collect();
    let kept = kept(trace, &text);
    let present = snapshot::present(&trace.facts.capture, &kept);
    let stream = Stream::of(trace.records.iter(), &trace.files, &trace.facts, &kept);
    let at_once = trace.facts.capture.looks.map_or(0, |looks| looks.pages_max);
    let least = (at_once * LOOKS_MIN * PAGE_BYTES).max(document.touched_bytes.0 / PART_MIN);
    let points: Vec<&mut LivePoint> =
        document.points.iter_mut().filter(|point| point.cache_bytes.0 >= least).collect();
    let sizes: Vec<u64> = points.iter().map(|point| point.cache_bytes.0 / PAGE_BYTES).collect();
    let misses = misses_again(trace, &sizes, &text);
    let second =
        |replacement, size| simulate_again(&stream, replacement, Pages(size), &present) as f64;
    points.into_par_iter().zip(misses).zip(sizes).for_each(|((point, misses), size)| {
        if misses < MISSES_MIN {
            return;
        }
        let lru = second(Replacement::Lru, size) / misses as f64;
        let lists = second(stream.kernel_order(), size) / misses as f64;
        // The second time, lists have learned what is to come: they miss too little. LRU misses too much for them.
        point.fills_per_second = Some(point.misses_per_second * f64::midpoint(lru, lists));
        point.fills_per_second_low = Some(point.misses_per_second_low * lru.min(lists));
        point.fills_per_second_high = Some(point.misses_per_second_high * lru.max(lists));
    });
}

/// The pages of text that are touched: file and page. The kernel spares them as it reclaims, and often another group
/// has them on its account; so the model has them always. Otherwise it would read a window around each.
fn kept(trace: &Trace, text: &[bool]) -> Vec<(u32, u32)> {
    let of_text = trace.records.iter().filter(|record| is_text(text, record));
    let all: HashSet<(u32, u32)> = of_text
        .flat_map(|record| pages(&record).map(move |page| (record.file.0, page)))
        .filter_map(|(file, page)| Some((file, u32::try_from(page).ok()?)))
        .collect();
    all.into_iter().collect()
}

fn is_text(text: &[bool], record: &Record) -> bool {
    text.get(record.file.0 as usize).copied().unwrap_or(false)
}

/// The misses of an LRU of pages at each size, which must rise, if the window comes a second time. Those of text
/// do not count.
fn misses_again(trace: &Trace, sizes_pages: &[u64], text: &[bool]) -> Vec<u64> {
    let mut stack = LongStack::new(u32::MAX);
    // By the number of sizes that miss.
    let mut counts = vec![0_u64; sizes_pages.len() + 1];
    for round in 0..2 {
        for record in &trace.records {
            if record.op == CacheEvent::Evict {
                pages(&record).for_each(|page| stack.remove((record.file.0.into(), page)));
            } else if record.op.is_demand() && record.op != CacheEvent::Map {
                let counts_in = if is_text(text, &record) { 0 } else { round };
                let mut count = |depth: Option<u32>| {
                    let depth = depth.map_or(u64::MAX, u64::from);
                    counts[sizes_pages.partition_point(|&size| size < depth)] += counts_in;
                };
                // A touch of a large page is one access, as deep as the deepest of its pages.
                let is_touch = record.op == CacheEvent::Touch;
                let mut deepest = Some(0);
                for page in pages(&record) {
                    let (depth, _) = stack.access((record.file.0.into(), page));
                    if is_touch {
                        deepest = deepest.zip(depth).map(|(deepest, depth)| depth.max(deepest));
                    } else {
                        count(depth);
                    }
                }
                if is_touch {
                    count(deepest);
                }
            }
        }
    }
    let mut misses = 0;
    let mut all: Vec<u64> = counts.into_iter().skip(1).rev().collect();
    for count in &mut all {
        misses += *count;
        *count = misses;
    }
    all.reverse();
    all
}

/// The pages of a record, in its file.
fn pages(record: &Record) -> std::ops::RangeInclusive<u64> {
    let last = record.offset_bytes.saturating_add(u64::from(record.length_bytes.max(1)) - 1);
    record.offset_bytes / PAGE_BYTES..=last / PAGE_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Random;
    use crate::trace::{CachedFile, Device, FileId, FolioRun, Snapshot};
    use crate::units::Bytes;

    const FILE_PAGES: u64 = 4_000;

    /// Reads of one page at random in a file, on a disc with this window; `skew` makes some more frequent.
    fn trace(accesses: i64, readahead_bytes: u64, op: CacheEvent) -> Trace {
        let mut random = Random::new(5);
        let device = Device {
            major: 8,
            minor: 1,
            name: String::new(),
            filesystem: String::new(),
            readahead_bytes,
            io_bytes: 0,
            folio_order_max: 0,
        };
        let mut trace = Trace { files: vec!["/f".to_owned()], ..Trace::default() };
        trace.facts.devices = vec![device];
        for time_ns in 0..accesses {
            trace.records.push(Record {
                time_ns,
                offset_bytes: random.below(FILE_PAGES) * PAGE_BYTES,
                file_bytes: FILE_PAGES * PAGE_BYTES,
                length_bytes: 4096,
                file: FileId(0),
                task: 1,
                request: 0,
                op,
            });
        }
        trace
    }

    fn document(trace: &Trace, pages: u64, misses_per_second: f64) -> LiveDocument {
        let point = LivePoint {
            cache_bytes: Bytes(pages * PAGE_BYTES),
            misses_per_second,
            misses_per_second_low: misses_per_second * 0.9,
            misses_per_second_high: misses_per_second * 1.1,
            ..LivePoint::default()
        };
        let mut document = LiveDocument {
            sampled_share: 1.0,
            points: vec![point],
            touched_bytes: Bytes(FILE_PAGES * PAGE_BYTES),
            ..LiveDocument::default()
        };
        add(&mut document, trace, &BTreeSet::new());
        document
    }

    #[test]
    fn without_readahead_a_fill_is_a_miss() {
        let trace = trace(40_000, 0, CacheEvent::Read);
        let point = document(&trace, 2_000, 500.0).points[0];
        let fills = point.fills_per_second.unwrap();
        assert!((fills / 500.0 - 1.0).abs() < 0.03, "{point:?}");
        let (low, high) =
            (point.fills_per_second_low.unwrap(), point.fills_per_second_high.unwrap());
        assert!(low < fills && fills < high, "{point:?}");
    }

    #[test]
    fn a_fault_brings_what_is_around_it() {
        let trace = trace(40_000, 128 << 10, CacheEvent::Fault);
        let with = document(&trace, 3_000, 500.0).points[0].fills_per_second.unwrap();
        // Up to 32 pages around, of which three quarters are cached. Where most faults miss, the kernel stops that.
        assert!((500.0 * 3.0..500.0 * 32.0).contains(&with), "{with}");
    }

    #[test]
    fn text_that_is_executed_is_not_brought_in() {
        let mut trace = trace(40_000, 128 << 10, CacheEvent::Fault);
        let without = document(&trace, 3_000, 500.0).points[0].fills_per_second.unwrap();
        // A library of the same size, all over, every tenth time.
        trace.files.push("/lib".to_owned());
        trace.records = trace
            .records
            .iter()
            .enumerate()
            .map(|(at, record)| Record { file: FileId(u32::from(at % 10 == 0)), ..record })
            .collect();
        let fills = |text: &[&str]| {
            let mut document = document(&trace, 3_000, 500.0);
            add(&mut document, &trace, &text.iter().map(ToString::to_string).collect());
            document.points[0].fills_per_second.unwrap()
        };
        let kept = fills(&["/lib"]);
        assert!(kept < without * 1.5 && kept > without * 0.5, "{kept}, {without}");
    }

    #[test]
    fn misses_of_the_second_time_are_those_of_a_warm_cache() {
        let trace = trace(40_000, 0, CacheEvent::Read);
        let got = misses_again(&trace, &[1_000, 2_000, 3_000, FILE_PAGES], &[]);
        for (misses, want) in got.iter().zip([0.75, 0.5, 0.25, 0.0]) {
            assert!((*misses as f64 / 40_000.0 - want).abs() < 0.02, "{got:?}");
        }
    }

    #[test]
    fn large_folios_that_were_cached_bring_more_fills() {
        let mut trace = trace(40_000, 0, CacheEvent::Read);
        // A few pages of each folio are hot.
        trace.records = trace
            .records
            .iter()
            .enumerate()
            .map(|(at, record)| {
                let page = record.offset_bytes / PAGE_BYTES;
                let page = if at % 4 > 0 { page / 64 * 64 + page % 4 } else { page };
                Record { offset_bytes: page * PAGE_BYTES, ..record }
            })
            .collect();
        let fills =
            |trace: &Trace| document(trace, 1_000, 500.0).points[0].fills_per_second.unwrap();
        let without = fills(&trace);
        let folios = FolioRun { count: 62, order: 6, ..FolioRun::default() };
        let file = CachedFile { file: Some(0), runs: vec![folios], ..CachedFile::default() };
        trace.facts.capture.snapshot = Some(Snapshot { files: vec![file], is_whole: true });
        let with = fills(&trace);
        assert!(with > without * 1.03, "{with} {without}");
    }

    #[test]
    fn a_sample_of_the_pages_says_nothing_of_readahead() {
        let trace = trace(10_000, 0, CacheEvent::Read);
        let mut sampled = document(&trace, 2_000, 500.0);
        sampled.points[0].fills_per_second = None;
        sampled.sampled_share = 0.5;
        add(&mut sampled, &trace, &BTreeSet::new());
        assert_eq!(sampled.points[0].fills_per_second, None);
    }
}
