//! The joint of a replay with its disc: how requests go there, and what happens when they come back.

use super::ReplayError;
use super::crowd::Crowd;
use super::events::What;
use super::run::{Asked, Run, demand};
use super::watch::{Finished, Watch};
use crate::cache::front::{Lookup, Operation, Span};
use crate::disc::{self, Completion, Disc, DiscError};
use crate::units::Nanos;

impl<D: Disc + ?Sized, C: Crowd + ?Sized, W: Watch + ?Sized> Run<'_, D, C, W> {
    /// The lookup is over: hands out what was there, or asks the disc. Whether the request is over.
    pub(super) fn initiated(&mut self, now: Nanos, process: u32) -> bool {
        let asked = self.processes[process as usize].asked;
        let Some(Asked { ask, lookup: Lookup { rest: Some(rest), .. }, .. }) = asked else {
            self.finish(now, process);
            return true;
        };
        let Span { offset_bytes, length_bytes } = self.whole_sectors(rest);
        let operation = match ask.operation {
            Operation::Write | Operation::WriteEof => disc::Operation::Write,
            _ => disc::Operation::Read,
        };
        let mut data = self.buffers.pop().unwrap_or_default();
        if self.machine.moves_bytes {
            data.clear();
            data.resize(length_bytes as usize, 0);
        }
        if self.under_way == 0 {
            self.busy_since = now;
        }
        self.under_way += 1;
        let tag = process.into();
        let request = disc::Request { tag, operation, offset_bytes, length_bytes, data };
        self.disc.submit(now, request);
        false
    }

    /// As the disc is asked: from the beginning of a sector to the end of one, if the disc has it.
    fn whole_sectors(&self, span: Span) -> Span {
        let grown = span.aligned(self.machine.sector_bytes.into());
        let end = grown.end().min(self.size_bytes).max(span.end());
        let length_bytes = u32::try_from(end - grown.offset_bytes).unwrap_or(span.length_bytes);
        Span { length_bytes, ..grown }
    }

    /// The disc is done with a request: lets the cache take in what was moved.
    pub(super) fn completed(
        &mut self,
        now: Nanos,
        completion: Completion,
    ) -> Result<(), ReplayError> {
        let Completion { request, spent, outcome, .. } = completion;
        self.under_way -= 1;
        if self.under_way == 0 {
            self.seen.disc_busy += now - self.busy_since;
        }
        if let Err(error @ DiscError::PastTheEnd { .. }) = &outcome {
            Err(error.clone())?;
        }
        if let (Err(error), None) = (&outcome, &self.seen.failure) {
            self.seen.failure = Some(error.to_string());
        }
        self.seen.served(&spent, request.length_bytes);
        let process = u32::try_from(request.tag).unwrap_or(u32::MAX);
        if self.machine.moves_bytes {
            self.buffers.push(request.data);
        }
        let state = self.processes.get_mut(process as usize);
        let Some(asked) = state.and_then(|state| state.asked.as_mut()) else { return Ok(()) };
        asked.spent = Some(spent);
        asked.is_done = outcome.is_ok();
        let ask = asked.ask;
        let work = self.cache.terminate(&demand(&ask), outcome.is_ok());
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
        let Some(asked) = self.processes[process as usize].asked.take() else { return };
        self.seen.responses.add(now - asked.at);
        self.seen.kinds[asked.ask.operation as usize].failed += u64::from(!asked.is_done);
        self.watch.finished(&Finished {
            process,
            ask: &asked.ask,
            asked_at: asked.at,
            at: now,
            lookup: &asked.lookup,
            spent: asked.spent,
            is_done: asked.is_done,
        });
    }
}
