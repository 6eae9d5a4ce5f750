//! The disc of an object: a runtime on a thread of its own, and what it shares with the owner.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use tokio::runtime::{Builder, Handle};
use tokio::sync::{Semaphore, oneshot};

use super::super::{Breakdown, Completion, Disc, DiscError};
use super::origin::{Failed, Origin};
use super::{ObjectDiscError, REQUESTS};
use crate::clock::Stopwatch;
use crate::trace::request::{Op, Request};
use crate::units::Nanos;

/// How long a request may take with all its tries.
pub(crate) const GIVE_UP: Duration = Duration::from_mins(1);
/// The wait before the second try; each later wait is twice as long, up to the longest.
const WAIT_MIN: Duration = Duration::from_millis(100);
const WAIT_MAX: Duration = Duration::from_secs(5);

/// A disc that is one object. It is read-only.
pub(crate) struct ObjectDisc {
    shared: Arc<Shared>,
    runtime: Handle,
    /// The thread ends when this is dropped.
    stop: Option<oneshot::Sender<Infallible>>,
    thread: Option<JoinHandle<()>>,
    done: VecDeque<Completion>,
    under_way: usize,
    last: Nanos,
    /// Whether something may be done, where the owner says so; without a value each look for completions takes all.
    is_noticed: Option<bool>,
}

struct Shared {
    origin: Origin,
    clock: Stopwatch,
    give_up: Duration,
    slots: Semaphore,
    done: Mutex<VecDeque<Completion>>,
    wake: OwnedFd,
    failures: Mutex<Failures>,
}

/// The last failure, and whether its reason was not reported yet.
#[derive(Default)]
struct Failures {
    last: String,
    is_new: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ObjectDisc {
    /// Starts a runtime, and opens the object there. A request may take as long as `give_up`.
    pub(crate) fn open<E: Send + 'static>(
        origin: impl Future<Output = Result<Origin, E>> + Send + 'static,
        give_up: Duration,
        clock: Stopwatch,
        no_thread: impl Fn(io::Error) -> E,
    ) -> Result<Self, E> {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(&no_thread)?;
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        let wake = wake.map_err(|error| no_thread(error.into()))?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<Infallible>();
        let (tell, opened) = sync_channel(1);
        let run = move || {
            runtime.block_on(async {
                if tell.send(origin.await).is_ok() {
                    let _ = stopped.await;
                }
            });
            // Requests that are under way end here. A lookup of a name is not waited for.
            runtime.shutdown_background();
        };
        let thread = std::thread::Builder::new().name("object".to_owned()).spawn(run);
        let thread = thread.map_err(&no_thread)?;
        let origin = opened.recv().map_err(|error| no_thread(io::Error::other(error)))??;
        let shared = Shared {
            origin,
            clock,
            give_up,
            slots: Semaphore::new(REQUESTS as usize),
            done: Mutex::default(),
            wake,
            failures: Mutex::default(),
        };
        Ok(Self {
            shared: Arc::new(shared),
            runtime: handle,
            stop: Some(stop),
            thread: Some(thread),
            done: VecDeque::new(),
            under_way: 0,
            last: Nanos::ZERO,
            is_noticed: None,
        })
    }

    /// Numbers that tell the version of the object from others.
    pub(crate) fn numbers(&self) -> (u64, [i64; 4]) {
        self.shared.origin.version().numbers()
    }

    /// Takes what is done only after a [notice](Self::notice) from now on.
    pub(crate) fn wait_for_notice(&mut self) {
        self.is_noticed = Some(true);
    }

    /// Its descriptor is ready.
    pub(crate) fn notice(&mut self) {
        self.is_noticed = self.is_noticed.map(|_| true);
    }

    /// Why a request failed, once for each reason.
    pub(crate) fn complaint(&self) -> Option<String> {
        let mut failures = lock(&self.shared.failures);
        std::mem::take(&mut failures.is_new).then(|| failures.last.clone())
    }

