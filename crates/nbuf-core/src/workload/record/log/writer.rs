//! Writing a log.

use std::io::{self, Write};

use super::code::encode;
use super::entry::Entry;
use super::frame::{Head, LOG_HEADER, PAYLOAD_BYTES_MAX, PAYLOAD_BYTES_USUAL};
use super::state::State;

/// Appends entries to a log, a frame at a time.
///
/// What has been pushed since the last whole frame is in memory only: call
/// [`flush_frame`](Self::flush_frame) as often as it may be lost, and [`finish`](Self::finish) at
/// the end. A frame that could not be written is dropped and its number with it, so that a reader
/// counts it; the writer may be used further.
#[derive(Debug)]
pub struct LogWriter<W: Write> {
    out: W,
    state: State,
    payload: Vec<u8>,
    sequence: u32,
    bytes: u64,
}

impl<W: Write> LogWriter<W> {
    /// Begins a log: writes its header.
    pub fn new(mut out: W) -> io::Result<Self> {
        out.write_all(&LOG_HEADER)?;
        Ok(Self {
            out,
            state: State::default(),
            payload: Vec::with_capacity(PAYLOAD_BYTES_USUAL + (4 << 10)),
            sequence: 0,
            bytes: LOG_HEADER.len() as u64,
        })
    }

    /// Adds an entry; writes a frame when one is full. An entry of more than 32 MiB is refused with
    /// [`io::ErrorKind::InvalidInput`].
    pub fn push(&mut self, entry: &Entry) -> io::Result<()> {
        let bound = entry.bytes_bound();
        if bound > PAYLOAD_BYTES_MAX {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "an entry of the log is larger than 32 MiB: leave names out of the facts",
            ));
        }
        if self.payload.len() + bound > PAYLOAD_BYTES_MAX {
            self.flush_frame()?;
        }
        encode(&mut self.state, entry, &mut self.payload);
        if self.payload.len() >= PAYLOAD_BYTES_USUAL {
            self.flush_frame()?;
        }
        Ok(())
    }

    /// Writes what was pushed so far as a frame and flushes; nothing pushed, nothing written.
    pub fn flush_frame(&mut self) -> io::Result<()> {
        if self.payload.is_empty() {
            return self.out.flush();
        }
        let written = self.write_frame();
        self.sequence = self.sequence.wrapping_add(1);
        self.payload.clear();
        self.state.reset();
        written
    }

    /// Writes the last frame and gives back what was written to.
    pub fn finish(mut self) -> io::Result<W> {
        self.flush_frame()?;
        Ok(self.out)
    }

    /// What is written to.
    pub fn get_ref(&self) -> &W {
        &self.out
    }

    /// Bytes written so far, without what waits for its frame to fill.
    pub fn bytes_written(&self) -> u64 {
        self.bytes
    }

    fn write_frame(&mut self) -> io::Result<()> {
        let length = u32::try_from(self.payload.len()).map_err(io::Error::other)?;
        let head = Head::of(self.sequence, length, &self.payload).to_bytes();
        self.out.write_all(&head)?;
        self.out.write_all(&self.payload)?;
        self.out.flush()?;
        self.bytes += head.len() as u64 + u64::from(length);
        Ok(())
    }
}
