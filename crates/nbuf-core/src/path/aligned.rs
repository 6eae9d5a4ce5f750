//! Memory that starts at a page boundary. `O_DIRECT` requires it, and every path gets it, so that
//! alignment makes no difference between them.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::sys::heap;
use crate::sys::room::{HUGE_BYTES, PageKind, Room};

/// The kind of pages that large buffers of this process lie in, for experiments that vary it: it is of the
/// process, as `glibc.malloc.hugetlb` is.
static PAGES: AtomicU8 = AtomicU8::new(ANY);
const ANY: u8 = 0;
const SMALL: u8 = 1;
const HUGE: u8 = 2;

/// Has the large buffers that are made from now on lie in huge pages, or in none of these.
pub(crate) fn lie_in_huge_pages(huge: bool) {
    PAGES.store(if huge { HUGE } else { SMALL }, Ordering::Relaxed);
}

fn page_kind() -> PageKind {
    match PAGES.load(Ordering::Relaxed) {
        SMALL => PageKind::Small,
        HUGE => PageKind::Huge,
        _ => PageKind::Any,
    }
}

/// A zeroed buffer that starts at a page boundary.
#[derive(Debug)]
pub(super) struct Aligned {
    room: Room,
    length: usize,
}

/// Smaller ones would take many times their memory in huge pages.
const LARGE_BYTES: usize = HUGE_BYTES / 4;

impl Aligned {
    /// Without memory the process ends, as it does on the heap.
    pub(super) fn new(length: usize) -> Self {
        let pages = if length >= LARGE_BYTES { page_kind() } else { PageKind::Any };
        let room = Room::new(length, pages).unwrap_or_else(|_| heap::refuse());
        Self { room, length }
    }

    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        &self.room.bytes()[..self.length]
    }

    #[inline]
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.room.bytes_mut()[..self.length]
    }
}
