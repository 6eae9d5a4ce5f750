//! Asking a word in memory again and again, with and without letting others go first.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::pair::End;

/// A word on a line of its own, so that the two directions do not disturb each other.
#[derive(Default)]
#[repr(align(128))]
struct Word(AtomicU32);

/// An end: the word it looks at, and the word of the other. 0 stands for no message.
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
                // The other writes again only when it has been answered.
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
