//! Recording programs that run already: attach, watch for a while, let go. They run on.
//!
//! Threads that are begun by one that is followed are followed from their first instruction. Others, as
//! those that enter a group, are found within a second.

mod mapped;
pub(crate) mod memory;
mod named;
mod pattern;
mod quiet;
mod target;
pub(crate) mod text;

use std::collections::{BTreeMap, HashSet};
use std::io::{self, Write};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::Error;
use super::log::MemorySeen;
use super::recorder::{Recorder, Subject};
use super::touched::Care;
pub use mapped::{MappedWatch, MappedWhen};
pub use named::{Error as NameError, Named};
pub use pattern::{groups, is_pattern, name_of};
pub(crate) use quiet::Faults;
pub use quiet::Quiet;
pub(crate) use target::members;
pub use target::{Error as RunningError, Running};

use crate::sys::process::monotonic_ns;
use crate::sys::signal::Signals;
use crate::units::{Bytes, PAGE_BYTES};
use crate::workload::command::{self, Ended, Watcher};
pub(crate) use target::began;
pub(crate) use target::may_trace;

const TICK: Duration = Duration::from_millis(20);
/// How often threads are looked for.
const SCAN_EVERY_NS: u64 = 500_000_000;

/// A recording of what runs.
#[derive(Debug)]
pub struct Options<'a> {
    /// What is recorded.
    pub running: &'a Running,
    /// The account that must be allowed to trace them.
    pub user: u32,
    /// For how long; until it ends, without.
    pub duration: Option<Duration>,
    /// Size of each ring instead of 8 MiB; for provoking losses.
    pub ring_bytes: Option<usize>,
    /// Whether what they have in memory is recorded, too.
    pub memory: bool,
    /// Whether programs in the kernel may record them, where the user is root.
    pub programs: bool,
    /// What these may cost, in processors, before they record a sample of the pages; without, they record all.
    pub overhead: Option<f64>,
    /// Whether the facts have what is cached when the recording begins.
    pub snapshot: bool,
    /// How mapped files are watched.
    pub mapped: MappedWatch,
    /// Whether the kernel leaves their memory alone; one for all recordings of the same programs.
    pub quiet: &'a Quiet,
}

/// What ends a recording of programs that run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// A signal.
    Signal(i32),
    /// The window is over.
    Over,
}

/// Writes what running programs do to `out` as a framed log, until the time is up, a signal comes or all of
/// them have ended.
///
/// # Errors
/// [`command::Error::Attach`] where the kernel refuses to attach to one of them: nothing is recorded then.
pub fn record_running<W: Write>(
    options: &Options<'_>,
    out: W,
    signals: &Signals,
) -> Result<(Ended, W), Error> {
    let stop = || signals.next().map(|signal| Stop::Signal(signal.number));
    record_until(options, out, &|| {}, &stop)
}

/// The same for one of several threads: `attached` is called when all is attached, and `stop` is asked fifty times a
/// second.
///
/// # Errors
/// As [`record_running`].
pub fn record_until<W: Write>(
    options: &Options<'_>,
    out: W,
    attached: &dyn Fn(),
    stop: &dyn Fn() -> Option<Stop>,
) -> Result<(Ended, W), Error> {
    if rustix::param::page_size() as u64 != PAGE_BYTES {
        return Err(Error::PageSize(Bytes(rustix::param::page_size() as u64)));
    }
    let running = options.running;
    // Others have the kernel's own checks of each event, as of a program that changes its account.
    let programs = options.programs && options.user == 0;
    let subject = Subject::Running { running, programs, overhead: options.overhead };
    options.quiet.begin(running, options.user);
    let care = Care::new(options.mapped, options.quiet.clone()).with_snapshot(options.snapshot);
    let recorder = Recorder::prepare(running.command(), subject, None, out, options.ring_bytes)?;
    let recorder = recorder.with_care(care);
    let mut watch =
        Watch { running, user: options.user, recorder, unknown: HashSet::new(), scan_due_ns: 0 };
    let began_ns = monotonic_ns();
    // Sums over large mappings take long: not while events wait.
    watch
        .take_memory(options.memory)
        .map_err(|cause| Error::Command(command::Error::Attach(cause)))?;
    watch.attach().map_err(|cause| Error::Command(command::Error::Attach(cause)))?;
    attached();
    let ended = watch.until(options.duration, stop);
    let ended = ended.and_then(|ended| watch.recorder.stop().map(|()| ended));
    let ended = ended.and_then(|ended| watch.take_memory(options.memory).map(|()| ended));
    match ended {
        Ok(mut ended) => {
            ended.elapsed_ns = monotonic_ns() - began_ns;
            Ok((ended.clone(), watch.recorder.finish(&ended)?))
        }
        Err(error) => {
            // Events of a process that is not the user's stay out of the log.
            if error.kind() != io::ErrorKind::PermissionDenied {
                watch.recorder.abandon();
            }
            Err(Error::Command(command::Error::Attach(error)))
        }
    }
}

