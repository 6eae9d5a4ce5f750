//! The file below the cache, and that file as a disc.

use std::collections::VecDeque;

use nbuf::disc::{Breakdown, Completion, Disc, DiscError};
use nbuf::trace::request::{Op, Request};
use nbuf::units::Nanos;

use crate::code::Code;

/// The file of another VFS. Calls are complete when they return.
pub(crate) trait Below: Clone {
    /// Reads. Where the file ends before, the rest is zeros and the code says so.
    fn read(&self, buffer: &mut [u8], offset: u64) -> Result<(), Code>;
    /// Writes all bytes.
    fn write(&self, data: &[u8], offset: u64) -> Result<(), Code>;
    /// Cuts the file off.
    fn truncate(&self, length: u64) -> Result<(), Code>;
}

/// A disc that asks the file of the connection that calls: many connections share a cache, and each has its own file.
pub(crate) struct Through<F> {
    file: Option<F>,
    failed: Option<Code>,
    done: VecDeque<Completion>,
}

/// More bytes than a database can have.
const BYTES: u64 = 1 << 50;

impl<F: Below> Through<F> {
    pub(crate) fn new() -> Self {
        Self { file: None, failed: None, done: VecDeque::new() }
    }

    /// Lends it the file of a caller, for one call of the cache.
    pub(crate) fn lend(&mut self, file: &F) {
        self.file = Some(file.clone());
        self.failed = None;
    }

    /// Takes the file back, and gives the code that it answered last, if that was an error.
    pub(crate) fn take_back(&mut self) -> Option<Code> {
        self.file = None;
        self.failed.take()
    }

    fn serve(&self, request: &Request, data: &mut [u8]) -> Result<(), Code> {
        match (request.op, &self.file) {
            // Discards only make the cache forget, and the caller syncs the file itself.
            (Op::Discard | Op::Flush, _) => Ok(()),
            (Op::Read, Some(file)) => match file.read(data, request.offset) {
                Err(Code::SHORT_READ) => Ok(()),
                outcome => outcome,
            },
            (Op::Write, Some(file)) => file.write(data, request.offset),
            (Op::Read, None) => Err(Code::READ),
            (Op::Write, None) => Err(Code::WRITE),
        }
    }
}

impl<F: Below> Disc for Through<F> {
    fn size_bytes(&self) -> u64 {
        BYTES
    }

    fn submit(&mut self, now: Nanos, request: Request, mut data: Vec<u8>) {
        let outcome = self.serve(&request, &mut data).map_err(|code| {
            self.failed = Some(code);
            DiscError::Failed { what: format!("the file below answered with code {}", code.0) }
        });
        let breakdown = Breakdown::default();
        self.done.push_back(Completion { request, data, at: now, breakdown, outcome });
    }

    fn next_completion(&mut self, _until: Nanos) -> Option<Completion> {
        self.done.pop_front()
    }

    fn under_way(&self) -> usize {
        self.done.len()
    }
}
