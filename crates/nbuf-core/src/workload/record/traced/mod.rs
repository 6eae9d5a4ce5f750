//! Capture by system calls, for those who may not read the kernel's tracepoints: the command is
//! traced (`ptrace`), and a filter (`seccomp`) stops it where it reads, writes, maps or cuts files.
//!
//! Not to be confused with [`super::calls`], which reads system calls from tracepoints, as root, for
//! writes on file systems that have none of their own. `docs/capture-calls.md` tells what is seen
//! and what is not. Invariant: the command dies with this process. Cost: some 15 microseconds for
//! each call that stops, on a pipe as on a file; other calls cost nothing.

mod arguments;
mod files;
mod mapped;
mod memory;
mod request;
mod tracer;
mod translate;
mod windows;

use std::io::{self, Write};
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;

use super::log::{Entry, LogWriter, MemorySeen};
use super::machine;
use super::mounted::Mounted;
use super::mounts;
use super::recorder::Error;
use crate::sys::cgroup::Group;
use crate::sys::process::monotonic_ns;
use crate::sys::ptrace;
use crate::sys::seccomp::{self, Filter};
use crate::trace::{Capture, Facts};
use crate::units::Bytes;
use crate::workload::command::{Ended, Watcher};
use files::Files;
use request::Unseen;
use tracer::{Shared, Tracer, locked};
use translate::Translator;

const MEMORY_EVERY_NS: u64 = 25_000_000;
const FRAME_EVERY_NS: u64 = 500_000_000;

/// What this capture never sees, in a line.
pub const BLIND_SPOTS: &str = "not seen: touches of mapped pages after the first, what the kernel \
    reads ahead or evicts, io_uring, 32-bit programs; what other programs do to the same files";

/// A recording under way.
#[derive(Debug)]
pub struct Traced<'a, W: Write> {
    shared: Arc<Mutex<Shared>>,
    thread: Option<JoinHandle<io::Result<()>>>,
    log: LogWriter<W>,
    group: Option<&'a Group>,
    facts: Facts,
    events: u64,
    memory_due_ns: u64,
    frame_due_ns: u64,
    /// The first error of the log. The command is not ours to stop: it runs on, unrecorded.
    failed: Option<io::Error>,
}

/// Whether a process of ours can be traced here; really tries.
pub fn probe() -> io::Result<()> {
    if !seccomp::is_supported() {
        let architecture = std::env::consts::ARCH;
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            format!(
                "recording by system calls is for x86_64 and aarch64, and this is {architecture}"
            ),
        ));
    }
    if !seccomp::is_available() {
        let why = "seccomp(2) is refused, by the kernel or by a filter that is already set";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    if !std::path::Path::new("/proc/self/fdinfo").exists() {
        let why = "/proc is missing, and nbuf finds the file of a descriptor there";
        return Err(io::Error::new(io::ErrorKind::NotFound, why));
    }
    ptrace::probe()
}

impl<'a, W: Write> Traced<'a, W> {
    /// Starts the log; the command does not exist yet.
    pub fn prepare(command: Vec<String>, group: Option<&'a Group>, out: W) -> Result<Self, Error> {
        let mut facts = machine::facts(command);
        facts.devices = machine::devices(&mounts::backed(), &[], &facts.kernel);
        facts.capture = Capture { backend: "calls".into(), ..Capture::default() };
        facts.warnings.push(format!("recorded by system calls: {BLIND_SPOTS}"));
        if group.is_none() {
            let warning = "other memory than the page cache is an estimate: it was sampled every 25 \
                           ms, and includes only the page tables of the kernel's memory";
            facts.warnings.push(warning.to_owned());
        }
        let mut log = LogWriter::new(out)?;
        log.push(&Entry::Start(json(&facts)?))?;
        log.flush_frame()?;
        Ok(Self {
            shared: Arc::default(),
            thread: None,
            log,
            group,
            facts,
            events: 0,
            memory_due_ns: 0,
            frame_due_ns: 0,
            failed: None,
        })
    }

    /// After a run that failed: what was seen until then goes into the log, which has no end.
    pub fn abandon(mut self) {
        if self.thread.is_some() && self.failed.is_none() {
            // The run's own error is the one to tell.
            let _ = self.take_all().and_then(|()| self.log.flush_frame());
        }
    }

    /// After the run: what the last calls were; ends the log.
    pub fn finish(mut self, ended: &Ended) -> Result<W, Error> {
        match self.failed.take() {
            Some(error) => Err(Error::Broken(error)),
            None => self.end(ended).map_err(Error::Broken),
        }
    }

