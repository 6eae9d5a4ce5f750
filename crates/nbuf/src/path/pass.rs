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
        Ok(Self { pattern, count: pattern.operations(), next: 0, growing })
    }

    /// Empties a file that grows, unless nothing was written since.
    pub(super) fn rewind(&mut self) -> io::Result<()> {
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

    /// Whether a slice goes on where the last one ended.
    pub(super) fn continues(&self, operations: &Range<u64>) -> bool {
        operations.start == self.next
    }

    /// Whether this slice was the last of a pass. Keeps in mind where the next one goes on.
    pub(super) fn ends(&mut self, operations: &Range<u64>) -> bool {
        self.next = operations.end;
        if let Some((_, is_empty)) = &mut self.growing {
            *is_empty = false;
        }
        operations.end == self.count
    }
}
