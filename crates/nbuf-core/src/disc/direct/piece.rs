//! A part of a request in a slot: the calls that it takes, one after the other.

use std::io::{self, ErrorKind};
use std::ops::Range;

/// How often a call is made again that the kernel broke off.
const TRIES: u32 = 16;

/// A call: a part of a slot, and a place in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    /// Into the file, or out of it.
    pub(crate) writes: bool,
    /// Whether the device has stored a write when it comes back.
    pub(crate) durable: bool,
    /// Where in the slot.
    pub(crate) begin: usize,
    /// How much.
    pub(crate) length: u32,
    /// Where in the file.
    pub(crate) offset: u64,
}

/// What a call is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The read of a request.
    Read,
    /// The first block, of which a part is written.
    Head,
    /// The last one.
    Tail,
    Write,
}

/// What follows a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Another one.
    More,
    /// Nothing.
    Done,
}

/// A part of a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// The request.
    pub(super) number: u32,
    /// Whether the device has stored it when a write is done.
    pub(super) durable: bool,
    unit: u64,
    /// What a call may be cut off at.
    align: u64,
    from: u64,
    to: u64,
    /// Whole blocks around these bytes, from here on.
    outer: u64,
    end: u64,
    stage: Stage,
    /// Bytes of the stage that are moved, in whole blocks.
    moved: u64,
    tries: u32,
}

fn whole(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

impl Piece {
    /// Bytes of a request, which fit into a slot with all of their blocks.
    pub(super) fn new(
        number: u32,
        (from, to): (u64, u64),
        writes: bool,
        (unit, align): (u64, u64),
    ) -> Self {
        let (outer, end) = (from / unit * unit, to.next_multiple_of(unit));
        let stage = match writes {
            false => Stage::Read,
            true if from > outer => Stage::Head,
            true if to < end => Stage::Tail,
            true => Stage::Write,
        };
        let (durable, moved, tries) = (false, 0, 0);
        Self { number, durable, unit, align, from, to, outer, end, stage, moved, tries }
    }

    /// Where its bytes are in the slot.
    pub(super) fn skipped(&self) -> usize {
        whole(self.from - self.outer)
    }

    /// Where they are in a request that begins at a byte.
    pub(super) fn within(&self, offset: u64) -> Range<usize> {
        whole(self.from - offset)..whole(self.to - offset)
    }

    /// Whether the slot takes the bytes of the request before the next call.
    pub(super) fn takes_data(&self) -> bool {
        self.stage == Stage::Write && self.moved == 0
    }

    /// Where the stage begins and ends, from the first block on, and the bytes that it needs.
    fn range(&self) -> (u64, u64, u64) {
        let length = self.end - self.outer;
        match self.stage {
            // The last block of a file may be a part of one.
            Stage::Read => (0, length, self.to - self.outer),
            Stage::Head => (0, self.unit, self.unit),
            Stage::Tail => (length - self.unit, length, self.unit),
            Stage::Write => (0, length, length),
        }
    }

    /// The next call.
    pub(super) fn transfer(&self) -> Call {
        let (begins, ends, _) = self.range();
        let begin = begins + self.moved;
        let writes = self.stage == Stage::Write;
        Call {
            writes,
            durable: writes && self.durable,
            begin: whole(begin),
            length: u32::try_from(ends - begin).unwrap_or(u32::MAX),
            offset: self.outer + begin,
        }
    }

    /// Takes what a call moved.
    pub(super) fn advance(&mut self, moved: io::Result<u32>) -> io::Result<Step> {
        let moved = match moved {
            Ok(moved) => self.moved + u64::from(moved),
            Err(error) => {
                let is_short =
                    matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock);
                self.tries += 1;
                return if is_short && self.tries < TRIES { Ok(Step::More) } else { Err(error) };
            }
        };
        let (.., needed) = self.range();
        if moved < needed {
            // Goes on where a call may begin, or not at all.
            let blocks = moved / self.align * self.align;
            if blocks <= self.moved {
                let end = ErrorKind::UnexpectedEof;
                let kind = if self.stage == Stage::Write { ErrorKind::WriteZero } else { end };
                return Err(kind.into());
            }
            self.moved = blocks;
            return Ok(Step::More);
        }
        let has_one_block = self.end - self.outer == self.unit;
        self.stage = match self.stage {
            Stage::Read | Stage::Write => return Ok(Step::Done),
            Stage::Head if self.to < self.end && !has_one_block => Stage::Tail,
            Stage::Head | Stage::Tail => Stage::Write,
        };
        self.moved = 0;
        Ok(Step::More)
    }
}
