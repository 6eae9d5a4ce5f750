//! What is asked of a file, operation by operation: sequential, strided as in the CS61 course, or
//! in random order.
//!
//! Pure arithmetic: the same pattern gives the same offsets anywhere. Cost: an addition an
//! operation in sequence and with strides, a few multiplications in random order.

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
    Strided {
        /// From one beginning to the next.
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
