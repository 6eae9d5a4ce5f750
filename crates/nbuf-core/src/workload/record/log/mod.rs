//! The append-only log that a recording writes while the command runs.
//!
//! A header, then frames. A frame is magic, sequence number, payload length and a checksum over
//! all of these, then some 64 KiB of entries; zero bytes between frames are padding, so that a
//! writer with `O_DIRECT` may fill its blocks. Every frame is coded without reference to the one
//! before it: whatever happens to the file, a frame whose checksum is right is read and nothing is
//! made up from one whose checksum is wrong.
//!
//! Invariant: what [`LogReader`] yields was pushed into a [`LogWriter`], in that order; entries of
//! lost frames are missing and counted. Cost: 5 to 8 bytes an event (`tests.rs` says where),
//! one frame of memory on either side. Pure: bytes in, bytes out; no file is opened here.
//! Checksummed frames as in `LevelDB`'s log (its `doc/log_format.md`), without its fixed blocks.
//! Not for keeping: `docs/trace.md` describes the native trace that is made from it at the end.

mod code;
mod ending;
mod entry;
mod frame;
mod reader;
mod state;
mod writer;

pub use ending::{Ending, LogError, Tear};
pub use entry::{Entry, Event, FileSeen, Kind, MemorySeen};
pub use reader::LogReader;
pub use writer::LogWriter;

#[cfg(test)]
mod tests;