    fn end(mut self, ended: &Ended) -> io::Result<W> {
        if let Some(thread) = self.thread.take() {
            // All tracees have ended, so it does.
            thread.join().map_err(|_| io::Error::other("the tracing thread broke off"))??;
        }
        self.take_entries()?;
        self.facts.elapsed_ns = ended.elapsed_ns;
        self.facts.cpu_ns = ended.cpu_ns;
        self.facts.read_bytes = Bytes(ended.bytes_read);
        self.facts.written_bytes = Bytes(ended.bytes_written);
        self.facts.exit_status = Some(ended.exit_status);
        self.facts.capture.events = self.events;
        let Facts { devices, kernel, .. } = &self.facts;
        let met = machine::devices(&locked(&self.shared).mounts, devices, kernel);
        self.facts.devices.extend(met);
        self.warn(ended);
        self.log.push(&Entry::End(json(&self.facts)?))?;
        self.log.finish()
    }

    fn warn(&mut self, ended: &Ended) {
        let warnings = &mut self.facts.warnings;
        let shared = locked(&self.shared);
        let missed = shared.missed;
        if missed.hidden > 0 {
            warnings.push(format!(
                "{} calls were made by processes whose descriptors are closed to us: they are \
                 missing",
                missed.hidden
            ));
        }
        if shared.foreign > 0 {
            warnings.push("a 32-bit program was run: its calls are missing".to_owned());
        }
        self.facts.uncached.clone_from(&shared.uncached);
        self.facts.peers.clone_from(&ended.peers);
        warnings.extend(shared.unseen.iter().map(|unseen| told(*unseen).to_owned()));
        warnings.extend(ended.left.as_ref().map(ToString::to_string));
        if let Some(signal) = ended.interrupted {
            warnings.push(format!("the recording was interrupted by signal {signal}"));
        }
    }

    fn take_entries(&mut self) -> io::Result<()> {
        let entries = std::mem::take(&mut locked(&self.shared).entries);
        for entry in &entries {
            // A group knows better.
            if matches!(entry, Entry::Memory(_)) && self.group.is_some() {
                continue;
            }
            self.events += u64::from(matches!(entry, Entry::Event(_)));
            self.log.push(entry)?;
        }
        Ok(())
    }

    fn take_all(&mut self) -> io::Result<()> {
        self.take_entries()?;
        let now = monotonic_ns();
        if now >= self.memory_due_ns {
            self.memory_due_ns = now + MEMORY_EVERY_NS;
            let seen = self.memory(now);
            self.log.push(&Entry::Memory(seen))?;
        }
        if now >= self.frame_due_ns {
            self.frame_due_ns = now + FRAME_EVERY_NS;
            self.log.flush_frame()?;
        }
        Ok(())
    }

    fn memory(&self, now: u64) -> MemorySeen {
        let Some(usage) = self.group.and_then(|group| group.limiter().usage().ok()) else {
            let processes = locked(&self.shared).processes.clone();
            return memory::of(&processes);
        };
        machine::memory_of_group(&usage, now)
    }
}

impl<W: Write> Watcher for Traced<'_, W> {
    fn filter(&self) -> Option<Filter> {
        Some(Filter::stopping_at(&request::calls()))
    }

    fn attach(&mut self, pid: i32) -> io::Result<()> {
        let shared = Arc::clone(&self.shared);
        let (tell, told) = mpsc::channel();
        let trace = move || {
            let seized = ptrace::seize(pid);
            let is_ours = seized.is_ok();
            let _ = tell.send(seized);
            if !is_ours {
                return Ok(());
            }
            Tracer::new(Translator::new(Files::on(Mounted::here())), shared).run()
        };
        let thread = std::thread::Builder::new().name("tracer".into()).spawn(trace)?;
        let seized = told.recv().map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
        self.thread = Some(thread);
        seized
    }

    fn looks_for_peers(&self) -> bool {
        true
    }

    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        Vec::new()
    }

    fn let_die(&mut self) {
        locked(&self.shared).is_over = true;
    }

    fn tick(&mut self) -> io::Result<()> {
        if self.thread.is_none() {
            return Ok(());
        }
        if self.failed.is_some() {
            locked(&self.shared).entries.clear();
            return Ok(());
        }
        if let Err(error) = self.take_all() {
            self.failed = Some(error);
        }
        Ok(())
    }
}

fn told(unseen: Unseen) -> &'static str {
    match unseen {
        Unseen::Ring => "the command used io_uring: what it read and wrote that way is missing",
        Unseen::Asynchronous => {
            "the command used asynchronous I/O (io_submit): what it read and wrote that way is \
             missing"
        }
        Unseen::Trace => {
            "the command used ptrace, which fails for processes that are recorded by system \
             calls: a debugger or strace cannot be recorded this way"
        }
    }
}

fn json(facts: &Facts) -> io::Result<Vec<u8>> {
    serde_json::to_vec(facts).map_err(io::Error::other)
}
