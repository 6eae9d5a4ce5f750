//! Paths that do one operation after the other: what differs between them is a [`Step`], and each
//! is compiled into loops of its own.

use std::io;
use std::ops::Range;

use super::pass::Pass;
use super::pattern::{Operation, Visit};
use super::{Error, Moved, Path, Request};

/// One operation of a path that waits for each.
pub(super) trait Step {
    /// Whether every operation is one byte, which lets the loops be shorter.
    const IS_BYTE: bool = false;

    /// A pass begins.
    fn begin(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// The next operation in sequence is at this offset, and not where the last one ended.
    fn jump(&mut self, offset_bytes: u64) -> io::Result<()> {
        let _ = offset_bytes;
        Ok(())
    }

    /// Does it, all of it. The first byte that was moved.
    fn step(&mut self, operation: Operation) -> io::Result<u8>;

    /// The pass ends, or what is left of it is given up: writes out what is held back, unmaps.
    fn end(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A pattern, step by step.
#[derive(Debug)]
pub(super) struct Steps<S> {
    pass: Pass,
    step: S,
}

impl<S: Step + 'static> Steps<S> {
    /// What a row of the table opens.
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

/// A step, and what came of it so far.
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
