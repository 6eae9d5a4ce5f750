//! A mutex and a condition variable of the C library, as programs in C and C++ wait.

use std::cell::UnsafeCell;
use std::io;

/// A box for one message, which is guarded by a mutex and announced by a condition variable.
///
/// Neither may move once it is made, so it is used from behind an `Arc` or a `Box`.
#[derive(Debug)]
pub(crate) struct Letterbox {
    mutex: UnsafeCell<libc::pthread_mutex_t>,
    filled: UnsafeCell<libc::pthread_cond_t>,
    /// The message; 0 stands for none.
    number: UnsafeCell<u32>,
}

// SAFETY: the number is only touched under the mutex; the other two are made to be shared.
unsafe impl Send for Letterbox {}
// SAFETY: as above.
unsafe impl Sync for Letterbox {}

impl Default for Letterbox {
    fn default() -> Self {
        Self {
            mutex: UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER),
            filled: UnsafeCell::new(libc::PTHREAD_COND_INITIALIZER),
            number: UnsafeCell::new(0),
        }
    }
}

impl Letterbox {
    /// Puts a message in, and signals it under the mutex.
    pub(crate) fn put(&self, number: u32) -> io::Result<()> {
        // SAFETY: both were initialised and do not move while they are borrowed; the number is ours
        // between lock and unlock.
        unsafe {
            succeeded(libc::pthread_mutex_lock(self.mutex.get()))?;
            *self.number.get() = number;
            let signalled = libc::pthread_cond_signal(self.filled.get());
            succeeded(libc::pthread_mutex_unlock(self.mutex.get()))?;
            succeeded(signalled)
        }
    }

    /// Waits for a message, and takes it out.
    pub(crate) fn take(&self) -> io::Result<u32> {
        // SAFETY: as `put`; waiting gives the mutex back before it returns.
        unsafe {
            succeeded(libc::pthread_mutex_lock(self.mutex.get()))?;
            let mut waited = 0;
            while *self.number.get() == 0 && waited == 0 {
                waited = libc::pthread_cond_wait(self.filled.get(), self.mutex.get());
            }
            let number = std::mem::take(&mut *self.number.get());
            succeeded(libc::pthread_mutex_unlock(self.mutex.get()))?;
            succeeded(waited).map(|()| number)
        }
    }
}

impl Drop for Letterbox {
    fn drop(&mut self) {
        // SAFETY: no thread borrows it any more, so no thread waits.
        unsafe {
            libc::pthread_cond_destroy(self.filled.get());
            libc::pthread_mutex_destroy(self.mutex.get());
        }
    }
}

fn succeeded(error: libc::c_int) -> io::Result<()> {
    if error == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(error)) }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn messages_go_from_thread_to_thread() {
        let (there, back) = (Arc::<Letterbox>::default(), Arc::<Letterbox>::default());
        let (theirs, ours) = (Arc::clone(&there), Arc::clone(&back));
        let other = std::thread::spawn(move || {
            (0..1000).try_for_each(|_| ours.put(theirs.take()? + 1)).unwrap();
        });
        for number in 1..=1000 {
            there.put(number).unwrap();
            assert_eq!(back.take().unwrap(), number + 1);
        }
        other.join().unwrap();
    }
}
