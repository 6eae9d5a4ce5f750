//! An input that several threads take pieces of, each cut at the end of a line.

use std::io::{self, Read};
use std::path::PathBuf;

use super::error::{SourceError, is_of_object};
use super::feed::RECORD_BYTES_MAX;
use super::input::{Input, Packing};

/// Bytes of a piece: long enough that the lock around it is no matter.
const PIECE_BYTES: usize = 1 << 18;

/// The input that workers share.
pub(super) struct Intake {
    path: PathBuf,
    pub(super) packing: Packing,
    rest: Box<dyn Read + Send>,
    /// The beginning of a line whose end was not read yet.
    carry: Vec<u8>,
    sequence: u64,
    is_end: bool,
    broken: Option<io::Error>,
}

/// A piece of the input.
pub(super) struct Piece {
    pub(super) sequence: u64,
    pub(super) is_last: bool,
    /// How unpacking ended before its time.
    pub(super) broken: Option<io::Error>,
}

impl Intake {
    pub(super) fn new(input: Input) -> Self {
        let Input { path, packing, head, is_whole, broken, rest, file: _, object: _ } = input;
        let is_end = is_whole || broken.is_some();
        Self { path, packing, rest, carry: head, sequence: 0, is_end, broken }
    }

    /// Puts the next piece into `bytes`: whole lines. None when the last was taken.
    pub(super) fn take(
        &mut self,
        bytes: &mut Vec<u8>,
    ) -> Result<Option<Piece>, Box<(u64, SourceError)>> {
        bytes.clear();
        let sequence = self.sequence;
        if sequence == u64::MAX {
            return Ok(None);
        }
        bytes.append(&mut self.carry);
        while !self.is_end {
            if bytes.len() >= PIECE_BYTES
                && let Some(at) = memchr::memrchr(b'\n', bytes)
            {
                self.carry.extend_from_slice(&bytes[at + 1..]);
                bytes.truncate(at + 1);
                self.sequence += 1;
                return Ok(Some(Piece { sequence, is_last: false, broken: None }));
            }
            let (path, length) = (self.path.clone(), bytes.len());
            let failed = if length >= RECORD_BYTES_MAX {
                Some(SourceError::RecordTooLong { path, bytes: length })
            } else {
                self.read(bytes).err().map(|source| SourceError::of_reading(&path, source))
            };
            if let Some(error) = failed {
                self.sequence = u64::MAX;
                return Err(Box::new((sequence, error)));
            }
        }
        self.sequence = u64::MAX;
        Ok(Some(Piece { sequence, is_last: true, broken: self.broken.take() }))
    }

    /// Reads what comes at once.
    fn read(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        let filled = bytes.len();
        bytes.resize(filled + PIECE_BYTES, 0);
        let read = loop {
            match self.rest.read(&mut bytes[filled..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        bytes.truncate(filled + read.as_ref().copied().unwrap_or(0));
        match read {
            Ok(count) => self.is_end = count == 0,
            Err(error) if self.packing != Packing::None && !is_of_object(&error) => {
                (self.broken, self.is_end) = (Some(error), true);
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }
}
