//! Repeated touches of mapped pages, seen from outside: at intervals, the pages that the processor has
//! marked as accessed are read from the page tables, and the marks are taken away (`clear_refs` in
//! `Documentation/filesystems/proc.rst`).
//!
//! Nothing is injected, and no process is stopped. What is touched twice in an interval counts once, and in
//! which order is not known: pages of an interval are reported in an order that is none, since an
//! order of addresses would look like a scan. So the trace means nothing for caches that hold less than a few
//! intervals touch. Processes that end within an interval take their marks with them.
//!
//! Taking marks away holds up faults and mappings of the process meanwhile. The interval is at least 25
//! times as long as that took, so that a process waits for it 4 % of the time at most. A touch between reading and
//! taking away is lost. A large page has one mark for 2 MiB: it is reported as mapped once, since the kernel has no event
//! for that. Its next touches count as not seen in a command; programs that run have a touch of all its pages. Needs
//! x86-64, root or `CAP_BPF`, `CAP_PERFMON` and `CAP_SYS_PTRACE`, and Linux 5.10 with its own description (BTF).

mod care;
mod memory;
mod opened;
mod process;
mod program;
mod resident;
mod tables;

use std::collections::{BTreeMap, BTreeSet};
use std::io;

pub(super) use care::Care;
use memory::KernelMemory;
use process::{Marked, Page, Process, is_running};
use resident::Resident;

use super::log::{Event, Kind};
use super::names::Key;
use crate::sys::process::monotonic_ns;
use crate::trace::{Looks, Snapshot};

/// Shorter intervals lose more touches than they tell apart.
const EVERY_NS_MIN: u64 = 50_000_000;
const EVERY_NS_MAX: u64 = 3_000_000_000;
/// How many times longer than taking the marks away.
const TIMES: u64 = 25;
/// Each touch is an event of a few bytes in the log: 100,000 a second, at most.
const TOUCH_NS: u64 = 10_000;
/// Looks at a process after which what it mapped is taken for followed: a second, about.
const ROUNDS_MIN: u32 = 20;
/// How long nbuf looks at processes before it does its other work.
const LOOK_NS: u64 = 20_000_000;
/// How long marks are left alone before nbuf checks again whether it may take them away.
const REST_NS: u64 = 100_000_000;
/// The processes of a recording, and what they have mapped.
#[derive(Debug)]
pub(super) struct Touched {
    state: State,
    processes: BTreeMap<u32, Process>,
    every_ns: u64,
    due_ns: u64,
    round: Round,
    looks: Looks,
    /// For programs that run; a command is looked at without limits.
    care: Option<Care>,
    /// What was cached, if that is wanted.
    resident: Option<Resident>,
}

/// A round of looks under way.
#[derive(Debug, Default)]
struct Round {
    /// The process to go on with.
    next: u32,
    /// Pages that were touched, and how long it took to take the marks away.
    pages: u64,
    took_ns: u64,
}

#[derive(Debug)]
enum State {
    /// Opened with the first look: most commands end before.
    Closed,
    Open(Box<KernelMemory>),
    /// It cannot be had; [`probe`] says why.
    Refused,
}

/// Whether page tables can be read here. An error says why not.
pub(super) fn probe() -> io::Result<()> {
    KernelMemory::open().map(drop)
}

impl Touched {
    /// Nothing is looked at yet.
    pub(super) fn new() -> Self {
        Self {
            state: State::Closed,
            processes: BTreeMap::new(),
            every_ns: EVERY_NS_MIN,
            due_ns: 0,
            round: Round::default(),
            looks: Looks::default(),
            care: None,
            resident: None,
        }
    }

    /// The same for programs that run.
    pub(super) fn careful(care: Care) -> Self {
        let resident = care.has_snapshot().then(Resident::default);
        Self { care: Some(care), resident, ..Self::new() }
    }

    /// A process begins.
    pub(super) fn meet(&mut self, process: u32) {
        self.processes.entry(process).or_insert_with(|| Process::met(monotonic_ns()));
    }

    /// The advice that a process gave of the files that it has open, before it was met. None where it cannot be had.
    /// Sees what is cached of them, too.
    pub(super) fn advised(&mut self, process: u32) -> Vec<(Key, u64)> {
        if matches!(self.state, State::Closed) {
            self.state =
                KernelMemory::open().map_or(State::Refused, |memory| State::Open(Box::new(memory)));
        }
        let State::Open(memory) = &mut self.state else { return Vec::new() };
        if let Some(resident) = &mut self.resident
            && resident.add(memory, process).is_err()
        {
            self.resident = None;
        }
        opened::advised(memory, process).unwrap_or_default()
    }

    /// What of these files was cached when their processes were met; nothing where that could not be read.
    pub(super) fn snapshot(&mut self, is_wanted: impl Fn(Key) -> bool) -> Option<Snapshot> {
        self.resident.take()?.finish(is_wanted)
    }

    /// A process mapped pages.
    pub(super) fn map(&mut self, process: u32, pages: u64) {
        if let Some(process) = self.processes.get_mut(&process) {
            process.mapped += pages;
        }
    }

