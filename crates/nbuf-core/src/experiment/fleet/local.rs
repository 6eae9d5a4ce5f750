//! The local runner: worker processes of this program, each of which gets one row after the other.
//!
//! A row goes to the worker's standard input, and comes back as a line when its files are written. A worker that
//! dies is replaced and its task tried again; a task whose worker dies three times is an error row. Invariant:
//! the runner decides who does what, never what comes of it. Workers end with the runner, whatever kills it.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::ScopedJoinHandle;
use std::time::Duration;

use super::folder::Folder;
use super::{CHILD, Error};
use crate::experiment::child::{self, ChildError};
use crate::experiment::result::FleetTask;
use crate::experiment::session::Session;
use crate::units::count;
use crate::workload::source::CancellationToken;

/// Workers that a task may take with it.
const DEATHS_MAX: u32 = 3;
/// Between two looks at what a program stops by itself.
const LOOK: Duration = Duration::from_millis(10);
/// Accesses of a step of the progress.
const STEP_ACCESSES: u64 = 1_000_000;

/// What came of the work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Worked {
    /// Tasks that are done.
    pub done: usize,
    /// Those of `done` that an earlier run did.
    pub before: usize,
    /// Tasks that failed.
    pub failed: usize,
    /// Tasks that are left, because a signal came.
    pub left: usize,
}

/// All workers, and what is to be done.
struct Crew<'a> {
    folder: &'a Folder,
    path: &'a Path,
    tasks: &'a [FleetTask],
    session: &'a Session<'a>,
    queue: Mutex<VecDeque<usize>>,
    children: Vec<Mutex<Option<Child>>>,
    is_over: AtomicBool,
    worked: Mutex<(Worked, u64)>,
    accesses: u64,
}

/// Does the tasks with this many workers, unless they are done.
pub(super) fn run(
    folder: &Folder,
    (path, tasks): (&Path, &[FleetTask]),
    workers: u16,
    session: &Session<'_>,
) -> Result<Worked, Error> {
    let is_left = |&at: &usize| !folder.has_done(&tasks[at].task);
    let queue: VecDeque<usize> = (0..tasks.len()).filter(is_left).collect();
    let (before, wanted) = (tasks.len() - queue.len(), queue.len());
    let workers = usize::from(workers).min(wanted);
    let accesses = queue.iter().map(|&at| tasks[at].estimated_accesses).sum();
    let crew = Crew {
        folder,
        path,
        tasks,
        session,
        queue: Mutex::new(queue),
        children: (0..workers).map(|_| Mutex::default()).collect(),
        is_over: AtomicBool::new(false),
        worked: Mutex::new((Worked { before, done: before, ..Worked::default() }, 0)),
        accesses,
    };
    crew.progress(0);
    let work = || {
        std::thread::scope(|scope| {
            let crew = &crew;
            let threads = (0..workers).map(|number| scope.spawn(move || crew.work(number)));
            let threads: Vec<_> = threads.collect();
            if session.cancellation.is_deaf() {
                // No signal calls `end` then.
                while !threads.iter().all(ScopedJoinHandle::is_finished) {
                    std::thread::sleep(LOOK);
                    if session.is_over() {
                        crew.end();
                    }
                }
            }
            let ends = threads.into_iter().map(|thread| thread.join().unwrap_or(Ok(())));
            ends.collect::<Result<Vec<()>, Error>>()
        })
    };
    let (ended, _) = session.heeding_anew(&|| crew.end(), work).map_err(Error::Signals)?;
    session.observer.stage_over();
    ended?;
    let mut worked = lock(&crew.worked).0;
    worked.left = tasks.len() - worked.done - worked.failed;
    Ok(worked)
}

