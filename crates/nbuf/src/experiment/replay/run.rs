//! The loop of a replay: what comes next, and what comes of it.

use super::crowd::{Crowd, Next};
use super::events::{Event, Events, What};
use super::processor::{Computed, Processor};
use super::seen::Seen;
use super::watch::Watch;
use super::{Machine, ReplayError};
use crate::cache::front::{Demand, Front, Lookup, Span, Work};
use crate::disc::{Disc, DiscError, Spent};
use crate::units::Nanos;
use crate::workload::process::{Ask, Step};

/// Runs a crowd to its end. Costs as much memory as there are processes.
pub fn replay<D, C, W>(
    machine: &Machine,
    cache: &mut dyn Front,
    disc: &mut D,
    crowd: &mut C,
    watch: &mut W,
) -> Result<Seen, ReplayError>
where
    D: Disc + ?Sized,
    C: Crowd + ?Sized,
    W: Watch + ?Sized,
{
    let count = crowd.count();
    let size_bytes = disc.size_bytes();
    let mut run = Run {
        machine,
        cache,
        disc,
        crowd,
        size_bytes,
        tick_at: watch.period().unwrap_or(Nanos::MAX),
        watch,
        events: Events::default(),
        processor: Processor::default(),
        processes: vec![Asker::default(); count as usize],
        later: Vec::new(),
        under_way: 0,
        busy_since: Nanos::ZERO,
        buffers: Vec::new(),
        seen: Seen::default(),
    };
    (0..count).for_each(|process| run.events.push(Nanos::ZERO, process, What::Ready));
    run.run()
}

/// A request that is under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) ask: Ask,
    pub(super) at: Nanos,
    pub(super) lookup: Lookup,
    pub(super) spent: Option<Spent>,
    pub(super) is_done: bool,
}

/// What is known of a process.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Asker {
    pub(super) asked: Option<Asked>,
    command_at: Option<Nanos>,
}

pub(super) struct Run<'a, D: ?Sized, C: ?Sized, W: ?Sized> {
    pub(super) machine: &'a Machine,
    pub(super) cache: &'a mut dyn Front,
    pub(super) disc: &'a mut D,
    crowd: &'a mut C,
    pub(super) watch: &'a mut W,
    pub(super) size_bytes: u64,
    tick_at: Nanos,
    pub(super) events: Events,
    processor: Processor,
    pub(super) processes: Vec<Asker>,
    /// Those who wait for others to make a request.
    later: Vec<u32>,
    /// Requests that are with the disc, since when there are any.
    pub(super) under_way: u32,
    pub(super) busy_since: Nanos,
    /// Bytes that came back, to be used again.
    pub(super) buffers: Vec<Vec<u8>>,
    pub(super) seen: Seen,
}

