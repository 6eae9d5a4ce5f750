//! One input and its parser: bytes are read in blocks, and requests come out in batches.

use std::io::{self, Read};
use std::path::PathBuf;

use super::error::{SourceError, is_of_object};
use super::input::{Input, Packing};
use crate::workload::format::{Batch, Parser, Place, ProblemKind};

/// Bytes that are read at a time: they stay in the second level of the processor's cache.
const BLOCK_BYTES: usize = 1 << 17;

/// Longest record that is waited for.
pub(super) const RECORD_BYTES_MAX: usize = 1 << 26;

/// One input and its parser.
pub(super) struct Feed {
    path: PathBuf,
    packing: Packing,
    rest: Box<dyn Read + Send>,
    parser: Box<dyn Parser>,
    /// What was read; of it, `start..filled` is not parsed yet.
    buffer: Vec<u8>,
    start: usize,
    filled: usize,
    is_end: bool,
    broken: Option<io::Error>,
}

impl Feed {
    pub(super) fn new(input: Input, parser: Box<dyn Parser>) -> Self {
        let Input { path, packing, head, is_whole, broken, rest, file: _, object: _ } = input;
        let filled = head.len();
        let is_end = is_whole || broken.is_some();
        Self { path, packing, rest, parser, buffer: head, start: 0, filled, is_end, broken }
    }

    /// Reads on with the parser of the input before, if what that learned holds here too.
    pub(super) fn follow(&mut self, before: Self) {
        if before.parser.goes_on().is_some() && before.parser.goes_on() == self.parser.goes_on() {
            self.parser = before.parser;
        }
    }

    /// Fills a batch. Says whether there may be more.
    pub(super) fn fill(&mut self, out: &mut Batch) -> Result<bool, SourceError> {
        loop {
            let bytes = &self.buffer[self.start..self.filled];
            let taken = self.parser.parse(bytes, self.is_end, out);
            self.start += taken;
            if out.is_full() {
                return Ok(true);
            }
            if self.is_end {
                self.tell_broken(out);
                return Ok(false);
            }
            self.read()?;
        }
    }

    /// Gets more bytes behind those that are left.
    fn read(&mut self) -> Result<(), SourceError> {
        self.buffer.copy_within(self.start..self.filled, 0);
        self.filled -= self.start;
        self.start = 0;
        if self.filled >= RECORD_BYTES_MAX {
            let (path, bytes) = (self.path.clone(), self.filled);
            return Err(SourceError::RecordTooLong { path, bytes });
        }
        let wanted = BLOCK_BYTES.max(self.filled * 2);
        if self.buffer.len() < wanted {
            self.buffer.resize(wanted, 0);
        }
        loop {
            match self.rest.read(&mut self.buffer[self.filled..]) {
                Ok(count) => {
                    self.filled += count;
                    self.is_end = count == 0;
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if self.packing != Packing::None && !is_of_object(&error) => {
                    (self.broken, self.is_end) = (Some(error), true);
                    return Ok(());
                }
                Err(source) => return Err(SourceError::of_reading(&self.path, source)),
            }
        }
    }

    /// What came out before unpacking gave up is used, and that it gave up is said.
    fn tell_broken(&mut self, out: &mut Batch) {
        if let Some(error) = self.broken.take() {
            let (packing, bytes) = (self.packing, out.bytes);
            out.problems
                .add(ProblemKind::CutOff, Place::Byte(bytes), || broken_text(packing, &error));
        }
    }
}

/// What is said of packed data that end too early.
pub(super) fn broken_text(packing: Packing, error: &io::Error) -> String {
    let packing = packing.name();
    format!(
        "the {packing} data end here or are damaged ({error}); what came before is used, copy the \
         file again for the rest"
    )
}
