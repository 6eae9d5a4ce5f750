//! Whether what reads is to end where it is.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

/// Ends what reads, on whatever thread that is.
#[derive(Clone, Debug, Default)]
pub(crate) struct CancellationToken(Arc<AtomicI32>);

impl CancellationToken {
    /// One that follows this signal, which is 0 until one comes.
    pub(crate) fn following(signal: &Arc<AtomicI32>) -> Self {
        Self(Arc::clone(signal))
    }

    /// Whether a signal came.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }
}
