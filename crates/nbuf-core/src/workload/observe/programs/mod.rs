//! The events of a command's threads by programs in the kernel, at its tracepoints.
//!
//! No event of perf is opened for a task: the first one of a machine makes the kernel wait for all processors, and
//! each process of the command inherits all of them. Here a task has a mark, and those that it makes get one too.
//! Without meters nothing is done at a system call: how a thread leaves a processor says which call it waits in. What wakes a thread
//! is not said here: programs do not see whether an interrupt is served, and the records of perf do.
//!
//! For root alone: the kernel takes perf's events off a program that changes its account, and these it does not. Tried on
//! Linux 6.18, x86-64. Cost: see docs/run.md.

mod calls;
mod kernel;
mod program;
pub(crate) mod record;
mod timed;

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::thread::Builder;

use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::decode::Seen;
use super::tracepoints::Lookups;
use crate::meter::times::Times;
use crate::sys::bpf::Program;
use crate::sys::bpf::counters::Counters;
use crate::sys::bpf::stream::Stream;
use crate::sys::bpf::tracing::{Link, Tracing};
use crate::sys::bpf::whom::Marks;
use crate::sys::process;
use crate::workload::record::machine;
use calls::Calls;
use kernel::Kernel;
use program::{LINE_BYTES, Numbers, Word, Writer};

/// Room of the ring for each processor, and at most. A switch has at most 120 bytes in it: 8,700 switches fit.
const RING_BYTES_EACH: usize = 1 << 20;
const RING_BYTES_MAX: usize = 32 << 20;

const REQUEST: &CStr = c"block_bio_queue";
const LOOKUPS: [&CStr; 3] = [c"mm_filemap_get_pages", c"mm_filemap_fault", c"mm_filemap_map_pages"];
const MISS: &CStr = c"page_cache_sync_ra";

/// Programs that run until this is dropped.
#[derive(Debug)]
pub(super) struct Programs {
    stream: Stream,
    /// Ready from a program's word on: the ring itself is ready as long as it has anything.
    ready: OwnedFd,
    counters: Counters,
    lines: usize,
    counts_lookups: bool,
    /// Where they are timed.
    calls: Option<Calls>,
    marks: Marks,
    links: Vec<Link>,
    /// Descriptors that are dear to close, too.
    late: Vec<OwnedFd>,
}

impl Programs {
    /// Attaches all of them. They look at no task yet.
    ///
    /// # Errors
    /// What is missing: rights, a description of the kernel, or a tracepoint.
    pub(super) fn attach(times_calls: bool) -> io::Result<Self> {
        let missing = || io::Error::from(io::ErrorKind::Unsupported);
        if !process::is_root() || !machine::is_in_first_pid_namespace() {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        // The first that is refused where programs are.
        let marks = Marks::none()?;
        // Millions of bytes of a description are read while the kernel makes the ring.
        let describing =
            Builder::new().name("description".into()).spawn(move || Kernel::described(times_calls));
        let page = rustix::param::page_size();
        let processors = machine::processors_online()?;
        let highest = processors.iter().copied().max().and_then(|last| usize::try_from(last).ok());
        let lines = (highest.unwrap_or(0) + 1).next_power_of_two();
        let ring_bytes = RING_BYTES_EACH.saturating_mul(processors.len()).min(RING_BYTES_MAX);
        let ring_bytes = ring_bytes.next_power_of_two().max(page);
        let stream = Stream::new(ring_bytes)?;
        let ready = epoll::create(CreateFlags::CLOEXEC)?;
        let on_word = EventFlags::IN | EventFlags::ET;
        epoll::add(&ready, stream.descriptor(), EventData::new_u64(0), on_word)?;
        let counters = Counters::zeroes((lines * LINE_BYTES).div_ceil(page))?;
        let calls = times_calls.then(|| Calls::none(lines)).transpose()?;
        let described = match describing {
            Ok(thread) => thread.join().ok().flatten(),
            Err(_) => Kernel::described(times_calls),
        };
        let kernel = described.ok_or_else(missing)?;
        let number = |value: usize| i32::try_from(value).map_err(|_| missing());
        let numbers = Numbers {
            marks: marks.number(),
            stream: stream.number(),
            counters: counters.number(),
            lines: number(lines)?,
            wake_bytes: number(ring_bytes / 4)?,
        };
        let writer = Writer { kernel: &kernel, numbers };
        let mut attached = Vec::new();
        let typed = [
            (kernel.newtask, writer.newtask()),
            (kernel.exit, writer.exit()),
            (kernel.switch, writer.switch()),
            (kernel.add, writer.fill()),
        ];
        for (kind, code) in typed {
            attached.push(Tracing::load(&code.ok_or_else(missing)?, kind)?.attach()?);
        }
        attached.push(Program::load(&writer.request().ok_or_else(missing)?)?.attach(REQUEST)?);
        if let Some(calls) = &calls {
            attached.extend(calls.attach(&kernel, writer)?);
        }
        let lookups = looks(&writer);
        let counts_lookups = lookups.is_some();
        attached.extend(lookups.into_iter().flatten());
        Ok(Self {
            stream,
            ready,
            counters,
            lines,
            counts_lookups,
            calls,
            marks,
            links: attached,
            late: Vec::new(),
        })
    }

    /// Looks at a task and at all that it makes, from now on.
    ///
    /// # Errors
    /// `ESRCH` if it has ended.
    pub(super) fn look_at(&self, pid: i32) -> io::Result<()> {
        let task = Pid::from_raw(pid).ok_or(io::ErrorKind::InvalidInput)?;
        self.marks.add(pidfd_open(task, PidfdFlags::empty())?.as_fd())
    }

    /// By what a reader waits for a ring that fills.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.ready.as_fd()
    }

