//! A signal to a thread that sleeps in `sigwaitinfo(2)`; the number is in memory next to it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

use super::pair::End;
use crate::sys::thread::{self, Quiet};

#[derive(Default)]
struct Mailbox {
    /// The id of the thread that sleeps here, once it has started.
    thread: AtomicI32,
    number: AtomicU32,
}

/// An end: its own mailbox, and the other end's.
pub(super) struct Signal {
    ours: Arc<Mailbox>,
    theirs: Arc<Mailbox>,
    quiet: Option<Quiet>,
}

impl Signal {
    fn quiet(&self) -> io::Result<Quiet> {
        self.quiet.ok_or_else(|| io::Error::other("the thread has not blocked its signal"))
    }
}

impl End for Signal {
    fn pair() -> io::Result<(Self, Self)> {
        let (a, b) = (Arc::<Mailbox>::default(), Arc::<Mailbox>::default());
        let end = |ours: &Arc<Mailbox>, theirs: &Arc<Mailbox>| Self {
            ours: ours.clone(),
            theirs: theirs.clone(),
            quiet: None,
        };
        Ok((end(&a, &b), end(&b, &a)))
    }

    /// Waits until both threads have entered, before the first message.
    fn enter(&mut self) -> io::Result<()> {
        self.quiet = Some(Quiet::block()?);
        self.ours.thread.store(thread::number(), Ordering::Release);
        Ok(())
    }

    fn send(&mut self, number: u32) -> io::Result<()> {
        self.theirs.number.store(number, Ordering::Release);
        self.quiet()?.send(self.theirs.thread.load(Ordering::Acquire))
    }

    fn receive(&mut self) -> io::Result<u32> {
        self.quiet()?.wait()?;
        Ok(self.ours.number.load(Ordering::Acquire))
    }
}
