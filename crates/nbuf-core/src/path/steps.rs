//! Paths that wait for each operation. They differ in a [`Step`], and each is compiled into loops
//! of its own.

use std::io;
use std::ops::Range;

use super::pass::Pass;
use super::pattern::{Operation, Visit};
use super::{Error, Moved, Path, Request};

/// One operation of a path that waits for each.
pub(super) trait Step {
    /// Whether every operation is one byte, which allows shorter loops.
    const IS_BYTE: bool = false;

    /// Called at the start of a pass.
    fn begin(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Called before an operation whose offset is not the end of the last one.
    fn jump(&mut self, offset_bytes: u64) -> io::Result<()> {
        let _ = offset_bytes;
        Ok(())
    }

    /// Runs the whole operation and returns its first byte.
    fn step(&mut self, operation: Operation) -> io::Result<u8>;

    /// Called at the end of a pass, or if it is abandoned: flushes and unmaps.
    fn end(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs a pattern step by step.
#[derive(Debug)]
pub(super) struct Steps<S> {
    pass: Pass,
    step: S,
}

impl<S: Step + 'static> Steps<S> {
    /// Opens this step for a row of the table.
    pub(super) fn open(request: &Request<'_>, step: S) -> Result<Box<dyn Path>, Error> {
        Ok(Box::new(Self { pass: Pass::of(request)?, step }))
    }
}

impl<S: Step> Path for Steps<S> {
    fn run(&mut self, operations: Range<u64>) -> io::Result<Moved> {
        let operations = self.pass.clip(operations);
        if operations.start == 0 {
            self.rewind()?;
        }
        if self.pass.begins(&operations)? {
            self.step.begin()?;
        }
        let pattern = self.pass.pattern;
        if !pattern.seeks() && !self.pass.continues(&operations) {
            self.step.jump(operations.start * pattern.block_bytes)?;
        }
        let mut counting = Counting { step: &mut self.step, bytes: 0, sum: 0 };
        if S::IS_BYTE {
            pattern.visit_bytes(operations.clone(), &mut counting)?;
        } else {
            pattern.visit(operations.clone(), &mut counting)?;
        }
        let Counting { bytes, sum, .. } = counting;
        if self.pass.ends(&operations) {
            self.step.end()?;
        }
        Ok(Moved { operations: operations.end - operations.start, bytes, sum })
    }

    fn rewind(&mut self) -> io::Result<()> {
        self.step.end()?;
        self.pass.rewind()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.step.end()
    }
}

/// A step and its totals so far.
struct Counting<'a, S> {
    step: &'a mut S,
    bytes: u64,
    sum: u64,
}

impl<S: Step> Visit for Counting<'_, S> {
    type Error = io::Error;

    #[expect(clippy::inline_always, reason = "an operation is to cost no call of ours")]
    #[inline(always)]
    fn visit(&mut self, operation: Operation) -> io::Result<()> {
        let byte = self.step.step(operation)?;
        self.sum = self.sum.wrapping_add(byte.into());
        self.bytes += operation.length_bytes as u64;
        Ok(())
    }
}
