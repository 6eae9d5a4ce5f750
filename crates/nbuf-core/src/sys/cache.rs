//! What of a file is in the page cache: `cachestat(2)` and `mincore(2)`; and out of it:
//! `posix_fadvise(2)`.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Pages of a file by their state, as `cachestat(2)` counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cached {
    /// In the page cache.
    pub resident: u64,
    /// Those of `resident` that are not yet written.
    pub dirty: u64,
    /// Those of `resident` that are being written.
    pub writeback: u64,
    /// Evicted, as far as the kernel remembers.
    pub evicted: u64,
    /// Those evicted so recently that a new read would put them among the active pages.
    pub recently_evicted: u64,
}

/// Pages of a file in the page cache, by `cachestat(2)` (Linux 6.5).
pub fn resident_pages(file: &File) -> io::Result<u64> {
    // A length of 0 reaches to the end.
    Ok(cached(file, 0, 0)?.resident)
}

/// Pages of a part of a file, by `cachestat(2)` (Linux 6.5). A length of 0 reaches to the end.
pub fn cached(file: &File, offset_bytes: u64, length_bytes: u64) -> io::Result<Cached> {
    #[repr(C)]
    struct Range {
        offset: u64,
        length: u64,
    }
    const SYS_CACHESTAT: libc::c_long = 451;
    let range = Range { offset: offset_bytes, length: length_bytes };
    // nr_cache, nr_dirty, nr_writeback, nr_evicted, nr_recently_evicted
    let mut counts = [0u64; 5];
    // SAFETY: both structures have the layout of `struct cachestat_range` and `struct cachestat`
    // and outlive the call.
    super::check(unsafe {
        libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), &raw const range, counts.as_mut_ptr(), 0)
    })?;
    let [resident, dirty, writeback, evicted, recently_evicted] = counts;
    Ok(Cached { resident, dirty, writeback, evicted, recently_evicted })
}

/// For each page of a file, whether it is in the page cache, by `mincore(2)` on a mapping that is
/// never touched.
pub fn resident_map(file: &File) -> io::Result<Vec<bool>> {
    let bytes = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
    if bytes == 0 {
        return Ok(Vec::new());
    }
    let mut map = vec![0u8; bytes.div_ceil(rustix::param::page_size())];
    // SAFETY: a fresh mapping, asked about over exactly its length into a vector with a byte for
    // each page, and unmapped again before it could be used.
    unsafe {
        let address = libc::mmap(
            std::ptr::null_mut(),
            bytes,
            libc::PROT_READ,
            libc::MAP_SHARED,
            file.as_raw_fd(),
            0,
        );
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let done = libc::mincore(address, bytes, map.as_mut_ptr());
        let failed = io::Error::last_os_error();
        libc::munmap(address, bytes);
        if done != 0 {
            return Err(failed);
        }
    }
    Ok(map.into_iter().map(|byte| byte & 1 != 0).collect())
}

/// The same for those whom the kernel does not tell: each page is asked for without waiting
/// (`RWF_NOWAIT`), and readahead is off for this open file from now on. Asking begins to read what is
/// not there: it is there a moment later, so that the file should be dropped again, and it counts as
/// there if the disc is faster than our way through the kernel.
pub fn resident_map_by_reading(file: &File) -> io::Result<Vec<bool>> {
    read_at_random(file)?;
    let page_bytes = rustix::param::page_size() as u64;
    let pages = file.metadata()?.len().div_ceil(page_bytes);
    (0..pages)
        .map(|page| {
            let mut byte = [0u8];
            let into = &mut [io::IoSliceMut::new(&mut byte)];
            let flags = rustix::io::ReadWriteFlags::NOWAIT;
            match rustix::io::preadv2(file, into, page * page_bytes, flags) {
                Ok(_) => Ok(true),
                Err(rustix::io::Errno::AGAIN) => Ok(false),
                Err(error) => Err(error.into()),
            }
        })
        .collect()
}

/// Switches readahead off for this open file.
pub fn read_at_random(file: &File) -> io::Result<()> {
    rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::Random)?;
    Ok(())
}

/// Asks the kernel to forget the clean, unmapped pages of a file, whichever group they are charged
/// to.
pub fn drop_pages(file: &File) -> io::Result<()> {
    rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed)?;
    Ok(())
}
