//! Polls a word in memory, with and without yielding.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::pair::End;

/// A word on its own cache line, so that the two directions do not disturb each other.
#[derive(Default)]
#[repr(align(128))]
struct Word(AtomicU32);

/// An end: the word that it polls, and the other end's word. 0 means no message.
pub(super) struct Spin<const YIELDS: bool> {
    ours: Arc<Word>,
    theirs: Arc<Word>,
}

impl<const YIELDS: bool> End for Spin<YIELDS> {
    fn pair() -> io::Result<(Self, Self)> {
        let (a, b) = (Arc::<Word>::default(), Arc::<Word>::default());
        Ok((Self { ours: a.clone(), theirs: b.clone() }, Self { ours: b, theirs: a }))
    }

    fn send(&mut self, number: u32) -> io::Result<()> {
        self.theirs.0.store(number, Ordering::Release);
        Ok(())
    }

    fn receive(&mut self) -> io::Result<u32> {
        loop {
            let number = self.ours.0.load(Ordering::Acquire);
            if number != 0 {
                // The other end writes again only after an answer.
                self.ours.0.store(0, Ordering::Relaxed);
                return Ok(number);
            }
            if YIELDS {
                rustix::thread::sched_yield();
            } else {
                std::hint::spin_loop();
            }
        }
    }
}
