//! From records to a stream, one record at a time, so that a trace need not be in memory.

use std::collections::HashMap;

use super::super::Rules;
use super::super::readahead::Window;
use super::advice::Heard;
use super::touch::{Packed, Resized};
use super::{FileShape, Stream, Touch, TouchKind, window_pages};
use crate::meter::stall::Stalls;
use crate::trace::{CacheEvent, Facts, Record};
use crate::units::{Bytes, PAGE_BYTES};

/// No window is wider, so that no more pages of a large file get a place.
const AHEAD_PAGES_MAX: u32 = 1 << 14;

/// Makes a [`Stream`] of records in time order.
#[derive(Debug, Default)]
pub struct Builder {
    stream: Stream,
    numbers: HashMap<(u32, u32), u32>,
    tasks: HashMap<u32, u32>,
    /// The stream of the record before: most follow one of the same.
    recent: Option<((u32, u32), u32)>,
    /// For each file its size in pages, the most of it, and how far it was touched.
    files: Vec<Seen>,
    stalls: Stalls,
    heard: Heard,
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    size: u32,
    size_max: u32,
    reached: u32,
}

impl Builder {
    /// Takes in the next record.
    pub fn hear(&mut self, record: &Record) {
        let kind = match record.op {
            CacheEvent::Read => TouchKind::Read,
            CacheEvent::Splice => TouchKind::Splice,
            CacheEvent::Write => TouchKind::Write,
            CacheEvent::Fault => TouchKind::Fault,
            CacheEvent::Map => TouchKind::Map,
            CacheEvent::Touch => TouchKind::Again,
            CacheEvent::Prefetch => TouchKind::Ahead,
            CacheEvent::Evict => TouchKind::Drop,
            CacheEvent::Fill | CacheEvent::Readahead => {
                let stream = self.number(record.file.0, record.task);
                self.heard.filled(stream, record);
                return self.stalls.filled(record);
            }
            CacheEvent::Advise => {
                let stream = self.number(record.file.0, record.task);
                return self.heard.told(stream, record.length_bytes);
            }
        };
        let Some((first, count)) = pages(record.offset_bytes, record.length_bytes) else { return };
        let file = record.file.0;
        let size = Bytes(record.file_bytes).pages_up().0;
        let file_pages = u32::try_from(size).unwrap_or(u32::MAX).max(first + count);
        let stream = self.number(file, record.task);
        let count = if kind == TouchKind::Ahead {
            self.heard.prefetched(stream, record.request);
            count.min(AHEAD_PAGES_MAX)
        } else {
            self.heard.requested(stream, count);
            count
        };
        if kind == TouchKind::Fault {
            self.heard.faulted(stream, record.request);
        }
        let touch = Touch { file, stream, first, count, file_pages, work_us: 0, kind };
        if matches!(kind, TouchKind::Read | TouchKind::Write | TouchKind::Splice) {
            self.stream.called += u64::from(count);
        }
        // The same page of the same open file again is a hit at every size and moves nothing.
        let repeats = |last: &Packed| last.is_read_of(stream, first);
        if kind == TouchKind::Read && count == 1 && self.stream.touches.last().is_some_and(repeats)
        {
            self.stream.repeated += 1;
            return;
        }
        self.push(touch, record);
    }

    fn push(&mut self, mut touch: Touch, record: &Record) {
        let at = self.stream.touches.len();
        let number = touch.file as usize;
        if self.files.len() <= number {
            self.files.resize(number + 1, Seen::default());
        }
        let seen = &mut self.files[number];
        seen.reached = seen.reached.max(touch.first + touch.count);
        if seen.size != touch.file_pages {
            seen.size = touch.file_pages;
            seen.size_max = seen.size_max.max(touch.file_pages);
            let resized = Resized { at, file: touch.file, pages: touch.file_pages };
            self.stream.resized.push(resized);
        }
        // When exactly what was looked at later was touched is not known.
        if !matches!(touch.kind, TouchKind::Drop | TouchKind::Again | TouchKind::Ahead) {
            touch.work_us = self.stalls.touched(record);
        }
        let (packed, is_large) = Packed::of(&touch);
        if is_large {
            self.stream.large.push(touch.count);
        }
        self.stream.touches.push(packed);
    }

