//! The operations on a file: sequential, strided as in the CS61 course, or in random order.
//!
//! Invariant: all operations together move exactly `size_bytes`, and each byte once unless strides
//! overlap. It is pure arithmetic: the same pattern gives the same offsets on every machine. Cost:
//! an addition or two an operation in sequence and with strides, a few multiplications in random
//! order, and no table. Source: the loops of the course's programs. There the position grows by the
//! stride, and past the end it restarts one block further on.

mod shuffle;
mod walk;

use std::ops::Range;

use walk::{Lanes, Shuffled, Straight, Strided};

/// Whether a pattern reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Reads the file.
    Read,
    /// Writes the file.
    Write,
}

/// The rule for the next block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The adjacent block.
    Sequential,
    /// The block one stride further. At the end of the file, the first block that was left out.
    ///
    /// A block never reaches into the next stride. If the stride is no multiple of the block, the
    /// last block before each stride is shorter. A stride equal to the block is a sequence, but
    /// paths that seek do so before each operation. A stride shorter than the block overlaps: a
    /// block starts at every stride, as many as in sequence. Then bytes at the start of the file
    /// move several times and those at its end never.
    Strided {
        /// The distance between the starts of two blocks. Not 0.
        stride_bytes: u64,
    },
    /// Every block once, in an order that the seed determines.
    Random {
        /// Determines the order.
        seed: u64,
    },
}

/// Every byte of a file once, in blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// Whether it reads or writes.
    pub direction: Direction,
    /// The order of the blocks.
    pub order: Order,
    /// The bytes of an operation; the last one of a file may be shorter. Not 0.
    pub block_bytes: u64,
    /// The size of the file.
    pub size_bytes: u64,
}

/// The reason why a pattern is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A block of no bytes, so the pass would never end.
    #[error("a block of 0 bytes moves nothing; give a block size of at least 1")]
    EmptyBlock,
    /// A stride of no bytes, so every operation would be at the same place.
    #[error("a stride of 0 bytes stays in one place; give one of at least 1, or read in sequence")]
    EmptyStride,
    /// A number so large that sums of offsets would overflow.
    #[error("{0} bytes are more than a file can have; give at most 4611686018427387904")]
    TooLarge(u64),
}

/// The place and length of one call. It is never past the end of the file, and never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The offset from the start of the file.
    pub offset_bytes: u64,
    /// The length of the call.
    pub length_bytes: usize,
}

/// Larger numbers would overflow in sums.
const BYTES_MAX: u64 = 1 << 62;

impl Pattern {
    /// Returns an error if the pattern is invalid.
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

    /// The number of operations in one pass over the file.
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

    /// The distance from one operation to the next: the stride, or else the block.
    pub fn stride_bytes(&self) -> u64 {
        match self.order {
            Order::Strided { stride_bytes } => stride_bytes,
            Order::Sequential | Order::Random { .. } => self.block_bytes,
        }
    }

    /// Whether a path with a file position has to seek before every operation.
    pub fn seeks(&self) -> bool {
        self.order != Order::Sequential
    }

    /// The bytes of the longest operation.
    pub fn longest_bytes(&self) -> usize {
        whole(self.block_bytes.min(self.size_bytes))
    }

    /// The end of the file after all writes, which is before its size if strides overlap.
    pub fn end_bytes(&self) -> u64 {
        let (stride, count) = (self.stride_bytes(), self.operations());
        if stride >= self.block_bytes || count < 2 {
            return self.size_bytes;
        }
        let last = self.size_bytes - (count - 1) * self.block_bytes;
        // The last block may be so short that the previous one reaches further.
        (count - 2) * stride + self.block_bytes.max(stride + last)
    }

    /// Calls `body` for each of these operations, in order, until it fails. It ignores numbers from
    /// [`Pattern::operations`] on.
    ///
    /// It chooses the order once, and the body is compiled into one loop for each order.
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

    /// The same, with the body inlined into each loop, as in a program that has only one. An
    /// operation then costs no extra call.
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

    /// The same for a pattern of single bytes, in loops without the work that longer blocks need.
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

/// The work for every operation. Implementations must always be inlined.
pub(super) trait Visit {
    /// The error that ends the loop.
    type Error;

    /// Runs one operation.
    fn visit(&mut self, operation: Operation) -> Result<(), Self::Error>;
}

/// Lengths in memory are `usize`, which has 64 bits here.
pub(super) fn whole(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
