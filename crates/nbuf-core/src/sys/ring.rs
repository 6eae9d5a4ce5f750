//! The ring that the kernel writes samples into and this process reads: `perf_event_open(2)`,
//! section "MMAP layout".
//!
//! Invariant: `data_tail` moves only past records that were handed to the caller whole.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use perf_event_open_sys::bindings as b;

use super::rights::capability::raise;

/// A mapped ring of one processor.
#[derive(Debug)]
pub(crate) struct Ring {
    base: NonNull<u64>,
    page_bytes: usize,
    data_bytes: usize,
    scratch: Vec<u8>,
    high_water_bytes: u64,
}

/// One record in the ring: its type (`PERF_RECORD_*`) and the bytes after the header.
#[derive(Debug)]
pub(crate) struct Record<'a> {
    /// `PERF_RECORD_SAMPLE`, `PERF_RECORD_LOST`, ...
    pub kind: u32,
    /// `PERF_RECORD_MISC_*`
    pub misc: u16,
    /// The body.
    pub body: &'a [u8],
}

impl Record<'_> {
    /// How many records the kernel dropped before this one; only `PERF_RECORD_LOST` says so.
    pub(crate) fn lost(&self) -> u64 {
        if self.kind != b::PERF_RECORD_LOST {
            return 0;
        }
        // Behind the number of the event.
        let count = self.body.get(8..16).and_then(|bytes| bytes.try_into().ok());
        count.map_or(1, u64::from_ne_bytes)
    }
}

// SAFETY: the mapping belongs to this value alone; the kernel is the only other writer and is
// synchronised with by the acquire/release pair in `drain`.
unsafe impl Send for Ring {}

impl Ring {
    /// Maps a ring of `data_bytes` (a power of two of pages) on a perf event.
    ///
    /// # Errors
    /// `EPERM` when the locked-memory allowance for perf (`perf_event_mlock_kb`) is used up.
    pub(crate) fn map(event: &OwnedFd, data_bytes: usize) -> io::Result<Self> {
        let page_bytes = rustix::param::page_size();
        // More than an ordinary user may lock.
        let _raised = raise();
        // SAFETY: a fresh mapping at an address the kernel chooses, of a perf descriptor.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                page_bytes + data_bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                event.as_raw_fd(),
                0,
            )
        };
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base = NonNull::new(address.cast::<u64>()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { base, page_bytes, data_bytes, scratch: Vec::new(), high_water_bytes: 0 })
    }

    /// Hands every complete record to `each` and frees its room.
    pub(crate) fn drain(&mut self, mut each: impl FnMut(Record<'_>)) {
        let (head, tail) = self.positions();
        let first = tail.load(Ordering::Relaxed);
        let end = head.load(Ordering::Acquire);
        self.high_water_bytes = self.high_water_bytes.max(end.wrapping_sub(first));
        let mut scratch = std::mem::take(&mut self.scratch);
        let mut at = first;
        while end.wrapping_sub(at) >= 8 {
            let mut header = [0u8; 8];
            self.copy(at, &mut header);
            let kind = u32::from_ne_bytes([header[0], header[1], header[2], header[3]]);
            let bytes = u64::from(u16::from_ne_bytes([header[6], header[7]]));
            if bytes < 8 || bytes > end.wrapping_sub(at) {
                break;
            }
            scratch.resize(usize::try_from(bytes - 8).unwrap_or(0), 0);
            self.copy(at.wrapping_add(8), &mut scratch);
            let misc = u16::from_ne_bytes([header[4], header[5]]);
            each(Record { kind, misc, body: &scratch });
            at = at.wrapping_add(bytes);
        }
        self.scratch = scratch;
        self.positions().1.store(at, Ordering::Release);
    }

    /// The most that was ever waiting in the ring.
    pub(crate) fn high_water_bytes(&self) -> u64 {
        self.high_water_bytes
    }

    /// The kernel's head and our tail, in the control page.
    fn positions(&self) -> (&AtomicU64, &AtomicU64) {
        let page = self.base.as_ptr().cast::<b::perf_event_mmap_page>();
        // SAFETY: the control page is mapped for the life of `self`, is at least as large as the
        // structure, and both words are 8-byte aligned and shared with the kernel, which is what
        // atomics are for.
        unsafe {
            (
                AtomicU64::from_ptr(&raw mut (*page).data_head),
                AtomicU64::from_ptr(&raw mut (*page).data_tail),
            )
        }
    }

    /// Copies out of the ring, around its end.
    fn copy(&self, at: u64, out: &mut [u8]) {
        let mask = self.data_bytes as u64 - 1;
        let start = usize::try_from(at & mask).unwrap_or(0);
        let first = out.len().min(self.data_bytes - start);
        // SAFETY: `start + first` and `out.len() - first` stay inside the data area of
        // `data_bytes` behind the control page; the kernel wrote these bytes before it moved the
        // head that the caller acquired.
        unsafe {
            let data = self.base.as_ptr().cast::<u8>().add(self.page_bytes);
            std::ptr::copy_nonoverlapping(data.add(start), out.as_mut_ptr(), first);
            std::ptr::copy_nonoverlapping(data, out.as_mut_ptr().add(first), out.len() - first);
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping made in `map`.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.page_bytes + self.data_bytes) };
    }
}
