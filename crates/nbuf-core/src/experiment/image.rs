//! Images of discs in files: read whole, and written back whole or not at all.
//!
//! ```
//! use nbuf::experiment::image;
//!
//! let file = tempfile::NamedTempFile::new()?;
//! let refused = image::read(file.path(), 512..=1024).unwrap_err();
//! println!("{refused}");
//! # Ok::<(), std::io::Error>(())
//! ```

use std::io::{self, Read, Write};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use crate::sys::files;
use crate::sys::input::{self, Refused};
use crate::sys::publish::{Readers, Unfinished};

/// The unit that the length of an image is a multiple of when it grows.
const BLOCK_BYTES: usize = 512;

/// Why there is no image, or why it stays as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// It cannot be opened.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// It cannot be read.
    #[error("cannot read {}", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// It has another size.
    #[error(
        "{} has {} bytes, an image has {} to {}: build it again, or give another folder with --images",
        .path.display(),
        .bytes.map_or("more".to_owned(), |bytes| bytes.to_string()),
        .wanted.start(),
        .wanted.end()
    )]
    Size {
        /// The file.
        path: PathBuf,
        /// Its bytes; none where there are more than an image has.
        bytes: Option<usize>,
        /// The bytes of an image.
        wanted: RangeInclusive<usize>,
    },
    /// It cannot be compared with what is to be written.
    #[error("cannot write {} back; it is as it was", .path.display())]
    Compare {
        /// The file.
        path: PathBuf,
        /// Why.
        source: Box<ImageError>,
    },
    /// It cannot be written.
    #[error("cannot write {} back; it is as it was", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
}

/// Reads an image whose size in bytes is in the range `wanted`.
pub fn read(path: &Path, wanted: RangeInclusive<usize>) -> Result<Vec<u8>, ImageError> {
    let file = input::open(path)?;
    // More than an image has is not read: it may never end.
    let mut bytes = Vec::new();
    let most = *wanted.end();
    let unreadable = |source| ImageError::Read { path: path.to_owned(), source };
    file.take(most as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if !wanted.contains(&bytes.len()) {
        let bytes = Some(bytes.len()).filter(|&bytes| bytes <= most);
        return Err(ImageError::Size { path: path.to_owned(), bytes, wanted });
    }
    Ok(bytes)
}

/// Writes an image of at most `most` bytes back over its file, unless the file would not change.
pub fn write_back(path: &Path, image: &[u8], most: usize) -> Result<(), ImageError> {
    let incomparable =
        |error| ImageError::Compare { path: path.to_owned(), source: Box::new(error) };
    let old = read(path, 0..=most).map_err(incomparable)?;
    // What is behind the old end and still zero needs no room.
    let used = image.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    let length = old.len().max(used.div_ceil(BLOCK_BYTES) * BLOCK_BYTES).min(image.len());
    if old == image[..length] {
        return Ok(());
    }
    let unwritten = |source| ImageError::Write { path: path.to_owned(), source };
    put(path, &image[..length]).map_err(unwritten)
}

/// Puts bytes in the place of a file, which keeps its permissions.
fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // An image may be a link to where it is kept: what it leads to is replaced, not the link.
    let path = path.canonicalize()?;
    let permissions = files::regular(&path)?.metadata()?.permissions();
    let unfinished = Unfinished::create(&path, Readers::Owner)?;
    let mut file = unfinished.file();
    file.write_all(bytes)?;
    file.set_permissions(permissions)?;
    unfinished.replace()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn an_image_is_written_back_through_no_link() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("rf0.dsk"), [1; 1024]).unwrap();
        fs::write(at("others"), "theirs").unwrap();
        symlink(at("others"), at("rf0.dsk.new")).unwrap();
        write_back(&at("rf0.dsk"), &[2; 2048], 2048).unwrap();
        assert_eq!(fs::read_to_string(at("others")).unwrap(), "theirs");
        assert_eq!(read(&at("rf0.dsk"), 1024..=2048).unwrap(), [2; 2048]);
        let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.collect();
        names.sort();
        assert_eq!(names, ["others", "rf0.dsk", "rf0.dsk.new"]);
    }

    #[test]
    fn an_image_is_a_file_of_the_right_size() {
        let folder = tempfile::tempdir().unwrap();
        let drum = folder.path().join("rf0.dsk");
        let said = || read(&drum, 512..=1024).unwrap_err();
        assert!(matches!(said(), ImageError::Refused(refused) if refused.is_absent()));
        symlink("/dev/zero", &drum).unwrap();
        assert!(said().to_string().contains("is a character device"));
        fs::remove_file(&drum).unwrap();
        fs::File::create(&drum).unwrap().set_len(1 << 40).unwrap();
        assert!(said().to_string().contains("has more bytes, an image has 512 to 1024"));
    }
}
