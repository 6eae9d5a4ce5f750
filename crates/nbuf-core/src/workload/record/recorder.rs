//! The watcher that records: events, names and memory into one log, while the command runs.

mod budget;
mod error;
mod take;
mod watcher;

use std::collections::HashSet;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use super::advice::Advised;
use super::btrfs;
use super::container::Container;
use super::events::{SOURCES, Source};
use super::log::{Entry, LogWriter, MemorySeen};
use super::machine;
use super::mounts;
use super::names::{Key, Names};
use super::perf::Perf;
use super::pipes::Pipes;
use super::programs::Programs;
use super::reclaim;
use super::running::Running;
use super::touched::Touched;
use super::uncached::Detours;
use super::workers::Workers;
use super::writes::Writes;
use crate::sys::cgroup::Group;
use crate::sys::process::{monotonic_ns, thread_time_ns};
use crate::trace::sampled::ALL;
use crate::trace::{Capture, Facts, Sampled};
use crate::units::Bytes;
use crate::workload::command::Ended;

use budget::{Budget, EventCounts};
pub use error::Error;

const MEMORY_EVERY_NS: u64 = 25_000_000;
const FRAME_EVERY_NS: u64 = 500_000_000;

/// What is recorded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Subject<'a> {
    /// A command that is about to start.
    Command,
    /// Programs that run already, in groups of their own.
    Running {
        /// What they are.
        running: &'a Running,
        /// Whether programs in the kernel may record them.
        programs: bool,
        /// What these may cost, in processors, before they record a sample; without, they record all.
        overhead: Option<f64>,
    },
}

/// A recording under way.
#[derive(Debug)]
pub struct Recorder<'a, W: Write> {
    perf: Perf,
    budget: Option<Budget>,
    /// Processor time that it took to read the events.
    reader_ns: u64,
    names: Names,
    /// Where a file system without a tracepoint for writes may be written to.
    writes: Option<Writes>,
    uncached: Detours,
    advised: Advised,
    pipes: Pipes,
    workers: Workers,
    touched: Touched,
    reclaim: reclaim::Batches,
    log: LogWriter<W>,
    group: Option<&'a Group>,
    container: Option<Container<'a>>,
    facts: Facts,
    last_touched: Option<Key>,
    memory_due_ns: u64,
    frame_due_ns: u64,
    began: bool,
    /// Descriptors that become the command's standard input, output and error.
    given: Vec<i32>,
    /// Threads whose events are recorded, and running processes that were looked at.
    threads: HashSet<u32>,
    processes: HashSet<u32>,
    /// The thread that records, once it does.
    this_thread: u32,
    /// The first error of the log. The command is not ours to stop: it runs on, unrecorded.
    failed: Option<io::Error>,
}

impl<'a, W: Write> Recorder<'a, W> {
    /// Opens everything that can be opened before the command exists, and starts the log.
    pub fn prepare(
        command: Vec<String>,
        subject: Subject<'_>,
        group: Option<&'a Group>,
        out: W,
        ring_bytes: Option<usize>,
    ) -> Result<Self, Error> {
        let names = Names::listen();
        // Every process of the command inherits every event: none is opened in vain.
        let mounted = |source: &&Source| match source.path.split_once('/') {
            Some((system @ ("ext4" | "xfs"), _)) => {
                let of = &system[..3];
                names.mounts().iter().any(|mount| mount.filesystem.starts_with(of))
            }
            _ => true,
        };
        let sources: Vec<Source> = SOURCES.iter().filter(mounted).copied().collect();
        let mut perf = Perf::prepare(&sources)?.with_detours().with_advice().with_pipes();
        if let Some(bytes) = ring_bytes {
            perf = perf.with_ring_bytes(bytes);
        }
        let (mut perf, budget) = budget::with_programs(perf, &sources, subject);
        let mut facts = machine::facts(command);
        let (with_btrfs, seen) = perf.with_btrfs(btrfs::systems(names.mounts()));
        perf = with_btrfs;
        let seen = |mount: &mounts::Mount| seen(mount.device);
        let untraced = mounts::without_tracepoint(Path::new(&facts.directory), seen);
        let writes = (!untraced.is_empty()).then(|| Writes::new(untraced));
        if writes.is_some() {
            perf = perf.with_calls()?;
        }
        facts.devices = machine::devices(names.mounts(), &[], &facts.kernel);
        let backend = if perf.programs().is_some() { "bpf" } else { "perf" };
        facts.capture = Capture { backend: backend.into(), ..Capture::default() };
        facts.cgroup = group.map_or_else(String::new, |_| machine::cgroup().to_owned());
        if group.is_none() && subject == Subject::Command {
            let warning = "other memory is unknown: no private group could be made";
            facts.warnings.push(warning.to_owned());
        }
        let mut log = LogWriter::new(out)?;
        log.push(&Entry::Start(json(&facts)?))?;
        log.flush_frame()?;
        Ok(Self {
            perf,
            budget,
            reader_ns: 0,
            names,
            writes,
            uncached: Detours::listen(),
            advised: Advised::default(),
            pipes: Pipes::default(),
            workers: Workers::default(),
            touched: Touched::new(),
            reclaim: reclaim::Batches::default(),
            log,
            group,
            container: Container::of(group),
            facts,
            last_touched: None,
            memory_due_ns: 0,
            frame_due_ns: 0,
            began: false,
            given: Vec::new(),
            threads: HashSet::new(),
            processes: HashSet::new(),
            this_thread: 0,
            failed: None,
        })
    }

