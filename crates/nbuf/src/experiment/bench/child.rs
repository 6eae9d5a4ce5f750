//! What a child does: one path on one file, in samples of a few milliseconds.
//!
//! The child is a fresh process with one thread, so that no test inherits the heap, the locks or the
//! page tables of another. It first finds out how many operations make a sample; then, for each
//! sample, it brings the file into the state of the label, looks at the counters, runs the slice,
//! and looks again. Only the slice is timed. Invariant: a child outlives its parent by no instant.

use std::fs::File;
use std::io;
use std::path::Path as FilePath;

use rustix::process::{Signal, getppid, set_parent_process_death_signal};
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::clock::Stopwatch;
use crate::experiment::result::{BenchLine, BenchSample, BenchTask, State};
use crate::meter::probe::contention::Contention;
use crate::meter::probe::traffic::Counters;
use crate::path::{self, Direction, Order, Path, Pattern, Request};
use crate::sys::cache;
use crate::units::PAGE_BYTES;

/// Decides the order of random patterns: the same for all paths, so that they do the same.
const SEED: u64 = 61;
/// A pass that takes no longer than this many samples is a sample of its own, so that
/// what a pass costs once is in it.
const PASS_SAMPLES: u64 = 4;
/// Part of a sample that may be spent waiting for a processor: of one that never sleeps, and of one
/// that does and has to be woken.
const DELAY_PART: u64 = 100;
const DELAY_PART_ASLEEP: u64 = 20;

/// The pattern of a task.
pub fn pattern(task: &BenchTask) -> Pattern {
    let order = match (task.is_random, task.stride_bytes) {
        (true, _) => Order::Random { seed: SEED },
        (false, 0) => Order::Sequential,
        (false, stride_bytes) => Order::Strided { stride_bytes },
    };
    Pattern {
        direction: if task.is_write { Direction::Write } else { Direction::Read },
        order,
        block_bytes: task.block_bytes,
        size_bytes: task.size_bytes,
    }
}

/// Ties this process to its parent and to its processor. For the child's own program, once.
pub fn settle(task: &BenchTask) -> io::Result<()> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // The parent may have gone before it was asked for.
    let parent = getppid().map(|pid| pid.as_raw_nonzero().get().unsigned_abs());
    if parent != Some(task.parent) {
        return Err(io::Error::other("the program that asked has ended"));
    }
    if let Some(processor) = task.processor.and_then(|number| usize::try_from(number).ok()) {
        let mut set = CpuSet::new();
        set.set(processor);
        sched_setaffinity(None, &set)?;
    }
    Ok(())
}

/// Does a task and tells each line. What the machine refuses is a line too; an error is of telling.
pub fn run(task: &BenchTask, tell: &mut dyn FnMut(&BenchLine) -> io::Result<()>) -> io::Result<()> {
    match Bench::open(task).and_then(|mut bench| bench.samples(tell)) {
        Ok(()) => tell(&BenchLine::Done),
        Err(Stop::Refused(reason)) => tell(&BenchLine::Refused(reason)),
        Err(Stop::Untold(error)) => Err(error),
    }
}

/// Why a child ends early.
enum Stop {
    Refused(String),
    Untold(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Refused(error.to_string())
    }
}

struct Bench<'a> {
    task: &'a BenchTask,
    path: Box<dyn Path>,
    file: File,
    contention: Contention,
    counters: Counters,
    /// Operations of a pass.
    pass: u64,
    /// The next one.
    next: u64,
    /// Operations of a sample.
    slice: u64,
}

impl<'a> Bench<'a> {
    fn open(task: &'a BenchTask) -> Result<Self, Stop> {
        let Some(row) = path::row(&task.path) else {
            return Err(Stop::Refused(format!("there is no path `{}`", task.path)));
        };
        let file = File::open(&task.file)?;
        if task.state == State::Hot {
            io::copy(&mut &file, &mut io::sink())?;
        }
        let request = Request {
            file: FilePath::new(&task.file),
            pattern: pattern(task),
            grows: task.grows,
            depth: task.depth,
        };
        let path = row.open(&request).map_err(|error| Stop::Refused(error.to_string()))?;
        // A path with threads of its own is disturbed in those too.
        let is_single = std::fs::read_dir("/proc/self/task").is_ok_and(|tasks| tasks.count() == 1);
        let contention = if is_single { Contention::of_thread() } else { Contention::of_process() };
        let counters = Counters::open()?;
        let pass = request.pattern.operations();
        if pass == 0 {
            return Err(Stop::Refused("there is nothing to do".to_owned()));
        }
        Ok(Self { task, path, file, contention, counters, pass, next: 0, slice: 1 })
    }

