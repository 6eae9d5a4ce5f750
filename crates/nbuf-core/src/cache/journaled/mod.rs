//! A journal on a quick disc in front of a slow one, the backing: writes and flushes wait for the journal alone.
//!
//! A write is complete when a record in the journal has it, and a flush when the journal was flushed after that. What the
//! journal has and the backing lacks is owed. It is written back in the order of the disc, and only after a flush of the
//! journal. When the backing was flushed, a checkpoint lets go of the records. So after a power cut the journal brings the
//! backing to the state after some write, and no flushed write is behind that one.
//!
//! Invariants: what is owed is in memory too, and fits into the journal. A record is overwritten only after a checkpoint
//! that does not need it is safe. After the first error of the journal, all writes and flushes fail; what is owed is still
//! written back from memory. As long as the disc lacks bytes of the run before that it refused at the start, flushes fail.
//!
//! Cost: memory for the bytes of the journal, and each byte written twice.
//! Not for a backing that another program writes to while something is owed.

mod back;
mod inspect;
mod log;
mod note;
mod owed;
mod record;
mod replay;
mod steps;
#[cfg(test)]
mod tests;
mod write_back;
mod writes;

pub(crate) use owed::Owed;
pub(crate) use record::{Checkpoint, OWNER_BYTES_MAX, PAGE_BYTES, RING_BYTE};
pub(crate) use replay::{Replayed, replay};
pub(crate) use write_back::{Watch, WriteBackError, write_back};
pub(crate) use writes::Refused;

use std::collections::VecDeque;

use super::cached::slab::Slab;
use crate::disc::{Breakdown, Completion, Disc, DiscError};
use crate::trace::request::{Op, Request};
use crate::units::Nanos;
use back::Back;
use log::Log;
use owed::{Content, Extent, is_covered, lay_over};

/// A request of the owner that is not complete.
#[derive(Debug)]
struct PendingRequest {
    request: Request,
    data: Vec<u8>,
    came: Nanos,
    /// Parts of a write that no record has yet.
    left: u32,
    error: Option<DiscError>,
    /// What was owed of a read when it came.
    owed: Vec<Extent>,
}

/// What the backing was asked for.
#[derive(Clone, Copy, Debug)]
enum Job {
    /// A read of the owner.
    Read(u32),
    /// A write of owed bytes.
    Back,
    /// The flush behind them.
    Flush,
}

/// Someone who waits until the journal was flushed.
#[derive(Clone, Copy, Debug)]
struct Waiter {
    pending: u32,
    /// The last part that must be safe then.
    mark: u64,
}

/// A disc that owes nothing after a flush but to its journal.
pub(crate) struct Journaled<D, J> {
    backing: D,
    journal: J,
    owed: Owed,
    log: Log,
    back: Back,
    pending: Slab<PendingRequest>,
    jobs: Slab<Job>,
    waiters: Vec<Waiter>,
    /// Flushes that wait until nothing is owed.
    enders: Vec<u32>,
    is_ending: bool,
    /// The last record of the run before, as long as the disc may lack bytes of that run.
    arrears: Option<u64>,
    /// Why the journal is not used any more.
    lost: Option<String>,
    done: VecDeque<Completion>,
    now: Nanos,
    last: Nanos,
}

impl<D: Disc, J: Disc> Journaled<D, J> {
    /// With a journal that owes what the disc refused at the start, or nothing if it has a checkpoint alone.
    pub(crate) fn new(backing: D, journal: J, replayed: impl Into<Replayed>) -> Self {
        let replayed = replayed.into();
        let is_owing = !replayed.owed.is_empty();
        let arrears = Some(replayed.last_seq()).filter(|_| is_owing);
        let Replayed { checkpoint, owed, live, gone_seq, .. } = replayed;
        Self {
            backing,
            journal,
            owed,
            log: Log::new(checkpoint, live, gone_seq),
            back: if is_owing { Back::later() } else { Back::default() },
            pending: Slab::default(),
            jobs: Slab::default(),
            waiters: Vec::new(),
            enders: Vec::new(),
            is_ending: false,
            arrears,
            lost: None,
            done: VecDeque::new(),
            now: Nanos::ZERO,
            last: Nanos::ZERO,
        }
    }

    /// Begins a read. What is not owed comes from the backing, in one request.
    fn read(&mut self, request: Request, mut data: Vec<u8>) {
        let Request { offset: from, length_bytes, .. } = request;
        let to = from.saturating_add(length_bytes);
        let is_sound = data.len() as u64 == length_bytes && to <= self.backing.size_bytes();
        // The backing says what is wrong.
        let owed = if is_sound { self.owed.within(from, to) } else { Vec::new() };
        if !owed.is_empty() && is_covered(&owed, from, to) {
            lay_over(&mut data, from, &owed);
            return self.answer(request, data, self.now, Ok(()));
        }
        let pending = self.keep(request, Vec::new(), owed);
        let task = self.jobs.insert(Job::Read(pending));
        self.backing.submit(self.now, Request { task, ..request }, data);
    }

