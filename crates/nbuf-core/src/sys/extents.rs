//! The layout of a file on its disc, as far as the file system reports it: `FS_IOC_FIEMAP`.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Extents asked for at a time.
const AT_ONCE: usize = 64;
const FS_IOC_FIEMAP: libc::Ioctl = 0xC020_660B_u32 as libc::Ioctl;
const FIEMAP_EXTENT_LAST: u32 = 0x1;
const FIEMAP_EXTENT_DELALLOC: u32 = 0x4;
const FIEMAP_EXTENT_UNWRITTEN: u32 = 0x800;

/// What the extents of a file cover.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "units end the name")]
pub(crate) struct Extents {
    /// Bytes that were written and have a place.
    pub written_bytes: u64,
    /// Bytes that have a place but read as zeros, without the disc.
    pub unwritten_bytes: u64,
    /// Bytes that have no place yet: only memory has them.
    pub delayed_bytes: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Extent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

#[repr(C)]
struct Map {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
    extents: [Extent; AT_ONCE],
}

impl Extents {
    /// The extents of a file. An error where the file system does not report them (tmpfs, many on networks).
    pub(crate) fn of(file: &File) -> io::Result<Self> {
        let mut found = Self::default();
        let mut start = 0;
        loop {
            let mut map = Map {
                start,
                length: u64::MAX - start,
                flags: 0,
                mapped_extents: 0,
                extent_count: u32::try_from(AT_ONCE).unwrap_or(0),
                reserved: 0,
                extents: [Extent::default(); AT_ONCE],
            };
            // SAFETY: the kernel writes at most `extent_count` extents behind the head, which is
            // as many as there is room for; the structure has the layout of `struct fiemap`.
            let done = unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_FIEMAP, &raw mut map) };
            super::check(done.into())?;
            let count = usize::try_from(map.mapped_extents).unwrap_or(0).min(AT_ONCE);
            for extent in &map.extents[..count] {
                found.add(extent);
                start = extent.logical.saturating_add(extent.length);
                if extent.flags & FIEMAP_EXTENT_LAST != 0 {
                    return Ok(found);
                }
            }
            if count == 0 {
                return Ok(found);
            }
        }
    }

    fn add(&mut self, extent: &Extent) {
        if extent.flags & FIEMAP_EXTENT_DELALLOC != 0 {
            self.delayed_bytes += extent.length;
        } else if extent.flags & FIEMAP_EXTENT_UNWRITTEN != 0 {
            self.unwritten_bytes += extent.length;
        } else {
            self.written_bytes += extent.length;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use rustix::fs::FallocateFlags;

    use super::*;

    #[test]
    fn room_that_was_never_written_is_told_from_data() {
        let mut file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        file.write_all(&vec![7; 64 << 10]).unwrap();
        file.sync_all().unwrap();
        let Ok(extents) = Extents::of(&file) else {
            return; // a file system that tells no extents, such as tmpfs
        };
        assert_eq!(extents, Extents { written_bytes: 64 << 10, ..Extents::default() });
        let more = rustix::fs::fallocate(&file, FallocateFlags::empty(), 1 << 20, 64 << 10);
        if more.is_ok() {
            let extents = Extents::of(&file).unwrap();
            assert_eq!((extents.written_bytes, extents.unwritten_bytes), (64 << 10, 64 << 10));
        }
    }
}
