//! POSIX semaphores. They carry no number, so it is in memory next to them.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::pair::End;
use crate::sys::semaphore::Semaphore;

struct Counted {
    semaphore: Semaphore,
    number: AtomicU32,
}

impl Counted {
    fn new() -> io::Result<Arc<Self>> {
        Ok(Arc::new(Self { semaphore: Semaphore::new()?, number: AtomicU32::new(0) }))
    }
}

/// An end: the semaphore on which it waits, and the other end's.
pub(super) struct Sem {
    ours: Arc<Counted>,
    theirs: Arc<Counted>,
}

impl End for Sem {
    fn pair() -> io::Result<(Self, Self)> {
        let (a, b) = (Counted::new()?, Counted::new()?);
        Ok((Self { ours: a.clone(), theirs: b.clone() }, Self { ours: b, theirs: a }))
    }

    fn send(&mut self, number: u32) -> io::Result<()> {
        self.theirs.number.store(number, Ordering::Release);
        self.theirs.semaphore.post()
    }

    fn receive(&mut self) -> io::Result<u32> {
        self.ours.semaphore.wait()?;
        Ok(self.ours.number.load(Ordering::Acquire))
    }
}