    /// Looks, if it is time to, and hands over the pages that were touched since, as events. `file` is the
    /// file that the kernel means, and `None` if it is none of the command's.
    pub(super) fn look(
        &mut self,
        now: u64,
        file: impl Fn(Key) -> Option<Key>,
        mut each: impl FnMut(Event) -> io::Result<()>,
    ) -> io::Result<()> {
        if self.due_ns == 0 {
            self.due_ns = now + self.every_ns;
        }
        if now < self.due_ns || matches!(self.state, State::Refused) || !self.may_look(now) {
            return Ok(());
        }
        let Ok((Marked { mut pages, mut large, units }, is_whole)) = self.touched(now) else {
            // The recording goes on without.
            self.state = State::Refused;
            return Ok(());
        };
        let end_ns = monotonic_ns();
        self.round.pages += (pages.len() + units.len()) as u64;
        if is_whole {
            self.end_round(end_ns);
        }
        let number = self.looks.rounds;
        for (kind, pages) in [(Kind::MapPages, &mut large), (Kind::Touch, &mut pages)] {
            pages.sort_by_cached_key(|page| scattered(number, &page.0));
            for &mut (((device, inode), index), task) in pages {
                let Some((device, inode)) = file((device, inode)) else { continue };
                let extent = if kind == Kind::Touch { 0 } else { index };
                let is_large = u64::from(kind == Kind::MapPages);
                match self.care {
                    Some(_) => self.looks.large_pages += is_large,
                    None => self.looks.unseen_pages += is_large,
                }
                each(Event { time_ns: end_ns, task, kind, device, inode, index, extent })?;
            }
        }
        for (((device, inode), index), extent, task) in units {
            let is_wanted = self.care.is_some();
            let Some((device, inode)) = file((device, inode)).filter(|_| is_wanted) else {
                continue;
            };
            let kind = Kind::Touch;
            each(Event { time_ns: end_ns, task, kind, device, inode, index, extent })?;
        }
        Ok(())
    }

    /// Whether marks may be taken away now.
    fn may_look(&mut self, now: u64) -> bool {
        let Self { care: Some(care), looks, .. } = self else { return true };
        let may = care.may_look(now, looks);
        if !may {
            // Marks that gather meanwhile are of no interval.
            self.processes.values_mut().for_each(Process::forget_marks);
            self.due_ns = now + REST_NS;
        }
        may
    }

    /// All processes were looked at; chooses when to look next.
    fn end_round(&mut self, end_ns: u64) {
        let Round { pages, took_ns, .. } = std::mem::take(&mut self.round);
        self.looks.rounds += 1;
        let interval_ns = end_ns.saturating_sub(self.due_ns) + self.every_ns;
        self.looks.interval_ns = self.looks.interval_ns.max(interval_ns);
        self.looks.pages_max = self.looks.pages_max.max(pages);
        let every_ns = took_ns.saturating_mul(TIMES).max(pages.saturating_mul(TOUCH_NS));
        self.every_ns = every_ns.clamp(EVERY_NS_MIN, EVERY_NS_MAX);
        self.due_ns = end_ns + self.every_ns;
    }

    /// The pages of the next processes that are marked, each once. Takes the marks
    /// away. And whether these were the last of the round: where many processes run, each look waits for
    /// some of them, and nbuf has other work, too.
    fn touched(&mut self, now: u64) -> io::Result<(Marked, bool)> {
        if matches!(self.state, State::Closed) {
            self.state = State::Open(Box::new(KernelMemory::open()?));
        }
        let State::Open(memory) = &mut self.state else { return Ok((Marked::default(), true)) };
        let pause_ns = self.care.as_ref().map_or(u64::MAX, Care::pause_ns);
        // Many processes live no longer.
        let is_old = |process: &Process| process.met_ns.saturating_add(self.every_ns) <= now;
        let is_due = |process: &Process| is_old(process) && process.is_due(now);
        let rest = self.processes.range(self.round.next..).filter(|(_, process)| is_due(process));
        let numbers: BTreeSet<u32> = rest.map(|(&number, _)| number).collect();
        let mapped = memory.mapped(&numbers)?;
        let mut marked = Marked::default();
        let mut is_whole = true;
        for number in numbers {
            if monotonic_ns().saturating_sub(now) > LOOK_NS {
                self.round.next = number;
                is_whole = false;
                break;
            }
            let Some((mapped, process)) = mapped.get(&number).zip(self.processes.get_mut(&number))
            else {
                if !is_running(number) {
                    memory.forget(number);
                    if let Some(process) = self.processes.remove(&number) {
                        self.looks.end_with(&process);
                    }
                }
                continue;
            };
            process.look_at_maps(number, mapped);
            process.accessed(number, memory, mapped, &mut marked)?;
            let took = process.take_marks(number, self.every_ns, pause_ns);
            self.round.took_ns += took.cpu_ns;
            self.looks.clear_ns_max = self.looks.clear_ns_max.max(took.ns);
            self.looks.interval_ns = self.looks.interval_ns.max(took.rest_ns);
            self.looks.left_out += u64::from(process.is_left_out());
        }
        marked.sort();
        Ok((marked, is_whole))
    }

    /// What is to be said of it in the end; nothing where it was not possible.
    pub(super) fn finish(&mut self) -> Option<Looks> {
        self.processes.values().for_each(|process| self.looks.end_with(process));
        if let Some(care) = &mut self.care {
            care.finish(monotonic_ns(), &mut self.looks);
        }
        let is_off = self.care.as_ref().is_some_and(Care::is_off);
        (matches!(self.state, State::Open(_)) && !is_off).then_some(self.looks)
    }
}

impl Looks {
    /// A process ended.
    fn end_with(&mut self, process: &Process) {
        let is_unseen = process.rounds < ROUNDS_MIN || process.is_left_out();
        let pages = if is_unseen { &mut self.unseen_pages } else { &mut self.seen_pages };
        *pages += process.mapped;
    }
}

/// The same number for the same page and round in every run, and no order among neighbours.
fn scattered(round: u64, &((device, inode), index): &Page) -> u64 {
    let mixed = (round << 32 ^ u64::from(device) ^ inode << 20).wrapping_add(index);
    mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}
