//! Which pages of which files are in memory, and making the kernel forget them: each file by
//! itself, never the whole machine.
//!
//! Pages that somebody has mapped, dirty pages, and pages in use just now stay. What stays is a
//! free hit for the next run, so it is looked up page by page.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;

use crate::sys::cache;

/// What is left in memory after dropping.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Residency {
    /// Pages still there: number of the file in the list that was given, page in it.
    pub left: Vec<(u32, u32)>,
    /// Files that could not be opened any more (deleted, or not ours to read).
    pub unopened: usize,
}

impl Residency {
    /// Drops every file of the list from the page cache and says what stayed.
    pub fn drop_files<'a>(paths: impl Iterator<Item = &'a str>) -> Self {
        let mut found = Self::default();
        for (number, path) in (0..).zip(paths) {
            match open(path) {
                Some(file) => found.drop_file(number, &file),
                None => found.unopened += 1,
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
            let map = cache::resident_map(file).unwrap_or_default();
            let pages = (0..).zip(map).filter(|&(_, there)| there);
            self.left.extend(pages.map(|(page, _)| (number, page)));
        }
    }
}

/// Pages in memory; kernels before 6.5 answer by map.
fn resident(file: &File) -> usize {
    cache::resident_pages(file).map_or_else(
        |_| cache::resident_map(file).map_or(0, |map| map.iter().filter(|&&there| there).count()),
        |pages| usize::try_from(pages).unwrap_or(usize::MAX),
    )
}

/// Opens a regular file without side effects: no waiting for a pipe's other end, no new access
/// time.
pub(super) fn open(path: &str) -> Option<File> {
    let flags = libc::O_NONBLOCK | libc::O_CLOEXEC | libc::O_NOCTTY;
    let file = File::options().read(true).custom_flags(flags).open(path).ok()?;
    file.metadata().ok()?.is_file().then_some(file)
}
