//! A file mapped into memory, `MAP_SHARED`, and how programs touch it: byte by byte so that no byte
//! is left out, added up as the compiler likes, copied from and to.
//!
//! Offsets are checked. Contents are not guaranteed: another process may change them at any time,
//! which is why they are never lent out. A file that is made shorter while it is mapped ends the
//! process with `SIGBUS`, here as anywhere.

use std::fs::File;
use std::io;
use std::ptr::{self, NonNull};

use rustix::mm::{MapFlags, ProtFlags};

/// The beginning of a file in memory; unmapped with this value.
#[derive(Debug)]
pub(crate) struct Mapping {
    begin: NonNull<u8>,
    length: usize,
    /// Whether it may be written to.
    writes: bool,
}

/// The advice that the kernel receives about a mapping before its first touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Advice {
    /// Nothing: `MADV_NORMAL`, as every mapping begins.
    Normal,
    /// `MADV_SEQUENTIAL`
    Sequential,
    /// `MADV_RANDOM`
    Random,
    /// `MADV_WILLNEED`
    WillNeed,
    /// `MADV_POPULATE_READ`, since Linux 5.14
    PopulateRead,
    /// Not advice, but `MAP_POPULATE` as it is mapped
    Populate,
}

impl Mapping {
    /// Maps the first bytes of a file, for writing too if it `writes`. The file should be as long.
    pub(crate) fn new(
        file: &File,
        length: usize,
        writes: bool,
        advice: Advice,
    ) -> io::Result<Self> {
        if length == 0 {
            return Ok(Self::empty());
        }
        let mut protection = ProtFlags::READ;
        protection.set(ProtFlags::WRITE, writes);
        let mut flags = MapFlags::SHARED;
        flags.set(MapFlags::POPULATE, advice == Advice::Populate);
        // SAFETY: a mapping at a place that the kernel chooses changes no other memory.
        let begin =
            unsafe { rustix::mm::mmap(ptr::null_mut(), length, protection, flags, file, 0) }?;
        let begin = NonNull::new(begin.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        let mapping = Self { begin, length, writes };
        mapping.advise(advice)?;
        Ok(mapping)
    }

    /// Nothing, mapped nowhere.
    pub(crate) fn empty() -> Self {
        Self { begin: NonNull::dangling(), length: 0, writes: false }
    }

    fn advise(&self, advice: Advice) -> io::Result<()> {
        use rustix::mm::Advice as Kernel;
        let advice = match advice {
            Advice::Normal | Advice::Populate => return Ok(()),
            Advice::Sequential => Kernel::Sequential,
            Advice::Random => Kernel::Random,
            Advice::WillNeed => Kernel::WillNeed,
            Advice::PopulateRead => Kernel::LinuxPopulateRead,
        };
        // SAFETY: the whole of a live mapping; none of these changes what is in it.
        unsafe { rustix::mm::madvise(self.begin.as_ptr().cast(), self.length, advice) }?;
        Ok(())
    }

    /// One byte, read however little is done with it.
    #[inline]
    pub(crate) fn load(&self, offset: usize) -> u8 {
        assert!(offset < self.length, "{offset} is outside of the mapping");
        // SAFETY: inside of a live mapping.
        unsafe { self.begin.as_ptr().add(offset).read_volatile() }
    }

    /// One byte, written at once.
    #[inline]
    pub(crate) fn store(&mut self, offset: usize, byte: u8) {
        assert!(self.writes && offset < self.length, "{offset} cannot be written");
        // SAFETY: inside of a live mapping that may be written to.
        unsafe { self.begin.as_ptr().add(offset).write_volatile(byte) };
    }

    /// Copies out what begins at an offset, as much as the buffer holds.
    #[inline]
    pub(crate) fn copy_to(&self, offset: usize, buffer: &mut [u8]) {
        self.assert_within(offset, buffer.len());
        // SAFETY: inside of a live mapping, which no slice of Rust overlaps.
        unsafe {
            let from = self.begin.as_ptr().add(offset);
            ptr::copy_nonoverlapping(from, buffer.as_mut_ptr(), buffer.len());
        }
    }

    /// Copies bytes in from an offset on.
    #[inline]
    pub(crate) fn copy_from(&mut self, offset: usize, data: &[u8]) {
        self.assert_within(offset, data.len());
        assert!(self.writes, "the mapping is for reading");
        // SAFETY: inside of a live mapping that may be written to and that no slice overlaps.
        unsafe {
            let to = self.begin.as_ptr().add(offset);
            ptr::copy_nonoverlapping(data.as_ptr(), to, data.len());
        }
    }

    /// The sum of a range, many bytes at a time where the compiler finds a way.
    #[inline]
    pub(crate) fn sum(&self, offset: usize, length: usize) -> u64 {
        self.assert_within(offset, length);
        let begin = self.begin.as_ptr();
        // SAFETY: inside of a live mapping. What another process changes meanwhile changes the sum
        // and nothing else.
        (offset..offset + length).map(|at| u64::from(unsafe { *begin.add(at) })).sum()
    }

    #[inline]
    fn assert_within(&self, offset: usize, length: usize) {
        let is_within = offset <= self.length && length <= self.length - offset;
        assert!(is_within, "{length} bytes at {offset} are not all in the mapping");
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        if self.length > 0 {
            // SAFETY: mapped by this value, of this length, and not used after it.
            let _ = unsafe { rustix::mm::munmap(self.begin.as_ptr().cast(), self.length) };
        }
    }
}
