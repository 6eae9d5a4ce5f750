//! From what a stopped task asks for to what that does to the page cache.

use std::collections::HashSet;
use std::ops::{Range, RangeInclusive};

use super::arguments::{length, path, word};
use super::files::{Files, Looked};
use super::mapped::{Mappings, touched};
use super::request::{At, Request};
use crate::sys::process::monotonic_ns;
use crate::units::PAGE_BYTES;
use crate::workload::record::advice::{About, Advice, Advised, WILL_NEED};
use crate::workload::record::log::{Entry, Event, Kind};
use crate::workload::record::names::Key;

/// The kernel moves no more in one call (`MAX_RW_COUNT`).
const CALL_BYTES_MAX: u64 = 0x7fff_f000;
/// What fits in the pipe through which the kernel moves bytes (`PIPE_DEF_BUFFERS`).
const PIPE_BYTES: u64 = 16 * PAGE_BYTES;
/// Largest order of a folio in an event.
const ORDER_MAX: u32 = 18;

/// What happens to files if the call that has begun succeeds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Pending {
    /// This many bytes as it returns leave one file for another; only those that are files here.
    Copy { from: Option<(Key, u64)>, to: Option<(Key, u64)> },
    /// A file appears in memory.
    Map { bytes: u64 },
    /// The pages from a byte on leave the cache.
    Cut { key: Key, bytes: u64 },
    /// The file goes, and its pages with it.
    Remove { key: Key },
    /// What was mapped was this, and is mapped no more.
    Execute { touched: Vec<Event> },
}

/// What could not be followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Missed {
    /// Calls on descriptors that we may not look at.
    pub(super) hidden: u64,
}

/// Follows requests to files.
#[derive(Debug)]
pub(super) struct Translator {
    pub(super) files: Files,
    pub(super) missed: Missed,
    /// What has happened, for the log.
    pub(super) news: Vec<Entry>,
    /// Files that were written to.
    written: HashSet<Key>,
    /// What was said of how they will be read.
    pub(super) advised: Advised,
}

impl Translator {
    pub(super) fn new(files: Files) -> Self {
        let (written, advised) = (HashSet::new(), Advised::default());
        Self { files, missed: Missed::default(), news: Vec::new(), written, advised }
    }

    /// A call begins that reads or writes, and will do so.
    pub(super) fn transfer(&mut self, task: i32, request: &Request) {
        let (kind, file, at, much) = match *request {
            Request::Read { file, at, much } => (Kind::Read, file, at, much),
            Request::Write { file, at, much } => (Kind::Write, file, at, much),
            _ => return,
        };
        let Some((key, position)) = self.place(task, file, at, kind) else { return };
        let bytes = length(task, much).min(CALL_BYTES_MAX);
        if kind == Kind::Write {
            self.push(task, kind, key, position, bytes);
            return;
        }
        let end = position.saturating_add(bytes);
        let size = self.files.size((task, file), key, end, &mut self.news);
        // A read of nothing asks the page cache for nothing.
        self.push(task, kind, key, position, end.min(size).saturating_sub(position));
    }

    /// A call begins whose end decides. What then happens, if it is something.
    pub(super) fn begin(
        &mut self,
        task: i32,
        request: &Request,
        processes: &[i32],
    ) -> Option<Pending> {
        match *request {
            Request::Copy { from, from_at, to, to_at } => {
                let from = self.place(task, from, from_at, Kind::Read);
                let to = self.place(task, to, to_at, Kind::Write);
                (from.is_some() || to.is_some()).then_some(Pending::Copy { from, to })
            }
            Request::Advise { file, from, bytes, advice } => {
                self.advise(task, file, (from, bytes), advice);
                None
            }
            Request::Map { bytes } => Some(Pending::Map { bytes }),
            Request::Cut { file, bytes } => match self.files.look(task, file, &mut self.news) {
                Looked::File(open) => Some(Pending::Cut { key: open.key, bytes }),
                _ => None,
            },
            Request::CutNamed { named, bytes } => {
                let (key, _) = self.files.by_path(&path(task, named)?, true)?;
                Some(Pending::Cut { key, bytes })
            }
            Request::Remove { named } => {
                let (key, is_only) = self.files.by_path(&path(task, named)?, false)?;
                // Its pages stay for as long as a process has it open. When that ends is not seen.
                let is_open = |&process: &i32| self.files.is_open(process, key);
                let goes = is_only && !processes.iter().any(is_open);
                goes.then_some(Pending::Remove { key })
            }
            _ => None,
        }
    }

    /// A call has ended well, with this result.
    pub(super) fn end(&mut self, task: i32, pending: &Pending, result: u64) {
        match *pending {
            Pending::Copy { from, to } => {
                for (position, bytes) in pieces(from.map_or(0, |(_, position)| position), result) {
                    if let Some((key, _)) = from {
                        self.push(task, Kind::Splice, key, position, bytes);
                    }
                }
                if let Some((key, position)) = to {
                    self.push(task, Kind::Write, key, position, result);
                }
            }
            Pending::Cut { key, bytes } => {
                self.evict(task, key, bytes);
                self.files.note(key, bytes, None, &mut self.news);
            }
            Pending::Remove { key } => {
                self.evict(task, key, 0);
                self.files.forget(key);
            }
            Pending::Map { .. } | Pending::Execute { .. } => {}
        }
    }

    /// What was mapped there is mapped no more from now on: what of it was touched.
    pub(super) fn touch(&mut self, task: i32, range: &Range<u64>, mappings: &mut Mappings) {
        let Self { files, news, .. } = self;
        let events = touched(task, range, mappings, files, news);
        news.extend(events.into_iter().map(Entry::Event));
    }

