//! A trace made ready to be simulated at many sizes: page ranges, dense numbers for files and for
//! streams of readahead, and what each file's device does.

mod advice;
mod build;
mod store;
mod touch;

use std::collections::HashMap;

pub(super) use advice::Advice;
pub use build::Builder;
pub use touch::{Touch, TouchKind, Touches};

use store::Store;
use touch::Resized;

use super::readahead::Window;
use super::{Replacement, Rules};
use crate::meter::stall::Pace;
use crate::trace::{Facts, Record};
use crate::units::{Bytes, PAGE_BYTES, Pages};

/// A file of the stream.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FileShape {
    /// Where its pages begin in a table of the pages of all files.
    pub(super) base: usize,
    pub(super) window: Window,
    pub(super) order_max: u32,
    /// Pages of it, at the most, and the end of what was touched.
    size_max: u32,
    reached: u32,
    /// Pages from `base` on that are its own in the table: all that may be touched or read ahead.
    placed: u32,
    /// Its text: the first page, and the end.
    text: (u32, u32),
}

impl FileShape {
    /// Whether some of these pages are text of a program.
    pub(super) fn has_text(&self, first: u32, count: u32) -> bool {
        first < self.text.1 && self.text.0 < first + count
    }
}

/// No device reads ahead further than 4 GiB.
const WINDOW_PAGES_MAX: u32 = 1 << 20;

/// A readahead window in pages.
fn window_pages(window: Bytes) -> u32 {
    u32::try_from(window.0 / PAGE_BYTES).unwrap_or(u32::MAX).min(WINDOW_PAGES_MAX)
}

/// A workload in pages.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    touches: Store,
    /// Numbers of pages that are too large for a packed touch, in order.
    large: Vec<u32>,
    /// Changes of the sizes of files, in order.
    resized: Vec<Resized>,
    pub(super) files: Vec<FileShape>,
    /// File and task of each stream, tasks numbered from 0.
    pub(super) streams: Vec<(u32, u32)>,
    /// How each of them is read, by calls and through mappings.
    advice: Vec<(Advice, Advice)>,
    pub(super) pages: usize,
    /// Pages charged to another process for good: file and page. Never filled, never evicted.
    pub(super) shared: Vec<(u32, u32)>,
    /// Pages accessed by calls, repetitions included, and pages mapped that no other process keeps.
    called: u64,
    mapped: u64,
    /// Those of the latter that were mapped before, and the share of the others whose next touches were not
    /// seen.
    again: u64,
    unseen_share: f64,
    /// Pages used of `shared`.
    shared_used: u64,
    /// Accesses left out of `touches`: the page that was read just before, again.
    repeated: u64,
    /// What the recording says of time.
    pace: Pace,
    /// Whether the kernel that recorded it has the multi-generational LRU.
    is_multi_generational: bool,
    /// The rules of that.
    rules: Rules,
}

/// Who keeps a page in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keeper {
    Us,
    Others,
    OthersUsed,
}

impl Stream {
    /// From the parts of a trace. Its records, if they are given away, make room as they are read.
    pub fn of(
        records: impl IntoIterator<Item = Record>,
        files: &[String],
        facts: &Facts,
        shared: &[(u32, u32)],
    ) -> Self {
        let mut builder = Builder::default();
        records.into_iter().for_each(|record| builder.hear(&record));
        builder.finish(files, facts, shared)
    }

    /// Counts the pages that were mapped, and those used of the ones that others keep in memory. These
    /// do not count as mapped: however often they are touched, they are no part of this cache.
    fn count_mapped(&mut self) {
        let mut shared = vec![Keeper::Us; self.pages];
        for &(file, page) in &self.shared {
            if let Some(shared) = shared.get_mut(self.page_number(file, page)) {
                *shared = Keeper::Others;
            }
        }
        let (mut mapped, mut again, mut used) = (0, 0, 0);
        for touch in self.touches().filter(|touch| touch.kind.is_demand()) {
            let first = self.page_number(touch.file, touch.first);
            let range = first..first + touch.count as usize;
            let Some(range) = shared.get_mut(range) else { continue };
            let others = range.iter().filter(|page| **page != Keeper::Us).count();
            if matches!(touch.kind, TouchKind::Fault | TouchKind::Map | TouchKind::Again) {
                mapped += range.len() - others;
                again += usize::from(touch.kind == TouchKind::Again) * (range.len() - others);
            }
            if others > 0 {
                for page in range.iter_mut().filter(|page| **page == Keeper::Others) {
                    *page = Keeper::OthersUsed;
                    used += 1;
                }
            }
        }
        (self.mapped, self.again, self.shared_used) = (mapped as u64, again as u64, used);
    }

    /// Pages accessed by calls, and pages mapped into a process's memory; repetitions included.
    pub fn accesses(&self) -> u64 {
        self.called + self.mapped
    }

    /// How the kernel that recorded it chooses what leaves the cache.
    pub fn kernel_order(&self) -> Replacement {
        if self.is_multi_generational { self.generations() } else { Replacement::ActiveInactive }
    }

    /// The multi-generational LRU of the kernel that recorded it.
    pub(crate) fn generations(&self) -> Replacement {
        Replacement::Generations(self.rules)
    }

