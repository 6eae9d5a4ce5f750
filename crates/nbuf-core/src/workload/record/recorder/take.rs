//! Takes the samples that arrived: events go into the log, everything else to the part that needs it.

use std::io::{self, Write};

use super::Recorder;
use crate::workload::record::events::Sample;
use crate::workload::record::links::Links;
use crate::workload::record::log::{Entry, Event, LogWriter};
use crate::workload::record::names::{Key, Names};
use crate::workload::record::reclaim;
use crate::workload::record::writes::FdInfo;

/// The log, for events of files that the command touches.
struct Out<'a, W: Write> {
    log: &'a mut LogWriter<W>,
    last_touched: &'a mut Option<Key>,
    this_thread: u32,
}

impl<W: Write> Out<'_, W> {
    fn push(&mut self, names: &mut Names, event: &Event) -> io::Result<()> {
        let key = (event.device, event.inode);
        if *self.last_touched != Some(key) {
            // What is no file passes through the same tracepoints; and this thread may let go
            // of files that are not the command's.
            let is_ours = event.task == self.this_thread;
            if !names.may_be_file(key) {
                names.meet(event.device, event.task);
            }
            if !names.may_be_file(key) || is_ours && !names.is_touched(key) {
                return Ok(());
            }
            names.touch(key);
            *self.last_touched = Some(key);
        }
        self.log.push(&Entry::Event(*event))
    }
}

impl<W: Write> Recorder<'_, W> {
    /// Takes the events until now.
    pub(super) fn take_events(&mut self, now: u64) -> io::Result<()> {
        let this_thread = self.this_thread;
        let Self { perf, names, writes, uncached, advised, touched, log, last_touched, .. } = self;
        let Self { reclaim, pipes, workers, threads, processes, container, budget, .. } = self;
        let mut out = Out { log, last_touched, this_thread };
        let (mut past, mut links) = (Vec::new(), Links::default());
        perf.drain_batch(|batch| {
            let whole = reclaim.whole(batch, now);
            let taken = reclaim::taken(batch);
            // All of them: who waits to be judged may be gone by then.
            uncached.meet(batch, this_thread);
            for (at, sample) in batch[..whole].iter().enumerate() {
                if taken.as_ref().is_some_and(|taken| taken[at]) {
                    continue;
                }
                let written = writes.as_mut().and_then(|w| w.take(batch, at, &mut FdInfo::of));
                pipes.take(sample);
                workers.take(sample);
                match sample {
                    Sample::Event(event) => {
                        if let Some(budget) = budget {
                            budget.see(event);
                        }
                        let event = workers.judged(pipes.judged(event));
                        for asked in advised.asked_for(&event) {
                            out.push(names, &asked)?;
                        }
                        if let Some(advice) = advised.reaches(&event) {
                            out.push(names, &advice)?;
                        }
                        if let Some(pages) = event.mapped_pages() {
                            touched.map(advised.process_of(event.task), pages);
                        }
                        out.push(names, &event)?;
                    }
                    Sample::Advice(said) => {
                        if let Some(event) = links.take(said, advised, names) {
                            out.push(names, &event)?;
                        }
                    }
                    Sample::Thread { task, process, .. } => {
                        if !processes.is_empty() {
                            threads.insert(*task);
                        }
                        if let Some(container) = container {
                            container.started(*task);
                        }
                        advised.meet(*task, *process);
                        touched.meet(*process);
                    }
                    Sample::Direct(direct) => past.push(*direct),
                    Sample::Call(_)
                    | Sample::Pipe { .. }
                    | Sample::Worker { .. }
                    | Sample::Reclaim { .. } => {}
                }
                if let Some(event) = written {
                    out.push(names, &event)?;
                }
            }
            Ok(whole)
        })?;
        for direct in &past {
            uncached.went_past(direct);
            if names.may_be_file(direct.key) {
                names.touch(direct.key);
            }
        }
        Ok(())
    }
}