    /// The file of a descriptor and the place in it.
    fn place(&mut self, task: i32, file: u32, at: At, kind: Kind) -> Option<(Key, u64)> {
        let open = match self.files.look(task, file, &mut self.news) {
            Looked::File(open) if open.direct => {
                self.files.went_past(task, file, open.key);
                return None;
            }
            Looked::File(open) => open,
            Looked::Hidden => {
                self.missed.hidden += 1;
                return None;
            }
            Looked::Other => return None,
        };
        let position = match at {
            _ if open.appends && kind == Kind::Write => {
                self.files.size((task, file), open.key, u64::MAX, &mut self.news)
            }
            At::Current => open.position,
            At::Byte(byte) => byte,
            At::Pointer(address) => word(task, address)?,
        };
        // What the kernel refuses: it counts in signed numbers.
        (position <= i64::MAX.unsigned_abs()).then_some((open.key, position))
    }

    fn push(&mut self, task: i32, kind: Kind, key: Key, index: u64, extent: u64) {
        if extent == 0 {
            return;
        }
        if kind == Kind::Write {
            self.files.grow(key, index.saturating_add(extent));
            self.written.insert(key);
        }
        self.event(task, kind, key, (index, extent));
    }

    fn event(&mut self, task: i32, kind: Kind, (device, inode): Key, (index, extent): (u64, u64)) {
        let (time_ns, task) = (monotonic_ns(), task.unsigned_abs());
        let event = Event { time_ns, task, kind, device, inode, index, extent };
        self.news.extend(self.advised.reaches(&event).map(Entry::Event));
        self.news.push(Entry::Event(event));
    }

    /// The pages of a file from a byte on leave the cache, as powers of two.
    fn evict(&mut self, task: i32, key: Key, from_byte: u64) {
        let size = self.files.known_size(key).unwrap_or(0);
        self.evict_pages(task, key, from_byte.div_ceil(PAGE_BYTES)..size.div_ceil(PAGE_BYTES));
    }

    fn evict_pages(&mut self, task: i32, key: Key, pages: Range<u64>) {
        for (index, order) in powers(pages.start, pages.end) {
            self.event(task, Kind::Delete, key, (index, u64::from(order)));
        }
    }

    /// `posix_fadvise`: how a file will be read is passed on; what will not be wanted leaves the cache, in
    /// whole pages (`mm/fadvise.c`), but not of a file that was written to: what is dirty stays. No
    /// bytes stand for all up to the end.
    fn advise(&mut self, task: i32, file: u32, (from, bytes): (u64, u64), advice: u64) {
        const HOW: RangeInclusive<u64> = 0..=2;
        let Looked::File(open) = self.files.look(task, file, &mut self.news) else { return };
        if HOW.contains(&advice) {
            let (time_ns, task) = (monotonic_ns(), task.unsigned_abs());
            let range = (from, bytes);
            let said = Advice { time_ns, task, about: About::Descriptor(file), range, advice };
            self.advised.say(&said, Some(open.key));
            return;
        }
        if advice == WILL_NEED {
            let bytes = if bytes == 0 { u64::MAX } else { bytes };
            self.event(task, Kind::Prefetch, open.key, (from, bytes));
            return;
        }
        let goes = advice == u64::from(libc::POSIX_FADV_DONTNEED.unsigned_abs());
        if goes && bytes <= i64::MAX.unsigned_abs() && !self.written.contains(&open.key) {
            let size = self.files.known_size(open.key).unwrap_or(0);
            let end = if bytes == 0 { size } else { from.saturating_add(bytes) };
            let last = if end >= size { size.div_ceil(PAGE_BYTES) } else { end / PAGE_BYTES };
            self.evict_pages(task, open.key, from.div_ceil(PAGE_BYTES)..last);
        }
    }
}

/// The pieces in which bytes go through a pipe.
fn pieces(position: u64, bytes: u64) -> impl Iterator<Item = (u64, u64)> {
    let (mut at, end) = (position, position.saturating_add(bytes));
    std::iter::from_fn(move || {
        // Each page, also the first one, has a place of its own in the pipe.
        let piece = (PIPE_BYTES - at % PAGE_BYTES).min(end.checked_sub(at)?);
        let start = at;
        at += piece;
        (piece > 0).then_some((start, piece))
    })
}

/// A range of pages as beginnings and orders.
fn powers(first: u64, end: u64) -> impl Iterator<Item = (u64, u32)> {
    let mut at = first;
    std::iter::from_fn(move || {
        let left = end.checked_sub(at).filter(|&left| left > 0)?;
        let order = left.ilog2().min(ORDER_MAX);
        let start = at;
        at += 1 << order;
        Some((start, order))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_pipe_takes_sixteen_pages_at_a_time() {
        let check = |position, bytes, want: &[(u64, u64)]| {
            assert_eq!(pieces(position, bytes).collect::<Vec<_>>(), want, "{position} {bytes}");
        };
        check(0, 0, &[]);
        check(8192, 4096, &[(8192, 4096)]);
        check(0, 100_000, &[(0, 65_536), (65_536, 34_464)]);
        check(100, 70_000, &[(100, 65_436), (65_536, 4564)]);
    }

    proptest! {
        #[test]
        fn powers_cover_a_range_once(first in 0u64..1 << 40, pages in 0u64..1 << 22) {
            let mut at = first;
            for (start, order) in powers(first, first + pages) {
                prop_assert_eq!(start, at);
                prop_assert!(order <= ORDER_MAX);
                at += 1 << order;
            }
            prop_assert_eq!(at, first + pages);
        }
    }
}