impl Crew<'_> {
    /// Ends all workers. What they have finished stays.
    fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
        for child in &self.children {
            if let Some(child) = lock(child).as_mut() {
                // Ended already is as good.
                let _ = child.kill();
            }
        }
    }

    /// Gives one row after the other to a worker of this number.
    fn work(&self, number: usize) -> Result<(), Error> {
        let mut pipes = None;
        let mut work = || {
            while let Some(row) = self.next() {
                self.attempt(number, row, &mut pipes)?;
            }
            Ok(())
        };
        let worked = work();
        if worked.is_err() {
            self.end();
        }
        drop(pipes);
        self.reap(number);
        worked
    }

    fn next(&self) -> Option<usize> {
        if self.is_over.load(Ordering::SeqCst) { None } else { lock(&self.queue).pop_front() }
    }

    /// Has a task done, by one worker after the other where they die.
    fn attempt(&self, number: usize, row: usize, worker: &mut Option<Pipes>) -> Result<(), Error> {
        let mut last = None;
        for _ in 0..DEATHS_MAX {
            if worker.is_none() {
                *worker = Some(self.start(number)?);
            }
            if let Some(done) = worker.as_mut().and_then(|pipes| pipes.ask(row + 1)) {
                self.took(&self.tasks[row], done);
                return Ok(());
            }
            // A worker that still runs ends when its pipes are closed.
            *worker = None;
            last = self.reap(number);
            if self.is_over.load(Ordering::SeqCst) {
                return Ok(());
            }
        }
        let task = &self.tasks[row];
        let how = last.map_or_else(|| "was lost".to_owned(), |status| format!("ended: {status}"));
        let row = row + 1;
        let error = format!(
            "poisoned: {} died on it, the last one {how}; try it alone with `nbuf fleet work --tasks {} \
             --rows {row}..{row}`",
            count(DEATHS_MAX.into(), "worker", "workers"),
            self.path.display()
        );
        self.folder.write_poisoned(task, error)?;
        self.took(task, false);
        Ok(())
    }

    /// Starts a worker.
    fn start(&self, number: usize) -> Result<Pipes, Error> {
        let mut command = child::command(self.session, CHILD).map_err(|error| match error {
            ChildError::Start(error) | ChildError::Read(error) => Error::Worker(error),
        })?;
        command.arg("--tasks").arg(self.path);
        // In a group of its own: Ctrl-C is for us, and we end it.
        let command = command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut slot = lock(&self.children[number]);
        let child = slot.insert(command.spawn().map_err(Error::Worker)?);
        let pipes = child.stdin.take().zip(child.stdout.take());
        let lost = || Error::Worker(std::io::ErrorKind::BrokenPipe.into());
        let (input, output) = pipes.ok_or_else(lost)?;
        if self.is_over.load(Ordering::SeqCst) {
            // The signal came between the question and the start.
            let _ = child.kill();
        }
        Ok(Pipes { input, output: BufReader::new(output) })
    }

    /// Waits for the end of a worker whose pipes are closed.
    fn reap(&self, number: usize) -> Option<ExitStatus> {
        let child = lock(&self.children[number]).take();
        child.and_then(|mut child| child.wait().ok())
    }

    /// Counts a task that is done, or has failed.
    fn took(&self, task: &FleetTask, is_done: bool) {
        let accesses = {
            let (worked, accesses) = &mut *lock(&self.worked);
            if is_done {
                worked.done += 1;
            } else {
                worked.failed += 1;
            }
            *accesses += task.estimated_accesses;
            *accesses
        };
        self.progress(accesses);
    }

    fn progress(&self, accesses: u64) {
        let steps = |accesses: u64| usize::try_from(accesses / STEP_ACCESSES).unwrap_or(usize::MAX);
        let (done, total) = (steps(accesses), steps(self.accesses));
        self.session.observer.progress("working (million accesses)", done, total);
    }
}

/// The two pipes of a worker.
struct Pipes {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Pipes {
    /// Gives a row to the worker, and waits. Whether the task is done; nothing where the worker died.
    fn ask(&mut self, row: usize) -> Option<bool> {
        writeln!(self.input, "{row}").and_then(|()| self.input.flush()).ok()?;
        let mut line = String::new();
        self.output.read_line(&mut line).ok()?;
        match line.as_str() {
            "done\n" => Some(true),
            "failed\n" => Some(false),
            _ => None,
        }
    }
}

/// The lock of what no panic leaves half done.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A worker: takes rows from its input until that ends.
pub(super) fn serve(
    tasks_path: &Path,
    input: impl std::io::BufRead,
    mut output: impl std::io::Write,
) -> Result<(), Error> {
    let folder = super::folder_of(tasks_path);
    let tasks = folder.read_tasks_of(tasks_path.to_owned())?;
    for line in input.lines() {
        let row = line?.trim().parse::<usize>().ok();
        let task = row.and_then(|row| tasks.get(row.checked_sub(1)?));
        let Some(task) = task else { break };
        let done = super::work::work(task, &folder, &CancellationToken::default())?;
        let is_done = done.is_some_and(|row| row.error.is_none());
        let word = if is_done { "done" } else { "failed" };
        writeln!(output, "{word}")?;
        output.flush()?;
    }
    Ok(())
}
