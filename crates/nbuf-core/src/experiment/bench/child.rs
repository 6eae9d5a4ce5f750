//! What a child does: one path on one file, in samples of a few milliseconds.
//!
//! The child is a fresh process with one thread, so that no test inherits the heap, the locks or the
//! page tables of another. It first finds out how many operations make a sample; then, for each
//! sample, it brings the file into the state of the label, looks at the counters, runs the slice,
//! and looks again. Only the slice is timed. Invariant: a child outlives its parent by no instant.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path as FilePath;
use std::time::Duration;

use rustix::thread::{CpuSet, sched_setaffinity};

use crate::clock::Stopwatch;
use crate::experiment::child::{self, Line};
use crate::experiment::result::{BenchSample, BenchTask, State};
use crate::meter::probe::contention::Contention;
use crate::meter::probe::sibling;
use crate::meter::probe::traffic::Counters;
use crate::path::{self, Direction, Order, Path, Pattern, Request};
use crate::sys::process::die_with;
use crate::units::whole;

use super::clean::{is_clean, slow_down};
use super::measure::first_slice;
use super::pages::{Pages, is_in_memory};
use super::table::is_whole;

/// Decides the order of random patterns: the same for all paths, so that they do the same.
const SEED: u64 = 61;
/// A pass that takes no longer than this many samples is a sample of its own, so that
/// what a pass costs once is in it.
const PASS_SAMPLES: u64 = 4;
/// How long to wait for a moment in which nothing shares the core.
pub(super) const QUIET_WAIT: Duration = Duration::from_millis(2);

