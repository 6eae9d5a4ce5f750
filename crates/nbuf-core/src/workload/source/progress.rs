//! How much of the inputs was read.

use std::fs::Metadata;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How much of the inputs was read, as they are stored: compressed where they are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes read so far. Parsers may be some blocks behind.
    pub done_bytes: u64,
    /// Bytes of all inputs.
    pub total_bytes: u64,
}

/// Counts what the inputs of a source read.
#[derive(Clone, Debug, Default)]
pub(super) struct Counter {
    done_bytes: Arc<AtomicU64>,
    total_bytes: u64,
    /// Whether an input has no size, as a pipe.
    is_unknown: bool,
}

impl Counter {
    /// Adds an input.
    pub(super) fn add(&mut self, metadata: &Metadata) {
        self.total_bytes += metadata.len();
        self.is_unknown |= !metadata.is_file();
    }

    /// Adds bytes that are read by [`Self::done`].
    pub(super) fn add_bytes(&mut self, bytes: u64) {
        self.total_bytes += bytes;
    }

    /// Counts bytes that were read.
    pub(super) fn done(&self, bytes: u64) {
        self.done_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Bytes that were read, and bytes of all inputs, so far.
    pub(super) fn counted(&self) -> (u64, u64) {
        (self.done_bytes.load(Ordering::Relaxed), self.total_bytes)
    }

    /// Takes back bytes that were read: they are in memory now, and count when they leave it.
    pub(super) fn take_back(&self, bytes: u64) {
        self.done_bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// The reader with its bytes counted.
    pub(super) fn count(&self, inner: impl Read + Send + 'static) -> Box<dyn Read + Send> {
        Box::new(Counted { inner, done_bytes: Arc::clone(&self.done_bytes) })
    }

    /// How much was read, if the whole is known.
    pub(super) fn progress(&self) -> Option<Progress> {
        let done_bytes = self.done_bytes.load(Ordering::Relaxed);
        (!self.is_unknown).then_some(Progress { done_bytes, total_bytes: self.total_bytes })
    }
}

struct Counted<R> {
    inner: R,
    done_bytes: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.inner.read(buffer)?;
        self.done_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(bytes)
    }
}