    /// Begins a write, zeros or a trim.
    fn change(&mut self, request: Request, data: Vec<u8>) {
        let Request { op, offset, length_bytes, zeros, .. } = request;
        let is_whole = op != Op::Write || data.len() as u64 == length_bytes;
        let checked = DiscError::check(&request, self.backing.size_bytes());
        let refused = match checked {
            Err(error) => Some(error),
            Ok(()) if !is_whole => {
                let what = format!("a write of {length_bytes} B with {} B of data", data.len());
                Some(DiscError::Failed { what })
            }
            Ok(()) => self.lost.as_ref().map(|why| self.refusal(why)),
        };
        if refused.is_some() || length_bytes == 0 {
            return self.answer(request, data, self.now, refused.map_or(Ok(()), Err));
        }
        let content = match op {
            Op::Write => Content::data(data.as_slice().into()),
            _ if zeros => Content::Zeros,
            _ => Content::Trimmed,
        };
        let pending = self.keep(request, data, Vec::new());
        let parts = self.log.enqueue(pending, (offset, length_bytes), &content);
        if let Some(pending) = self.pending.get_mut(pending) {
            pending.left = parts;
        }
        self.go_on();
    }

    /// Begins a flush.
    fn flush(&mut self, request: Request, data: Vec<u8>) {
        if let Some(why) = &self.lost {
            let refused = self.refusal(why);
            return self.answer(request, data, self.now, Err(refused));
        }
        let pending = self.keep(request, data, Vec::new());
        self.waiters.push(Waiter { pending, mark: self.log.enqueued });
        self.go_on();
    }

    fn keep(&mut self, request: Request, data: Vec<u8>, owed: Vec<Extent>) -> u32 {
        let (came, left, error) = (self.now, 0, None);
        self.pending.insert(PendingRequest { request, data, came, left, error, owed })
    }

    /// The backing has answered.
    fn backing_has(&mut self, completion: Completion) {
        self.now = self.now.max(completion.at);
        match self.jobs.take(completion.request.task) {
            Some(Job::Read(number)) => {
                let Some(pending) = self.pending.take(number) else { return };
                let Completion { mut data, at, breakdown, outcome, .. } = completion;
                lay_over(&mut data, pending.request.offset, &pending.owed);
                let request = pending.request;
                self.complete(Completion { request, data, at, breakdown, outcome });
            }
            Some(Job::Back) => self.written_back(completion),
            Some(Job::Flush) => self.backing_flushed(completion.outcome),
            None => {}
        }
    }

    /// A request is complete, or has failed.
    fn finish(&mut self, number: u32, error: Option<DiscError>) {
        let Some(pending) = self.pending.take(number) else { return };
        let PendingRequest { request, data, came, error: first, .. } = pending;
        self.answer(request, data, came, first.or(error).map_or(Ok(()), Err));
    }

    fn answer(
        &mut self,
        request: Request,
        data: Vec<u8>,
        came: Nanos,
        outcome: Result<(), DiscError>,
    ) {
        let transfer = self.now - came;
        let breakdown = Breakdown { transfer, ..Breakdown::default() };
        self.complete(Completion { request, data, at: self.now, breakdown, outcome });
    }

    /// Keeps an answer for the owner. The two discs may answer in the other order.
    fn complete(&mut self, mut completion: Completion) {
        self.last = self.last.max(completion.at);
        completion.breakdown.queued += self.last - completion.at;
        completion.at = self.last;
        self.done.push_back(completion);
    }
}

impl<D: Disc, J: Disc> Disc for Journaled<D, J> {
    fn size_bytes(&self) -> u64 {
        self.backing.size_bytes()
    }

    fn submit(&mut self, now: Nanos, request: Request, data: Vec<u8>) {
        self.now = self.now.max(now);
        match request.op {
            Op::Read => self.read(request, data),
            Op::Write | Op::Discard => self.change(request, data),
            Op::Flush => self.flush(request, data),
        }
    }

    fn next_completion(&mut self, until: Nanos) -> Option<Completion> {
        let mut may_retry = true;
        loop {
            if let Some(completion) = self.done.pop_front() {
                return Some(completion);
            }
            if let Some(completion) = self.journal.next_completion(until) {
                self.journal_has(completion);
            } else if let Some(completion) = self.backing.next_completion(until) {
                self.backing_has(completion);
            } else if may_retry && self.is_due(until) {
                // Once for each look: a disc that refuses all would be asked without end.
                may_retry = false;
                self.retry();
            } else {
                return None;
            }
        }
    }

    fn under_way(&self) -> usize {
        self.pending.len() + self.done.len()
    }
}
