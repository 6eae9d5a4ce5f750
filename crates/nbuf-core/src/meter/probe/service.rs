//! How long the disc under some files takes, by reading pages of them that are not in memory.
//!
//! Reads go through the page cache, as the command's do, with readahead switched off for the open
//! file, and what they brought is dropped again. A third of a second at the most. Not for files that
//! are in memory: what is there is passed over, by the kernel's count of what was read for us, which
//! it keeps of anybody's files.

use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};

use crate::clock::Stopwatch;
use crate::meter::service::Sample;
use crate::sys::cache;
use crate::sys::usage::Usage;
use crate::units::PAGE_BYTES;

/// Sizes of the requests, in pages, ascending.
const SIZES: [u32; 4] = [1, 8, 32, 128];
/// Requests of each size.
const ROUNDS: u64 = 24;
const SECONDS_MAX: f64 = 0.3;
/// Files that are large enough to be read at places that have nothing to do with each other.
const FILES_MAX: usize = 4;
const FILE_BYTES_MIN: u64 = 1 << 20;

/// Reads here and there in the largest of the files. Nothing where all are small or in memory.
pub(crate) fn measure<'a>(paths: impl Iterator<Item = &'a str>) -> Vec<Sample> {
    measure_within(paths, SECONDS_MAX)
}

fn measure_within<'a>(paths: impl Iterator<Item = &'a str>, seconds_max: f64) -> Vec<Sample> {
    let mut files: Vec<(u64, File)> = paths
        .filter_map(super::residency::open)
        .filter_map(|file| Some((file.metadata().ok()?.size(), file)))
        .filter(|(bytes, _)| *bytes >= FILE_BYTES_MIN)
        .collect();
    files.sort_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
    files.truncate(FILES_MAX);
    let clock = Stopwatch::start();
    let mut samples = Vec::new();
    let mut buffer = vec![0; bytes_of(SIZES[SIZES.len() - 1])];
    for round in 0..ROUNDS {
        for (number, (bytes, file)) in files.iter().enumerate() {
            for (class, &pages) in SIZES.iter().enumerate() {
                if clock.elapsed().as_secs_f64() > seconds_max {
                    break;
                }
                let place = round * SIZES.len() as u64 + class as u64 + number as u64 * 7;
                let wanted = &mut buffer[..bytes_of(pages)];
                samples.extend(read(file, *bytes, place, pages, wanted));
            }
        }
    }
    for (_, file) in &files {
        let _ = cache::drop_pages(file);
    }
    samples
}

fn bytes_of(pages: u32) -> usize {
    usize::try_from(u64::from(pages) * PAGE_BYTES).unwrap_or(0)
}

/// One request, at a place that spreads by the golden ratio; nothing if pages of it are in memory.
fn read(file: &File, bytes: u64, place: u64, pages: u32, buffer: &mut [u8]) -> Option<Sample> {
    let room = (bytes / PAGE_BYTES).checked_sub(u64::from(pages))?.max(1);
    let first = place.wrapping_mul(0x9E37_79B9_7F4A_7C15) % room;
    let (offset, length) = (first * PAGE_BYTES, u64::from(pages) * PAGE_BYTES);
    cache::read_at_random(file).ok()?;
    let before = Usage::of_thread().ok()?;
    let clock = Stopwatch::start();
    let read = file.read_at(buffer, offset).ok()?;
    let ns = u64::try_from(clock.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let from_disc = Usage::of_thread().ok()?.since(before).read_bytes;
    (read == buffer.len() && from_disc >= length).then_some(Sample { pages, ns })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_on_the_disc_is_read_and_dropped_again() {
        let place = tempfile::NamedTempFile::new_in(".").unwrap();
        std::fs::write(&place, vec![7; 8 << 20]).unwrap();
        place.as_file().sync_all().unwrap();
        let path = place.path().to_str().unwrap();
        assert!(measure([path].into_iter()).is_empty(), "it is in memory");
        cache::drop_pages(place.as_file()).unwrap();
        if cache::resident_pages(place.as_file()).is_ok_and(|pages| pages > 0) {
            return; // a file system that keeps everything, such as tmpfs
        }
        // However slow the disc.
        let samples = measure_within([path].into_iter(), 60.0);
        assert!(samples.len() >= 16, "{}", samples.len());
        assert!(samples.iter().all(|sample| sample.ns > 0));
        assert_eq!(cache::resident_pages(place.as_file()).unwrap_or(0), 0);
    }
}
