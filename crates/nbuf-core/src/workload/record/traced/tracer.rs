//! The thread that the tracees belong to: waits for their stops, follows their calls, lets them go.
//!
//! Invariant: every stop is answered, and signals, stopped jobs and ends of processes are passed on
//! as they were meant. The kernel kills the tracees if this thread ends before they do.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use super::mapped::{Mappings, touched};
use super::memory;
use super::request::{Request, Unseen};
use super::translate::{Missed, Pending, Translator};
use crate::sys::process::monotonic_ns;
use crate::sys::ptrace::{self, Resume, Stop};
use crate::trace::Uncached;
use crate::workload::record::log::Entry;
use crate::workload::record::mounts::Mount;

/// What the thread shares with the recorder.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// For the log.
    pub(super) entries: Vec<Entry>,
    /// Processes that run.
    pub(super) processes: Vec<i32>,
    /// What could not be followed.
    pub(super) missed: Missed,
    /// What went without the page cache of files; known at the end.
    pub(super) uncached: Vec<Uncached>,
    /// What is mounted here, and what was met besides; known at the end.
    pub(super) mounts: Vec<Mount>,
    /// What was not even tried to follow.
    pub(super) unseen: Vec<Unseen>,
    /// Programs of another architecture, whose calls do not stop.
    pub(super) foreign: u64,
    /// Whether the tracees are being killed: they are let go, which the kernel makes their end.
    pub(super) is_over: bool,
}

/// Takes the lock. What is behind it is whole between any two statements.
pub(super) fn locked(shared: &Mutex<Shared>) -> std::sync::MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A thread of the command.
#[derive(Debug)]
struct Task {
    process: i32,
    pending: Option<Pending>,
    /// About to end.
    ending: bool,
}

/// All tracees.
#[derive(Debug)]
pub(super) struct Tracer {
    translator: Translator,
    tasks: HashMap<i32, Task>,
    mappings: HashMap<i32, Mappings>,
    shared: Arc<Mutex<Shared>>,
}

impl Tracer {
    pub(super) fn new(translator: Translator, shared: Arc<Mutex<Shared>>) -> Self {
        Self { translator, tasks: HashMap::new(), mappings: HashMap::new(), shared }
    }

    /// Until the last tracee has ended, or all are killed. Those that are left end with this thread.
    pub(super) fn run(&mut self) -> io::Result<()> {
        while let Some((task, stop)) = ptrace::wait()? {
            if locked(&self.shared).is_over {
                break;
            }
            if let Some(how) = self.answer(task, stop) {
                ptrace::resume(task, how)?;
            }
            self.hand_over();
        }
        let mut shared = locked(&self.shared);
        shared.uncached = self.translator.files.uncached();
        shared.mounts = self.translator.files.mounts().to_vec();
        Ok(())
    }

    /// What a tracee is to do now; nothing when it is no more.
    fn answer(&mut self, task: i32, stop: Stop) -> Option<Resume> {
        if stop != Stop::Gone {
            self.meet(task);
        }
        Some(match stop {
            Stop::Gone => {
                self.forget(task);
                return None;
            }
            Stop::Call => self.call(task),
            Stop::CallEnd => {
                self.call_end(task);
                Resume::On(0)
            }
            Stop::Executed => {
                self.executed(task);
                Resume::On(0)
            }
            Stop::Ending => {
                self.ending(task);
                Resume::On(0)
            }
            Stop::Signal(signal) => Resume::On(signal),
            Stop::Group => Resume::Stay,
            Stop::Child | Stop::Event => Resume::On(0),
        })
    }

