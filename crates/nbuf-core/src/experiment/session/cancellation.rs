//! What ends an experiment early.

use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, OnceLock};

use crate::sys::signal::{Signal, Signals};
use crate::workload::source::CancellationToken;

/// Ends an experiment early: by `SIGINT`, `SIGTERM` or `SIGHUP`.
#[derive(Debug, Default)]
pub struct Cancellation {
    signals: OnceLock<Signals>,
    /// The last signal, or 0.
    received: Arc<AtomicI32>,
    /// Whether signals are left to the program.
    is_deaf: bool,
}

/// Ends an experiment from another thread, as a signal would.
#[derive(Clone, Debug)]
pub struct Stopper(Arc<AtomicI32>);

impl Stopper {
    /// The experiment ends where it next looks.
    pub fn stop(&self) {
        self.0.store(INTERRUPT, Ordering::Relaxed);
    }
}

/// The signal that a [`Stopper`] stands for: `SIGINT`.
const INTERRUPT: i32 = 2;

impl Cancellation {
    /// Blocks the signals and listens for them from now on, unless it does so already. To be called
    /// before a thread starts.
    pub fn listen(&self) -> io::Result<&Signals> {
        if self.signals.get().is_none() {
            // A second listener in a race would unblock its signals at once.
            let _ = self.signals.set(Signals::block()?);
        }
        self.signals.get().ok_or_else(|| io::Error::other("nothing listens for signals"))
    }

    /// One that takes no signals: for a program that receives them itself, and has a [`Stopper`]. For
    /// experiments that run no command.
    pub fn without_signals() -> Self {
        Self { is_deaf: true, ..Self::default() }
    }

    /// Whether signals are left to the program.
    pub(in crate::experiment) fn is_deaf(&self) -> bool {
        self.is_deaf
    }

    /// What ends the experiment as a signal would.
    pub fn stopper(&self) -> Stopper {
        Stopper(Arc::clone(&self.received))
    }

    /// What the reading of a trace follows, on whatever thread.
    pub(in crate::experiment) fn token(&self) -> CancellationToken {
        CancellationToken::following(&self.received)
    }

    /// The last signal that the experiment has seen, if any.
    pub fn signal(&self) -> Option<i32> {
        match self.received.load(Ordering::Relaxed) {
            0 => None,
            number => Some(number),
        }
    }

    /// Takes in the signals that came while nothing looked. The last one ever, if any.
    pub fn poll(&self) -> Option<i32> {
        while self.take().is_some() {}
        self.signal()
    }

    /// The next signal that nothing has seen yet.
    pub(in crate::experiment) fn take(&self) -> Option<Signal> {
        let signal = self.signals.get()?.next()?;
        self.note(signal.number);
        Some(signal)
    }

    /// Notes a signal that a run has taken.
    pub(in crate::experiment) fn note(&self, signal: i32) {
        self.received.store(signal, Ordering::Relaxed);
    }

    /// Waits for a signal or for `other` to be readable. Whether it is a signal.
    pub fn comes_before(&self, other: &impl AsFd) -> io::Result<bool> {
        self.listen()?.comes_before(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stopper_is_a_signal_that_was_noted() {
        let cancellation = Cancellation::default();
        cancellation.stopper().stop();
        assert_eq!(cancellation.signal(), Some(INTERRUPT));
    }

    #[test]
    fn a_signal_that_was_noted_stays() {
        let cancellation = Cancellation::default();
        assert_eq!(cancellation.signal(), None);
        cancellation.note(15);
        assert_eq!(cancellation.signal(), Some(15));
        assert_eq!(cancellation.signal(), Some(15));
    }
}
