//! Capture by programs in the kernel: the tracepoints of the page cache, for what runs in a group or was marked.
//!
//! The programs are written here and checked by the kernel; where members are, its own description says. One ring
//! has the records of all processors. Losses are what the programs counted beyond what was received.
//! Needs the kernel's description (BTF), folios, and these tracepoints; tried on Linux 6.18. Cost: docs/live.md has the nanoseconds of an event.
//!
//! For root alone: the kernel takes perf's events off a program that changes its account, and these it does not.

mod filter;
mod kernel;
mod program;
mod reclaimers;
mod sample;
mod whom;

use std::fs;
use std::io;
use std::os::fd::AsFd as _;

use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::events::Source;
use super::log::{Event, Kind};
use super::running::Running;
use crate::sys::bpf::counters::Counters;
use crate::sys::bpf::stream::Stream;
use crate::sys::bpf::tracing::{Link, Tracing};
use crate::trace::Reclaimed;
use crate::trace::sampled::ALL;
use kernel::Kernel;
use program::{LINE_BYTES, Numbers, RECORD_BYTES, Word, hashes_word};
use whom::Whom;

/// `PIDFD_THREAD`: a descriptor of one thread.
const THREAD: u32 = libc::O_EXCL.cast_unsigned();
/// The ring of all processors is no larger.
const RING_BYTES_MAX: usize = 256 << 20;

/// Programs that are loaded, and run from [`Programs::attach`] on.
#[derive(Debug)]
pub(super) struct Programs {
    loaded: Vec<Tracing>,
    links: Vec<Link>,
    /// Paths of the tracepoints.
    paths: Vec<&'static str>,
    whom: Whom,
    stream: Stream,
    counters: Counters,
    lines: usize,
    sampled: bool,
    received: u64,
}

impl Programs {
    /// Loads the programs for these tracepoints, as far as the kernel describes them.
    ///
    /// # Errors
    /// What is missing: rights, a description, or a tracepoint that every recording needs.
    pub(super) fn open(
        sources: &[Source],
        running: &Running,
        ring_bytes: usize,
        sampled: bool,
    ) -> io::Result<Self> {
        let missing = |what: String| io::Error::new(io::ErrorKind::Unsupported, what);
        let kernel = Kernel::described()
            .ok_or_else(|| missing("this kernel does not describe its page cache (BTF)".into()))?;
        if !super::machine::is_in_first_pid_namespace() {
            return Err(missing(
                "programs in the kernel number tasks by another PID namespace".into(),
            ));
        }
        let whom = Whom::of(running)?;
        let processors = processors_possible()?;
        let page = rustix::param::page_size();
        let online = super::machine::processors_online()?.len();
        let ring_bytes = ring_bytes.saturating_mul(online.max(1)).min(RING_BYTES_MAX);
        let stream = Stream::new(ring_bytes.next_power_of_two().max(page))?;
        let lines = processors.max(1).next_power_of_two();
        let counters = Counters::zeroes(((lines + 1) * LINE_BYTES).div_ceil(page))?;
        let numbers =
            Numbers { stream: stream.number(), counters: counters.number(), lines, sampled };
        counters.set(hashes_word(lines), ALL);
        let (mut loaded, mut paths) = (Vec::new(), Vec::new());
        for source in sources {
            let written = kernel
                .kind(source.path)
                .and_then(|kind| Some((kind, program::of(kernel, source, &whom, &numbers)?)));
            match written {
                Some((kind, code)) => {
                    loaded.push(Tracing::load(&code, kind)?);
                    paths.push(source.path);
                }
                None if source.required => {
                    return Err(missing(format!("tracepoint {} is not described", source.path)));
                }
                None => {}
            }
        }
        if let Whom::Marked(marks) = &whom {
            let (kind, code) =
                kernel.fork_kind().zip(filter::fork(kernel, marks.number())).ok_or_else(|| {
                    missing("the tracepoint of new processes is not described".into())
                })?;
            loaded.push(Tracing::load(&code, kind)?);
        }
        Ok(Self {
            loaded,
            links: Vec::new(),
            paths,
            whom,
            stream,
            counters,
            lines,
            sampled,
            received: 0,
        })
    }

    /// Whether all of it can be had here; really tries.
    pub(super) fn probe() -> io::Result<()> {
        let own = Running { processes: vec![std::process::id()], cgroup: None };
        let sources: Vec<Source> =
            super::events::SOURCES.iter().filter(|source| source.required).copied().collect();
        Self::open(&sources, &own, rustix::param::page_size(), true).map(drop)
    }

    /// Whether the events of this tracepoint come from here.
    pub(super) fn has(&self, path: &str) -> bool {
        self.paths.contains(&path)
    }

