//! The watcher that records: events, names and memory into one log, while the command runs.

use std::collections::HashSet;
use std::io::{self, Write};
use std::os::fd::BorrowedFd;
use std::path::Path;

use super::btrfs;
use super::events::{SOURCES, Sample, Source};
use super::log::{Entry, Event, Kind, LogWriter};
use super::machine;
use super::mounts;
use super::names::{Key, Names};
use super::perf::{self, Perf};
use super::reclaim;
use super::uncached::Detours;
use super::writes::{FdInfo, Writes};
use crate::sys::cgroup::Group;
use crate::sys::process::monotonic_ns;
use crate::units::Bytes;
use crate::workload::command::{Ended, Watcher};
use crate::workload::trace::{Capture, Facts};

const MEMORY_EVERY_NS: u64 = 25_000_000;
const FRAME_EVERY_NS: u64 = 500_000_000;

/// A recording under way.
#[derive(Debug)]
pub struct Recorder<'a, W: Write> {
    perf: Perf,
    names: Names,
    /// Where a file system without a tracepoint for writes may be written to.
    writes: Option<Writes>,
    uncached: Detours,
    reclaim: reclaim::Batches,
    log: LogWriter<W>,
    group: Option<&'a Group>,
    facts: Facts,
    touched: HashSet<Key>,
    last_touched: Option<Key>,
    memory_due_ns: u64,
    frame_due_ns: u64,
    began: bool,
    /// The thread that records, once it does.
    this_thread: u32,
    /// The first error of the log. The command is not ours to stop: it runs on, unrecorded.
    failed: Option<io::Error>,
}

