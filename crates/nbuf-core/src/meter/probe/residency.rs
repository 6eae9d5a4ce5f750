//! Which pages of which files are in memory, and making the kernel forget them: each file by
//! itself, never the whole machine.
//!
//! Mapped pages, dirty pages, and pages in use just now stay. A page that stays is a free hit for
//! the next run, so it is looked up page by page. For files that a user may not write to, the
//! kernel reports pages only to their owners and root (`can_do_cachestat`, `mm/filemap.c`). Other
//! users ask for the pages of the files that their own processes have mapped, such as the C
//! library, without waiting for any. They take the rest to be gone.

use std::cell::LazyCell;
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{Access, AtFlags, accessat};
use rustix::process::geteuid;
use rustix::thread::{CapabilitySet, capabilities};

pub use crate::meter::residency::Residency;
use crate::sys::{cache, files};
use crate::units::PAGE_BYTES;

/// A larger file is not asked for page by page.
const ASKED_BYTES_MAX: u64 = 32 << 20;

impl Residency {
    /// Drops every file of the list from the page cache and says what stayed.
    pub fn drop_files<'a>(paths: impl Iterator<Item = &'a str>) -> Self {
        let mut found = Self::default();
        let owner_of_all = owns_all();
        let mapped = LazyCell::new(mapped);
        for (number, path) in (0..).zip(paths) {
            match open(path) {
                Some(file) if owner_of_all || is_ours(&file) => {
                    found.drop_file(number, &file);
                }
                Some(file) => found.drop_closed(number, &file, mapped.contains(path)),
                None => found.unopened.push(number),
            }
        }
        found
    }

    fn drop_file(&mut self, number: u32, file: &File) {
        if cache::drop_pages(file).is_err() {
            return;
        }
        let mut left = resident(file);
        if left > 0 {
            // Dirty pages stay until they are written; a second try finds them clean.
            let _ = rustix::fs::fdatasync(file);
            let _ = cache::drop_pages(file);
            left = resident(file);
        }
        if left > 0 {
            self.note(number, cache::resident_map(file).unwrap_or_default());
        }
    }

    /// The same for a file of which the kernel does not tell us.
    fn drop_closed(&mut self, number: u32, file: &File, mapped: bool) {
        // Dirty pages stay until they are written.
        let _ = rustix::fs::fdatasync(file);
        let is_small = file.metadata().is_ok_and(|metadata| metadata.len() <= ASKED_BYTES_MAX);
        if cache::drop_pages(file).is_ok() && mapped && is_small {
            let map = cache::resident_map_by_reading(file).unwrap_or_default();
            // What asking brought in goes again, when it has come.
            for (page, _) in (0u64..).zip(&map).filter(|(_, there)| !**there) {
                let _ = rustix::io::pread(file, &mut [0u8; 1], page * PAGE_BYTES);
            }
            let _ = cache::drop_pages(file);
            self.note(number, map);
        }
    }

    fn note(&mut self, number: u32, map: Vec<bool>) {
        let pages = (0..).zip(map).filter(|&(_, there)| there);
        self.left.extend(pages.map(|(page, _)| (number, page)));
    }
}

/// Whether we count as the owner of every file. Root does not, where its capabilities are taken away.
fn owns_all() -> bool {
    capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::FOWNER))
}

/// Whether we own a file or may write to it. The kernel reports all pages of other files as resident.
fn is_ours(file: &File) -> bool {
    let owner = file.metadata().is_ok_and(|metadata| metadata.uid() == geteuid().as_raw());
    owner || accessat(file, c"", Access::WRITE_OK, AtFlags::EACCESS | AtFlags::EMPTY_PATH).is_ok()
}

/// Files that processes have mapped whose mappings we may see.
fn mapped() -> HashSet<String> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let maps = processes.filter_map(|process| File::open(process.path().join("maps")).ok());
    let lines = maps.flat_map(|maps| BufReader::new(maps).lines().map_while(Result::ok));
    // Nothing before a path has a slash in it.
    lines.filter_map(|line| Some(line[line.find('/')?..].to_owned())).collect()
}

/// Pages in memory; kernels before 6.5 answer by map.
fn resident(file: &File) -> usize {
    cache::resident_pages(file).map_or_else(
        |_| cache::resident_map(file).map_or(0, |map| map.iter().filter(|&&there| there).count()),
        |pages| usize::try_from(pages).unwrap_or(usize::MAX),
    )
}

/// Opens a regular file of a trace, whose names are the command's, with the caller's rights.
pub(super) fn open(path: &str) -> Option<File> {
    files::regular(Path::new(path)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asking_by_reading_tells_what_is_there() {
        let mut file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        std::io::Write::write_all(&mut file, &vec![7; 16 * 4096 + 1]).unwrap();
        file.sync_all().unwrap();
        let mut was_absent = false;
        // A fast disc may answer before the kernel has said that it must be asked, most often on a busy machine.
        for _ in 0..200 {
            cache::drop_pages(&file).unwrap();
            cache::read_at_random(&file).unwrap();
            for page in [3, 9] {
                rustix::io::pread(&file, &mut [0u8; 1], page * 4096).unwrap();
            }
            let there = match cache::resident_map_by_reading(&file) {
                // tmpfs and others know no such reads.
                Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => return,
                there => there.unwrap(),
            };
            assert_eq!(there.len(), 17);
            assert!(there[3] && there[9], "{there:?}");
            was_absent = !there[0];
            if was_absent {
                break;
            }
        }
        assert!(was_absent, "what was never read is not there");
    }
}
