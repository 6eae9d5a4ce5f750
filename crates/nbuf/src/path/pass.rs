//! Where in a pass a path is, and the file that a pass writes from nothing.

use std::fs::File;
use std::io;
use std::ops::Range;

use super::pattern::{Direction, Pattern};
use super::{Error, Request};

/// What every path knows of its pass.
#[derive(Debug)]
pub(super) struct Pass {
    pub(super) pattern: Pattern,
    /// How many operations a pass has.
    count: u64,
    /// The first operation that has not been done.
    next: u64,
    /// Whether one has begun and not ended.
    is_under_way: bool,
    /// What is emptied before each pass, and whether it is empty.
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

    /// Empties a file that grows, unless nothing was written since. What was under way is over.
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

    /// The operations of a slice that there are.
    pub(super) fn clip(&self, operations: Range<u64>) -> Range<u64> {
        let end = operations.end.min(self.count);
        operations.start.min(end)..end
    }

    /// Whether this slice is the first of a pass: with operation 0, or after the end of the last.
    pub(super) fn begins(&mut self, operations: &Range<u64>) -> io::Result<bool> {
        if operations.start == 0 {
            self.rewind()?;
        }
        if let Some((_, is_empty)) = &mut self.growing {
            *is_empty = false;
        }
        Ok(!std::mem::replace(&mut self.is_under_way, true))
    }

    /// Whether a slice goes on where the last one ended.
    pub(super) fn continues(&self, operations: &Range<u64>) -> bool {
        operations.start == self.next
    }

    /// Whether this slice was the last of a pass. Keeps in mind where the next one goes on.
    pub(super) fn ends(&mut self, operations: &Range<u64>) -> bool {
        self.next = operations.end;
        let is_end = operations.end == self.count;
        self.is_under_way &= !is_end;
        is_end
    }
}
