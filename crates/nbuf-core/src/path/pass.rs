//! The position of a path in its pass, and the file that a pass grows from nothing.

use std::fs::File;
use std::io;
use std::ops::Range;

use super::pattern::{Direction, Pattern};
use super::{Error, Request};

/// The state of a pass that all paths need.
#[derive(Debug)]
pub(super) struct Pass {
    pub(super) pattern: Pattern,
    /// The number of operations in a pass.
    count: u64,
    /// The first operation that is not done.
    next: u64,
    /// Whether a pass has started and not ended.
    is_under_way: bool,
    /// The growing file, and whether it is empty.
    growing: Option<(File, bool)>,
}

impl Pass {
    pub(super) fn of(request: &Request<'_>) -> Result<Self, Error> {
        let pattern = request.pattern;
        let growing = if request.grows && pattern.direction == Direction::Write {
            Some((File::options().write(true).open(request.file)?, false))
        } else {
            None
        };
        let count = pattern.operations();
        Ok(Self { pattern, count, next: 0, is_under_way: false, growing })
    }

    /// Truncates a growing file, unless nothing was written since. It ends a pass in progress.
    pub(super) fn rewind(&mut self) -> io::Result<()> {
        self.is_under_way = false;
        if let Some((file, is_empty)) = &mut self.growing
            && !*is_empty
        {
            file.set_len(0)?;
            *is_empty = true;
        }
        Ok(())
    }

    /// Limits a slice to operations that exist.
    pub(super) fn clip(&self, operations: Range<u64>) -> Range<u64> {
        let end = operations.end.min(self.count);
        operations.start.min(end)..end
    }

    /// Whether this slice starts a pass: at operation 0, or after the end of the previous pass.
    pub(super) fn begins(&mut self, operations: &Range<u64>) -> io::Result<bool> {
        if operations.start == 0 {
            self.rewind()?;
        }
        if let Some((_, is_empty)) = &mut self.growing {
            *is_empty = false;
        }
        Ok(!std::mem::replace(&mut self.is_under_way, true))
    }

    /// Whether a slice starts where the last one ended.
    pub(super) fn continues(&self, operations: &Range<u64>) -> bool {
        operations.start == self.next
    }

    /// Whether this slice ends a pass. It also stores where the next slice should start.
    pub(super) fn ends(&mut self, operations: &Range<u64>) -> bool {
        self.next = operations.end;
        let is_end = operations.end == self.count;
        self.is_under_way &= !is_end;
        is_end
    }
}
