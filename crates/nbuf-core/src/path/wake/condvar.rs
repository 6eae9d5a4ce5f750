//! A mutex and a condition variable, from Rust's standard library and from C's. Most programs wait
//! this way.

use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::pair::End;
use crate::sys::pthread;

/// A box for one message; 0 means empty.
#[derive(Default)]
struct Letterbox {
    number: Mutex<u32>,
    filled: Condvar,
}

/// An end: the box where it waits, and the other end's box.
pub(super) struct MutexCondvar {
    ours: Arc<Letterbox>,
    theirs: Arc<Letterbox>,
}

impl End for MutexCondvar {
    fn pair() -> io::Result<(Self, Self)> {
        let (a, b) = (Arc::<Letterbox>::default(), Arc::<Letterbox>::default());
        Ok((Self { ours: a.clone(), theirs: b.clone() }, Self { ours: b, theirs: a }))
    }

    /// Notifies while it holds the mutex, as most programs do. The woken thread may have to wait
    /// for the mutex.
    fn send(&mut self, number: u32) -> io::Result<()> {
        let mut theirs = self.theirs.number.lock().unwrap_or_else(PoisonError::into_inner);
        *theirs = number;
        self.theirs.filled.notify_one();
        Ok(())
    }

    fn receive(&mut self) -> io::Result<u32> {
        let mut ours = self.ours.number.lock().unwrap_or_else(PoisonError::into_inner);
        while *ours == 0 {
            ours = self.ours.filled.wait(ours).unwrap_or_else(PoisonError::into_inner);
        }
        Ok(std::mem::take(&mut *ours))
    }
}

/// The same with `pthread_mutex_t` and `pthread_cond_t`.
pub(super) struct Pthread {
    ours: Arc<pthread::Letterbox>,
    theirs: Arc<pthread::Letterbox>,
}

impl End for Pthread {
    fn pair() -> io::Result<(Self, Self)> {
        let (a, b) = (Arc::<pthread::Letterbox>::default(), Arc::<pthread::Letterbox>::default());
        Ok((Self { ours: a.clone(), theirs: b.clone() }, Self { ours: b, theirs: a }))
    }

    fn send(&mut self, number: u32) -> io::Result<()> {
        self.theirs.put(number)
    }

    fn receive(&mut self) -> io::Result<u32> {
        self.ours.take()
    }
}
