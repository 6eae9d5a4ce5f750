//! An input: a file or standard input, unpacked.
//!
//! What packs it is found by its first bytes, whatever its name and whatever its format: gzip (also
//! of several members), xz (of several streams), zstd (of several frames). Plain files are read in
//! blocks and not mapped: nearly as fast (docs/performance.md), and a file that is cut off meanwhile
//! is a short read, no signal.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::cancellation::CancellationToken;
use super::error::{SourceError, is_of_object};
use super::object::{self, Object, ObjectError};
use super::progress::Counter;
use super::text::{self, Encoding};
use super::unpack::unpack;
use crate::sys::input;
use crate::units::Bound;

/// Bytes of an input that are looked at to know what it is.
const HEAD_BYTES: usize = 1 << 16;

/// What an input is packed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Nothing.
    None,
    /// gzip.
    Gzip,
    /// xz.
    Xz,
    /// Zstandard.
    Zstd,
}

impl Packing {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "not compressed",
            Self::Gzip => "gzip",
            Self::Xz => "xz",
            Self::Zstd => "zstd",
        }
    }

    /// What packs these bytes, by the first of them.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        match bytes {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Self::Xz,
            // A frame; or one that is skipped, with which some tools begin.
            [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Self::Zstd,
            _ => Self::None,
        }
    }
}

/// Bytes of an input, unpacked, from its beginning.
pub(super) struct Input {
    pub(super) path: PathBuf,
    pub(super) packing: Packing,
    /// What was read to look at it.
    pub(super) head: Vec<u8>,
    /// Whether that is all.
    pub(super) is_whole: bool,
    /// How unpacking ended before its time.
    pub(super) broken: Option<io::Error>,
    /// What follows.
    pub(super) rest: Box<dyn Read + Send>,
    /// The file itself, when it is one and not packed.
    pub(super) file: Option<File>,
    /// The object, when it is one and not packed.
    pub(super) object: Option<Object>,
}

impl Input {
    /// Opens a file, a stream or an object, one of this many that are merged; `-` is standard input. A cancellation ends
    /// the reading of an object.
    pub(super) fn open(
        path: &Path,
        bound: Bound,
        merged: usize,
        counter: &mut Counter,
        token: &CancellationToken,
    ) -> Result<Self, SourceError> {
        if object::is_object(path) {
            let (object, bytes) = object::read(path, merged, token)?;
            counter.add_bytes(object.bytes);
            let made = Self::made(path, counter.count(bytes), None, bound);
            if token.is_cancelled() {
                return Err(ObjectError::Cancelled(object.name).into());
            }
            let made = made?;
            let object = Some(object).filter(|_| made.packing == Packing::None);
            return Ok(Self { object, ..made });
        }
        let read_error = |source| SourceError::Read { path: path.to_owned(), source };
        let file = input::open(path).map_err(|refused| SourceError::of_opening(path, refused))?;
        let metadata = file.metadata().map_err(read_error)?;
        counter.add(&metadata);
        let own = metadata.is_file().then(|| file.try_clone()).transpose().map_err(read_error)?;
        Self::made(path, counter.count(file), own, bound)
    }

    /// An input of these bytes, looked at.
    fn made(
        path: &Path,
        raw: Box<dyn Read + Send>,
        file: Option<File>,
        bound: Bound,
    ) -> Result<Self, SourceError> {
        let made = Self::from_reader(path, raw, file, bound);
        let mut made = made.map_err(|(packing, source)| {
            if packing == Packing::None || is_of_object(&source) {
                return SourceError::of_reading(path, source);
            }
            SourceError::Packed { path: path.to_owned(), packing: packing.name(), source }
        })?;
        made.decode()?;
        Ok(made)
    }

    /// Skips the mark of UTF-8, and refuses texts in other encodings by their names.
    fn decode(&mut self) -> Result<(), SourceError> {
        let path = || self.path.clone();
        match text::encoding(&self.head) {
            Encoding::Utf16 => return Err(SourceError::Utf16 { path: path() }),
            Encoding::Nuls => return Err(SourceError::Nuls { path: path() }),
            Encoding::Marked => drop(self.head.drain(..text::MARK.len())),
            Encoding::Other => {}
        }
        Ok(())
    }

    /// An input of bytes from anywhere.
    fn from_reader(
        path: &Path,
        mut raw: Box<dyn Read + Send>,
        file: Option<File>,
        bound: Bound,
    ) -> Result<Self, (Packing, io::Error)> {
        let (first, _) = fill(&mut raw, HEAD_BYTES);
        let first = first.map_err(|error| (Packing::None, error))?;
        let packing = Packing::of(&first);
        let mut input = Self {
            path: path.to_owned(),
            packing,
            head: Vec::new(),
            is_whole: false,
            broken: None,
            rest: Box::new(io::empty()),
            file: file.filter(|_| packing == Packing::None),
            object: None,
        };
        if packing == Packing::None {
            (input.is_whole, input.head, input.rest) = (first.len() < HEAD_BYTES, first, raw);
            return Ok(input);
        }
        let packed = io::Cursor::new(first).chain(raw);
        let mut rest = unpack(packing, packed, bound).map_err(|error| (packing, error))?;
        let (head, broken) = fill(&mut rest, HEAD_BYTES);
        input.head = head.map_err(|error| (packing, error))?;
        (input.broken, input.rest) = (broken, rest);
        input.is_whole = input.head.len() < HEAD_BYTES;
        Ok(input)
    }

    /// The name that tells a format by its end: without the suffix of its packing.
    pub(super) fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let packed = [".gz", ".xz", ".zst", ".zstd"];
        let bare = packed.iter().find_map(|end| name.strip_suffix(end));
        bare.map_or_else(|| name.clone(), str::to_owned)
    }
}

/// Reads until there is this much or nothing more. An error of the bytes comes with those before it.
fn fill(from: &mut dyn Read, bytes: usize) -> (io::Result<Vec<u8>>, Option<io::Error>) {
    let mut head = vec![0; bytes];
    let mut filled = 0;
    while filled < bytes {
        match from.read(&mut head[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if filled == 0 || is_of_object(&error) => return (Err(error), None),
            Err(error) => {
                head.truncate(filled);
                return (Ok(head), Some(error));
            }
        }
    }
    head.truncate(filled);
    (Ok(head), None)
}
