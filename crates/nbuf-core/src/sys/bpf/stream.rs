//! The ring that programs on all processors write records into: `Documentation/bpf/ringbuf.rst`.
//!
//! Records come in the order in which room was reserved for them. Invariant: what is handed out was written to its
//! end. A record for which there is no room is the program's to count.

use std::io;
use std::os::fd::{AsFd as _, AsRawFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::{Attributes, MAP_CREATE, NAME_OF_MAP, owned};

const MAP_TYPE_RING: u32 = 27;
const BUSY: u32 = 1 << 31;
const DISCARDED: u32 = 1 << 30;
const HEADER_BYTES: usize = 8;

/// A ring, read by this process alone.
#[derive(Debug)]
pub(crate) struct Stream {
    descriptor: OwnedFd,
    /// How far it was read: a page of its own.
    read: NonNull<u64>,
    /// How far it is written: a page, then the data, then the data again.
    written: NonNull<u64>,
    page_bytes: usize,
    data_bytes: usize,
    high_water_bytes: u64,
}

// SAFETY: both mappings belong to this value alone.
unsafe impl Send for Stream {}

impl Stream {
    /// A ring of this number of bytes: a power of two, and pages.
    ///
    /// # Errors
    /// `EPERM` without `CAP_BPF` or root; `EINVAL` on kernels before 5.8; `ENOMEM`.
    pub(crate) fn new(data_bytes: usize) -> io::Result<Self> {
        let size = u32::try_from(data_bytes).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let fields = [(0, MAP_TYPE_RING), (12, size), NAME_OF_MAP];
        let descriptor = owned(Attributes::of(&fields).call(MAP_CREATE)?)?;
        let page_bytes = rustix::param::page_size();
        let read = map(&descriptor, page_bytes, libc::PROT_READ | libc::PROT_WRITE, 0)?;
        let behind = libc::off_t::try_from(page_bytes).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let written = map(&descriptor, page_bytes + 2 * data_bytes, libc::PROT_READ, behind);
        let written = written.inspect_err(|_| unmap(read, page_bytes))?;
        Ok(Self { descriptor, read, written, page_bytes, data_bytes, high_water_bytes: 0 })
    }

    /// By what programs name it.
    pub(crate) fn number(&self) -> i32 {
        self.descriptor.as_raw_fd()
    }

    /// By what a reader waits until a program wakes it.
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }

    /// Hands every complete record to `each` and frees its room.
    pub(crate) fn drain(&mut self, mut each: impl FnMut(&[u8])) {
        // SAFETY: both words are the first of mappings that live as long as `self`, are aligned, and are shared
        // with the kernel, which is what atomics are for. The kernel writes one, we the other.
        let (read, written) = unsafe {
            (AtomicU64::from_ptr(self.read.as_ptr()), AtomicU64::from_ptr(self.written.as_ptr()))
        };
        let end = written.load(Ordering::Acquire);
        let mut at = read.load(Ordering::Relaxed);
        self.high_water_bytes = self.high_water_bytes.max(end.wrapping_sub(at));
        while end.wrapping_sub(at) >= HEADER_BYTES as u64 {
            let offset = usize::try_from(at & (self.data_bytes as u64 - 1)).unwrap_or(0);
            // SAFETY: the header begins inside the data, and is aligned to eight bytes, as all records are.
            let header = unsafe { self.data().add(offset) };
            // SAFETY: as above; the kernel may be about to write it.
            let header = unsafe { AtomicU32::from_ptr(header.cast()) }.load(Ordering::Acquire);
            let bytes = (header & !(BUSY | DISCARDED)) as usize;
            let whole = (bytes + HEADER_BYTES).next_multiple_of(8);
            if header & BUSY != 0 || whole as u64 > end.wrapping_sub(at) {
                break;
            }
            if header & DISCARDED == 0 {
                // SAFETY: the record was written to its end, ends inside the data's second mapping, and is not
                // written again before the position below says that it was read.
                each(unsafe {
                    std::slice::from_raw_parts(self.data().add(offset + HEADER_BYTES), bytes)
                });
            }
            at = at.wrapping_add(whole as u64);
            read.store(at, Ordering::Release);
        }
    }

    /// The most that was ever waiting in the ring.
    pub(crate) fn high_water_bytes(&self) -> u64 {
        self.high_water_bytes
    }

    fn data(&self) -> *mut u8 {
        // SAFETY: the data follow the first page of the mapping.
        unsafe { self.written.as_ptr().cast::<u8>().add(self.page_bytes) }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        unmap(self.read, self.page_bytes);
        unmap(self.written, self.page_bytes + 2 * self.data_bytes);
    }
}

fn map(
    descriptor: &OwnedFd,
    bytes: usize,
    protection: libc::c_int,
    offset: libc::off_t,
) -> io::Result<NonNull<u64>> {
    // SAFETY: a fresh mapping at an address the kernel chooses, of a ring.
    let address = unsafe {
        let number = descriptor.as_raw_fd();
        libc::mmap(std::ptr::null_mut(), bytes, protection, libc::MAP_SHARED, number, offset)
    };
    if address == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    NonNull::new(address.cast()).ok_or_else(|| io::ErrorKind::OutOfMemory.into())
}

fn unmap(begin: NonNull<u64>, bytes: usize) {
    // SAFETY: exactly a mapping made by `map`, of which nothing is borrowed any more.
    unsafe { libc::munmap(begin.as_ptr().cast(), bytes) };
}
