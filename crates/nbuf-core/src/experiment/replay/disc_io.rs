//! The disc I/O of a replay: how requests go to the disc, and what happens when they come back.

use super::ReplayError;
use super::clients::Clients;
use super::events::What;
use super::observer::{Finished, Observer};
use super::run::{PendingRequest, Run};
use crate::cache::layer::Lookup;
use crate::disc::{Completion, Disc, DiscError};
use crate::trace::request::{Request, Span};
use crate::units::Nanos;

impl<D: Disc + ?Sized, C: Clients + ?Sized, W: Observer + ?Sized> Run<'_, D, C, W> {
    /// The lookup is over: hands out what was there, or asks the disc. Whether the request is over.
    pub(super) fn initiated(&mut self, now: Nanos, process: u32) -> bool {
        let pending = self.processes[process as usize].pending.as_ref();
        let Some(&PendingRequest { request, lookup: Lookup { rest: Some(rest), .. }, .. }) =
            pending
        else {
            self.finish(now, process);
            return true;
        };
        let Span { offset_bytes: offset, length_bytes } = self.whole_sectors(rest);
        let mut data = self.buffers.pop().unwrap_or_default();
        if self.machine.moves_bytes {
            data.clear();
            data.resize(usize::try_from(length_bytes).unwrap_or(usize::MAX), 0);
        }
        if self.under_way == 0 {
            self.busy_since = now;
        }
        self.under_way += 1;
        let request = Request { offset, length_bytes, task: process, ..request };
        self.disc.submit(now, request, data);
        false
    }

    /// As the disc is asked: from the beginning of a sector to the end of one, if the disc has it.
    fn whole_sectors(&self, span: Span) -> Span {
        let grown = span.aligned(self.machine.sector_bytes.into());
        let end = grown.end().min(self.size_bytes).max(span.end());
        Span { length_bytes: end - grown.offset_bytes, ..grown }
    }

    /// The disc is done with a request: lets the cache take in what was moved.
    pub(super) fn completed(
        &mut self,
        now: Nanos,
        completion: Completion,
    ) -> Result<(), ReplayError> {
        let Completion { request, data, breakdown, outcome, .. } = completion;
        self.under_way -= 1;
        if self.under_way == 0 {
            self.stats.disc_busy += now - self.busy_since;
        }
        if let Err(error @ DiscError::PastTheEnd { .. }) = &outcome {
            Err(error.clone())?;
        }
        if let (Err(error), None) = (&outcome, &self.stats.failure) {
            self.stats.failure = Some(error.to_string());
        }
        self.stats.served(&breakdown, request.length_bytes);
        let process = request.task;
        if self.machine.moves_bytes {
            self.buffers.push(data);
        }
        let state = self.processes.get_mut(process as usize);
        let Some(pending) = state.and_then(|state| state.pending.as_mut()) else { return Ok(()) };
        pending.breakdown = Some(breakdown);
        pending.is_done = outcome.is_ok();
        let work = self.cache.terminate(&pending.request, outcome.is_ok());
        let over = self.work(now, work);
        if over > now {
            self.events.push(over, process, What::Terminated);
            return Ok(());
        }
        self.finish(now, process);
        self.proceed(now, process)
    }

    /// A process has what it asked for.
    pub(super) fn finish(&mut self, now: Nanos, process: u32) {
        let Some(pending) = &self.processes[process as usize].pending else { return };
        self.stats.responses.add(now - pending.at);
        if !pending.is_done {
            self.stats.failed(&pending.request);
        }
        self.observer.finished(&Finished {
            process,
            request: &pending.request,
            requested_at: pending.at,
            at: now,
            lookup: &pending.lookup,
            breakdown: pending.breakdown,
            is_done: pending.is_done,
        });
        self.processes[process as usize].pending = None;
    }
}
