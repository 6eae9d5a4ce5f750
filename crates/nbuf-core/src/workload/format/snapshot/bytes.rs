//! The bytes of a snapshot, from the front, with the number of those that were taken.
//!
//! Invariant: memory grows only with bytes that are there.

use std::io::{self, BufRead, Read};

/// The longest line: memcached writes a key with its escapes in 750 bytes.
const LINE_BYTES_MAX: u64 = 1 << 13;

/// What is wanted where the bytes end too soon.
const MORE: &str = "more bytes; the snapshot is cut off";

/// What is wanted where what packs them is damaged.
const UNPACKED: &str = "bytes that can be unpacked; copy the file again";

/// Why the reading of a snapshot ends before its end.
#[derive(Debug)]
pub(super) enum Stop {
    /// It is no snapshot.
    Unknown,
    /// Something else should stand there.
    Wrong(&'static str),
    /// The bytes cannot be had.
    Read(io::Error),
    /// The reader wants no more.
    Ended,
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Wrong(MORE),
            io::ErrorKind::InvalidData => Self::Wrong(UNPACKED),
            _ => Self::Read(error),
        }
    }
}

/// Bytes from the front.
pub(super) struct Bytes<R> {
    from: R,
    at: u64,
}

impl<R: BufRead> Bytes<R> {
    pub(super) fn new(from: R) -> Self {
        Self { from, at: 0 }
    }

    /// How many were taken.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// Gives the next bytes to `take`: at least one, and `most` at the most. How many they are.
    fn some(&mut self, most: usize, mut take: impl FnMut(&[u8])) -> Result<usize, Stop> {
        loop {
            let bytes = match self.from.fill_buf() {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            };
            if bytes.is_empty() {
                return Err(Stop::Wrong(MORE));
            }
            let count = most.min(bytes.len());
            take(&bytes[..count]);
            self.from.consume(count);
            self.at += count as u64;
            return Ok(count);
        }
    }

    /// Gives this many bytes to `take`, piece by piece.
    fn all(&mut self, bytes: u64, mut take: impl FnMut(&[u8])) -> Result<(), Stop> {
        let mut left = bytes;
        while left > 0 {
            let most = usize::try_from(left).unwrap_or(usize::MAX);
            left -= self.some(most, &mut take)? as u64;
        }
        Ok(())
    }

    /// Leaves out this many bytes.
    pub(super) fn skip(&mut self, bytes: u64) -> Result<(), Stop> {
        self.all(bytes, |_| ())
    }

    /// Adds this many bytes to the end of `out`.
    pub(super) fn append(&mut self, bytes: u64, out: &mut Vec<u8>) -> Result<(), Stop> {
        self.all(bytes, |some| out.extend_from_slice(some))
    }

    /// The next `N` bytes.
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Stop> {
        let mut array = [0; N];
        let mut filled = 0;
        self.all(N as u64, |some| {
            array[filled..filled + some.len()].copy_from_slice(some);
            filled += some.len();
        })?;
        Ok(array)
    }

    /// The next byte.
    pub(super) fn byte(&mut self) -> Result<u8, Stop> {
        let [byte] = self.array()?;
        Ok(byte)
    }

    /// Puts the next line in place of `out`, without its end.
    pub(super) fn line(&mut self, out: &mut Vec<u8>) -> Result<(), Stop> {
        out.clear();
        let taken = Read::take(&mut self.from, LINE_BYTES_MAX).read_until(b'\n', out)?;
        self.at += taken as u64;
        if out.pop() != Some(b'\n') {
            return Err(Stop::Wrong("a whole line"));
        }
        if out.last() == Some(&b'\r') {
            out.pop();
        }
        Ok(())
    }
}
