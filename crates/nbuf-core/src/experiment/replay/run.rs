//! The loop of a replay: what comes next, and what comes of it.

use super::clients::{Clients, Next};
use super::events::{Event, Events, What};
use super::observer::Observer;
use super::processor::{Computed, Processor};
use super::stats::Stats;
use super::{Machine, ReplayError};
use crate::cache::layer::{Layer, Lookup, Work};
use crate::disc::{Breakdown, Disc, DiscError};
use crate::trace::request::{Request, Span};
use crate::units::Nanos;
use crate::workload::process::Step;

/// How long a real disc is waited for before the clients are asked whether they are over.
const PATIENCE: Nanos = Nanos(100_000_000);

/// Runs clients to their end. Costs as much memory as there are processes.
pub fn replay<D, C, W>(
    machine: &Machine,
    cache: &mut dyn Layer,
    disc: &mut D,
    clients: &mut C,
    observer: &mut W,
) -> Result<Stats, ReplayError>
where
    D: Disc + ?Sized,
    C: Clients + ?Sized,
    W: Observer + ?Sized,
{
    let count = clients.count();
    let size_bytes = disc.size_bytes();
    let mut run = Run {
        machine,
        cache,
        disc,
        clients,
        size_bytes,
        tick_at: observer.period().unwrap_or(Nanos::MAX),
        observer,
        events: Events::default(),
        processor: Processor::default(),
        processes: vec![Asker::default(); count as usize],
        later: Vec::new(),
        under_way: 0,
        busy_since: Nanos::ZERO,
        buffers: Vec::new(),
        stats: Stats::default(),
    };
    (0..count).for_each(|process| run.events.push(Nanos::ZERO, process, What::Ready));
    run.run()
}

/// A request that is under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingRequest {
    pub(super) request: Request,
    pub(super) at: Nanos,
    pub(super) lookup: Lookup,
    pub(super) breakdown: Option<Breakdown>,
    pub(super) is_done: bool,
}

/// What is known of a process.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Asker {
    pub(super) pending: Option<PendingRequest>,
    command_at: Option<Nanos>,
}

pub(super) struct Run<'a, D: ?Sized, C: ?Sized, W: ?Sized> {
    pub(super) machine: &'a Machine,
    pub(super) cache: &'a mut dyn Layer,
    pub(super) disc: &'a mut D,
    clients: &'a mut C,
    pub(super) observer: &'a mut W,
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
    pub(super) stats: Stats,
}

