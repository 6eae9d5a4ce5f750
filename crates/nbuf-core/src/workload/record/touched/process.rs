//! One process: what it has mapped, and which of that it touched.

use std::collections::HashSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::ops::Range;

use super::care::Slow;
use super::memory::{KernelMemory, Mapped};
use super::tables::accessed;
use crate::sys::process::{monotonic_ns, thread_time_ns};
use crate::units::PAGE_BYTES;
use crate::workload::record::area::Area;
use crate::workload::record::names::Key;

/// Takes the marks of pages of files (`CLEAR_REFS_MAPPED`).
const FILES: &[u8] = b"3";

/// A process that is looked at.
#[derive(Debug, Default)]
pub(super) struct Process {
    /// What it had mapped when that was looked at last.
    stamp: Option<(u64, u32, u64)>,
    ranges: Vec<Range<u64>>,
    /// The file of each range, and the page of the file at the beginning of the range.
    files: Vec<(Key, u64)>,
    /// Pages that it mapped.
    pub(super) mapped: u64,
    /// Where large pages begin that were reported.
    large: HashSet<Page>,
    /// When it was met, and how often it was looked at.
    pub(super) met_ns: u64,
    pub(super) rounds: u32,
    /// Whether its marks were taken away one interval ago.
    is_fresh: bool,
    slow: Slow,
    /// If it is slow, the time before which it is left alone.
    due_ns: u64,
}

/// How long it took to take marks away.
#[derive(Clone, Copy, Debug)]
pub(super) struct Took {
    /// As a clock on the wall shows it: the process may have waited for so long.
    pub(super) ns: u64,
    /// By processor time: what else runs on a busy machine holds up no fault.
    pub(super) cpu_ns: u64,
    /// How long the process is left alone now; 0 if it is not slow.
    pub(super) rest_ns: u64,
}

/// A page of a file.
pub(super) type Page = (Key, u64);

/// Pages that are marked, each with a process that touched it.
#[derive(Debug, Default)]
pub(super) struct Marked {
    pub(super) pages: Vec<(Page, u32)>,
    /// Those of large pages that were not reported before.
    pub(super) large: Vec<(Page, u32)>,
    /// Large pages that were: the first page, how many there are, and a process.
    pub(super) units: Vec<(Page, u64, u32)>,
}

impl Marked {
    /// Each once, in order.
    pub(super) fn sort(&mut self) {
        for pages in [&mut self.pages, &mut self.large] {
            pages.sort_unstable();
            pages.dedup_by_key(|(page, _)| *page);
        }
        self.units.sort_unstable();
        self.units.dedup_by_key(|(page, ..)| *page);
    }
}

impl Process {
    /// It begins.
    pub(super) fn met(met_ns: u64) -> Self {
        Self { met_ns, ..Self::default() }
    }

    /// Whether it may be looked at.
    pub(super) fn is_due(&self, now_ns: u64) -> bool {
        self.due_ns <= now_ns && !self.is_left_out()
    }

    /// Whether it is not looked at any more, because taking its marks away takes too long.
    pub(super) fn is_left_out(&self) -> bool {
        self.slow.is_over()
    }

    /// Its marks were left alone.
    pub(super) fn forget_marks(&mut self) {
        self.is_fresh = false;
    }

    /// Takes its marks away, which may take `pause_ns`.
    pub(super) fn take_marks(&mut self, number: u32, every_ns: u64, pause_ns: u64) -> Took {
        let (begin_ns, cpu_ns) = (monotonic_ns(), thread_time_ns());
        if take_marks(number).is_ok() {
            self.rounds += 1;
            self.is_fresh = true;
        }
        let end_ns = monotonic_ns();
        let ns = end_ns.saturating_sub(begin_ns);
        self.slow.took(ns, pause_ns);
        let rest_ns = every_ns.saturating_mul(self.slow.times() - 1);
        self.due_ns = end_ns.saturating_add(rest_ns);
        Took { ns, cpu_ns: thread_time_ns().saturating_sub(cpu_ns), rest_ns }
    }

    /// Adds its pages that are marked. The marks of its first interval are of faults, which are events of their own.
    pub(super) fn accessed(
        &mut self,
        number: u32,
        memory: &mut KernelMemory,
        mapped: &Mapped,
        marked: &mut Marked,
    ) -> io::Result<()> {
        if !self.is_fresh {
            return Ok(());
        }
        let Self { ranges, files, large, .. } = self;
        accessed(memory, mapped.space, ranges, &mut |touched| {
            let at = ranges.partition_point(|range| range.end <= touched.start);
            let Some((range, &(key, first))) = ranges.get(at).zip(files.get(at)) else { return };
            let from = first + (touched.start - range.start) / PAGE_BYTES;
            let count = (touched.end - touched.start) / PAGE_BYTES;
            let pages = match count {
                1 => &mut marked.pages,
                _ if large.insert((key, from)) => &mut marked.large,
                _ => return marked.units.push(((key, from), count, number)),
            };
            pages.extend((from..from + count).map(|index| ((key, index), number)));
        })
    }

    pub(super) fn look_at_maps(&mut self, number: u32, mapped: &Mapped) {
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

/// Takes its marks away.
fn take_marks(process: u32) -> io::Result<()> {
    let path = format!("/proc/{process}/clear_refs");
    OpenOptions::new().write(true).open(path)?.write_all(FILES)
}

/// Whether it runs.
pub(super) fn is_running(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}