    /// With these descriptors as the command's standard input, output and error instead of ours.
    #[must_use]
    pub fn with_given(mut self, standard: &[Option<OwnedFd>; 3]) -> Self {
        self.given = standard.iter().flatten().map(AsRawFd::as_raw_fd).collect();
        self
    }

    /// After a run that failed: what was seen until then goes into the log, which has no end.
    pub fn abandon(mut self) {
        if self.began && self.failed.is_none() {
            // The run's own error is the one to tell.
            let _ = self.take_all().and_then(|()| self.take_events(u64::MAX));
            let _ = self.log.flush_frame();
        }
    }

    /// After the run: the last events, the losses, the missing names; ends the log.
    pub fn finish(mut self, ended: &Ended) -> Result<W, Error> {
        match self.failed.take() {
            Some(error) => Err(Error::Broken(error)),
            None => self.end(ended).map_err(Error::Broken),
        }
    }

    fn end(mut self, ended: &Ended) -> io::Result<W> {
        self.take_events(u64::MAX)?;
        self.take_memory(monotonic_ns())?;
        // To write those down may have taken memory, and pages for it.
        self.take_events(u64::MAX)?;
        let (events, lost) = self.perf.losses()?;
        self.take_names()?;
        let log = &mut self.log;
        self.names.look_up(&mut |seen| log.push(&Entry::File(seen)))?;
        self.facts.elapsed_ns = ended.elapsed_ns;
        self.facts.cpu_ns = ended.cpu_ns;
        self.facts.read_bytes = Bytes(ended.bytes_read);
        self.facts.written_bytes = Bytes(ended.bytes_written);
        self.facts.exit_status = Some(ended.exit_status);
        self.facts.uncached = self.uncached.named(&self.names);
        self.facts.peers.clone_from(&ended.peers);
        let Facts { devices, kernel, .. } = &self.facts;
        let met = machine::devices(self.names.mounts(), devices, kernel);
        self.facts.devices.extend(met);
        self.facts.capture.events = events;
        self.facts.capture.lost = lost;
        self.facts.capture.reader_ns = self.reader_ns;
        let accesses = self.perf.programs().map_or(0, Programs::accesses);
        let sampled = self.budget.as_ref().map(Budget::hashes).filter(|&hashes| hashes < ALL);
        self.facts.capture.sampled = sampled.map(|hashes| Sampled { hashes, accesses });
        self.facts.capture.reclaimed = self.perf.reclaimed();
        self.facts.capture.looks = self.touched.finish();
        let names = &self.names;
        self.facts.capture.snapshot = self.touched.snapshot(|key| names.is_touched(key));
        self.warn(ended);
        self.log.push(&Entry::End(json(&self.facts)?))?;
        self.log.finish()
    }

    fn warn(&mut self, ended: &Ended) {
        let warnings = &mut self.facts.warnings;
        warnings.extend(self.names.warnings());
        let names = &self.names;
        let opened = |covers: &dyn Fn(u32) -> bool| names.listens_on(covers);
        warnings.extend(self.writes.as_ref().and_then(|writes| writes.warning(opened)));
        warnings.extend(ended.left.as_ref().map(ToString::to_string));
        if let Some(signal) = ended.interrupted {
            warnings.push(format!("the recording was interrupted by signal {signal}"));
        }
    }

    fn take_all(&mut self) -> io::Result<()> {
        let now = monotonic_ns();
        let before = thread_time_ns();
        self.take_events(now)?;
        self.reader_ns += thread_time_ns().saturating_sub(before);
        self.keep_budget(now);
        self.take_names()?;
        self.take_touches(now)?;
        self.follow_container()?;
        if now >= self.memory_due_ns {
            self.memory_due_ns = now + MEMORY_EVERY_NS;
            self.take_memory(now)?;
        }
        if now >= self.frame_due_ns {
            self.frame_due_ns = now + FRAME_EVERY_NS;
            self.log.flush_frame()?;
        }
        Ok(())
    }

    /// Records fewer pages, if it costs too much.
    fn keep_budget(&mut self, at_ns: u64) {
        let (Some(budget), Some(programs)) = (&mut self.budget, self.perf.programs()) else {
            return;
        };
        let (seen, kept) = programs.seen();
        if let Some(hashes) = budget.take(EventCounts { at_ns, seen, kept }) {
            programs.sample(hashes);
        }
    }

    /// Call it when the events until now were taken: a file is one of the command's by then.
    fn take_touches(&mut self, now: u64) -> io::Result<()> {
        let Self { touched, names, log, .. } = self;
        touched.look(now, |key| names.touched_as(key), |event| log.push(&Entry::Event(event)))
    }

    /// Call it when the events until now were taken: what was opened before them is known of then.
    fn take_names(&mut self) -> io::Result<()> {
        let Self { names, uncached, log, .. } = self;
        uncached.drain();
        names.drain(&|process| uncached.has(process), &mut |seen| log.push(&Entry::File(seen)))
    }

    /// Notes memory that another than a group of ours has an account of.
    pub fn note_memory(&mut self, seen: MemorySeen) -> io::Result<()> {
        self.log.push(&Entry::Memory(seen))
    }

    fn take_memory(&mut self, now: u64) -> io::Result<()> {
        let Some(usage) = self.group.and_then(|group| group.limiter().usage().ok()) else {
            return Ok(());
        };
        self.log.push(&Entry::Memory(machine::memory_of_group(&usage, now)))
    }
}

fn json(facts: &Facts) -> io::Result<Vec<u8>> {
    serde_json::to_vec(facts).map_err(io::Error::other)
}
