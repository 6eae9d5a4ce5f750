//! What the kernel counts of a shell and its children.
//!
//! `/proc/PID/stat` has the shell's own figures, and those of the children that it waited for, with their
//! descendants. Inherited counters have those of all its children, also of jobs that still run in the background:
//! what is more is theirs.

use std::fs;
use std::io;

use crate::sys::perf::{self, Counted, Event};
use crate::sys::tracefs::Tracefs;
use crate::units::Bytes;
use crate::workload::record::events;

/// A difference that ticks of the kernel's clock may make in four figures: below it nothing is said of background
/// jobs.
const TICKS: u64 = 4;

/// What one command of a shell took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// From the command line to the prompt; the shell's clock.
    pub real_ns: u64,
    /// Time of processors, of the shell and of all that it waited for.
    pub cpu_ns: u64,
    /// The part of it in programs, in steps of a tick; nothing where it is too short to divide.
    pub user_ns: Option<u64>,
    /// Page faults that waited for a disc.
    pub faults_major: u64,
    /// Other page faults.
    pub faults_minor: u64,
    /// Bytes read from discs; nothing where that may not be read.
    pub device_read: Option<Bytes>,
    /// Pages put into the page cache, also by jobs in the background; nothing without tracepoints.
    pub fills: Option<u64>,
    /// Time of processors of jobs in the background meanwhile; nothing where it is not counted apart.
    pub background_ns: Option<u64>,
    /// A job of the background ended: page faults and bytes of its whole life are in these figures.
    pub background_ended: bool,
}

/// All counters at an instant.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reading {
    tick_ns: u64,
    user: u64,
    system: u64,
    major: u64,
    minor: u64,
    read_bytes: Option<u64>,
    task_ns: Option<u64>,
    fills: Option<u64>,
}

impl Reading {
    /// What is more than before.
    pub(super) fn since(&self, before: &Self, real_us: u64) -> Figures {
        let less = |now: u64, before: u64| now.saturating_sub(before);
        let more = |now: Option<u64>, before: Option<u64>| Some(less(now?, before?));
        let (user, system) = (less(self.user, before.user), less(self.system, before.system));
        let waited_ns = (user + system) * self.tick_ns;
        // The counter has interrupts and stolen time in it, which the ticks leave out.
        let room_ns = (TICKS * self.tick_ns).max(waited_ns / 10);
        let task_ns = more(self.task_ns, before.task_ns);
        let (mut cpu_ns, mut background_ns, mut background_ended) = (waited_ns, None, false);
        if let Some(task_ns) = task_ns {
            background_ns = Some(task_ns - waited_ns.min(task_ns)).filter(|ns| *ns > room_ns);
            background_ended = waited_ns > task_ns + room_ns;
            if background_ns.is_none() {
                cpu_ns = task_ns;
            }
            background_ns = background_ns.or(Some(0));
        }
        let divides = user + system > TICKS && !background_ended;
        let user_ns = divides.then(|| cpu_ns * user / (user + system));
        Figures {
            real_ns: real_us.saturating_mul(1000),
            cpu_ns,
            user_ns,
            faults_major: less(self.major, before.major),
            faults_minor: less(self.minor, before.minor),
            device_read: more(self.read_bytes, before.read_bytes).map(Bytes),
            fills: more(self.fills, before.fills),
            background_ns,
            background_ended,
        }
    }
}

/// The counters of a shell.
#[derive(Debug)]
pub(super) struct Counts {
    shell: i32,
    tick_ns: u64,
    task: Option<Event>,
    fills: Option<Event>,
}

impl Counts {
    /// Opens what this user may open.
    pub(super) fn open(shell: i32) -> Self {
        let fill = || {
            let text = Tracefs::open().ok()?;
            let path = "events/filemap/mm_filemap_add_to_page_cache/format";
            let id = events::id(&text.read(path).ok()?)?;
            perf::open_session_counter(Counted::Tracepoint(id.into()), shell).ok()
        };
        let tick_ns = 1_000_000_000 / rustix::param::clock_ticks_per_second().max(1);
        let task = perf::open_session_counter(Counted::TaskClock, shell).ok();
        Self { shell, tick_ns, task, fills: fill() }
    }

    /// All of them now; an error when the shell is gone.
    pub(super) fn now(&self) -> io::Result<Reading> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.shell))?;
        let fields = fields(&stat).ok_or(io::ErrorKind::InvalidData)?;
        let io = fs::read_to_string(format!("/proc/{}/io", self.shell)).ok();
        let read_bytes = io.and_then(|io| {
            io.lines().find_map(|line| line.strip_prefix("read_bytes: ")?.parse().ok())
        });
        let count = |event: &Option<Event>| Some(event.as_ref()?.count().ok()?.hits);
        let [
            minor,
            minor_children,
            major,
            major_children,
            user,
            system,
            user_children,
            system_children,
        ] = fields;
        Ok(Reading {
            tick_ns: self.tick_ns,
            user: user + user_children,
            system: system + system_children,
            major: major + major_children,
            minor: minor + minor_children,
            read_bytes,
            task_ns: count(&self.task),
            fills: count(&self.fills),
        })
    }
}

/// Fields 10 to 17 of `/proc/PID/stat`: they count from behind the name, which may hold anything.
fn fields(stat: &str) -> Option<[u64; 8]> {
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut numbers = rest.split(' ').skip(7);
    let mut fields = [0; 8];
    for field in &mut fields {
        *field = numbers.next()?.trim().parse().ok()?;
    }
    Some(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_behind_any_name() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194304 10 11 12 13 14 15 16 17 20 0 1 0 5";
        assert_eq!(fields(stat), Some([10, 11, 12, 13, 14, 15, 16, 17]));
        assert_eq!(fields("7 (a"), None);
    }

    #[test]
    fn jobs_of_the_background_are_told_apart() {
        let at = |user, task_ms: u64| Reading {
            tick_ns: 10_000_000,
            user,
            task_ns: Some(task_ms * 1_000_000),
            ..Reading::default()
        };
        let ms = |ns: u64| ns / 1_000_000;
        let check = |waited, task, want: (u64, Option<u64>, bool)| {
            let figures = at(waited, task).since(&at(0, 0), 5);
            let background = figures.background_ns.map(ms);
            assert_eq!((ms(figures.cpu_ns), background, figures.background_ended), want);
        };
        check(10, 97, (97, Some(0), false));
        check(10, 300, (100, Some(200), false));
        check(30, 50, (50, Some(0), true));
        check(250, 2558, (2558, Some(0), false));
    }
}
