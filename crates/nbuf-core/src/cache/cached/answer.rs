//! What the disc is asked and answers, and what the caller is answered.

use super::{Cached, Job, Pending};
use crate::cache::policy::AnyPolicy;
use crate::disc::{Breakdown, Completion, Disc, DiscError};
use crate::trace::request::Request;
use crate::units::Nanos;

impl<P: AnyPolicy + ?Sized, D: Disc> Cached<P, D> {
    /// A part of a request is done; the last one completes it.
    pub(super) fn part_done(&mut self, pending: u32, error: Option<DiscError>) {
        let Some(waiting) = self.pending.get_mut(pending) else { return };
        waiting.left -= 1;
        waiting.error = waiting.error.take().or(error);
        if waiting.left == 0 {
            self.complete(pending);
        }
    }

    /// A request is complete.
    pub(super) fn complete(&mut self, pending: u32) {
        let Some(Pending { request, data, came, error, .. }) = self.pending.take(pending) else {
            return;
        };
        self.answer(request, data, came, error.map_or(Ok(()), Err));
    }

    pub(super) fn answer(
        &mut self,
        request: Request,
        data: Vec<u8>,
        came: Nanos,
        outcome: Result<(), DiscError>,
    ) {
        // To the caller the time is one wait: only the disc knows how its part divides.
        let breakdown = Breakdown { queued: self.now - came, ..Breakdown::default() };
        self.done.push_back(Completion { request, data, at: self.now, breakdown, outcome });
    }

    /// Asks the disc for something.
    pub(super) fn ask(&mut self, job: Job, request: Request, data: Vec<u8>) -> u32 {
        if matches!(&job, Job::Read(_) | Job::Past(_)) {
            self.aside.read_began(self.now);
        }
        let task = self.jobs.insert(job);
        self.disc.submit(self.now, Request { task, ..request }, data);
        task
    }

    /// The disc has completed something.
    pub(super) fn disc_has(&mut self, completion: Completion) {
        let job = completion.request.task;
        self.counts.disc_errors += u64::from(completion.outcome.is_err());
        let taken = self.jobs.take(job);
        let is_ahead =
            matches!(&taken, Some(Job::Read(flight)) if flight.is_ahead || flight.is_warm);
        self.costs.disc(&completion, is_ahead);
        if matches!(&taken, Some(Job::Read(_) | Job::Past(_))) && !is_ahead {
            self.aside.read_ended(self.now);
        }
        match taken {
            Some(Job::Past(pending)) => self.past_done(pending, completion),
            Some(Job::Read(flight)) => self.landed(flight, completion),
            Some(Job::Direct(direct)) => {
                self.busy.retain(|busy| busy.job != job);
                self.direct_done(&direct, completion);
                self.unblock();
            }
            Some(Job::Back(pages)) => {
                self.busy.retain(|busy| busy.job != job);
                self.back_done(&pages, completion.outcome);
                self.unblock();
                self.note_stuck();
            }
            Some(Job::Flush(flushes)) => self.disc_flushed(&flushes, &completion.outcome),
            None => {}
        }
    }
}
