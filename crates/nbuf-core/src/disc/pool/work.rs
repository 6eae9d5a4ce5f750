//! What the threads of a disc share, and their work.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

use super::super::done::{Done, lock};
use super::super::{Breakdown, Completion, DiscError};
use super::{GROWING_BYTES, ranges};
use crate::clock::Stopwatch;
use crate::trace::request::{Op, Request};
use crate::units::Nanos;

/// A request on its way to a thread.
pub(super) struct Job {
    pub(super) came: Nanos,
    pub(super) request: Request,
    pub(super) data: Vec<u8>,
}

#[derive(Default)]
pub(super) struct Queue {
    pub(super) jobs: VecDeque<Job>,
    /// Threads that wait for a job, and those of them that were woken and did not run yet.
    pub(super) idle: usize,
    pub(super) woken: usize,
    pub(super) is_over: bool,
}

/// Threads that one wakes. A call for each job would be dear for the owner, so that threads wake each other.
const WAKES: usize = 2;
/// Writes that a thread takes at once, where they end in the page cache: in less time than a thread takes to wake.
const BATCH: usize = 16;
/// Writes that take longer wait for a disc, and go side by side.
pub(super) const QUICK_NS: u64 = 50_000;
/// How long what is done waits for the rest of a batch.
const HELD: Nanos = Nanos(100_000);

pub(super) struct Shared {
    pub(super) file: File,
    pub(super) clock: Stopwatch,
    pub(super) size_bytes: u64,
    /// The block of a device; none for a file.
    pub(super) block_bytes: Option<u64>,
    /// Where writes stop, and from where on all is zero.
    pub(super) end: AtomicU64,
    pub(super) queue: Mutex<Queue>,
    pub(super) has_job: Condvar,
    /// What plain writes take, about.
    pub(super) write_ns: AtomicU64,
    pub(super) done: Done,
}

/// Whether it is a write that does not wait for the device.
fn is_plain(request: &Request) -> bool {
    request.op == Op::Write && !request.durable
}

impl Shared {
    pub(super) fn now(&self) -> Nanos {
        Nanos(u64::try_from(self.clock.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    pub(super) fn end(&self) -> u64 {
        self.end.load(Ordering::Acquire)
    }

    /// Takes the next job, or the next writes if they are quick; false at the end.
    fn next(&self, batch: &mut Vec<Job>) -> bool {
        let mut queue = lock(&self.queue);
        loop {
            if let Some(job) = queue.jobs.pop_front() {
                let takes_more =
                    is_plain(&job.request) && self.write_ns.load(Ordering::Relaxed) < QUICK_NS;
                batch.push(job);
                while takes_more && batch.len() < BATCH {
                    let Some(next) = queue.jobs.pop_front_if(|next| is_plain(&next.request)) else {
                        break;
                    };
                    batch.push(next);
                }
                self.wake_others(&mut queue);
                return true;
            }
            if queue.is_over {
                return false;
            }
            queue.idle += 1;
            queue = self.has_job.wait(queue).unwrap_or_else(PoisonError::into_inner);
            queue.idle -= 1;
            // Also without a wake: then one more is woken for a job than necessary.
            queue.woken = queue.woken.saturating_sub(1);
        }
    }

    /// Wakes threads for the jobs that wait, a few at a time: those that run wake others.
    pub(super) fn wake_others(&self, queue: &mut Queue) {
        let wanted = queue.jobs.len().min(queue.idle).min(WAKES);
        for _ in queue.woken..wanted {
            queue.woken += 1;
            self.has_job.notify_one();
        }
    }

    pub(super) fn work(&self) {
        let (mut batch, mut done) = (Vec::new(), Vec::new());
        while self.next(&mut batch) {
            let mut since = self.now();
            for job in batch.drain(..) {
                let completion = self.finish(job);
                let at = completion.at;
                done.push(completion);
                if at - since > HELD {
                    self.done.report(done.drain(..));
                    since = at;
                }
            }
            self.done.report(done.drain(..));
        }
    }

    fn finish(&self, Job { came, request, mut data }: Job) -> Completion {
        let begins = self.now().max(came);
        let outcome = DiscError::check(&request, self.size_bytes)
            .and_then(|()| self.serve(&request, &mut data));
        let at = self.now().max(begins);
        if is_plain(&request) {
            // Threads that do so at once lose a part of it, which is no harm to a mean.
            let mean = self.write_ns.load(Ordering::Relaxed);
            self.write_ns.store((mean * 7 + (at - begins).0) / 8, Ordering::Relaxed);
        }
        let breakdown =
            Breakdown { queued: begins - came, transfer: at - begins, ..Breakdown::default() };
        Completion { request, data, at, breakdown, outcome }
    }

    fn serve(&self, request: &Request, data: &mut [u8]) -> Result<(), DiscError> {
        let inside = self.end().saturating_sub(request.offset).min(request.length_bytes);
        let inside = usize::try_from(inside).unwrap_or(usize::MAX);
        let served = match request.op {
            Op::Read if self.size_bytes == GROWING_BYTES => {
                ranges::read_or_zeros(&self.file, data, request.offset)
            }
            Op::Read => self.file.read_exact_at(data, request.offset),
            Op::Write => self.file.write_all_at(&data[..inside], request.offset),
            Op::Flush => self.file.sync_data(),
            Op::Discard if inside == 0 => Ok(()),
            Op::Discard if request.zeros => ranges::zero(&self.file, self.block_bytes, request),
            Op::Discard => ranges::punch(&self.file, self.block_bytes, request),
        };
        let durable = served.and_then(|()| {
            if request.durable && request.op != Op::Read { self.file.sync_data() } else { Ok(()) }
        });
        durable.map_err(|error| refusal(request, &error, self.block_bytes.is_some()))
    }
}

/// What a refused request completes with.
pub(in crate::disc) fn refusal(request: &Request, error: &io::Error, is_device: bool) -> DiscError {
    let Request { op, offset, length_bytes, .. } = request;
    let why = match error.kind() {
        io::ErrorKind::StorageFull if !is_device => {
            return DiscError::Full { what: error.to_string() };
        }
        // A device has no more room to give: the kernel says so of what is behind its end.
        io::ErrorKind::StorageFull | io::ErrorKind::UnexpectedEof | io::ErrorKind::WriteZero => {
            "the disc has become smaller since it was opened".to_owned()
        }
        _ => error.to_string(),
    };
    DiscError::Failed { what: format!("{op:?} of {length_bytes} B at byte {offset}: {why}") }
}