/// Why nothing was recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The tracepoints cannot be had.
    #[error(transparent)]
    Perf(#[from] perf::Error),
    /// The log cannot be begun, so the command was not started.
    #[error("cannot begin the log: {0}; make room, or give another place")]
    Log(#[from] io::Error),
    /// The command ran, but its log broke off: a full disc, most of all.
    #[error("the log broke off: {0}")]
    Broken(io::Error),
}

impl<'a, W: Write> Recorder<'a, W> {
    /// Opens everything that can be opened before the command exists, and starts the log.
    pub fn prepare(
        command: Vec<String>,
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
        let mut perf = Perf::prepare(&sources)?.with_detours();
        if let Some(bytes) = ring_bytes {
            perf = perf.with_ring_bytes(bytes);
        }
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
        facts.capture = Capture { backend: "perf".into(), ..Capture::default() };
        facts.cgroup = group.map_or_else(String::new, |_| machine::cgroup().to_owned());
        if group.is_none() {
            let caution = "memory beside the page cache is unknown: no private group could be made";
            facts.cautions.push(caution.to_owned());
        }
        let mut log = LogWriter::new(out)?;
        log.push(&Entry::Start(json(&facts)?))?;
        log.flush_frame()?;
        Ok(Self {
            perf,
            names,
            writes,
            uncached: Detours::listen(),
            reclaim: reclaim::Batches::default(),
            log,
            group,
            facts,
            touched: HashSet::new(),
            last_touched: None,
            memory_due_ns: 0,
            frame_due_ns: 0,
            began: false,
            this_thread: 0,
            failed: None,
        })
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
        let now = monotonic_ns();
        let log = &mut self.log;
        self.names.drain(|seen| log.push(&Entry::File(seen)))?;
        self.uncached.drain();
        let wanted = self.touched.iter().copied().chain(self.uncached.direct());
        self.names.look_up(wanted, now, |seen| log.push(&Entry::File(seen)))?;
        self.facts.elapsed_ns = ended.elapsed_ns;
        self.facts.cpu_ns = ended.cpu_ns;
        self.facts.read_bytes = Bytes(ended.bytes_read);
        self.facts.written_bytes = Bytes(ended.bytes_written);
        self.facts.exit_status = Some(ended.exit_status);
        self.facts.uncached = self.uncached.named(&self.names);
        let Facts { devices, kernel, .. } = &self.facts;
        let met = machine::devices(self.names.mounts(), devices, kernel);
        self.facts.devices.extend(met);
        self.facts.capture.events = events;
        self.facts.capture.lost = lost;
        self.caution(ended);
        self.log.push(&Entry::End(json(&self.facts)?))?;
        self.log.finish()
    }

    fn caution(&mut self, ended: &Ended) {
        let Capture { events, lost, .. } = self.facts.capture;
        let cautions = &mut self.facts.cautions;
        if lost > 0 {
            cautions.push(format!("{lost} of {events} events were lost: every figure is too low"));
        }
        if self.names.overflowed() {
            cautions.push("the queue of opened files overflowed: some names are missing".into());
        }
        let names = &self.names;
        let heard = |covers: &dyn Fn(u32) -> bool| names.heard_on(covers);
        cautions.extend(self.writes.as_ref().and_then(|writes| writes.caution(heard)));
        if let Some(signal) = ended.interrupted {
            cautions.push(format!("the recording was interrupted by signal {signal}"));
        }
    }

    fn take_events(&mut self, now: u64) -> io::Result<()> {
        let Self { perf, names, writes, uncached, reclaim, log, touched, last_touched, .. } = self;
        let this_thread = self.this_thread;
        let mut push = |event: &Event| {
            let key = (event.device, event.inode);
            if *last_touched != Some(key) {
                // What is no file passes through the same tracepoints; and this thread may let go
                // of files that are not the command's.
                let is_ours = event.task == this_thread;
                if !names.may_be_file(key) {
                    names.meet(event.device, event.task);
                }
                if !names.may_be_file(key) || is_ours && !touched.contains(&key) {
                    return Ok(());
                }
                touched.insert(key);
                *last_touched = Some(key);
            }
            log.push(&Entry::Event(*event))
        };
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
                match sample {
                    Sample::Event(event) => push(event)?,
                    Sample::Direct(direct) => uncached.went_past(direct),
                    Sample::Call(_) | Sample::Reclaim { .. } => {}
                }
                if let Some(event) = written {
                    push(&event)?;
                }
            }
            Ok(whole)
        })
    }

    fn take_all(&mut self) -> io::Result<()> {
        let now = monotonic_ns();
        self.take_events(now)?;
        let log = &mut self.log;
        self.names.drain(|seen| log.push(&Entry::File(seen)))?;
        self.uncached.drain();
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

    fn take_memory(&mut self, now: u64) -> io::Result<()> {
        let Some(usage) = self.group.and_then(|group| group.limiter().usage().ok()) else {
            return Ok(());
        };
        self.log.push(&Entry::Memory(machine::memory_of_group(&usage, now)))
    }
}

impl<W: Write> Watcher for Recorder<'_, W> {
    fn attach(&mut self, pid: i32) -> io::Result<()> {
        self.perf.attach(pid).map_err(|error| match error {
            // Its kind is how a caller tells what to advise.
            perf::Error::NotPermitted(cause) => cause,
            other => io::Error::other(other),
        })?;
        // An opened file is held until its name is heard here: when the command removes it
        // meanwhile, its pages leave the cache as this thread lets it go.
        self.perf.attach_to_this_thread(Kind::Delete).map_err(io::Error::other)?;
        self.this_thread = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
        let log = &mut self.log;
        self.names.look_at_process(pid, monotonic_ns(), |seen| log.push(&Entry::File(seen)))?;
        self.uncached.look_at_process(pid);
        self.began = true;
        Ok(())
    }

    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        // A process may be gone soon: its descriptors are looked at as soon as it opens a file.
        let opens = self.writes.as_ref().and_then(|_| self.names.descriptor());
        self.perf.descriptors().into_iter().chain(opens).collect()
    }

    fn tick(&mut self) -> io::Result<()> {
        if !self.began {
            return Ok(());
        }
        if self.failed.is_some() {
            return self.perf.drain(|_| Ok(()));
        }
        if let Err(error) = self.take_all() {
            self.failed = Some(error);
        }
        Ok(())
    }
}

fn json(facts: &Facts) -> io::Result<Vec<u8>> {
    serde_json::to_vec(facts).map_err(io::Error::other)
}
