//! What is asked of a file, operation by operation: sequential, strided as in the CS61 course, or
//! in random order.
//!
//! Invariant: all operations together move exactly `size_bytes`, and each byte once, but where
//! strides overlap. Pure arithmetic: the same pattern gives the same offsets anywhere. Cost: an
//! addition or two an operation in sequence and with strides, a few multiplications in random order;
//! no table. Source: the loops of the course's programs, where the position grows by the stride
//! and, past the end, starts again one block further on.

mod shuffle;
mod walk;

use std::ops::Range;

use walk::{Lanes, Shuffled, Straight, Strided};

/// Whether bytes come or go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// They are read.
    Read,
    /// They are written.
    Write,
}

/// Which block is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The one behind.
    Sequential,
    /// The one so many bytes behind; at the end of the file, the first that was left out before.
    ///
    /// A block does not reach into the next stride: where a stride is no multiple of the block,
    /// the last block before it is shorter. A stride equal to the block is the sequence, but paths
    /// that seek do so before each operation. A stride shorter than the block overlaps: blocks begin
    /// every stride, as many as in sequence, so that bytes at the beginning of the file are moved
    /// several times and those at its end not at all.
    Strided {
        /// From one beginning to the next. Not 0.
        stride_bytes: u64,
    },
    /// Any one, each once, in an order that the seed decides.
    Random {
        /// Decides.
        seed: u64,
    },
}

/// Every byte of a file once, in blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Read or written.
    pub direction: Direction,
    /// Which block is next.
    pub order: Order,
    /// Bytes of an operation; the last of a file may be shorter. Not 0.
    pub block_bytes: u64,
    /// Bytes of the file.
    pub size_bytes: u64,
}

/// Why nothing can be asked in a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// There would be no end to it.
    #[error("a block of 0 bytes moves nothing; give a block size of at least 1")]
    EmptyBlock,
    /// The same place again and again.
    #[error("a stride of 0 bytes leads nowhere; give one of at least 1, or read in sequence")]
    EmptyStride,
    /// Sums of offsets would not be right any more.
    #[error("{0} bytes are more than a file can have; give at most 4611686018427387904")]
    TooLarge(u64),
}

/// One call: where, and how much. Never past the end of the file, never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// From the beginning of the file.
    pub offset_bytes: u64,
    /// How much.
    pub length_bytes: usize,
}

/// Larger numbers would overflow in sums.
const BYTES_MAX: u64 = 1 << 62;

impl Pattern {
    /// Whether it can be asked for at all.
    pub fn check(&self) -> Result<(), Error> {
        if self.block_bytes == 0 {
            return Err(Error::EmptyBlock);
        }
        if self.order == (Order::Strided { stride_bytes: 0 }) {
            return Err(Error::EmptyStride);
        }
        let stride = self.stride_bytes();
        let largest = self.size_bytes.max(self.block_bytes).max(stride);
        if largest > BYTES_MAX { Err(Error::TooLarge(largest)) } else { Ok(()) }
    }

    /// How many operations one pass over the file takes.
    pub fn operations(&self) -> u64 {
        if self.check().is_err() {
            return 0;
        }
        match self.order {
            Order::Strided { stride_bytes } if stride_bytes > self.block_bytes => {
                Lanes::of(self, stride_bytes).operations()
            }
            _ => self.size_bytes.div_ceil(self.block_bytes),
        }
    }

    /// From one operation to the next: the stride, or the block where there is none.
    pub fn stride_bytes(&self) -> u64 {
        match self.order {
            Order::Strided { stride_bytes } => stride_bytes,
            Order::Sequential | Order::Random { .. } => self.block_bytes,
        }
    }

    /// Whether a path that keeps a position has to move it before every operation.
    pub fn seeks(&self) -> bool {
        self.order != Order::Sequential
    }

    /// Bytes that the longest operation moves.
    pub fn longest_bytes(&self) -> usize {
        whole(self.block_bytes.min(self.size_bytes))
    }

