//! Which pages of mapped files a process has touched: those its page tables hold
//! (`/proc/PID/pagemap`), asked while the mapping is still there.
//!
//! Faults are not stopped at, so that how often a page was touched is not known, and when only to a
//! factor of two: the tables are looked at when calls stop, ever less often, and when the memory
//! goes. Otherwise it is what the tracepoints tell of mappings that are never evicted, in the same
//! windows of 16 pages. In which order the windows of one look were touched is not known either. Programs
//! look symbols up all over a library, so its windows are reported in an order that is none: in that order of
//! addresses, the kernel's model filled up to 13 % more. Cost: 0.1 ms a look, and a microsecond for 100
//! mapped pages.

use std::collections::HashMap;
use std::fs::{self, File};
use std::ops::Range;
use std::os::unix::fs::FileExt;

use super::files::Files;
use crate::sys::process::monotonic_ns;
use crate::units::PAGE_BYTES;
use crate::workload::record::area::Area;
use crate::workload::record::log::{Entry, Event, Kind};

/// `fault_around_bytes`, unless a process changed it, in pages.
const WINDOW: u64 = 16;
const PRESENT: u64 = 1 << 63;
/// A page of a file or of shared memory, rather than a private copy.
const SHARED: u64 = 1 << 61;
/// Entries of the page map that are read at once.
const CHUNK: usize = 4096;

/// The first look at a program's pages comes so long after it was executed, the next after twice
/// the time, and so on.
const LOOK_FIRST_NS: u64 = 200_000;

/// Files mapped into one process.
#[derive(Debug)]
pub(super) struct Mappings {
    /// Whether the memory is the program's own from the start, not a copy of its parent's.
    own: bool,
    mapped: Vec<Range<u64>>,
    /// Pages of the address space that were seen to be touched: 64 a word.
    seen: HashMap<u64, u64>,
    look_every_ns: u64,
    look_due_ns: u64,
}

impl Mappings {
    /// A program was executed.
    pub(super) fn fresh(now: u64) -> Self {
        let look_due_ns = now.saturating_add(LOOK_FIRST_NS);
        let (mapped, seen) = (Vec::new(), HashMap::new());
        Self { own: true, mapped, seen, look_every_ns: LOOK_FIRST_NS, look_due_ns }
    }

    /// A process was forked: what the parent had mapped is mapped here too.
    pub(super) fn copied(parent: Option<&Self>, now: u64) -> Self {
        let mapped = parent.map_or_else(Vec::new, |parent| parent.mapped.clone());
        Self { own: false, mapped, ..Self::fresh(now) }
    }

    /// Whether what is touched is this program's doing.
    pub(super) fn are_own(&self) -> bool {
        self.own
    }

    /// Whether it is time to look again. If so, that is taken for done.
    pub(super) fn are_due(&mut self, now: u64) -> bool {
        let due = self.own && now >= self.look_due_ns;
        if due {
            self.look_every_ns = self.look_every_ns.saturating_mul(2);
            self.look_due_ns = now.saturating_add(self.look_every_ns);
        }
        due
    }

    /// A file was mapped there.
    pub(super) fn add(&mut self, range: Range<u64>) {
        self.remove(&range);
        self.mapped.push(range);
    }

    /// Whether a file was mapped into this range, and not taken away since.
    pub(super) fn overlaps(&self, range: &Range<u64>) -> bool {
        self.mapped.iter().any(|old| old.start < range.end && range.start < old.end)
    }

    /// The range is unmapped.
    pub(super) fn remove(&mut self, range: &Range<u64>) {
        self.mapped.retain(|old| !(range.start <= old.start && old.end <= range.end));
        let pages = range.start / PAGE_BYTES..range.end.div_ceil(PAGE_BYTES);
        self.seen.retain(|word, bits| {
            let from = pages.start.saturating_sub(word * 64);
            let to = pages.end.saturating_sub(word * 64).min(64);
            for bit in from..to {
                *bits &= !(1 << bit);
            }
            *bits != 0
        });
    }

    /// Whether this page of the address space is seen for the first time.
    fn is_news(&mut self, page: u64) -> bool {
        let word = self.seen.entry(page / 64).or_insert(0);
        let before = *word;
        *word |= 1 << (page % 64);
        *word != before
    }
}