    fn samples(&mut self, tell: &mut dyn FnMut(&BenchLine) -> io::Result<()>) -> Result<(), Stop> {
        let clock = Stopwatch::start();
        let is_over = || nanoseconds(clock.elapsed()) > self.task.time_ns_max;
        let first = self.calibrate(&clock)?;
        let mut clean = 0;
        let mut taken = 0;
        while clean < self.task.clean && taken < self.task.samples_max && (taken == 0 || !is_over())
        {
            let sample = self.sample()?;
            taken += 1;
            clean += u64::from(sample.is_clean);
            tell(&BenchLine::Sample(sample)).map_err(Stop::Untold)?;
            // What one operation takes is known only when it was done.
            debug_assert!(first > 0);
        }
        self.path.finish()?;
        Ok(())
    }

    /// Finds how many operations make a sample, by doubling; what was cold or wrote for the first
    /// time is over then, too.
    fn calibrate(&mut self, clock: &Stopwatch) -> Result<u64, Stop> {
        let aim_ns = self.task.sample_ns.max(1);
        loop {
            let sample = self.sample()?;
            let enough = sample.elapsed_ns * 4 >= aim_ns;
            let is_late = nanoseconds(clock.elapsed()) * 4 > self.task.time_ns_max;
            if !enough && !is_late && self.slice < self.pass {
                self.slice = (self.slice * 2).min(self.pass);
                continue;
            }
            let operation_ns = (sample.elapsed_ns / sample.operations.max(1)).max(1);
            let pass_ns = operation_ns.saturating_mul(self.pass);
            self.slice = if pass_ns <= aim_ns * PASS_SAMPLES {
                self.pass
            } else {
                // Slices of one length, so that none is a rest.
                let slices = pass_ns.div_ceil(aim_ns);
                self.pass.div_ceil(slices).max(1)
            };
            self.next = self.pass;
            return Ok(operation_ns);
        }
    }

    fn sample(&mut self) -> Result<BenchSample, Stop> {
        if self.next >= self.pass || self.task.state == State::Cold {
            self.next = 0;
            if self.task.state == State::Cold {
                self.path.finish()?;
                self.drop_pages()?;
            }
            self.path.rewind()?;
        }
        let operations = self.next..(self.next + self.slice).min(self.pass);
        self.next = operations.end;
        let resident_before_pages = self.resident();
        let rung_before = self.path.rung();
        let traffic_before = self.counters.read()?;
        let before = self.contention.read()?;
        let clock = Stopwatch::start();
        let moved = self.path.run(operations)?;
        let elapsed_ns = nanoseconds(clock.elapsed());
        let after = self.contention.read()?.since(before);
        // Three looks lie between: the first at the traffic, two at the run queue.
        let traffic = self.counters.read()?.since(traffic_before, 3);
        let rung = self.path.rung().zip(rung_before);
        let mut sample = BenchSample {
            operations: moved.operations,
            bytes: moved.bytes,
            elapsed_ns,
            run_delay_ns: after.run_delay_ns,
            switches_involuntary: after.usage.switches_involuntary,
            switches_voluntary: after.usage.switches_voluntary,
            is_clean: false,
            reads: traffic.reads,
            writes: traffic.writes,
            device_read_bytes: traffic.device_read_bytes,
            device_written_bytes: traffic.device_written_bytes,
            faults_minor: after.usage.faults_minor,
            faults_major: after.usage.faults_major,
            resident_before_pages,
            resident_after_pages: self.resident(),
            file_pages: self.task.size_bytes.div_ceil(PAGE_BYTES),
            completions: rung.map(|(after, before)| after.saturating_sub(before)),
        };
        sample.is_clean = is_clean(&sample);
        Ok(sample)
    }

    /// Pages of the file in memory; 0 where the kernel does not tell.
    fn resident(&self) -> u64 {
        cache::resident_pages(&self.file).unwrap_or_else(|_| {
            cache::resident_map(&self.file)
                .map_or(0, |map| map.iter().filter(|&&there| there).count() as u64)
        })
    }

    fn drop_pages(&self) -> Result<(), Stop> {
        rustix::fs::fdatasync(&self.file).map_err(io::Error::from)?;
        // A page that somebody looks at just now stays; a second try finds it free.
        for _ in 0..3 {
            cache::drop_pages(&self.file)?;
            if self.resident() == 0 {
                return Ok(());
            }
        }
        let left = self.resident();
        Err(Stop::Refused(format!(
            "the file cannot be made cold: {left} of its pages stay in memory (tmpfs keeps all; give a \
             directory on a disc with --dir)"
        )))
    }
}

/// Whether nothing else had the processor.
pub(super) fn is_clean(sample: &BenchSample) -> bool {
    let part = if sample.switches_voluntary > 0 { DELAY_PART_ASLEEP } else { DELAY_PART };
    let delay = sample.run_delay_ns.unwrap_or(0);
    sample.switches_involuntary == 0 && delay.saturating_mul(part) < sample.elapsed_ns.max(1)
}

fn nanoseconds(elapsed: std::time::Duration) -> u64 {
    u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX)
}