impl<D: Disc + ?Sized, C: Clients + ?Sized, W: Observer + ?Sized> Run<'_, D, C, W> {
    fn run(mut self) -> Result<Stats, ReplayError> {
        let mut now = Nanos::ZERO;
        loop {
            let until = self.events.next_at();
            // A real disc lets time go by also where nothing is under way.
            if self.under_way > 0 || self.machine.moves_bytes {
                let is_waiting = self.machine.moves_bytes && until < Nanos::MAX;
                let look = if is_waiting { until.min(now + PATIENCE) } else { until };
                if let Some(completion) = self.disc.next_completion(look) {
                    now = completion.at.max(now);
                    self.tick(now);
                    self.completed(now, completion)?;
                    continue;
                }
                if look < until {
                    now = look;
                    self.tick(now);
                    if self.under_way == 0 && self.clients.is_over() {
                        break;
                    }
                    continue;
                }
            }
            let Some(event) = self.events.pop() else { break };
            now = event.at.max(now);
            self.tick(now);
            self.happen(now, event)?;
        }
        self.stats.elapsed = now;
        self.stats.computed = self.processor.computed;
        self.stats.interrupts_off = self.processor.interrupts_off;
        self.observer.end(now, self.cache);
        Ok(self.stats)
    }

    /// Lets the watcher look at the ends of all periods up to now.
    fn tick(&mut self, now: Nanos) {
        while self.tick_at <= now && self.tick_at < Nanos::MAX {
            self.observer.tick(self.tick_at, self.cache);
            self.tick_at = self.observer.period().map_or(Nanos::MAX, |period| {
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
            let step = match self.clients.next(process) {
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
                        self.stats.commands.add(now - began);
                    }
                }
                Step::Request(request) => {
                    if !self.ask(now, process, request)? {
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
    fn ask(&mut self, now: Nanos, process: u32, request: Request) -> Result<bool, ReplayError> {
        for other in self.later.drain(..) {
            self.events.push(now, other, What::Ready);
        }
        let Span { offset_bytes, length_bytes } = request.span();
        if request.span().end() > self.size_bytes {
            let size_bytes = self.size_bytes;
            Err(DiscError::PastTheEnd { offset_bytes, length_bytes, size_bytes })?;
        }
        self.cache.allow(&request)?;
        let lookup = self.cache.initiate(&request);
        self.stats.looked(&request, &lookup);
        self.observer.initiated(now, process, &request, &lookup);
        let pending = PendingRequest { request, at: now, lookup, breakdown: None, is_done: true };
        self.processes[process as usize].pending = Some(pending);
        let over = self.work(now, lookup.work);
        if over > now {
            self.events.push(over, process, What::Initiated);
            return Ok(false);
        }
        Ok(self.initiated(now, process))
    }

    /// Has the processor do what the cache needs; when it is over.
    pub(super) fn work(&mut self, now: Nanos, work: Work) -> Nanos {
        self.stats.comparisons += work.comparisons;
        self.stats.copied_bytes += work.copied_bytes;
        self.processor.interrupt(now, self.machine.cpu.price(work))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::layer::NoCache;
    use crate::disc::Completion;
    use crate::experiment::replay::Cpu;
    use crate::trace::request::Op;

    /// Real, as far as anybody can see: it says until when it was waited for. Nothing takes time.
    #[derive(Default)]
    struct Waited {
        until: Vec<u64>,
        done: Option<Completion>,
    }

    impl Disc for Waited {
        fn size_bytes(&self) -> u64 {
            1 << 20
        }

        fn submit(&mut self, now: Nanos, request: Request, data: Vec<u8>) {
            let breakdown = Breakdown::default();
            self.done = Some(Completion { request, data, at: now, breakdown, outcome: Ok(()) });
        }

        fn next_completion(&mut self, until: Nanos) -> Option<Completion> {
            if self.done.is_none() && until < Nanos::MAX {
                self.until.push(until.0 / 1_000_000);
            }
            self.done.take()
        }

        fn under_way(&self) -> usize {
            self.done.iter().len()
        }
    }

    /// One process that asks at 50 and at 330 ms, and is over when that was asked so often.
    struct Listed {
        steps: std::vec::IntoIter<Step>,
        is_over_after: u32,
    }

    impl Clients for Listed {
        fn count(&self) -> u32 {
            1
        }

        fn next(&mut self, _: u32) -> Next {
            self.steps.next().map_or(Next::End, Next::Step)
        }

        fn is_over(&mut self) -> bool {
            self.is_over_after -= 1;
            self.is_over_after == 0
        }
    }

    #[test]
    fn who_waits_in_real_time_can_lose_patience() {
        let read = Step::Request(Request::new(Op::Read, 0, 512));
        let at = |time| Step::Until(Nanos::from_millis(time));
        let check = |is_over_after, want: (u64, u64), waits: &[u64]| {
            let steps = vec![at(50.0), read, at(330.0), read].into_iter();
            let mut clients = Listed { steps, is_over_after };
            let cpu = Cpu::named("free").expect("a row of the table");
            let machine = Machine { cpu, sector_bytes: 512, moves_bytes: true };
            let mut disc = Waited::default();
            let stats = replay(&machine, &mut NoCache, &mut disc, &mut clients, &mut ()).unwrap();
            assert_eq!((stats.requests(), stats.elapsed.0 / 1_000_000), want);
            disc.until.dedup();
            assert_eq!(disc.until, waits);
        };
        check(9, (2, 330), &[0, 50, 150, 250, 330]);
        check(1, (1, 150), &[0, 50, 150]);
        check(2, (1, 250), &[0, 50, 150, 250]);
    }
}
