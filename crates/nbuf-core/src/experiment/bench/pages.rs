//! The pages of a test's file: all of them in memory for a hot row, none for a cold one.
//!
//! How pages came into memory decides how fast they are used: what was written in large pieces is in
//! large folios, what was read from the disc in small ones, and a mapping of those has a fifth of the
//! rate. So the pages of a hot file all come in one way, by the writing of the file; one that lost some
//! is dropped and written again ([`super::test_files::Prepared::refresh`]). Cost: counting pages before each sample,
//! some microseconds.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::time::Duration;

use crate::clock::Stopwatch;
use crate::experiment::result::State;
use crate::sys::cache;
use crate::units::PAGE_BYTES;

/// How long pages may take to go, and how long to wait between two tries.
const DROP_TIME: Duration = Duration::from_millis(500);
const DROP_PAUSE: Duration = Duration::from_millis(1);
/// Read at a time when all of a file is fetched.
const PIECE_BYTES: usize = 1 << 20;

/// Whether a state wants all pages of the file in memory.
pub(super) fn is_in_memory(state: State) -> bool {
    matches!(state, State::Hot | State::Overwrite)
}

/// The file of a task, and what of it is in memory.
#[derive(Debug)]
pub(super) struct Pages {
    file: File,
    all: u64,
    /// Whether pages were fetched while the path had the file: in pieces that no test chose.
    is_patched: bool,
}

impl Pages {
    pub(super) fn of(file: File, size_bytes: u64) -> Self {
        Self { file, all: size_bytes.div_ceil(PAGE_BYTES), is_patched: false }
    }

    /// How many the file has.
    pub(super) fn all(&self) -> u64 {
        self.all
    }

    /// How many are in memory; 0 where the kernel does not tell.
    pub(super) fn resident(&self) -> u64 {
        cache::resident_pages(&self.file).unwrap_or_else(|_| {
            cache::resident_map(&self.file)
                .map_or(0, |map| map.iter().filter(|&&there| there).count() as u64)
        })
    }

    /// The pages in memory before a sample. The kernel may have taken some of a file that is to be
    /// in memory (some reclaim before there is need): they are read again.
    pub(super) fn bring_back(&mut self) -> io::Result<u64> {
        let resident = self.resident();
        if resident >= self.all {
            return Ok(resident);
        }
        self.is_patched = true;
        self.read_all()?;
        Ok(self.resident())
    }

    /// Leaves no file behind that was patched: before the next process all of it is written again.
    pub(super) fn leave(&self) {
        if self.is_patched {
            // What stays in spite of it is seen by the next one.
            let _ = self.drop_all();
        }
    }

    /// Drops all that can be dropped, and says how many pages are left. What is being read ahead just now
    /// cannot be dropped before it has come.
    pub(super) fn drop_all(&self) -> io::Result<u64> {
        rustix::fs::fdatasync(&self.file)?;
        let clock = Stopwatch::start();
        loop {
            cache::drop_pages(&self.file)?;
            let left = self.resident();
            // A file system that keeps all keeps them for good.
            if left == 0 || left >= self.all || clock.elapsed() > DROP_TIME {
                return Ok(left);
            }
            std::thread::sleep(DROP_PAUSE);
        }
    }

    /// Fetches all of it.
    pub(super) fn read_all(&self) -> io::Result<()> {
        let mut file = &self.file;
        file.rewind()?;
        let mut piece = vec![0; PIECE_BYTES];
        while file.read(&mut piece)? > 0 {}
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_files::Prepared;
    use super::*;

    #[test]
    fn a_file_that_was_patched_is_written_again() {
        // Half of it is more than any folio, which goes as a whole or not at all.
        const ALL: u64 = 4096;
        let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let prepared = Prepared::make(directory.path(), ALL * PAGE_BYTES).unwrap();
        let mut pages = Pages::of(File::open(prepared.path()).unwrap(), prepared.size_bytes);
        let content = std::fs::read(prepared.path()).unwrap();
        // A process that finds all of it leaves it alone.
        pages.leave();
        assert_eq!(pages.resident(), ALL);
        let half = ALL / 2 * PAGE_BYTES;
        let from = std::num::NonZero::new(half);
        rustix::fs::fadvise(&pages.file, half, from, rustix::fs::Advice::DontNeed).unwrap();
        assert!(pages.resident() < ALL);
        // One that had to patch it leaves nothing for the next.
        assert_eq!(pages.bring_back().unwrap(), ALL);
        pages.leave();
        assert_eq!(pages.resident(), 0);
        prepared.refresh().unwrap();
        assert_eq!(pages.resident(), ALL);
        assert!(std::fs::read(prepared.path()).unwrap() == content);
    }
}
