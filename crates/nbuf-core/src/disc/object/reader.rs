//! The disc of objects: a runtime on a thread of its own, and what it shares with the owner.

use std::convert::Infallible;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::runtime::{Builder, Handle};
use tokio::sync::{Semaphore, oneshot};

use super::super::done::{Done, Taken, lock};
use super::super::{Breakdown, Completion, Disc, DiscError};
use super::origin::{Failed, Origin};
use super::{Chunks, ObjectDiscError, REQUESTS};
use crate::clock::Stopwatch;
use crate::trace::request::{Op, Request};
use crate::units::Nanos;

/// How long a request may take with all its tries.
pub(crate) const GIVE_UP: Duration = Duration::from_mins(1);
/// The wait before the second try; each later wait is twice as long, up to the longest.
const WAIT_MIN: Duration = Duration::from_millis(100);
const WAIT_MAX: Duration = Duration::from_secs(5);

/// A disc that is one object and read-only, or of chunks.
pub(crate) struct ObjectDisc {
    shared: Arc<Shared>,
    runtime: Handle,
    /// The thread ends when this is dropped.
    stop: Option<oneshot::Sender<Infallible>>,
    thread: Option<JoinHandle<()>>,
    taken: Taken,
}

struct Shared {
    origin: Arc<Origin>,
    clock: Stopwatch,
    give_up: Duration,
    slots: Semaphore,
    done: Done,
    failures: Mutex<Failures>,
}

/// The last failure, and whether its reason was not reported yet.
#[derive(Default)]
struct Failures {
    last: String,
    is_new: bool,
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
        let done = Done::new().map_err(&no_thread)?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<Infallible>();
        let (tell, opened) = sync_channel(1);
        let run = move || {
            runtime.block_on(async {
                let origin = match origin.await {
                    Ok(origin) => Arc::new(origin),
                    // The owner waits for it.
                    Err(error) => return drop(tell.send(Err(error))),
                };
                if tell.send(Ok(Arc::clone(&origin))).is_ok() {
                    let _ = stopped.await;
                }
                origin.close().await;
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
            done,
            failures: Mutex::default(),
        };
        Ok(Self {
            shared: Arc::new(shared),
            runtime: handle,
            stop: Some(stop),
            thread: Some(thread),
            taken: Taken::default(),
        })
    }

    /// Numbers that tell the version of the object from others.
    pub(crate) fn numbers(&self) -> (u64, [i64; 4]) {
        self.shared.origin.facts().version.numbers()
    }

    /// Whether it refuses writes.
    pub(crate) fn is_read_only(&self) -> bool {
        self.shared.origin.writable().is_none()
    }

    /// Takes what is done only after a [notice](Self::notice) from now on.
    pub(crate) fn wait_for_notice(&mut self) {
        self.taken.wait_for_notice();
    }

    /// Its descriptor is ready.
    pub(crate) fn notice(&mut self) {
        self.taken.notice();
    }

    /// Why a request failed, once for each reason.
    pub(crate) fn complaint(&self) -> Option<String> {
        let mut failures = lock(&self.shared.failures);
        std::mem::take(&mut failures.is_new).then(|| failures.last.clone())
    }
}

impl Shared {
    /// Serves a request, in a task of the runtime.
    async fn serve(&self, came: Nanos, request: Request, mut data: Vec<u8>) {
        let slot = match *self.origin {
            // What waits for memory asks the store for nothing.
            Origin::Chunks(_) => None,
            Origin::Web(_) | Origin::Store(_) => self.slots.acquire().await.ok(),
        };
        let begins = self.clock.nanos().max(came);
        let outcome = match DiscError::check(&request, self.origin.facts().size_bytes) {
            Ok(()) => self.answer(&request, &mut data).await,
            Err(error) => Err(error),
        };
        drop(slot);
        let at = self.clock.nanos().max(begins);
        let breakdown =
            Breakdown { queued: begins - came, transfer: at - begins, ..Breakdown::default() };
        self.done.report([Completion { request, data, at, breakdown, outcome }]);
    }

    async fn answer(&self, request: &Request, data: &mut [u8]) -> Result<(), DiscError> {
        let Request { op, offset, length_bytes, durable, zeros, .. } = *request;
        let said = |why: &dyn std::fmt::Display| {
            format!("{op:?} of {length_bytes} B at byte {offset}: {why}")
        };
        let served = match (op, self.origin.writable()) {
            (Op::Read, _) if data.is_empty() => Ok(()),
            (Op::Read, _) => self.read(offset, data).await,
            (Op::Flush, None) => Ok(()),
            (Op::Write | Op::Discard, None) => {
                return Err(DiscError::Failed {
                    what: said(&"the disc is an object, and read-only"),
                });
            }
            (Op::Flush, Some(chunks)) => chunks.flush().await,
            (Op::Write, Some(chunks)) => chunks.write(offset, data, durable).await,
            (Op::Discard, Some(chunks)) => {
                chunks.discard(offset, length_bytes, (zeros, durable)).await
            }
        };
        served.map_err(|error| {
            self.complain(&error);
            let what = said(&error);
            let keeps = self.origin.writable().is_some_and(Chunks::can_flush_again);
            if keeps && op == Op::Flush {
                DiscError::Owed { what }
            } else {
                DiscError::Failed { what }
            }
        })
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
                address: self.origin.facts().address.clone(),
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
        self.shared.done.as_fd()
    }
}

impl Disc for ObjectDisc {
    fn size_bytes(&self) -> u64 {
        self.shared.origin.facts().size_bytes
    }

    fn submit(&mut self, now: Nanos, request: Request, data: Vec<u8>) {
        self.taken.begin();
        let shared = Arc::clone(&self.shared);
        drop(self.runtime.spawn(async move { shared.serve(now, request, data).await }));
    }

    fn next_completion(&mut self, until: Nanos) -> Option<Completion> {
        self.taken.next(&self.shared.done, until, || self.shared.clock.nanos())
    }

    fn under_way(&self) -> usize {
        self.taken.under_way()
    }
}

impl Drop for ObjectDisc {
    /// Waits for no request: the runtime drops those that are under way. A lease is ended, which takes some seconds at most.
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
