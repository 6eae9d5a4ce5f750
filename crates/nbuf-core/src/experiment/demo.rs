//! A small workload whose answer is known: an index that is read again and again, next to a log that is
//! read once.
//!
//! Each round reads blocks of the index at random and the next part of the log. So a cache that holds
//! the index saves most reads, and a larger one saves nothing more. For `nbuf demo`, and for tests that
//! need a small program.
//!
//! ```
//! use nbuf::experiment::demo::Files;
//!
//! let parent = tempfile::tempdir()?;
//! let files = Files::make(parent.path())?;
//! let directory = files.directory().to_owned();
//! drop(files);
//! assert!(!directory.exists());
//! # Ok::<(), std::io::Error>(())
//! ```

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::path::{Path, PathBuf};

use crate::clock::Random;
use crate::sys::cache::read_at_random;
use crate::sys::mapping::{Advice, Mapping};

/// The index, of which blocks are read at random in every round.
pub const INDEX_BYTES: u64 = 32 << 20;
/// The log, which is read once.
pub const LOG_BYTES: u64 = 32 << 20;
/// Rounds of one run.
pub const ROUNDS: u64 = 8;
/// Bytes of a read.
const BLOCK_BYTES: u64 = 16 << 10;
/// Blocks of the log in a round.
const LOG_BLOCKS: u64 = LOG_BYTES / BLOCK_BYTES / ROUNDS;
/// The order of the reads is the same in every run.
const SEED: u64 = 1969;

/// The files of the workload, in a directory of their own. They go when this is dropped.
#[derive(Debug)]
pub struct Files(PathBuf);

impl Files {
    /// Makes the files in a new directory below `parent`.
    pub fn make(parent: &Path) -> io::Result<Self> {
        let files = Self(parent.join(format!("nbuf-demo-{}", std::process::id())));
        let mut maker = fs::DirBuilder::new();
        maker.mode(0o700);
        if let Err(error) = maker.create(&files.0) {
            // What stands there is not ours to remove.
            std::mem::forget(files);
            return Err(error);
        }
        for (name, bytes) in [("index", INDEX_BYTES), ("log", LOG_BYTES)] {
            write(&files.0.join(name), bytes)?;
        }
        Ok(files)
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.0
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        // There is no one to report a failure to; the next run takes another name.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// This program's own file, held in memory until this is dropped.
#[derive(Debug)]
pub struct Held(#[expect(dead_code, reason = "its pages are in use as long as it lives")] Mapping);

impl Held {
    /// Holds the file of the program that runs.
    ///
    /// A program that does the [`work`] in a process of its own shares this file with its parent. Pages
    /// in use cannot be dropped before a run, and the parent uses more of them with each step it takes:
    /// no two runs would fill the same number. With all of them in use, no run fills any.
    ///
    /// # Errors
    ///
    /// When the file cannot be read.
    pub fn program() -> io::Result<Self> {
        let file = File::open("/proc/self/exe")?;
        let bytes = usize::try_from(file.metadata()?.len()).unwrap_or(0);
        Mapping::new(&file, bytes, false, Advice::Populate).map(Self)
    }
}

/// Written to the disc at once: pages that are dirty cannot be dropped before a run.
fn write(path: &Path, bytes: u64) -> io::Result<()> {
    let mut random = Random::new(SEED);
    let mut file = File::create_new(path)?;
    let mut block = Vec::new();
    for _ in 0..bytes / BLOCK_BYTES {
        block.clear();
        while (block.len() as u64) < BLOCK_BYTES {
            block.extend_from_slice(&random.next().to_le_bytes());
        }
        file.write_all(&block)?;
    }
    file.sync_all()
}

/// Does the work once: reads the files in `directory`. Gives the number of bytes that were read.
pub fn work(directory: &Path) -> io::Result<u64> {
    let (index, log) = (File::open(directory.join("index"))?, File::open(directory.join("log"))?);
    // Some machines read 8 MiB ahead: then the log alone would fill a cache of any size of interest.
    for file in [&index, &log] {
        read_at_random(file)?;
    }
    let mut random = Random::new(SEED);
    let mut block = vec![0; usize::try_from(BLOCK_BYTES).unwrap_or(1 << 14)];
    for round in 0..ROUNDS {
        for _ in 0..INDEX_BYTES / BLOCK_BYTES {
            let number = random.below(INDEX_BYTES / BLOCK_BYTES);
            index.read_exact_at(&mut block, number * BLOCK_BYTES)?;
        }
        for number in round * LOG_BLOCKS..(round + 1) * LOG_BLOCKS {
            log.read_exact_at(&mut block, number * BLOCK_BYTES)?;
        }
    }
    Ok(ROUNDS * (INDEX_BYTES + LOG_BLOCKS * BLOCK_BYTES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_are_whole_and_go_with_their_owner() {
        let parent = tempfile::tempdir().unwrap();
        let files = Files::make(parent.path()).unwrap();
        let directory = files.directory().to_owned();
        assert_eq!(work(&directory).unwrap(), ROUNDS * INDEX_BYTES + LOG_BYTES);
        assert!(Files::make(parent.path()).is_err(), "the name is taken");
        assert!(directory.join("index").exists(), "what is not ours stays");
        drop(files);
        assert!(!directory.exists());
    }
}