/// What a task's page tables hold of files in `range` that they did not hold before, as touches.
pub(super) fn touched(
    task: i32,
    range: &Range<u64>,
    mappings: &mut Mappings,
    files: &mut Files,
    names: &mut Vec<Entry>,
) -> Vec<Event> {
    let mut events = Vec::new();
    let time_ns = monotonic_ns();
    let maps = fs::read(format!("/proc/{task}/maps")).unwrap_or_default();
    let Ok(pagemap) = File::open(format!("/proc/{task}/pagemap")) else { return events };
    for area in String::from_utf8_lossy(&maps).lines().filter_map(Area::parse) {
        let start = area.range.start.max(range.start);
        let end = area.range.end.min(range.end);
        let key = (area.device, area.inode);
        if start >= end || !files.mapped(task, key, area.path.as_bytes(), names) {
            continue;
        }
        let first = (area.offset + (start - area.range.start)) / PAGE_BYTES;
        let mut windows = Windows::default();
        let mut each = |index: u64, extent: u64| {
            let (device, inode, kind) = (area.device, area.inode, Kind::MapPages);
            let task = task.unsigned_abs();
            events.push(Event { time_ns, task, kind, device, inode, index, extent });
        };
        let pages = start / PAGE_BYTES..end / PAGE_BYTES;
        for ((index, page), entry) in (first..).zip(pages.clone()).zip(entries(&pagemap, pages)) {
            let counts = entry & PRESENT != 0 && (mappings.own || entry & SHARED != 0);
            if counts && mappings.is_news(page) {
                windows.push(index, page, &mut each);
            }
        }
        windows.end(&mut each);
    }
    // File by file: their areas lie side by side.
    for of_file in events.chunk_by_mut(|one, next| one.inode == next.inode) {
        of_file.sort_by_key(|event| scattered(event.index));
    }
    events
}

/// The same number for the same window in every run, and no order among neighbours.
fn scattered(window: u64) -> u64 {
    window.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// The page map's entries of these pages, as far as they can be read.
fn entries(pagemap: &File, pages: Range<u64>) -> impl Iterator<Item = u64> {
    let starts = pages.clone().step_by(CHUNK);
    starts.flat_map(move |start| {
        let count = usize::try_from(pages.end - start).unwrap_or(CHUNK).min(CHUNK);
        let mut bytes = vec![0; count * 8];
        let got = pagemap.read_at(&mut bytes, start * 8).unwrap_or(0);
        bytes.truncate(got);
        let (words, _) = bytes.as_chunks::<8>();
        words.iter().map(|word| u64::from_ne_bytes(*word)).collect::<Vec<_>>()
    })
}

/// Puts pages in a row together, up to the edges of the windows of fault-around, which are those of
/// the address space.
#[derive(Debug, Default)]
struct Windows {
    run: Option<(u64, u64)>,
}

impl Windows {
    /// Page `index` of the file, which is page `page` of the address space.
    fn push(&mut self, index: u64, page: u64, each: &mut impl FnMut(u64, u64)) {
        match &mut self.run {
            Some((_, last)) if *last + 1 == index && !page.is_multiple_of(WINDOW) => *last = index,
            _ => {
                self.end(each);
                self.run = Some((index, index));
            }
        }
    }

    fn end(&mut self, each: &mut impl FnMut(u64, u64)) {
        if let Some((first, last)) = self.run.take() {
            each(first, last);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn mappings_are_known_until_they_are_taken_away() {
        let mut mappings = Mappings::fresh(5);
        mappings.add(100..200);
        assert!(mappings.overlaps(&(199..300)) && !mappings.overlaps(&(200..300)));
        mappings.remove(&(150..300));
        assert!(mappings.overlaps(&(0..300)), "a part is left");
        mappings.remove(&(100..200));
        assert!(!mappings.overlaps(&(0..300)));
    }

    #[test]
    fn a_page_is_news_once_and_again_when_it_was_unmapped() {
        let mut mappings = Mappings::fresh(0);
        assert!(mappings.is_news(65) && mappings.is_news(64) && !mappings.is_news(65));
        mappings.remove(&(65 * PAGE_BYTES..70 * PAGE_BYTES));
        assert!(mappings.is_news(65) && !mappings.is_news(64));
    }

    #[test]
    fn looks_are_twice_as_far_apart_each_time() {
        let mut mappings = Mappings::fresh(0);
        let looks = (0..4_000_000u64).step_by(1000).filter(|&now| mappings.are_due(now)).count();
        assert_eq!(looks, 4, "after 0.2, 0.6, 1.4 and 3.0 ms");
    }

    proptest! {
        #[test]
        fn windows_hold_every_page_once(pages in prop::collection::btree_set(0u64..200, 0..120)) {
            let (mut windows, mut held) = (Windows::default(), Vec::new());
            let mut each = |first: u64, last: u64| {
                assert_eq!((first + 5) / WINDOW, (last + 5) / WINDOW);
                held.extend(first..=last);
            };
            for &page in &pages {
                windows.push(page, page + 5, &mut each);
            }
            windows.end(&mut each);
            prop_assert_eq!(held, pages.into_iter().collect::<Vec<_>>());
        }
    }
}
