//! What the threads or tasks of a disc have completed, on its way to the owner of the disc.
//!
//! [`Done`] is what they share: a queue, and a descriptor that wakes the owner once for all that it has not taken yet.
//! [`Taken`] is the owner's side. Invariant: no completion comes before submission or an earlier completion.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};

use super::{Breakdown, Completion};
use crate::trace::request::Request;
use crate::units::Nanos;

/// Between two looks at the time of an owner that waits: 10 ms.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };

/// What a mutex guards, also after a panic of another thread.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is complete and not taken yet.
pub(super) struct Done {
    queue: Mutex<VecDeque<Completion>>,
    wake: OwnedFd,
}

impl Done {
    pub(super) fn new() -> io::Result<Self> {
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { queue: Mutex::default(), wake })
    }

    /// Hands over what is complete.
    pub(super) fn report(&self, finished: impl IntoIterator<Item = Completion>) {
        let mut queue = self.lock();
        // Once for all that the owner has not taken yet.
        let was_empty = queue.is_empty();
        queue.extend(finished);
        if was_empty && !queue.is_empty() {
            let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
        }
    }

    /// Reads the descriptor if nothing is complete: something else has written to it.
    pub(super) fn calm(&self) {
        let queue = self.lock();
        if queue.is_empty() {
            let _ = rustix::io::read(&self.wake, &mut [0; 8]);
        }
    }

    /// The descriptor, for others that wake the same owner.
    pub(super) fn wake(&self) -> &OwnedFd {
        &self.wake
    }

    /// The queue. No thread reports while its owner has it.
    pub(super) fn lock(&self) -> MutexGuard<'_, VecDeque<Completion>> {
        lock(&self.queue)
    }
}

impl AsFd for Done {
    /// Readable when something is complete.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }
}

/// The owner's side: what it has taken, and what is under way.
#[derive(Default)]
pub(super) struct Taken {
    done: VecDeque<Completion>,
    under_way: usize,
    last: Nanos,
    /// Whether something may be done, where the owner says so; without a value each look for completions takes all.
    is_noticed: Option<bool>,
}

impl Taken {
    /// A request is under way.
    pub(super) fn begin(&mut self) {
        self.under_way += 1;
    }

    /// Completes a request that is under way, without a thread.
    pub(super) fn finish(&mut self, now: Nanos, request: Request, data: Vec<u8>) {
        let at = now.max(self.last);
        let breakdown = Breakdown { queued: at - now, ..Breakdown::default() };
        self.done.push_back(Completion { request, data, at, breakdown, outcome: Ok(()) });
    }

    pub(super) fn under_way(&self) -> usize {
        self.under_way
    }

    /// Takes what is done only after a [notice](Self::notice) from now on. So threads that finish as fast as their owner
    /// asks do not keep it within one look.
    pub(super) fn wait_for_notice(&mut self) {
        self.is_noticed = Some(true);
    }

    /// The descriptor is ready.
    pub(super) fn notice(&mut self) {
        self.is_noticed = self.is_noticed.map(|_| true);
    }

    /// The next completion, if it comes before the clock shows `until`. Waits for it.
    pub(super) fn next(
        &mut self,
        done: &Done,
        until: Nanos,
        now: impl Fn() -> Nanos,
    ) -> Option<Completion> {
        loop {
            if let Some(completion) = self.take(done) {
                return Some(completion);
            }
            if self.under_way == 0 || now() >= until {
                return None;
            }
            self.notice();
            let mut descriptors = [PollFd::new(done, PollFlags::IN)];
            let _ = poll(&mut descriptors, Some(&LOOK));
        }
    }

    fn take(&mut self, done: &Done) -> Option<Completion> {
        if self.done.is_empty() && self.is_noticed != Some(false) {
            self.is_noticed = self.is_noticed.map(|_| false);
            let mut queue = done.lock();
            // Reports write with the lock, for the first of what is done: without one there is nothing to read.
            if !queue.is_empty() {
                let _ = rustix::io::read(&done.wake, &mut [0; 8]);
                std::mem::swap(&mut self.done, &mut queue);
            }
        }
        let mut completion = self.done.pop_front()?;
        self.under_way -= 1;
        // Threads that finish at once may report in the other order.
        self.last = self.last.max(completion.at);
        completion.breakdown.queued += self.last - completion.at;
        completion.at = self.last;
        Some(completion)
    }
}
