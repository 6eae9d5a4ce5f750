//! A trace made ready to be simulated at many sizes: page ranges, dense numbers for files and for
//! streams of readahead, and what each file's device does. 28 bytes a touch.

use std::collections::HashMap;

use super::readahead::Window;
use crate::units::{Bytes, PAGE_BYTES};
use crate::workload::trace::{Op, Trace};

/// What a touch does to the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TouchKind {
    /// A read: readahead applies.
    Read,
    /// A write: what is not there is put there, nothing is read ahead.
    Write,
    /// A fault on one page: read-around applies.
    Fault,
    /// A window mapped by fault-around: a fault in its middle if none of it is cached.
    Map,
    /// The pages went for good: truncated, deleted, dropped.
    Drop,
}

/// A range of pages of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    /// Dense number of the file.
    pub file: u32,
    /// Dense number of (file, task): a readahead state.
    pub stream: u32,
    /// First page.
    pub first: u32,
    /// Pages, at least one.
    pub count: u32,
    /// Size of the file at that moment, in pages.
    pub file_pages: u32,
    /// What it does.
    pub kind: TouchKind,
}

/// No device reads ahead further than 4 GiB.
const WINDOW_PAGES_MAX: u32 = 1 << 20;

/// A file of the stream.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FileShape {
    /// Where its pages begin in a table of the pages of all files.
    pub(super) base: usize,
    pub(super) window: Window,
    pub(super) order_max: u32,
}

/// A workload in pages.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    pub(super) touches: Vec<Touch>,
    pub(super) files: Vec<FileShape>,
    pub(super) streams: usize,
    pub(super) pages: usize,
    /// Pages charged to somebody else for good: file and page. Never filled, never evicted.
    pub(super) shared: Vec<(u32, u32)>,
    /// Pages accessed by calls, repetitions included, and pages mapped that nobody else keeps.
    called: u64,
    mapped: u64,
    /// Accesses left out of `touches`: the page that was read just before, again.
    repeated: u64,
}

impl Stream {
    /// From a trace. `shared` lists the pages that stay in memory on somebody else's account, such
    /// as those of the C library, as number of the file and page in it.
    pub fn of(trace: &Trace, shared: &[(u32, u32)]) -> Self {
        let mut stream = Self { files: shapes(trace), ..Self::default() };
        let mut numbers: HashMap<(u32, u32), u32> = HashMap::new();
        let mut extents = vec![0u32; trace.files.len()];
        let mut recent = ((u32::MAX, u32::MAX), 0);
        for record in &trace.records {
            let kind = match record.op {
                Op::Read => TouchKind::Read,
                Op::Write => TouchKind::Write,
                Op::Fault => TouchKind::Fault,
                Op::Map => TouchKind::Map,
                Op::Evict => TouchKind::Drop,
                Op::Fill | Op::Readahead => continue,
            };
            let Some((first, count)) = pages(record.offset_bytes, record.length_bytes) else {
                continue;
            };
            let key = (record.file.0, record.task);
            if recent.0 != key {
                let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
                recent = (key, *numbers.entry(key).or_insert(next));
            }
            let size = Bytes(record.file_bytes).pages_up().0;
            let file_pages = u32::try_from(size).unwrap_or(u32::MAX).max(first + count);
            let (file, stream_number) = (record.file.0, recent.1);
            let touch = Touch { file, stream: stream_number, first, count, file_pages, kind };
            stream.push(touch, &mut extents);
        }
        stream.streams = numbers.len();
        stream.lay_out(&extents);
        stream.shared = shared.to_vec();
        stream.count_mapped();
        stream
    }

    fn push(&mut self, touch: Touch, extents: &mut [u32]) {
        let extent = &mut extents[touch.file as usize];
        *extent = (*extent).max(touch.first + touch.count);
        if matches!(touch.kind, TouchKind::Read | TouchKind::Write) {
            self.called += u64::from(touch.count);
        }
        // The same page of the same open file again is a hit at every size and moves nothing.
        if touch.kind == TouchKind::Read && touch.count == 1 && self.touches.last() == Some(&touch)
        {
            self.repeated += 1;
            return;
        }
        self.touches.push(touch);
    }

    /// Counts the pages that were mapped. Those that others keep in memory do not count: however
    /// often they are touched, they are no part of this cache.
    fn count_mapped(&mut self) {
        let mut shared = vec![false; self.pages];
        for &(file, page) in &self.shared {
            if let Some(shared) = shared.get_mut(self.page_number(file, page)) {
                *shared = true;
            }
        }
        let is_mapped = |t: &&Touch| matches!(t.kind, TouchKind::Fault | TouchKind::Map);
        for touch in self.touches.iter().filter(is_mapped) {
            let first = self.page_number(touch.file, touch.first);
            let range = first..first + touch.count as usize;
            let own = shared.get(range).map_or(0, |s| s.iter().filter(|&&s| !s).count());
            self.mapped += own as u64;
        }
    }

