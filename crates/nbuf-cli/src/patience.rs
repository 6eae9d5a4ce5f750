//! Ctrl-C while something is read or computed: what was done by then counts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use anyhow::{Context, Result};
use nbuf::sys::signal::Signals;

use crate::exit;

/// Knows whether somebody wants it to end.
#[derive(Clone)]
pub(crate) struct Patience(Arc<AtomicU8>);

impl Patience {
    /// Listens from now on. The first signal ends the reading; the second, everything.
    pub(crate) fn listen() -> Result<Self> {
        let signals = Signals::block().context("cannot listen for Ctrl-C")?;
        let ended = Arc::new(AtomicU8::new(0));
        let told = Arc::clone(&ended);
        std::thread::spawn(move || {
            // Nothing is ever written there, so that only signals end the waiting.
            let Ok((other, _open)) = std::io::pipe() else { return };
            while signals.comes_before(&other).unwrap_or(false) {
                let number = signals.next().map_or(0, |signal| signal.number);
                let status = u8::try_from(128 + number).unwrap_or(exit::OURS);
                if told.swap(status, Ordering::Relaxed) != 0 {
                    std::process::exit(status.into());
                }
            }
        });
        Ok(Self(ended))
    }

    /// Whether the reading was ended.
    pub(crate) fn is_over(&self) -> bool {
        self.status() != 0
    }

    /// The exit status: 0, or that of a program ended by the signal.
    pub(crate) fn status(&self) -> u8 {
        self.0.load(Ordering::Relaxed)
    }
}