fn is_there(process: u32) -> bool {
    std::path::Path::new(&format!("/proc/{process}")).exists()
}

struct Watch<'a, W: Write> {
    running: &'a Running,
    user: u32,
    recorder: Recorder<'a, W>,
    /// Threads of the last scan that nothing was known of. A thread that one of ours has just begun is
    /// known with the next events.
    unknown: HashSet<u32>,
    scan_due_ns: u64,
}

impl<W: Write> Watch<'_, W> {
    /// Attaches to all threads there are.
    fn attach(&mut self) -> io::Result<()> {
        for (process, threads) in self.running.threads(self.user) {
            let followed = self.recorder.follow(process, &threads);
            if !self.running.processes.contains(&process) && !is_there(process) {
                // A child that has ended meanwhile.
                continue;
            }
            followed?;
            self.check_again(process)?;
        }
        self.scan_due_ns = monotonic_ns() + SCAN_EVERY_NS;
        Ok(())
    }

    /// Writes down what they have in memory, which a limit would have to hold, too. What has ended has none.
    fn take_memory(&mut self, is_wanted: bool) -> io::Result<()> {
        if !is_wanted {
            return Ok(());
        }
        let held = memory::of(self.running, self.user);
        if held == memory::Held::default() {
            return Ok(());
        }
        self.recorder.note_memory(MemorySeen {
            time_ns: monotonic_ns(),
            anonymous_bytes: held.anonymous_bytes.0,
            shmem_bytes: held.shared_bytes.0,
            kernel_bytes: held.kernel_bytes.0,
            page_cache_bytes: held.cache_bytes.0,
        })
    }

    /// Another process may have taken the number since it was checked.
    fn check_again(&self, process: u32) -> io::Result<()> {
        if may_trace(process, self.user) || !is_there(process) {
            return Ok(());
        }
        Err(io::ErrorKind::PermissionDenied.into())
    }

    fn until(
        &mut self,
        duration: Option<Duration>,
        stop: &dyn Fn() -> Option<Stop>,
    ) -> io::Result<Ended> {
        let mut ended = Ended::default();
        let began_ns = monotonic_ns();
        loop {
            self.wait()?;
            self.recorder.tick()?;
            match stop() {
                Some(Stop::Signal(number)) => {
                    ended.interrupted = Some(number);
                    return Ok(ended);
                }
                Some(Stop::Over) => return Ok(ended),
                None => {}
            }
            let now_ns = monotonic_ns();
            let passed = Duration::from_nanos(now_ns - began_ns);
            if duration.is_some_and(|duration| passed >= duration) {
                return Ok(ended);
            }
            if now_ns >= self.scan_due_ns {
                self.scan_due_ns = now_ns + SCAN_EVERY_NS;
                let threads = self.running.threads(self.user);
                if threads.is_empty() {
                    return Ok(ended);
                }
                self.scan(&threads)?;
            }
        }
    }

    fn wait(&self) -> io::Result<()> {
        let all = self.recorder.descriptors().into_iter();
        let mut waiting: Vec<PollFd<'_>> =
            all.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
        let tick = Timespec::try_from(TICK).map_err(io::Error::other)?;
        match poll(&mut waiting, Some(&tick)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Attaches to threads that were unknown in two scans.
    fn scan(&mut self, threads: &BTreeMap<u32, Vec<u32>>) -> io::Result<()> {
        let mut unknown = HashSet::new();
        for (&process, threads) in threads {
            let new: Vec<u32> =
                threads.iter().copied().filter(|&thread| !self.recorder.follows(thread)).collect();
            let (again, first): (Vec<u32>, Vec<u32>) =
                new.into_iter().partition(|thread| self.unknown.contains(thread));
            unknown.extend(first);
            if !again.is_empty() && may_trace(process, self.user) {
                self.recorder.follow(process, &again)?;
                self.check_again(process)?;
            }
        }
        self.unknown = unknown;
        let living: HashSet<u32> = threads.values().flatten().copied().collect();
        self.recorder.forget_all_but(&living);
        Ok(())
    }
}
