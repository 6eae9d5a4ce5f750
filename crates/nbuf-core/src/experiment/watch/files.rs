//! What of named files is in the page cache, by `cachestat(2)`.
//!
//! Not by `mincore(2)`: that needs a mapping of the file, walks the page tables of the caller, does not say
//! what is dirty or was evicted, and answers for foreign files that all is there (Linux 5.2). `cachestat`
//! only walks the file's own index, so that it costs what is cached, and nothing is touched.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use super::Error;
use crate::experiment::result::WatchFile;
use crate::sys::cache::{Cached, cached};
use crate::sys::files;
use crate::units::Bytes;

/// Parts of a map.
const PARTS: u64 = 64;

/// The files, kept open. A file that takes the name of one later is not looked at.
#[derive(Debug)]
pub(super) struct Files {
    open: Vec<Named>,
}

#[derive(Debug)]
struct Named {
    path: PathBuf,
    file: File,
    /// Pages in the cache at the last look.
    cached: Option<u64>,
}

impl Files {
    /// Opens them with the rights of the caller.
    pub(super) fn open(paths: &[PathBuf]) -> Result<Self, Error> {
        let open = |path: &PathBuf| {
            let failed = |cause| Error::File { path: path.clone(), cause };
            let file = files::regular(path).map_err(failed)?;
            Ok(Named { path: path.clone(), file, cached: None })
        };
        Ok(Self { open: paths.iter().map(open).collect::<Result<_, Error>>()? })
    }

    /// Looks at each of them.
    pub(super) fn look(&mut self) -> Vec<WatchFile> {
        let look = |named: &mut Named| {
            let path = named.path.display().to_string();
            match seen(&named.file) {
                Ok(seen) => {
                    let before = named.cached.replace(seen.cached);
                    let grown = before.map(|before| difference(seen.cached, before));
                    WatchFile { path, grown, ..seen }
                }
                Err(error) => {
                    let error = match error.raw_os_error() {
                        Some(libc::ENOSYS) => "the kernel has no cachestat (Linux 6.5)".to_owned(),
                        Some(libc::EPERM) => {
                            "the kernel tells only who may write the file".to_owned()
                        }
                        _ => error.to_string(),
                    };
                    WatchFile { path, error: Some(error), ..WatchFile::default() }
                }
            }
        };
        self.open.iter_mut().map(look).collect()
    }
}

/// `now - before`, of counts of pages.
fn difference(now: u64, before: u64) -> i64 {
    let amount = i64::try_from(now.abs_diff(before)).unwrap_or(i64::MAX);
    if now < before { -amount } else { amount }
}

fn seen(file: &File) -> io::Result<WatchFile> {
    let bytes = file.metadata()?.len();
    let page_bytes = rustix::param::page_size() as u64;
    let pages = bytes.div_ceil(page_bytes);
    // No further: a large folio may reach past the end, and a length of 0 would count all of it.
    let all = if pages == 0 { Cached::default() } else { cached(file, 0, pages * page_bytes)? };
    let part_pages = pages.div_ceil(PARTS).max(1);
    let parts = (0..pages).step_by(usize::try_from(part_pages).unwrap_or(usize::MAX));
    let share = |first: u64| {
        let here = part_pages.min(pages - first);
        let part = cached(file, first * page_bytes, here * page_bytes)?;
        Ok((part.resident as f64 / here as f64).min(1.0))
    };
    Ok(WatchFile {
        bytes: Bytes(bytes),
        pages,
        cached: all.resident,
        dirty: all.dirty,
        writeback: all.writeback,
        evicted: all.evicted,
        recently_evicted: all.recently_evicted,
        map: parts.map(share).collect::<io::Result<_>>()?,
        ..WatchFile::default()
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn the_map_has_at_most_64_parts_and_all_that_was_just_written() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let page_bytes = rustix::param::page_size();
        file.write_all(&vec![1; 100 * page_bytes + 1]).unwrap();
        if cached(file.as_file(), 0, 0).is_err() {
            return;
        }
        let mut files = Files::open(&[file.path().to_owned()]).unwrap();
        let first = files.look().remove(0);
        assert_eq!((first.pages, first.cached, first.grown), (101, 101, None));
        assert_eq!((first.map, first.error), (vec![1.0; 51], None));
        file.as_file().set_len(10 * page_bytes as u64).unwrap();
        let second = files.look().remove(0);
        assert_eq!((second.pages, second.cached, second.grown), (10, 10, Some(-91)));
        file.as_file().set_len(0).unwrap();
        assert_eq!(files.look().remove(0).map.len(), 0);
    }

    #[test]
    fn what_is_no_file_is_refused() {
        for path in ["/", "/dev/null", "/no/such"] {
            assert!(matches!(Files::open(&[path.into()]), Err(Error::File { .. })), "{path}");
        }
    }
}