    /// Learns which process a new task belongs to.
    fn meet(&mut self, task: i32) {
        if self.tasks.contains_key(&task) {
            return;
        }
        let status = fs::read_to_string(format!("/proc/{task}/status")).unwrap_or_default();
        let number = |key: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(key));
            line.and_then(|text| text.trim().parse::<i32>().ok())
        };
        let process = number("Tgid:").unwrap_or(task);
        self.translator.advised.meet(task.unsigned_abs(), process.unsigned_abs());
        self.tasks.insert(task, Task { process, pending: None, ending: false });
        if !self.mappings.contains_key(&process) {
            // What the parent had mapped is mapped here too.
            let of_parent = number("PPid:").and_then(|parent| self.mappings.get(&parent));
            let copy = Mappings::copied(of_parent, monotonic_ns());
            self.mappings.insert(process, copy);
            self.processes_changed();
        }
    }

    fn forget(&mut self, task: i32) {
        self.translator.files.end(task);
        let Some(Task { process, .. }) = self.tasks.remove(&task) else { return };
        if !self.tasks.values().any(|other| other.process == process) {
            self.mappings.remove(&process);
            self.processes_changed();
        }
    }

    fn processes_changed(&self) {
        locked(&self.shared).processes = self.mappings.keys().copied().collect();
    }

    fn call(&mut self, task: i32) -> Resume {
        let Some(request) = ptrace::call(task).and_then(|call| Request::of(&call)) else {
            return Resume::On(0);
        };
        let known = self.tasks.get(&task).and_then(|known| self.mappings.get_mut(&known.process));
        if let Some(mappings) = known
            && mappings.are_due(monotonic_ns())
        {
            self.translator.touch(task, &(0..u64::MAX), mappings);
        }
        if !request.needs_end() {
            self.at_once(task, &request);
            return Resume::On(0);
        }
        let pending = if request == Request::Execute {
            self.touched_until_now(task)
        } else {
            let processes: Vec<i32> = self.mappings.keys().copied().collect();
            self.translator.begin(task, &request, &processes)
        };
        let Some(known) = self.tasks.get_mut(&task).filter(|_| pending.is_some()) else {
            return Resume::On(0);
        };
        known.pending = pending;
        Resume::ToExit
    }

    fn at_once(&mut self, task: i32, request: &Request) {
        match *request {
            Request::Unmap { address, bytes } => self.unmap(task, address, bytes),
            Request::Unseen(what) => {
                let unseen = &mut locked(&self.shared).unseen;
                if !unseen.contains(&what) {
                    unseen.push(what);
                }
            }
            _ => self.translator.transfer(task, request),
        }
    }

    fn unmap(&mut self, task: i32, address: u64, bytes: u64) {
        let range = address..address.saturating_add(bytes);
        let Some(known) = self.tasks.get(&task) else { return };
        let Some(mappings) = self.mappings.get_mut(&known.process) else { return };
        if mappings.overlaps(&range) {
            self.translator.touch(task, &range, mappings);
            mappings.remove(&range);
        }
    }

    /// What a program has touched that may be about to be replaced. A child that has not executed
    /// anything yet shares its parent's memory, or has a copy of it.
    fn touched_until_now(&mut self, task: i32) -> Option<Pending> {
        let mappings = self.mappings.get_mut(&self.tasks.get(&task)?.process)?;
        let Translator { files, news, .. } = &mut self.translator;
        let all = 0..u64::MAX;
        let seen = mappings.are_own().then(|| touched(task, &all, mappings, files, news));
        Some(Pending::Execute { touched: seen.unwrap_or_default() })
    }

    fn call_end(&mut self, task: i32) {
        let Some(known) = self.tasks.get_mut(&task) else { return };
        let Some(pending) = known.pending.take() else { return };
        let Some(Ok(result)) = ptrace::result(task).map(u64::try_from) else { return };
        if let Pending::Map { bytes } = pending
            && let Some(mappings) = self.mappings.get_mut(&known.process)
        {
            mappings.add(result..result.saturating_add(bytes));
        }
        self.translator.end(task, &pending, result);
    }

    fn executed(&mut self, process: i32) {
        // The thread that executed has the process's number now, whichever it was before.
        let mut pending = None;
        self.tasks.retain(|&task, known| {
            if known.process == process && matches!(known.pending, Some(Pending::Execute { .. })) {
                pending = known.pending.take();
            }
            known.process != process || task == process
        });
        if let Some(Pending::Execute { touched }) = pending {
            self.translator.news.extend(touched.into_iter().map(Entry::Event));
        }
        self.mappings.insert(process, Mappings::fresh(monotonic_ns()));
        if is_foreign(process) {
            locked(&self.shared).foreign += 1;
        }
    }

    /// A task ends. With the last of its process, the memory goes.
    fn ending(&mut self, task: i32) {
        let Some(known) = self.tasks.get_mut(&task) else { return };
        known.ending = true;
        let process = known.process;
        if self.tasks.values().any(|other| other.process == process && !other.ending) {
            return;
        }
        if let Some(mappings) = self.mappings.get_mut(&process) {
            self.translator.touch(task, &(0..u64::MAX), mappings);
        }
        let all: Vec<i32> = self.mappings.keys().copied().collect();
        let seen = memory::of(&all);
        self.translator.news.push(Entry::Memory(seen));
    }

    fn hand_over(&mut self) {
        let Translator { news, missed, .. } = &mut self.translator;
        if !news.is_empty() || *missed != Missed::default() {
            let mut shared = locked(&self.shared);
            shared.entries.append(news);
            shared.missed = *missed;
        }
    }
}

/// Whether a process runs a program for another architecture: of 32 bits, on machines of 64.
fn is_foreign(process: i32) -> bool {
    use std::io::Read;
    let mut header = [0; 5];
    let program = fs::File::open(format!("/proc/{process}/exe"));
    program.and_then(|mut file| file.read_exact(&mut header)).is_ok() && header == *b"\x7fELF\x01"
}