    /// Watches a process too, if processes are marked: a group has those that are in it. What is begun from now on
    /// inherits a mark.
    pub(super) fn mark(&self, process: u32) -> io::Result<()> {
        let Whom::Marked(marks) = &self.whom else { return Ok(()) };
        let mark = |task: u32, flags: PidfdFlags| {
            let number = Pid::from_raw(task.cast_signed()).ok_or(io::ErrorKind::InvalidInput)?;
            marks.add(pidfd_open(number, flags)?.as_fd())
        };
        mark(process, PidfdFlags::empty())?;
        // It may have ended meanwhile, and has no threads then.
        let threads = fs::read_dir(format!("/proc/{process}/task"));
        for thread in threads.into_iter().flatten().flatten() {
            let thread = thread.file_name().to_string_lossy().parse().unwrap_or(process);
            // It may have ended; and before Linux 6.9 there are no descriptors of threads.
            let _ = mark(thread, PidfdFlags::from_bits_retain(THREAD));
        }
        Ok(())
    }

    /// From now on they run.
    pub(super) fn attach(&mut self) -> io::Result<()> {
        if self.links.is_empty() {
            self.links = self.loaded.iter().map(Tracing::attach).collect::<io::Result<_>>()?;
        }
        Ok(())
    }

    /// They do not run any more.
    pub(super) fn stop(&mut self) {
        self.links.clear();
    }

    /// Hands over what was recorded since the last time, almost in order of time.
    pub(super) fn drain(&mut self, mut each: impl FnMut(Event)) {
        let received = &mut self.received;
        self.stream.drain(|bytes| {
            *received += 1;
            if let Some(event) = event(bytes) {
                each(event);
            }
        });
    }

    /// Events that were counted, and those of them that never reached us.
    pub(super) fn losses(&self) -> (u64, u64) {
        let (seen, kept) = self.seen();
        (seen, kept.saturating_sub(self.received))
    }

    /// Events of those who are watched, and those of them that were to be recorded.
    pub(super) fn seen(&self) -> (u64, u64) {
        let seen = self.sum(Word::Seen);
        (seen, if self.sampled { self.sum(Word::Kept) } else { seen })
    }

    /// Records pages with hashes below this, of 2^32, from now on.
    pub(super) fn sample(&self, hashes: u64) {
        self.counters.set(hashes_word(self.lines), hashes);
    }

    /// Pages that were accessed by calls and faults, in the sample or not.
    pub(super) fn accesses(&self) -> u64 {
        self.sum(Word::Accesses)
    }

    /// Pages of files that reclaimers took meanwhile, from any program.
    pub(super) fn reclaimed(&self) -> Vec<Reclaimed> {
        let all = [("kswapd", Word::Kswapd), ("kdamond", Word::Kdamond)];
        let all = all.map(|(name, word)| Reclaimed { name: name.into(), pages: self.sum(word) });
        all.into_iter().filter(|reclaimed| reclaimed.pages > 0).collect()
    }

    /// The fullest that the ring has been.
    pub(super) fn ring_high_water_bytes(&self) -> u64 {
        self.stream.high_water_bytes()
    }

    /// Over all processors.
    fn sum(&self, word: Word) -> u64 {
        let lines = (0..hashes_word(self.lines)).step_by(LINE_BYTES / 8);
        lines.map(|line| self.counters.get(line + word as usize)).sum()
    }
}

/// Reads a record.
fn event(bytes: &[u8]) -> Option<Event> {
    let record: &[u8; RECORD_BYTES as usize] =
        bytes.get(..RECORD_BYTES as usize)?.try_into().ok()?;
    let word = |at: usize| {
        let bytes = record.get(8 * at..8 * at + 8)?;
        bytes.try_into().ok().map(u64::from_ne_bytes)
    };
    let half = |at: usize| {
        let bytes = record.get(4 * at..4 * at + 4)?;
        bytes.try_into().ok().map(u32::from_ne_bytes)
    };
    let kind = [Kind::GetPages, Kind::Fault, Kind::MapPages, Kind::Add, Kind::Delete, Kind::Write];
    let kind = kind.into_iter().find(|&kind| Some(kind as u64) == word(5))?;
    Some(Event {
        time_ns: word(0)?,
        inode: word(1)?,
        index: word(2)?,
        extent: word(3)?,
        device: half(8)?,
        task: half(9)?,
        kind,
    })
}

/// Processors that there may be: their numbers are below this.
fn processors_possible() -> io::Result<usize> {
    let text = fs::read_to_string("/sys/devices/system/cpu/possible")?;
    let last = text.trim().rsplit(['-', ',']).next().and_then(|last| last.parse::<usize>().ok());
    last.map(|last| last + 1).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

#[cfg(test)]
mod tests;