    /// Accesses that are not among the touches, because they hit at every size.
    pub fn repetitions(&self) -> u64 {
        self.repeated
    }

    /// The share of them that were mapped, and are touched again and again without our seeing it.
    pub fn mapped_share(&self) -> f64 {
        let unseen = (self.mapped - self.again) as f64 * self.unseen_share;
        if self.accesses() == 0 { 0.0 } else { unseen / self.accesses() as f64 }
    }

    /// The readahead window that most touches meet, in pages.
    pub fn window_pages(&self) -> u32 {
        let mut touches: HashMap<u32, usize> = HashMap::new();
        for touch in self.touches() {
            *touches.entry(self.files[touch.file as usize].window.pages).or_default() += 1;
        }
        touches.into_iter().max_by_key(|&(_, count)| count).map_or(0, |(pages, _)| pages)
    }

    /// How a touch's stream is read by calls.
    pub(super) fn advice(&self, touch: &Touch) -> Advice {
        self.advice.get(touch.stream as usize).map_or(Advice::Normal, |&(called, _)| called)
    }

    /// How it is read through mappings.
    pub(super) fn mapped_advice(&self, touch: &Touch) -> Advice {
        self.advice.get(touch.stream as usize).map_or(Advice::Normal, |&(_, mapped)| mapped)
    }

    /// The readahead window that a touch meets.
    pub(super) fn window(&self, touch: &Touch) -> Window {
        self.advice(touch).window(self.files[touch.file as usize].window)
    }

    /// Gives every file a place for all pages that can ever be cached: readahead runs at most two
    /// windows ahead of what is asked for, and a window may be twice the device's.
    fn lay_out(&mut self) {
        self.pages = 0;
        for file in &mut self.files {
            file.base = self.pages;
            let ahead = 8 * file.window.pages.max(file.window.io_pages) + 1024;
            file.placed = file.size_max.min(file.reached.saturating_add(ahead));
            self.pages += file.placed as usize;
        }
    }

    /// Asks something of the same workload on devices with this readahead window. The touches are
    /// not copied: there may be many.
    pub fn with_readahead<R>(&mut self, window: Bytes, ask: impl FnOnce(&Self) -> R) -> R {
        let (own, pages) = (self.files.clone(), window_pages(window));
        // No page may lose its place, whichever window is the larger.
        for file in &mut self.files {
            file.window.pages = file.window.pages.max(pages);
        }
        self.lay_out();
        for file in &mut self.files {
            file.window.pages = pages;
        }
        let answer = ask(self);
        self.files = own;
        self.lay_out();
        answer
    }

    /// The touches in order, repetitions of one page left out.
    pub fn touches(&self) -> Touches<'_> {
        Touches::of(self)
    }

    /// How many touches there are.
    pub fn len(&self) -> usize {
        self.touches.len()
    }

    /// Whether nothing is touched at all.
    pub fn is_empty(&self) -> bool {
        self.touches.len() == 0
    }

    fn file_of(&self, stream: u32) -> u32 {
        self.streams.get(stream as usize).map_or(0, |&(file, _)| file)
    }

    pub(super) fn task_of(&self, stream: u32) -> u32 {
        self.streams.get(stream as usize).map_or(0, |&(_, task)| task)
    }

    /// Where the first page of the touch with this number is in the table of all pages.
    pub(super) fn place(&self, at: usize) -> Option<usize> {
        let touch = self.touches.get(at)?;
        Some(self.page_number(self.file_of(touch.stream), touch.first))
    }

    /// What the recording says of time.
    pub fn pace(&self) -> &Pace {
        &self.pace
    }

    /// Whether a page has a number. Others are never touched and never read ahead.
    pub(super) fn has_number(&self, file: u32, page: u32) -> bool {
        self.files.get(file as usize).is_some_and(|file| page < file.placed)
    }

    /// A number for a page that is dense enough to index a table with, and its upper bound.
    pub fn page_number(&self, file: u32, page: u32) -> usize {
        self.files[file as usize].base + page as usize
    }

    /// Upper bound of [`Self::page_number`].
    pub fn page_numbers(&self) -> usize {
        self.pages
    }

    /// Nodes of the kernel's page index (an xarray, 64 pages a node) that hold the touched pages.
    /// A file of one page needs none.
    pub fn index_nodes(&self) -> u64 {
        let mut seen = vec![false; self.pages / 64 + 2 * self.files.len() + 1];
        let mut nodes = 0;
        for touch in self.touches().filter(|touch| touch.file_pages > 1) {
            let base = self.files[touch.file as usize].base / 64 + 2 * touch.file as usize;
            let last = touch.first + touch.count - 1;
            for node in touch.first / 64..=last / 64 {
                if let Some(seen) = seen.get_mut(base + node as usize) {
                    nodes += u64::from(!*seen);
                    *seen = true;
                }
            }
        }
        nodes
    }

    /// The pages that stay in memory on another process's account: file and page.
    pub fn shared_pages(&self) -> &[(u32, u32)] {
        &self.shared
    }

    /// How many of these were used.
    pub fn shared_used(&self) -> Pages {
        Pages(self.shared_used)
    }
}