    fn number(&mut self, file: u32, task: u32) -> u32 {
        let key = (file, task);
        match self.recent {
            Some((before, number)) if before == key => number,
            _ => {
                let next = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
                let number = *self.numbers.entry(key).or_insert(next);
                if number == next {
                    let next = u32::try_from(self.tasks.len()).unwrap_or(u32::MAX);
                    let task = *self.tasks.entry(task).or_insert(next);
                    self.stream.streams.push((file, task));
                }
                self.recent = Some((key, number));
                number
            }
        }
    }

    /// The stream, when all records were read. `shared` lists the pages that stay in memory on
    /// another process's account, such as those of the C library, as number of the file and page.
    pub fn finish(mut self, files: &[String], facts: &Facts, shared: &[(u32, u32)]) -> Stream {
        self.files.resize(files.len(), Seen::default());
        let mut stream = self.stream;
        stream.files = shapes(files, facts);
        for (file, seen) in stream.files.iter_mut().zip(&self.files) {
            (file.size_max, file.reached) = (seen.size_max, seen.reached);
        }
        let window = |file: u32| stream.files.get(file as usize).map_or(0, |f| f.window.pages);
        let windows: Vec<u32> = stream.streams.iter().map(|&(file, _)| window(file)).collect();
        stream.advice = self.heard.advice(&stream.streams, &windows);
        stream.lay_out();
        // The number of a page far behind what is used of its file would be one of the next file.
        let is_placed = |&&(file, page): &&(u32, u32)| stream.has_number(file, page);
        stream.shared = shared.iter().filter(is_placed).copied().collect();
        stream.count_mapped();
        stream.unseen_share = facts.capture.looks.map_or(1.0, |looks| looks.unseen_share());
        stream.pace = self.stalls.finish(facts);
        stream.is_multi_generational = facts.multi_generational;
        stream.rules = Rules::of(&facts.kernel);
        stream
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

fn shapes(files: &[String], facts: &Facts) -> Vec<FileShape> {
    let elsewhere: HashMap<&str, u32> =
        facts.file_devices.iter().map(|(name, device)| (name.as_str(), *device)).collect();
    let text: HashMap<&str, (u32, u32)> = facts
        .text
        .iter()
        .map(|text| (text.file.as_str(), (text.first, text.first.saturating_add(text.pages))))
        .collect();
    let shape = |name: &String| {
        let device = elsewhere.get(name.as_str()).copied().unwrap_or(0) as usize;
        let device = facts.devices.get(device);
        let pages = |bytes: u64| window_pages(Bytes(bytes));
        let window = Window {
            // 128 KiB is the kernel's default; a trace without facts gets it.
            pages: device.map_or(32, |d| pages(d.readahead_bytes)),
            io_pages: device.map_or(0, |d| pages(d.io_bytes)),
        };
        let order_max = device.map_or(0, |d| u32::from(d.folio_order_max.min(9)));
        let text = text.get(name.as_str()).copied().unwrap_or_default();
        FileShape { window, order_max, text, ..FileShape::default() }
    };
    files.iter().map(shape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::FileId;

    #[test]
    fn pages_far_behind_what_is_used_are_none_of_the_next_file() {
        let record = |(time_ns, file): (i64, u32)| Record {
            time_ns,
            offset_bytes: 0,
            file_bytes: 100_000 * PAGE_BYTES,
            length_bytes: 400 * 4096,
            file: FileId(file),
            task: 1,
            request: 0,
            op: CacheEvent::Read,
        };
        let records = [(0, 0), (1, 1)].map(record);
        let files = ["/program".to_owned(), "/index".to_owned()];
        // All of the first file stays in memory for others: 400 pages of that are used.
        let stay: Vec<(u32, u32)> = (0..100_000).map(|page| (0, page)).collect();
        let stream = Stream::of(records, &files, &Facts::default(), &stay);
        assert_eq!(stream.shared_used().0, 400);
        let first_of_next = stream.page_number(1, 0);
        let numbers =
            stream.shared_pages().iter().map(|&(file, page)| stream.page_number(file, page));
        assert!(numbers.max().unwrap() < first_of_next);
    }
}
