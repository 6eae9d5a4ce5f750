//! Iterates over the operations of a pattern in each of its orders.

use std::ops::Range;

use super::shuffle::Shuffle;
use super::{Operation, Pattern, whole};

/// Adjacent or overlapping blocks.
pub(super) struct Straight {
    offset: u64,
    stride: u64,
    moved: u64,
    moved_end: u64,
    block: u64,
}

impl Straight {
    pub(super) fn new(pattern: &Pattern, operations: Range<u64>) -> Self {
        let (block, stride) = (pattern.block_bytes, pattern.stride_bytes());
        let moved_end = (operations.end * block).min(pattern.size_bytes);
        let (offset, moved) = (operations.start * stride, operations.start * block);
        Self { offset, stride, moved, moved_end, block }
    }
}

impl Iterator for Straight {
    type Item = Operation;

    #[inline]
    fn next(&mut self) -> Option<Operation> {
        if self.moved >= self.moved_end {
            return None;
        }
        let (offset_bytes, length) = (self.offset, self.block.min(self.moved_end - self.moved));
        self.offset += self.stride;
        self.moved += self.block;
        Some(Operation { offset_bytes, length_bytes: whole(length) })
    }
}

/// The division of a file into lanes of one stride each, read in step, and a rest.
pub(super) struct Lanes {
    /// The number of whole strides.
    whole: u64,
    /// The rounds that also reach into the strip after the last whole stride.
    longer_rounds: u64,
    rounds: u64,
}

impl Lanes {
    pub(super) fn of(pattern: &Pattern, stride: u64) -> Self {
        let whole = pattern.size_bytes / stride;
        let longer_rounds = (pattern.size_bytes % stride).div_ceil(pattern.block_bytes);
        let rounds = if whole == 0 { longer_rounds } else { stride.div_ceil(pattern.block_bytes) };
        Self { whole, longer_rounds, rounds }
    }

    pub(super) fn operations(&self) -> u64 {
        self.whole * self.rounds + self.longer_rounds
    }

    /// The round and the lane of an operation.
    pub(super) fn place(&self, number: u64) -> (u64, u64) {
        let longer = self.longer_rounds * (self.whole + 1);
        if number < longer {
            return (number / (self.whole + 1), number % (self.whole + 1));
        }
        let rest = number - longer;
        let round = rest.checked_div(self.whole).unwrap_or(0);
        (self.longer_rounds + round, rest - round * self.whole)
    }
}

/// One block of every stride, then the next block of every stride.
pub(super) struct Strided {
    offset: u64,
    round_begin: u64,
    length: u64,
    left: u64,
    stride: u64,
    block: u64,
    size: u64,
}

impl Strided {
    pub(super) fn new(pattern: &Pattern, stride: u64, operations: Range<u64>) -> Self {
        let (round, lane) = Lanes::of(pattern, stride).place(operations.start);
        let block = pattern.block_bytes;
        let round_begin = round * block;
        Self {
            offset: lane * stride + round_begin,
            round_begin,
            length: block.min(stride.saturating_sub(round_begin)),
            left: operations.end - operations.start,
            stride,
            block,
            size: pattern.size_bytes,
        }
    }
}

impl Iterator for Strided {
    type Item = Operation;

    #[inline]
    fn next(&mut self) -> Option<Operation> {
        self.left = self.left.checked_sub(1)?;
        let offset_bytes = self.offset;
        let length_bytes = whole(self.length.min(self.size - offset_bytes));
        self.offset += self.stride;
        if self.offset >= self.size {
            self.round_begin += self.block;
            self.offset = self.round_begin;
            self.length = self.block.min(self.stride.saturating_sub(self.round_begin));
        }
        Some(Operation { offset_bytes, length_bytes })
    }
}

/// Every block once, in random order.
pub(super) struct Shuffled {
    numbers: Range<u64>,
    shuffle: Shuffle,
    block: u64,
    size: u64,
}

impl Shuffled {
    pub(super) fn new(pattern: &Pattern, seed: u64, numbers: Range<u64>) -> Self {
        let shuffle = Shuffle::new(pattern.operations(), seed);
        Self { numbers, shuffle, block: pattern.block_bytes, size: pattern.size_bytes }
    }
}

impl Iterator for Shuffled {
    type Item = Operation;

    #[inline]
    fn next(&mut self) -> Option<Operation> {
        let offset_bytes = self.shuffle.place(self.numbers.next()?) * self.block;
        let length_bytes = whole(self.block.min(self.size - offset_bytes));
        Some(Operation { offset_bytes, length_bytes })
    }
}