    fn take(&mut self) -> Option<Completion> {
        if self.done.is_empty() && self.is_noticed != Some(false) {
            self.is_noticed = self.is_noticed.map(|_| false);
            let mut done = lock(&self.shared.done);
            // The runtime writes with the lock, for the first that is done: without one there is nothing to read.
            if !done.is_empty() {
                let _ = rustix::io::read(&self.shared.wake, &mut [0; 8]);
                std::mem::swap(&mut self.done, &mut done);
            }
        }
        let mut completion = self.done.pop_front()?;
        self.under_way -= 1;
        // A request that came later may be reported first.
        self.last = self.last.max(completion.at);
        completion.breakdown.queued += self.last - completion.at;
        completion.at = self.last;
        Some(completion)
    }
}

impl Shared {
    /// Serves a request, in a task of the runtime.
    async fn serve(&self, came: Nanos, request: Request, mut data: Vec<u8>) {
        let slot = self.slots.acquire().await;
        let begins = self.clock.nanos().max(came);
        let outcome = match DiscError::check(&request, self.origin.size_bytes()) {
            Ok(()) => self.answer(&request, &mut data).await,
            Err(error) => Err(error),
        };
        drop(slot);
        let at = self.clock.nanos().max(begins);
        let breakdown =
            Breakdown { queued: begins - came, transfer: at - begins, ..Breakdown::default() };
        let mut done = lock(&self.done);
        // Once for all that the owner has not taken yet.
        let is_first = done.is_empty();
        done.push_back(Completion { request, data, at, breakdown, outcome });
        if is_first {
            let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
        }
    }

    async fn answer(&self, request: &Request, data: &mut [u8]) -> Result<(), DiscError> {
        let Request { op, offset, length_bytes, .. } = *request;
        let failed = |why: &dyn std::fmt::Display| DiscError::Failed {
            what: format!("{op:?} of {length_bytes} B at byte {offset}: {why}"),
        };
        match op {
            Op::Flush => Ok(()),
            Op::Write | Op::Discard => Err(failed(&"the disc is an object, and read-only")),
            Op::Read if data.is_empty() => Ok(()),
            Op::Read => self.read(offset, data).await.map_err(|error| {
                self.complain(&error);
                failed(&error)
            }),
        }
    }

    /// Reads, again and again as long as that may help.
    async fn read(&self, offset: u64, data: &mut [u8]) -> Result<(), ObjectDiscError> {
        let mut last = None;
        let tries = async {
            let mut wait = WAIT_MIN;
            loop {
                match self.origin.read(offset, data).await {
                    Ok(()) => return Ok(()),
                    Err(Failed::Final(error)) => return Err(error),
                    Err(Failed::Again(error)) => last = Some(error),
                }
                tokio::time::sleep(wait).await;
                wait = (wait * 2).min(WAIT_MAX);
            }
        };
        let ended = tokio::time::timeout(self.give_up, tries).await;
        ended.unwrap_or_else(|_| {
            Err(last.unwrap_or_else(|| ObjectDiscError::Unreachable {
                address: self.origin.address().to_owned(),
                why: format!("no answer in {} s", self.give_up.as_secs()),
            }))
        })
    }

    fn complain(&self, error: &ObjectDiscError) {
        let why = error.to_string();
        let mut failures = lock(&self.failures);
        if failures.last != why {
            *failures = Failures { last: why, is_new: true };
        }
    }
}

impl AsFd for ObjectDisc {
    /// Readable when something is complete.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.shared.wake.as_fd()
    }
}

impl Disc for ObjectDisc {
    fn size_bytes(&self) -> u64 {
        self.shared.origin.size_bytes()
    }

    fn submit(&mut self, now: Nanos, request: Request, data: Vec<u8>) {
        self.under_way += 1;
        let shared = Arc::clone(&self.shared);
        drop(self.runtime.spawn(async move { shared.serve(now, request, data).await }));
    }

    fn next_completion(&mut self, until: Nanos) -> Option<Completion> {
        loop {
            if let Some(completion) = self.take() {
                return Some(completion);
            }
            if self.under_way == 0 || self.shared.clock.nanos() >= until {
                return None;
            }
            self.is_noticed = self.is_noticed.map(|_| true);
            let mut descriptors = [PollFd::new(&self.shared.wake, PollFlags::IN)];
            let _ = poll(&mut descriptors, Some(&Timespec { tv_sec: 0, tv_nsec: 10_000_000 }));
        }
    }

    fn under_way(&self) -> usize {
        self.under_way
    }
}

impl Drop for ObjectDisc {
    /// Waits for no request: the runtime drops those that are under way.
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
