//! Reading a log back, whatever became of it.

use std::io::Read;

use super::code::decode;
use super::ending::{Ending, LogError, Tear};
use super::entry::Entry;
use super::frame::{HEAD_BYTES, Head, LOG_HEADER, LOG_NAME_BYTES, MAGIC};
use super::state::State;

/// Bytes asked of the source at a time.
const CHUNK_BYTES: usize = 64 << 10;

/// The entries of a log, in the order they were pushed. Iterate, then ask for the
/// [`ending`](Self::ending) and for [`frames_skipped`](Self::frames_skipped).
#[derive(Debug)]
pub struct LogReader<R: Read> {
    source: R,
    /// Read but not used up: `buffer[start..]`.
    buffer: Vec<u8>,
    start: usize,
    /// Where in the log `buffer[start]` stands.
    at_byte: u64,
    payload: Vec<u8>,
    cursor: usize,
    state: State,
    sequence_next: u64,
    frames_skipped: u64,
    end_seen: bool,
    ending: Option<Ending>,
}

impl<R: Read> LogReader<R> {
    /// Reads the header. What is not a log is an error; a log that is torn is not.
    pub fn new(source: R) -> Result<Self, LogError> {
        let mut reader = Self {
            source,
            buffer: Vec::new(),
            start: 0,
            at_byte: 0,
            payload: Vec::new(),
            cursor: 0,
            state: State::default(),
            sequence_next: 0,
            frames_skipped: 0,
            end_seen: false,
            ending: None,
        };
        let whole = reader.fill(LOG_HEADER.len())?;
        let (name, version) = LOG_HEADER.split_at(LOG_NAME_BYTES);
        let head = reader.ahead();
        if !whole {
            if !LOG_HEADER.starts_with(head) {
                return Err(LogError::NotALog);
            }
            let bytes = head.len() as u64;
            return Err(LogError::Empty { bytes });
        }
        let (head_name, rest) = head.split_at(LOG_NAME_BYTES);
        if head_name != name {
            return Err(LogError::NotALog);
        }
        if !rest.starts_with(version) {
            let mut number = [0; 8];
            number.copy_from_slice(&rest[..8]);
            return Err(LogError::Version { version: u64::from_le_bytes(number) });
        }
        reader.consume(LOG_HEADER.len());
        Ok(reader)
    }

    /// How the log ended; `None` until the iterator has.
    pub fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref()
    }

    /// Frames lost before the last whole one, by the numbers of those that are left.
    pub fn frames_skipped(&self) -> u64 {
        self.frames_skipped
    }

    /// The next entry of the payload in hand.
    fn entry_in_hand(&mut self) -> Option<Entry> {
        let mut rest = self.payload.get(self.cursor..)?;
        if rest.is_empty() {
            return None;
        }
        let entry = decode(&mut self.state, &mut rest);
        if entry.is_some() {
            self.cursor = self.payload.len() - rest.len();
            self.end_seen = matches!(entry, Some(Entry::End(_)));
        } else {
            // The checksum was right, so the writer meant it: entries this version does not know.
            self.cursor = self.payload.len();
            self.frames_skipped = self.frames_skipped.saturating_add(1);
        }
        entry
    }

    /// Takes the next whole frame in hand; `false` at the end of the log.
    fn next_frame(&mut self) -> Result<bool, LogError> {
        let mut torn: Option<(u64, Tear)> = None;
        loop {
            self.skip_to(|byte| byte != 0)?;
            if !self.fill(1)? {
                break;
            }
            let tear = match self.frame_here()? {
                Ok(()) => return Ok(true),
                Err(tear) => tear,
            };
            torn.get_or_insert((self.at_byte, tear));
            self.consume(1);
            self.skip_to(|byte| byte == MAGIC[0])?;
        }
        self.ending = Some(match torn {
            Some((at_byte, reason)) => Ending::Torn { at_byte, reason },
            None if self.end_seen => Ending::Clean,
            None => Ending::Torn { at_byte: self.at_byte, reason: Tear::Stopped },
        });
        Ok(false)
    }

    /// Takes the frame that begins here in hand, or says what is here instead.
    fn frame_here(&mut self) -> Result<Result<(), Tear>, LogError> {
        let whole_head = self.fill(HEAD_BYTES)?;
        let ahead = self.ahead();
        if !whole_head {
            let begun = ahead.starts_with(&MAGIC) || MAGIC.starts_with(ahead);
            return Ok(Err(if begun { Tear::CutOff } else { Tear::Foreign }));
        }
        let Some(head) = Head::parse(ahead) else {
            let magic = ahead.starts_with(&MAGIC);
            return Ok(Err(if magic { Tear::Damaged } else { Tear::Foreign }));
        };
        let frame_bytes = HEAD_BYTES + head.payload_len();
        if !self.fill(frame_bytes)? {
            return Ok(Err(Tear::CutOff));
        }
        let payload = &self.buffer[self.start + HEAD_BYTES..self.start + frame_bytes];
        let sequence = u64::from(head.sequence);
        if !head.fits(payload) || sequence < self.sequence_next {
            return Ok(Err(Tear::Damaged));
        }
        self.payload.clear();
        self.payload.extend_from_slice(payload);
        self.cursor = 0;
        self.state.reset();
        self.frames_skipped = self.frames_skipped.saturating_add(sequence - self.sequence_next);
        self.sequence_next = sequence + 1;
        self.consume(frame_bytes);
        Ok(Ok(()))
    }

    /// What has been read and not used up.
    fn ahead(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// Goes forward to the next byte that is wanted, or to the end.
    fn skip_to(&mut self, wanted: impl Fn(u8) -> bool) -> Result<(), LogError> {
        while self.fill(1)? {
            let ahead = self.ahead();
            let place = ahead.iter().position(|&byte| wanted(byte));
            let bytes = place.unwrap_or(ahead.len());
            self.consume(bytes);
            if place.is_some() {
                break;
            }
        }
        Ok(())
    }

    fn consume(&mut self, bytes: usize) {
        self.start += bytes;
        self.at_byte += bytes as u64;
    }

    /// Reads until `bytes` bytes are ahead. Returns `false` when the input has fewer.
    ///
    /// The buffer grows with what was read, not with what a head claims.
    fn fill(&mut self, bytes: usize) -> Result<bool, LogError> {
        while self.buffer.len() - self.start < bytes {
            if self.start >= CHUNK_BYTES {
                self.buffer.drain(..self.start);
                self.start = 0;
            }
            let before = self.buffer.len();
            let mut chunk = (&mut self.source).take(CHUNK_BYTES as u64);
            let read = chunk.read_to_end(&mut self.buffer);
            read.map_err(|source| LogError::Io { at_byte: self.at_byte, source })?;
            if self.buffer.len() == before {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl<R: Read> Iterator for LogReader<R> {
    type Item = Result<Entry, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.ending.is_none() {
            if let Some(entry) = self.entry_in_hand() {
                return Some(Ok(entry));
            }
            match self.next_frame() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    self.ending =
                        Some(Ending::Torn { at_byte: self.at_byte, reason: Tear::CutOff });
                    return Some(Err(error));
                }
            }
        }
        None
    }
}
