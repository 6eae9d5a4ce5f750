//! An unnamed POSIX semaphore between threads: `sem_init(3)`.

use std::cell::UnsafeCell;
use std::io;

/// A count that one thread raises and another sleeps for. It does not move while it lives: the C
/// library knows it by its address.
pub(crate) struct Semaphore(Box<UnsafeCell<libc::sem_t>>);

// SAFETY: a semaphore is made to be used by several threads at once; every access goes through calls
// that are atomic.
unsafe impl Send for Semaphore {}
// SAFETY: as above.
unsafe impl Sync for Semaphore {}

impl std::fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Semaphore")
    }
}

impl Semaphore {
    /// One that counts 0.
    pub(crate) fn new() -> io::Result<Self> {
        // SAFETY: all zeros is a value of this plain structure; `sem_init` makes a semaphore of it.
        unsafe {
            let semaphore = Box::new(UnsafeCell::new(std::mem::zeroed()));
            super::check(libc::sem_init(semaphore.get(), 0, 0).into())?;
            Ok(Self(semaphore))
        }
    }

    /// Raises the count by one and wakes who sleeps for it.
    pub(crate) fn post(&self) -> io::Result<()> {
        // SAFETY: initialised in `new`, at the same address ever since.
        super::check(unsafe { libc::sem_post(self.0.get()) }.into()).map(drop)
    }

    /// Sleeps until the count is above 0, and lowers it by one.
    pub(crate) fn wait(&self) -> io::Result<()> {
        loop {
            // SAFETY: as in `post`.
            match super::check(unsafe { libc::sem_wait(self.0.get()) }.into()) {
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Semaphore {
    fn drop(&mut self) {
        // SAFETY: initialised in `new`; no thread waits, because no thread borrows it any more.
        unsafe { libc::sem_destroy(self.0.get()) };
    }
}