    /// Takes what the ring has, almost in order of time.
    pub(super) fn drain(&mut self, into: &mut Vec<Seen>) {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let mut words = [Event { flags: EventFlags::empty(), data: EventData::new_u64(0) }];
        // One that fails leaves it ready: no more than a turn too many.
        let _ = epoll::wait(&self.ready, &mut words, Some(&now));
        self.stream.drain(|bytes| record::decode(bytes, into));
    }

    /// Keeps a descriptor that is dear to close until the programs go.
    pub(super) fn close_late(&mut self, descriptor: OwnedFd) {
        self.late.push(descriptor);
    }

    /// What keeps them running, and what is closed after them.
    pub(super) fn into_descriptors(self) -> Vec<OwnedFd> {
        self.links.into_iter().map(Link::into_descriptor).chain(self.late).collect()
    }

    /// The times of system calls that no record says.
    pub(super) fn calls(&self) -> Vec<(u64, Times)> {
        self.calls.as_ref().map(Calls::times).unwrap_or_default()
    }

    /// Pages put into the page cache.
    pub(super) fn fills(&self) -> u64 {
        self.sum(Word::Fills)
    }

    /// Records that did not reach us.
    pub(super) fn lost(&self) -> u64 {
        self.sum(Word::Lost)
    }

    /// Look-ups in the page cache; nothing where this kernel has not all tracepoints of them.
    pub(super) fn lookups(&self) -> Option<Lookups> {
        let all = self.sum(Word::Lookups);
        let misses = self.sum(Word::Misses).min(all);
        self.counts_lookups.then_some(Lookups { all, misses })
    }

    /// Over all processors.
    fn sum(&self, word: Word) -> u64 {
        (0..self.lines).map(|line| self.counters.get(line * LINE_BYTES / 8 + word as usize)).sum()
    }
}

/// What counts look-ups; nothing where a tracepoint is missing.
fn looks(writer: &Writer<'_>) -> Option<Vec<Link>> {
    let all = Program::load(&writer.counted(Word::Lookups)?).ok()?;
    let misses = Program::load(&writer.counted(Word::Misses)?).ok()?;
    let links = LOOKUPS.iter().map(|name| all.attach(name)).chain([misses.attach(MISS)]);
    links.collect::<io::Result<_>>().ok()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    use super::*;
    use crate::meter::split::What;

    #[test]
    fn a_command_and_what_it_makes_are_seen_from_birth_to_death() {
        let mut command = Command::new("sh");
        command.args(["-c", "read line; sleep 0.05; exit 3"]).stdin(Stdio::piped());
        let mut shell = command.spawn().unwrap();
        let attached = Programs::attach(false);
        if let Ok(programs) = &attached {
            programs.look_at(shell.id().cast_signed()).unwrap();
        }
        writeln!(shell.stdin.take().unwrap()).unwrap();
        assert_eq!(shell.wait().unwrap().code(), Some(3));
        let Ok(mut programs) = attached else { return };
        let mut seen = Vec::new();
        programs.drain(&mut seen);
        let born = seen.iter().find_map(|seen| match seen {
            Seen::Born { event, parent, is_process: true } if *parent == shell.id() => {
                Some(event.thread)
            }
            _ => None,
        });
        let whats = |thread: u32| {
            let of = |seen: &Seen| match seen {
                Seen::Thread(event) if event.thread == thread => Some(event.what),
                _ => None,
            };
            seen.iter().filter_map(of).collect::<Vec<_>>()
        };
        for thread in [shell.id(), born.unwrap()] {
            let whats = whats(thread);
            assert!(whats.contains(&What::In), "{whats:?}");
            assert!(whats.contains(&What::Died), "{whats:?}");
        }
        // The shell waited for the other one.
        assert!(whats(shell.id()).iter().any(|what| matches!(what, What::Calls(..))));
        let lookups = programs.lookups().unwrap();
        assert!(lookups.all >= lookups.misses && lookups.all > 0, "{lookups:?}");
        assert_eq!(programs.lost(), 0);
    }
}
