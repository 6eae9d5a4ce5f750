//! Whose a file is that is to be written over.
//!
//! A file is ours if all of it is what [`Data`] gives for its offsets, or if it is empty: then
//! nothing of anybody's is lost. That needs no mark beside the file, works on every file system, and
//! holds for a copy of it, too. A file with strides that was left half-written is nobody's. Cost: the
//! file is read until a byte differs.

use std::fs::{File, FileType};
use std::io::{self, Read};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

use super::data::Data;

/// Why a file is not written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No regular file.
    #[error("it is {0}; name a file")]
    Kind(&'static str),
    /// It has something that would be lost.
    #[error("it has something that nbuf did not write; name another file, or say --force")]
    NotOurs,
    /// The system does not let it.
    #[error("{0}; name a file where you may write")]
    Io(#[from] io::Error),
}

/// Opens a file for writing, made or emptied, and says whether it was there. With `force`, whatever
/// is in it; a directory or a device never.
pub fn open(path: &Path, force: bool, waits: bool) -> Result<(File, bool), Error> {
    // Opening a pipe would wait, opening a device may do something.
    if let Ok(metadata) = std::fs::metadata(path) {
        regular(metadata.file_type())?;
    }
    let mut flags = OFlags::NONBLOCK;
    flags.set(OFlags::SYNC, waits);
    let mut options = File::options();
    options.write(true).custom_flags(flags.bits().cast_signed());
    match options.clone().create_new(true).open(path) {
        Ok(file) => return Ok((file, false)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error.into()),
    }
    // A dangling link is followed: what it names is made.
    let file = options.create(true).read(true).open(path)?;
    regular(file.metadata()?.file_type())?;
    if !force && !is_ours(&file)? {
        return Err(Error::NotOurs);
    }
    file.set_len(0)?;
    io::Seek::rewind(&mut &file)?;
    Ok((file, true))
}

fn regular(kind: FileType) -> Result<(), Error> {
    let what = match () {
        () if kind.is_file() => return Ok(()),
        () if kind.is_dir() => "a directory",
        () if kind.is_block_device() || kind.is_char_device() => "a device",
        () if kind.is_fifo() => "a pipe",
        () => "no regular file",
    };
    Err(Error::Kind(what))
}

/// Whether all of a file, from where it stands, is what we write.
fn is_ours(mut file: &File) -> io::Result<bool> {
    const BLOCK: usize = 1 << 16;
    let data = Data::new(BLOCK);
    let mut buffer = vec![0; BLOCK];
    let mut offset = 0;
    loop {
        let read = match file.read(&mut buffer) {
            Ok(0) => return Ok(true),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if buffer[..read] != *data.at(offset, read) {
            return Ok(false);
        }
        offset += read as u64;
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn only_what_we_wrote_is_written_over() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("data");
        let data = Data::new(100_000);
        let whole = data.at(0, 100_000).to_vec();
        let mut changed = whole.clone();
        changed[99_999] ^= 1;
        let cases: [(&[u8], bool); 5] =
            [(b"", true), (&whole, true), (&whole[..7], true), (&changed, false), (b"x", false)];
        for (content, is_taken) in cases {
            std::fs::write(&path, content).unwrap();
            let opened = open(&path, false, false);
            assert_eq!(opened.is_ok(), is_taken, "{} bytes", content.len());
            let left = std::fs::read(&path).unwrap();
            assert!(if is_taken { left.is_empty() } else { left == content });
        }
        let (mut file, was_there) = open(&path, true, false).unwrap();
        file.write_all(b"new").unwrap();
        assert!(was_there);
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        let (_, was_there) = open(&directory.path().join("other"), false, true).unwrap();
        assert!(!was_there);
    }

    #[test]
    fn what_is_no_file_is_left_alone() {
        for (path, what) in [("/", "a directory"), ("/dev/null", "a device")] {
            let error = open(Path::new(path), true, false).unwrap_err().to_string();
            assert_eq!(error, format!("it is {what}; name a file"));
        }
    }
}
