//! Private memory of its own pages, with or without huge ones.
//!
//! Cost: a system call or two to make it, and a whole huge page is cleared at its first touch. Not for small
//! buffers: what is asked for in huge pages takes at least one of them.

use std::io;
use std::ptr::{self, NonNull};

use rustix::mm::{Advice, MapFlags, ProtFlags};

/// What a huge page has on the machines that nbuf runs on. Where it is larger, none is used.
pub(crate) const HUGE_BYTES: usize = 2 << 20;

/// The pages that memory is asked for in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum PageKind {
    /// As the kernel likes.
    #[default]
    Any,
    /// None but ordinary ones: `MADV_NOHUGEPAGE`.
    Small,
    /// Huge ones, where the kernel has some: `MADV_HUGEPAGE`.
    Huge,
}

/// Zeroed memory; unmapped with this value.
#[derive(Debug)]
pub(crate) struct Room {
    begin: NonNull<u8>,
    length: usize,
}

// SAFETY: private memory that this value alone has, as a `Box` of bytes has.
unsafe impl Send for Room {}
// SAFETY: a shared reference only reads.
unsafe impl Sync for Room {}

impl Room {
    /// This many bytes at least, beginning and ending with a huge page if these are wanted. An error is that
    /// there is no memory. A kernel without huge pages gives others.
    pub(crate) fn new(length: usize, pages: PageKind) -> io::Result<Self> {
        let unit = if pages == PageKind::Huge { HUGE_BYTES } else { rustix::param::page_size() };
        let length = length.max(1).next_multiple_of(unit);
        // SAFETY: a mapping at a place that the kernel chooses changes no other memory.
        let begin = unsafe {
            let protection = ProtFlags::READ | ProtFlags::WRITE;
            rustix::mm::mmap_anonymous(ptr::null_mut(), length, protection, MapFlags::PRIVATE)
        }?;
        let begin = NonNull::new(begin.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        let room = Self { begin, length };
        let advice = match pages {
            PageKind::Any => return Ok(room),
            PageKind::Small => Advice::LinuxNoHugepage,
            PageKind::Huge => Advice::LinuxHugepage,
        };
        // SAFETY: the whole of a live mapping; neither changes what is in it. It is advice: that a kernel does
        // not know it is no error.
        let _ = unsafe { rustix::mm::madvise(room.begin.as_ptr().cast(), room.length, advice) };
        Ok(room)
    }

    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: a live mapping of this length, zeroed, that nothing else changes.
        unsafe { std::slice::from_raw_parts(self.begin.as_ptr(), self.length) }
    }

    #[inline]
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and borrowed by the caller alone.
        unsafe { std::slice::from_raw_parts_mut(self.begin.as_ptr(), self.length) }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // SAFETY: the mapping that `new` made; all borrows of it have ended.
        let _ = unsafe { rustix::mm::munmap(self.begin.as_ptr().cast(), self.length) };
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Kibibytes in huge pages of the mapping that begins at an address.
    fn huge_kib(begin: *const u8) -> u64 {
        let maps = fs::read_to_string("/proc/self/smaps").unwrap();
        let address = begin as usize;
        let mut is_here = false;
        for line in maps.lines() {
            let range = line.split(' ').next().and_then(|range| range.split_once('-'));
            let ends = range.and_then(|(begin, end)| {
                Some((usize::from_str_radix(begin, 16).ok()?, usize::from_str_radix(end, 16).ok()?))
            });
            if let Some((begin, end)) = ends {
                is_here = (begin..end).contains(&address);
            }
            if let Some(size) = line.strip_prefix("AnonHugePages:").filter(|_| is_here) {
                return size.trim().trim_end_matches(" kB").parse().unwrap();
            }
        }
        panic!("no mapping at {address:x}");
    }

    #[test]
    fn pages_are_of_the_kind_that_was_asked_for() {
        let enabled = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled");
        let has_huge = enabled.is_ok_and(|enabled| !enabled.contains("[never]"));
        for (kind, wanted) in [(PageKind::Small, false), (PageKind::Huge, has_huge)] {
            let mut room = Room::new(3 * HUGE_BYTES, kind).unwrap();
            assert!(room.bytes().iter().all(|&byte| byte == 0));
            room.bytes_mut().fill(1);
            let huge_kib = huge_kib(room.bytes().as_ptr());
            // A machine whose memory is in pieces has fewer than were asked for.
            assert!(huge_kib == 0 || wanted, "{kind:?}: {huge_kib}");
        }
    }

    #[test]
    fn there_are_as_many_bytes_as_were_asked_for() {
        for kind in [PageKind::Any, PageKind::Small, PageKind::Huge] {
            for length in [0, 1, 4096, 4097, HUGE_BYTES + 1] {
                assert!(
                    Room::new(length, kind).unwrap().bytes().len() >= length,
                    "{kind:?} {length}"
                );
            }
        }
    }
}