    /// Where the file ends once all has been written: before its size where strides overlap.
    pub fn end_bytes(&self) -> u64 {
        let (stride, count) = (self.stride_bytes(), self.operations());
        if stride >= self.block_bytes || count < 2 {
            return self.size_bytes;
        }
        let last = self.size_bytes - (count - 1) * self.block_bytes;
        // The last block may be so short that the one before reaches further.
        (count - 2) * stride + self.block_bytes.max(stride + last)
    }

    /// Does something for each of the operations with these numbers, in order, until it fails.
    /// Numbers from [`Pattern::operations`] on are left out.
    ///
    /// The order is chosen once, and the body is compiled into a loop for each.
    #[inline]
    pub fn each<E>(
        &self,
        operations: Range<u64>,
        body: impl FnMut(Operation) -> Result<(), E>,
    ) -> Result<(), E> {
        let end = operations.end.min(self.operations());
        let operations = operations.start.min(end)..end;
        match self.order {
            Order::Random { seed } => Shuffled::new(self, seed, operations).try_for_each(body),
            Order::Strided { stride_bytes } if stride_bytes > self.block_bytes => {
                Strided::new(self, stride_bytes, operations).try_for_each(body)
            }
            _ => Straight::new(self, operations).try_for_each(body),
        }
    }

    /// The same, with the body compiled into each of the loops, as it is in a program that has only
    /// one: an operation costs no call of ours.
    #[inline]
    pub(super) fn visit<V: Visit>(
        &self,
        operations: Range<u64>,
        visitor: &mut V,
    ) -> Result<(), V::Error> {
        let end = operations.end.min(self.operations());
        let operations = operations.start.min(end)..end;
        match self.order {
            Order::Random { seed } => {
                for operation in Shuffled::new(self, seed, operations) {
                    visitor.visit(operation)?;
                }
            }
            Order::Strided { stride_bytes } if stride_bytes > self.block_bytes => {
                for operation in Strided::new(self, stride_bytes, operations) {
                    visitor.visit(operation)?;
                }
            }
            _ => {
                for operation in Straight::new(self, operations) {
                    visitor.visit(operation)?;
                }
            }
        }
        Ok(())
    }

    /// The same for a pattern of single bytes, in loops that have nothing in them that a byte does
    /// not need.
    #[inline]
    pub(super) fn visit_bytes<V: Visit>(
        &self,
        operations: Range<u64>,
        visitor: &mut V,
    ) -> Result<(), V::Error> {
        debug_assert!(self.block_bytes == 1, "bytes are asked for one by one");
        let end = operations.end.min(self.operations());
        let operations = operations.start.min(end)..end;
        let byte = |offset_bytes| Operation { offset_bytes, length_bytes: 1 };
        match self.order {
            Order::Strided { stride_bytes } if stride_bytes > 1 => {
                let (mut round, lane) = Lanes::of(self, stride_bytes).place(operations.start);
                let mut offset = lane * stride_bytes + round;
                for _ in operations {
                    visitor.visit(byte(offset))?;
                    offset += stride_bytes;
                    if offset >= self.size_bytes {
                        round += 1;
                        offset = round;
                    }
                }
            }
            Order::Random { seed } => {
                for operation in Shuffled::new(self, seed, operations) {
                    visitor.visit(operation)?;
                }
            }
            Order::Sequential | Order::Strided { .. } => {
                for offset in operations {
                    visitor.visit(byte(offset))?;
                }
            }
        }
        Ok(())
    }
}

/// What is done for every operation. An implementation is to be inlined always.
pub(super) trait Visit {
    /// What ends it.
    type Error;

    /// Does it for one.
    fn visit(&mut self, operation: Operation) -> Result<(), Self::Error>;
}

/// In memory lengths are `usize`, which is as wide here.
pub(super) fn whole(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
