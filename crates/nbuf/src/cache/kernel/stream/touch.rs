//! One touch of a trace, and how it is kept: 16 bytes, so that a hundred million fit where they
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

/// Bits of [`Packed::extent`] for the number of pages; the others are for the kind.
const COUNT_BITS: u32 = 29;
/// More pages than any request has.
const COUNT_MAX: u32 = (1 << COUNT_BITS) - 1;

/// A touch without what is known of its stream. The file's size stands in a list of changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packed {
    pub(super) stream: u32,
    pub(super) first: u32,
    extent: u32,
    work_us: u32,
}

impl Packed {
    pub(super) fn of(touch: &Touch) -> Self {
        let extent = (touch.kind as u32) << COUNT_BITS | touch.count.min(COUNT_MAX);
        Self { stream: touch.stream, first: touch.first, extent, work_us: touch.work_us }
    }

    /// Whether both touch the same pages of the same open file in the same way.
    pub(super) fn repeats(&self, other: &Self) -> bool {
        (self.stream, self.first, self.extent) == (other.stream, other.first, other.extent)
    }

    fn kind(&self) -> TouchKind {
        match self.extent >> COUNT_BITS {
            0 => TouchKind::Read,
            1 => TouchKind::Write,
            2 => TouchKind::Fault,
            3 => TouchKind::Map,
            _ => TouchKind::Drop,
        }
    }
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
    file_pages: Vec<u32>,
}

impl<'a> Touches<'a> {
    pub(super) fn of(stream: &'a Stream) -> Self {
        Self { stream, at: 0, resized: 0, file_pages: vec![0; stream.files.len()] }
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
        self.at += 1;
        let file = self.stream.file_of(packed.stream);
        Some(Touch {
            file,
            stream: packed.stream,
            first: packed.first,
            count: packed.extent & COUNT_MAX,
            file_pages: self.file_pages[file as usize],
            work_us: packed.work_us,
            kind: packed.kind(),
        })
    }
}