impl<D: Disc + ?Sized, C: Crowd + ?Sized, W: Watch + ?Sized> Run<'_, D, C, W> {
    fn run(mut self) -> Result<Seen, ReplayError> {
        let mut now = Nanos::ZERO;
        loop {
            let until = self.events.next_at();
            // A real disc lets time go by also where nothing is under way.
            if (self.under_way > 0 || self.machine.moves_bytes)
                && let Some(completion) = self.disc.next_completion(until)
            {
                now = completion.at.max(now);
                self.tick(now);
                self.completed(now, completion)?;
                continue;
            }
            let Some(event) = self.events.pop() else { break };
            now = event.at.max(now);
            self.tick(now);
            self.happen(now, event)?;
        }
        self.seen.elapsed = now;
        self.seen.computed = self.processor.computed;
        self.seen.locked = self.processor.locked;
        self.watch.end(now, self.cache);
        Ok(self.seen)
    }

    /// Lets the watcher look at the ends of all periods up to now.
    fn tick(&mut self, now: Nanos) {
        while self.tick_at <= now && self.tick_at < Nanos::MAX {
            self.watch.tick(self.tick_at, self.cache);
            self.tick_at = self.watch.period().map_or(Nanos::MAX, |period| {
                // No time at all would never end.
                self.tick_at + period.max(Nanos(1))
            });
        }
    }

    fn happen(&mut self, now: Nanos, event: Event) -> Result<(), ReplayError> {
        let process = event.process;
        match event.what {
            What::Ready => self.proceed(now, process),
            What::Computed => match self.processor.end(now) {
                Computed::NotBefore(at) => {
                    self.events.push(at, process, What::Computed);
                    Ok(())
                }
                Computed::Over(next) => {
                    if let Some((other, at)) = next {
                        self.events.push(at, other, What::Computed);
                    }
                    self.proceed(now, process)
                }
            },
            What::Initiated => {
                if self.initiated(now, process) {
                    return self.proceed(now, process);
                }
                Ok(())
            }
            What::Terminated => {
                self.finish(now, process);
                self.proceed(now, process)
            }
        }
    }

    /// Takes the steps of a process until one takes time.
    pub(super) fn proceed(&mut self, now: Nanos, process: u32) -> Result<(), ReplayError> {
        loop {
            let step = match self.crowd.next(process) {
                Next::Step(step) => step,
                Next::Later => {
                    self.later.push(process);
                    return Ok(());
                }
                Next::End => return Ok(()),
            };
            match step {
                Step::Compute(time) if time > Nanos::ZERO => {
                    if let Some(end) = self.processor.compute(now, process, time) {
                        self.events.push(end, process, What::Computed);
                    }
                    return Ok(());
                }
                Step::Think(time) if time > Nanos::ZERO => {
                    self.events.push(now + time, process, What::Ready);
                    return Ok(());
                }
                Step::Until(time) if time > now => {
                    self.events.push(time, process, What::Ready);
                    return Ok(());
                }
                Step::Compute(_) | Step::Think(_) | Step::Until(_) => {}
                Step::Begin => self.processes[process as usize].command_at = Some(now),
                Step::Done => {
                    if let Some(began) = self.processes[process as usize].command_at.take() {
                        self.seen.commands.add(now - began);
                    }
                }
                Step::Ask(ask) => {
                    if !self.ask(now, process, ask)? {
                        return Ok(());
                    }
                    // At no cost, and yet not before others whose turn it is.
                    if !self.events.is_empty() {
                        self.events.push(now, process, What::Ready);
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Looks a request up. Whether it is over already.
    fn ask(&mut self, now: Nanos, process: u32, ask: Ask) -> Result<bool, ReplayError> {
        for other in self.later.drain(..) {
            self.events.push(now, other, What::Ready);
        }
        let demand = demand(&ask);
        let Span { offset_bytes, length_bytes } = demand.span();
        if demand.span().end() > self.size_bytes {
            let size_bytes = self.size_bytes;
            Err(DiscError::PastTheEnd { offset_bytes, length_bytes, size_bytes })?;
        }
        let lookup = self.cache.initiate(&demand);
        self.seen.looked(ask.operation, &lookup);
        self.watch.initiated(now, process, &ask, &lookup);
        let asked = Asked { ask, at: now, lookup, spent: None, is_done: true };
        self.processes[process as usize].asked = Some(asked);
        let over = self.work(now, lookup.work);
        if over > now {
            self.events.push(over, process, What::Initiated);
            return Ok(false);
        }
        Ok(self.initiated(now, process))
    }

    /// Has the processor do what the cache needs; when it is over.
    pub(super) fn work(&mut self, now: Nanos, work: Work) -> Nanos {
        self.seen.comparisons += work.comparisons;
        self.seen.copied_bytes += work.copied_bytes;
        self.processor.interrupt(now, self.machine.cpu.price(work))
    }
}

pub(super) fn demand(ask: &Ask) -> Demand {
    let &Ask { operation, offset_bytes, length_bytes, position } = ask;
    Demand { operation, offset_bytes, length_bytes, position }
}