    /// Gives every file a place for all pages that can ever be cached: readahead runs at most two
    /// windows ahead of what is asked for.
    fn lay_out(&mut self, extents: &[u32]) {
        let mut sizes = vec![0u32; self.files.len()];
        for touch in &self.touches {
            let size = &mut sizes[touch.file as usize];
            *size = (*size).max(touch.file_pages);
        }
        self.pages = 0;
        for ((file, &extent), &size) in self.files.iter_mut().zip(extents).zip(&sizes) {
            file.base = self.pages;
            let ahead = 4 * file.window.pages.max(file.window.io_pages) + 1024;
            self.pages += size.min(extent.saturating_add(ahead)) as usize;
        }
    }

    /// Pages accessed by calls, and pages mapped into somebody's memory; repetitions included.
    pub fn accesses(&self) -> u64 {
        self.called + self.mapped
    }

    /// Accesses that are not among the touches, because they hit at every size.
    pub fn repetitions(&self) -> u64 {
        self.repeated
    }

    /// The share of them that were mapped, and are touched again and again without our seeing it.
    pub fn mapped_share(&self) -> f64 {
        if self.accesses() == 0 { 0.0 } else { self.mapped as f64 / self.accesses() as f64 }
    }

    /// The readahead window that most touches meet, in pages.
    pub fn window_pages(&self) -> u32 {
        let mut touches: HashMap<u32, usize> = HashMap::new();
        for touch in &self.touches {
            *touches.entry(self.files[touch.file as usize].window.pages).or_default() += 1;
        }
        touches.into_iter().max_by_key(|&(_, count)| count).map_or(0, |(pages, _)| pages)
    }

    /// Asks something of the same workload on devices with this readahead window. The touches are
    /// not copied: there may be many.
    pub fn with_readahead<R>(&mut self, window: Bytes, ask: impl FnOnce(&Self) -> R) -> R {
        let pages = u32::try_from(window.pages_down().0).unwrap_or(u32::MAX).min(WINDOW_PAGES_MAX);
        let touches = std::mem::take(&mut self.touches);
        let mut extents = vec![0u32; self.files.len()];
        for touch in &touches {
            let extent = &mut extents[touch.file as usize];
            *extent = (*extent).max(touch.first + touch.count);
        }
        let mut other = Self { touches, ..self.clone() };
        // No page may lose its place, whichever window is the larger.
        for (file, own) in other.files.iter_mut().zip(&self.files) {
            file.window.pages = pages.max(own.window.pages);
        }
        other.lay_out(&extents);
        for file in &mut other.files {
            file.window.pages = pages;
        }
        let answer = ask(&other);
        self.touches = other.touches;
        answer
    }

    /// The touches in order, repetitions of one page left out.
    pub fn touches(&self) -> &[Touch] {
        &self.touches
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
        for touch in self.touches.iter().filter(|touch| touch.file_pages > 1) {
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

    /// The pages that stay in memory on somebody else's account: file and page.
    pub fn shared_pages(&self) -> &[(u32, u32)] {
        &self.shared
    }
}

/// First page and number of pages of a byte range; nothing for an empty or an impossible one.
fn pages(offset: u64, length: u32) -> Option<(u32, u32)> {
    if length == 0 {
        return None;
    }
    let first = offset / PAGE_BYTES;
    let last = offset.checked_add(u64::from(length) - 1)? / PAGE_BYTES;
    // Files of 8 TiB and more are beyond a 31-bit page number.
    let last = u32::try_from(last).ok().filter(|&last| last < 1 << 31)?;
    let first = u32::try_from(first).ok()?;
    Some((first, last - first + 1))
}

fn shapes(trace: &Trace) -> Vec<FileShape> {
    let elsewhere: HashMap<&str, u32> =
        trace.facts.file_devices.iter().map(|(name, device)| (name.as_str(), *device)).collect();
    let shape = |name: &String| {
        let device = elsewhere.get(name.as_str()).copied().unwrap_or(0) as usize;
        let device = trace.facts.devices.get(device);
        let pages = |bytes: u64| {
            u32::try_from(bytes / PAGE_BYTES).unwrap_or(u32::MAX).min(WINDOW_PAGES_MAX)
        };
        let window = Window {
            // 128 KiB is the kernel's default; a trace without facts gets it.
            pages: device.map_or(32, |d| pages(d.readahead_bytes)),
            io_pages: device.map_or(0, |d| pages(d.io_bytes)),
        };
        let order_max = device.map_or(0, |d| u32::from(d.folio_order_max.min(9)));
        FileShape { base: 0, window, order_max }
    };
    trace.files.iter().map(shape).collect()
}