/// The pattern of a task.
pub(super) fn pattern(task: &BenchTask) -> Pattern {
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

/// Does the task that comes on `input`, and writes a line for each sample to `output`. An error is one of
/// reading or writing: what the machine refuses is a line.
pub fn serve(input: impl Read, mut output: impl Write) -> io::Result<()> {
    let task: BenchTask = child::task(input)?;
    settle(&task)?;
    path::aligned::lie_in_huge_pages(task.in_huge_pages);
    run(&task, &mut |line| child::write(&mut output, std::slice::from_ref(line)))
}

/// Ties this process to its parent and to its processor.
fn settle(task: &BenchTask) -> io::Result<()> {
    // The parent may have gone before it was asked for.
    if !die_with(task.parent.cast_signed())? {
        return Err(io::Error::other("the program that asked has ended"));
    }
    if let Some(processor) = task.processor.and_then(|number| usize::try_from(number).ok()) {
        let mut set = CpuSet::new();
        set.set(processor);
        sched_setaffinity(None, &set)?;
    }
    Ok(())
}

/// Takes a line.
type Tell<'a> = dyn FnMut(&Line<BenchSample>) -> io::Result<()> + 'a;

/// Does a task and tells each line. What the machine refuses is a line too; an error is of telling.
fn run(task: &BenchTask, tell: &mut Tell<'_>) -> io::Result<()> {
    match Bench::open(task).and_then(|mut bench| bench.samples(tell)) {
        Ok(()) => tell(&Line::Done),
        Err(Stop::Refused(reason)) => tell(&Line::Refused(reason)),
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
    pages: Pages,
    contention: Contention,
    counters: Counters,
    /// Operations of a pass.
    pass: u64,
    /// The next one.
    next: u64,
    /// Operations of a sample.
    slice: u64,
    /// The shortest that the loop took which shares the core with nothing.
    loop_best_ns: u64,
}

impl<'a> Bench<'a> {
    fn open(task: &'a BenchTask) -> Result<Self, Stop> {
        let Some(row) = path::row(&task.path) else {
            return Err(Stop::Refused(format!("there is no path `{}`", task.path)));
        };
        let pages = Pages::of(File::open(&task.file)?, task.size_bytes);
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
        let all = request.pattern.operations();
        let pass = if task.operations_max == 0 { all } else { all.min(task.operations_max) };
        if pass == 0 {
            return Err(Stop::Refused("there is nothing to do".to_owned()));
        }
        let slice = first_slice(task).min(pass);
        let loop_best_ns = if task.loop_best_ns == 0 { u64::MAX } else { task.loop_best_ns };
        Ok(Self { task, path, pages, contention, counters, pass, next: 0, slice, loop_best_ns })
    }

    fn samples(&mut self, tell: &mut Tell<'_>) -> Result<(), Stop> {
        let clock = Stopwatch::start();
        let is_over = || nanoseconds(clock.elapsed()) > self.task.time_ns_max;
        self.calibrate(&clock)?;
        let mut clean = 0;
        let mut taken = 0;
        while clean < self.task.clean && taken < self.task.samples_max && (taken == 0 || !is_over())
        {
            let sample = self.sample()?;
            taken += 1;
            clean += u64::from(sample.is_clean);
            tell(&Line::Sample(sample)).map_err(Stop::Untold)?;
        }
        self.path.finish()?;
        self.pages.leave();
        Ok(())
    }

    /// Finds how many operations make a sample, by doubling; what was cold or wrote for the first
    /// time is over then, too.
    ///
    /// The shortest of three decides: one that was disturbed, or the only one that had to fetch
    /// what the next ones find, would make samples of a single operation.
    fn calibrate(&mut self, clock: &Stopwatch) -> Result<(), Stop> {
        if self.task.is_whole_pass {
            self.slice = self.pass;
            self.next = self.pass;
            return Ok(());
        }
        let aim_ns = self.task.sample_ns.max(1);
        loop {
            let mut shortest = self.sample()?;
            for _ in 0..2 {
                if shortest.elapsed_ns * 4 >= aim_ns {
                    let again = self.sample()?;
                    if again.operation_ns() < shortest.operation_ns() {
                        shortest = again;
                    }
                }
            }
            let is_late = nanoseconds(clock.elapsed()) * 2 > self.task.time_ns_max;
            if shortest.elapsed_ns * 4 < aim_ns && !is_late && self.slice < self.pass {
                self.slice = (self.slice * 2).min(self.pass);
                continue;
            }
            self.slice = self.slice_of(&shortest, aim_ns);
            self.next = self.pass;
            return Ok(());
        }
    }

    /// Operations of a sample, when this is how long some take.
    fn slice_of(&self, sample: &BenchSample, aim_ns: u64) -> u64 {
        let operations = sample.operations.max(1);
        let pass_ns = whole(sample.elapsed_ns as f64 * (self.pass as f64 / operations as f64));
        // What fetches all of a file at its first touch takes that long for any part of it.
        if is_whole(&self.task.path) || pass_ns <= aim_ns * PASS_SAMPLES {
            return self.pass;
        }
        // Slices of one length, so that none is a rest.
        self.pass.div_ceil(pass_ns.div_ceil(aim_ns)).max(1)
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
        let resident_before_pages = if is_in_memory(self.task.state) {
            self.pages.bring_back()?
        } else {
            self.pages.resident()
        };
        let rung_before = self.path.rung();
        let loop_before_ns = self.wait_for_the_core();
        let before = self.contention.read()?;
        let traffic_before = self.counters.read()?;
        let clock = Stopwatch::start();
        let moved = self.path.run(operations)?;
        slow_down(&clock, self.task.slowdown_percent);
        let elapsed_ns = nanoseconds(clock.elapsed());
        // Nothing but the first look at them is between the two.
        let traffic = self.counters.read()?.since(traffic_before, 1);
        let after = self.contention.read()?.since(before);
        // The first runs with what the sample left in the caches of instructions and branches.
        let loop_after_ns = sibling::loop_ns().min(sibling::loop_ns());
        self.loop_best_ns = self.loop_best_ns.min(loop_after_ns);
        let rung = self.path.rung().zip(rung_before);
        let mut sample = BenchSample {
            operations: moved.operations,
            bytes: moved.bytes,
            elapsed_ns,
            run_delay_ns: after.run_delay_ns,
            switches_involuntary: after.usage.switches_involuntary,
            switches_voluntary: after.usage.switches_voluntary,
            is_clean: false,
            loop_ns: loop_before_ns.max(loop_after_ns),
            reads: traffic.reads,
            writes: traffic.writes,
            device_read_bytes: traffic.device_read_bytes,
            device_written_bytes: traffic.device_written_bytes,
            faults_minor: after.usage.faults_minor,
            faults_major: after.usage.faults_major,
            resident_before_pages,
            resident_after_pages: self.pages.resident(),
            file_pages: self.pages.all(),
            completions: rung.map(|(after, before)| after.saturating_sub(before)),
        };
        sample.is_clean = is_clean(&sample) && self.is_alone(sample.loop_ns);
        Ok(sample)
    }

    /// Waits for a moment in which nothing shares the core, a while; how long the last loop took.
    fn wait_for_the_core(&mut self) -> u64 {
        let clock = Stopwatch::start();
        loop {
            let loop_ns = sibling::loop_ns();
            self.loop_best_ns = self.loop_best_ns.min(loop_ns);
            if self.is_alone(loop_ns) || clock.elapsed() > QUIET_WAIT {
                return loop_ns;
            }
        }
    }

    fn is_alone(&self, loop_ns: u64) -> bool {
        sibling::is_alone(loop_ns, self.loop_best_ns, self.task.loop_slack_percent)
    }

    /// Makes the file cold.
    fn drop_pages(&self) -> Result<(), Stop> {
        match self.pages.drop_all()? {
            0 => Ok(()),
            left => Err(Stop::Refused(format!(
                "the file cannot be made cold: {left} of its pages stay in memory (tmpfs keeps \
                 all; give a directory on a disc with --dir)"
            ))),
        }
    }
}

fn nanoseconds(elapsed: Duration) -> u64 {
    u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::test_files::Prepared;
    use super::*;

    /// What a child says of a task on a file of our own.
    fn said(task: &BenchTask) -> Vec<Line<BenchSample>> {
        let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let size = if task.grows { 0 } else { task.size_bytes };
        let file = Prepared::make(directory.path(), size).unwrap();
        let task = BenchTask { file: file.path(), ..task.clone() };
        let mut lines = Vec::new();
        run(&task, &mut |line| {
            lines.push(line.clone());
            Ok(())
        })
        .unwrap();
        lines
    }

    fn task(path: &str, state: State) -> BenchTask {
        BenchTask {
            path: path.to_owned(),
            block_bytes: 4096,
            size_bytes: 1 << 20,
            depth: 1,
            state,
            clean: 3,
            samples_max: 6,
            sample_ns: 50_000,
            time_ns_max: 200_000_000,
            ..BenchTask::default()
        }
    }

    #[test]
    fn samples_are_whole_operations_and_no_more_than_asked_for() {
        let write = |task| BenchTask { is_write: true, ..task };
        let tasks = [
            task("null", State::Hot),
            task("read", State::Hot),
            BenchTask { is_random: true, ..task("pread", State::Hot) },
            BenchTask { stride_bytes: 65536, block_bytes: 512, ..task("stdio", State::Hot) },
            write(task("read", State::Overwrite)),
            BenchTask { grows: true, ..write(task("stdio", State::Append)) },
        ];
        for task in tasks {
            let lines = said(&task);
            let (last, samples) = lines.split_last().unwrap();
            assert_eq!(*last, Line::Done, "{task:?}");
            assert!((1..=6).contains(&samples.len()), "{task:?}");
            for line in samples {
                let Line::Sample(sample) = line else { panic!("{line:?}") };
                assert!(sample.operations > 0 && sample.elapsed_ns > 0, "{task:?}: {sample:?}");
                assert_eq!(sample.bytes, sample.operations * task.block_bytes, "{task:?}");
                assert_eq!(sample.file_pages, 256);
                if task.state == State::Hot {
                    assert_eq!(sample.resident_before_pages, 256, "{task:?}");
                }
            }
        }
    }

    #[test]
    fn what_cannot_be_done_is_refused_in_a_line() {
        let unknown = said(&task("teleport", State::Hot));
        assert_eq!(unknown, [Line::Refused("there is no path `teleport`".to_owned())]);
        let empty = said(&BenchTask { block_bytes: 0, ..task("read", State::Hot) });
        assert!(matches!(&empty[..], [Line::Refused(reason)] if reason.contains("0 bytes")));
    }
}
