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
//! taking away is lost. Large pages have one mark for 2 MiB. Needs x86-64, root or `CAP_BPF`, `CAP_PERFMON`
//! and `CAP_SYS_PTRACE`, and Linux 5.10 with its own description (BTF).

mod btf;
mod memory;
mod program;
mod tables;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::ops::Range;

use memory::{KernelMemory, Mapped};
use tables::accessed;

use super::area::Area;
use super::log::{Event, Kind};
use super::names::Key;
use crate::sys::process::monotonic_ns;
use crate::trace::Looks;
use crate::units::PAGE_BYTES;

/// Shorter intervals lose more touches than they tell apart.
const EVERY_NS_MIN: u64 = 50_000_000;
const EVERY_NS_MAX: u64 = 3_000_000_000;
/// How many times longer than taking the marks away.
const TIMES: u64 = 25;
/// Each touch is an event of a few bytes in the log: 100,000 a second, at most.
const TOUCH_NS: u64 = 10_000;
/// Takes the marks of pages of files (`CLEAR_REFS_MAPPED`).
const FILES: &[u8] = b"3";

/// The processes of a recording, and what they have mapped.
#[derive(Debug)]
pub(super) struct Touched {
    state: State,
    processes: BTreeMap<u32, Process>,
    every_ns: u64,
    due_ns: u64,
    looks: Looks,
}

#[derive(Debug)]
enum State {
    /// Opened with the first look: most commands end before.
    Closed,
    Open(Box<KernelMemory>),
    /// It cannot be had; [`probe`] says why.
    Refused,
}

#[derive(Debug, Default)]
struct Process {
    /// What it had mapped when that was looked at last.
    stamp: Option<(u64, u32, u64)>,
    ranges: Vec<Range<u64>>,
    /// Of each range: its file, and the page of the file that its first one is.
    files: Vec<(Key, u64)>,
    /// Pages that it mapped since the last look.
    mapped: u64,
}

/// A page of a file.
type Page = (Key, u64);

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
            looks: Looks::default(),
        }
    }

    /// A process begins.
    pub(super) fn meet(&mut self, process: u32) {
        self.processes.entry(process).or_default();
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
        if now < self.due_ns || matches!(self.state, State::Refused) {
            return Ok(());
        }
        let Ok(mut pages) = self.touched() else {
            // The recording goes on without.
            self.state = State::Refused;
            return Ok(());
        };
        let end_ns = monotonic_ns();
        self.looks.rounds += 1;
        self.looks.interval_ns = self.looks.interval_ns.max(end_ns - self.due_ns + self.every_ns);
        self.looks.pages_max = self.looks.pages_max.max(pages.len() as u64);
        self.due_ns = end_ns + self.every_ns;
        let round = self.looks.rounds;
        pages.sort_by_cached_key(|page| scattered(round, &page.0));
        for (((device, inode), index), task) in pages {
            let Some((device, inode)) = file((device, inode)) else { continue };
            let kind = Kind::Touch;
            each(Event { time_ns: end_ns, task, kind, device, inode, index, extent: 0 })?;
        }
        Ok(())
    }

    /// Of all processes: the pages that are marked, each once, with one that touched it. Takes the marks
    /// away.
    fn touched(&mut self) -> io::Result<Vec<(Page, u32)>> {
        if matches!(self.state, State::Closed) {
            self.state = State::Open(Box::new(KernelMemory::open()?));
        }
        let State::Open(memory) = &mut self.state else { return Ok(Vec::new()) };
        let numbers: BTreeSet<u32> = self.processes.keys().copied().collect();
        let mapped = memory.mapped(&numbers)?;
        let (mut pages, mut took_ns, mut gone) = (Vec::new(), 0, Vec::new());
        for (&number, process) in &mut self.processes {
            let Some(mapped) = mapped.get(&number) else {
                gone.push(number);
                continue;
            };
            process.look_at_maps(number, mapped);
            let Process { ranges, files, .. } = process;
            accessed(memory.as_mut(), mapped.space, ranges, &mut |touched| {
                let at = ranges.partition_point(|range| range.end <= touched.start);
                let Some((range, &(key, first))) = ranges.get(at).zip(files.get(at)) else {
                    return;
                };
                let from = first + (touched.start - range.start) / PAGE_BYTES;
                let count = (touched.end - touched.start) / PAGE_BYTES;
                pages.extend((from..from + count).map(|index| ((key, index), number)));
            })?;
            let begin_ns = monotonic_ns();
            if take_marks(number).is_ok() {
                self.looks.seen_pages += std::mem::take(&mut process.mapped);
            }
            took_ns += monotonic_ns() - begin_ns;
        }
        for number in gone.into_iter().filter(|&number| !is_running(number)) {
            memory.forget(number);
            let process = self.processes.remove(&number);
            self.looks.unseen_pages += process.map_or(0, |process| process.mapped);
        }
        pages.sort_unstable();
        pages.dedup_by_key(|(page, _)| *page);
        let every_ns = took_ns.saturating_mul(TIMES).max(pages.len() as u64 * TOUCH_NS);
        self.every_ns = every_ns.clamp(EVERY_NS_MIN, EVERY_NS_MAX);
        Ok(pages)
    }

    /// What is to be said of it in the end; nothing where it was not possible.
    pub(super) fn finish(&mut self) -> Option<Looks> {
        let left: u64 = self.processes.values().map(|process| process.mapped).sum();
        self.looks.unseen_pages += left;
        matches!(self.state, State::Open(_)).then_some(self.looks)
    }
}

impl Process {
    fn look_at_maps(&mut self, number: u32, mapped: &Mapped) {
        if self.stamp == Some(mapped.stamp) {
            return;
        }
        self.stamp = Some(mapped.stamp);
        self.ranges.clear();
        self.files.clear();
        let text = fs::read(format!("/proc/{number}/maps")).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        // A copy of the process's own is no page of the file.
        for area in text.lines().filter_map(Area::parse).filter(|area| !area.is_copied) {
            self.files.push(((area.device, area.inode), area.offset / PAGE_BYTES));
            self.ranges.push(area.range);
        }
    }
}

fn take_marks(process: u32) -> io::Result<()> {
    let path = format!("/proc/{process}/clear_refs");
    OpenOptions::new().write(true).open(path)?.write_all(FILES)
}

fn is_running(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

/// The same number for the same page and round in every run, and no order among neighbours.
fn scattered(round: u64, &((device, inode), index): &Page) -> u64 {
    let mixed = (round << 32 ^ u64::from(device) ^ inode << 20).wrapping_add(index);
    mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}
