//! One touch of a trace, and how it is kept: 12 bytes, so that a hundred million fit where they
//! must.

use super::Stream;

/// What a touch does to the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
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
    /// A page that is mapped was touched again: a fault if it is not cached.
    Again,
    /// The kernel was asked to bring these pages, of which it brings one window.
    Ahead,
    /// A read into a pipe, which marks each of its folios.
    Splice,
}

impl TouchKind {
    /// Whether the program needs the pages.
    pub fn is_demand(self) -> bool {
        !matches!(self, Self::Drop | Self::Ahead)
    }
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
    /// Processor time of the task since its touch before this one, in microseconds.
    pub work_us: u32,
    /// What it does.
    pub kind: TouchKind,
}

/// Bits of [`Packed::extent`] for the work, the number of pages and the kind.
const WORK_BITS: u32 = 16;
const COUNT_BITS: u32 = 13;
const KIND_SHIFT: u32 = WORK_BITS + COUNT_BITS;
/// The number stands in a list of its own.
const COUNT_LARGE: u32 = (1 << COUNT_BITS) - 1;

/// A touch without what is known of its stream. The file's size stands in a list of changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packed {
    pub(super) stream: u32,
    pub(super) first: u32,
    extent: u32,
}

impl Packed {
    /// The touch, and whether its number of pages has to be kept elsewhere.
    pub(super) fn of(touch: &Touch) -> (Self, bool) {
        let count = touch.count.min(COUNT_LARGE);
        let extent =
            (touch.kind as u32) << KIND_SHIFT | count << WORK_BITS | rounded(touch.work_us);
        let Touch { stream, first, .. } = *touch;
        (Self { stream, first, extent }, count == COUNT_LARGE)
    }

    fn count(self) -> u32 {
        self.extent >> WORK_BITS & COUNT_LARGE
    }

    fn work_us(self) -> u32 {
        unrounded(self.extent & ((1 << WORK_BITS) - 1))
    }

    /// Whether this is a read of one page, this one by this stream.
    pub(super) fn is_read_of(self, stream: u32, first: u32) -> bool {
        (self.stream, self.first) == (stream, first)
            && self.kind() == TouchKind::Read
            && self.count() == 1
    }

    fn kind(self) -> TouchKind {
        match self.extent >> KIND_SHIFT {
            0 => TouchKind::Read,
            1 => TouchKind::Write,
            2 => TouchKind::Fault,
            3 => TouchKind::Map,
            4 => TouchKind::Drop,
            5 => TouchKind::Again,
            6 => TouchKind::Ahead,
            _ => TouchKind::Splice,
        }
    }
}

/// Digits of a rounded number; the other five bits say how many were cut off.
const DIGITS: u32 = 11;

/// A number in 16 bits, cut off behind its first eleven: at most a thousandth is lost.
fn rounded(number: u32) -> u32 {
    let cut = (u32::BITS - number.leading_zeros()).saturating_sub(DIGITS);
    cut << DIGITS | number >> cut
}

fn unrounded(number: u32) -> u32 {
    (number & ((1 << DIGITS) - 1)) << (number >> DIGITS)
}

/// From a touch on, a file has another size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resized {
    pub(super) at: usize,
    pub(super) file: u32,
    pub(super) pages: u32,
}

/// The touches of a stream in order.
#[derive(Debug)]
pub struct Touches<'a> {
    stream: &'a Stream,
    at: usize,
    resized: usize,
    large: usize,
    file_pages: Vec<u32>,
}

impl<'a> Touches<'a> {
    pub(super) fn of(stream: &'a Stream) -> Self {
        Self { stream, at: 0, resized: 0, large: 0, file_pages: vec![0; stream.files.len()] }
    }
}

impl Iterator for Touches<'_> {
    type Item = Touch;

    fn next(&mut self) -> Option<Touch> {
        let packed = self.stream.touches.get(self.at)?;
        while let Some(resized) = self.stream.resized.get(self.resized)
            && resized.at <= self.at
        {
            self.file_pages[resized.file as usize] = resized.pages;
            self.resized += 1;
        }
        let mut count = packed.count();
        if count == COUNT_LARGE {
            count = self.stream.large.get(self.large).copied().unwrap_or(count);
            self.large += 1;
        }
        self.at += 1;
        let file = self.stream.file_of(packed.stream);
        Some(Touch {
            file,
            stream: packed.stream,
            first: packed.first,
            count,
            file_pages: self.file_pages[file as usize],
            work_us: packed.work_us(),
            kind: packed.kind(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{CacheEvent, Facts, FileId, Record};

    #[test]
    fn large_touches_keep_their_pages() {
        let wanted = [1, 8190, 8191, 1, 8192, 100_000];
        let record = |(request, pages): (u32, u32)| Record {
            time_ns: i64::from(request),
            offset_bytes: 0,
            file_bytes: 1 << 40,
            length_bytes: pages * 4096,
            file: FileId(0),
            task: 1,
            request,
            op: CacheEvent::Read,
        };
        let records = (0..).zip(wanted).map(record);
        let stream = Stream::of(records, &["/f".to_owned()], &Facts::default(), &[]);
        assert!(stream.touches().map(|touch| touch.count).eq(wanted));
    }

    #[test]
    fn a_touch_is_small_and_work_hardly_rounded() {
        assert_eq!(size_of::<Packed>(), 12);
        for work in (0..5000).chain([1 << 20, 123_456_789, u32::MAX]) {
            let kept = unrounded(rounded(work));
            assert!(kept <= work && work - kept <= work / 1000, "{work} becomes {kept}");
            assert!(rounded(work) < 1 << WORK_BITS);
        }
    }
}
