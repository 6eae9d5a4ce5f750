//! A word in memory on which a thread sleeps: `futex(2)`, at once or after spinning.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::io::Errno;
use rustix::thread::futex;

use super::pair::End;

/// A word on its own cache line, so that the two directions do not disturb each other.
#[derive(Default)]
#[repr(align(128))]
struct Word(AtomicU32);

/// An end: the word on which it sleeps, and the other end's word. 0 means no message.
pub(super) struct Futex<const SPINS: u32> {
    ours: Arc<Word>,
    theirs: Arc<Word>,
}

impl<const SPINS: u32> End for Futex<SPINS> {
    fn pair() -> io::Result<(Self, Self)> {
        let (a, b) = (Arc::<Word>::default(), Arc::<Word>::default());
        // Calls the kernel once without a waiter, so that a refusal is reported before a thread
        // sleeps.
        futex::wake(&a.0, futex::Flags::PRIVATE, 1)?;
        Ok((Self { ours: a.clone(), theirs: b.clone() }, Self { ours: b, theirs: a }))
    }

    /// Always calls the kernel, because a spinning thread may be about to sleep.
    fn send(&mut self, number: u32) -> io::Result<()> {
        self.theirs.0.store(number, Ordering::SeqCst);
        futex::wake(&self.theirs.0, futex::Flags::PRIVATE, 1)?;
        Ok(())
    }

    fn receive(&mut self) -> io::Result<u32> {
        for _ in 0..SPINS {
            if self.ours.0.load(Ordering::Acquire) != 0 {
                break;
            }
            std::hint::spin_loop();
        }
        loop {
            match self.ours.0.swap(0, Ordering::SeqCst) {
                0 => match futex::wait(&self.ours.0, futex::Flags::PRIVATE, 0, None) {
                    // The word had changed before the sleep, or a signal came.
                    Ok(()) | Err(Errno::AGAIN | Errno::INTR) => {}
                    Err(error) => return Err(error.into()),
                },
                number => return Ok(number),
            }
        }
    }
}
