//! What the recorder does as the command begins, and while it runs.

use std::collections::HashSet;
use std::io::{self, Write};
use std::os::fd::BorrowedFd;
use std::time::Duration;

use super::{Container, Recorder};
use crate::workload::command::{TICK, Watcher};
use crate::workload::record::log::Kind;
use crate::workload::record::names::Open;
use crate::workload::record::perf;
use crate::workload::record::touched::{Care, Touched};

impl<W: Write> Watcher for Recorder<'_, W> {
    fn attach(&mut self, pid: i32) -> io::Result<()> {
        if self.container.is_some() {
            // The engine's own reading is not the container's.
            return Ok(());
        }
        self.perf.attach(pid).map_err(refusal)?;
        self.begin()?;
        self.names.look_at_process(pid, Open::Kept(&self.given));
        self.uncached.look_at_process(pid, Open::Kept(&self.given));
        self.touched.meet(pid.unsigned_abs());
        Ok(())
    }

    fn tick_every(&self) -> Duration {
        self.container.as_ref().map_or(TICK, Container::look_every)
    }

    fn looks_for_peers(&self) -> bool {
        // An engine's daemon starts the container, which is recorded.
        self.container.is_none()
    }

    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        // A process may be gone soon: its descriptors are looked at as soon as it opens a file.
        let opens = self.writes.as_ref().map(|_| self.names.descriptors());
        self.perf.descriptors().into_iter().chain(opens.into_iter().flatten()).collect()
    }

    fn tick(&mut self) -> io::Result<()> {
        if !self.began && self.container.is_none() {
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

/// Its kind is how a caller tells what to advise.
fn refusal(error: perf::Error) -> io::Error {
    match error {
        perf::Error::NotPermitted(cause) => cause,
        other => io::Error::other(other),
    }
}

impl<W: Write> Recorder<'_, W> {
    /// Looks at mapped pages with this care.
    #[must_use]
    pub(in crate::workload::record) fn with_care(mut self, care: Care) -> Self {
        self.touched = Touched::careful(care);
        self
    }

    fn begin(&mut self) -> io::Result<()> {
        if self.began {
            return Ok(());
        }
        // An opened file is held until its name is seen here: when the command removes it
        // meanwhile, its pages leave the cache as this thread lets it go.
        self.perf.attach_to_this_thread(Kind::Delete).map_err(io::Error::other)?;
        self.this_thread = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
        self.began = true;
        Ok(())
    }

    /// Attaches to a process that runs, and to these threads of it. Threads that ended meanwhile are left out;
    /// gives back how many it attached to.
    ///
    /// # Errors
    /// `EPERM` for a process that the caller may not trace; too few descriptors.
    pub(in crate::workload::record) fn follow(
        &mut self,
        process: u32,
        threads: &[u32],
    ) -> io::Result<u32> {
        let mut attached = 0;
        match self.perf.mark(process) {
            Ok(()) | Err(perf::Error::Gone) => {}
            Err(error) => return Err(refusal(error)),
        }
        for &thread in threads {
            match self.perf.attach_running(thread.cast_signed()) {
                Ok(()) => {}
                Err(perf::Error::Gone) => continue,
                Err(error) => return Err(refusal(error)),
            }
            self.begin()?;
            self.threads.insert(thread);
            self.advised.meet(thread, process);
            attached += 1;
        }
        if attached > 0 && self.processes.insert(process) {
            let process = process.cast_signed();
            self.names.look_at_process(process, Open::All);
            self.names.look_at_mappings(process);
            self.uncached.look_at_process(process, Open::All);
            let process = process.unsigned_abs();
            self.touched.meet(process);
            for (key, advice) in self.touched.advised(process) {
                self.advised.said_before(process, key, advice);
            }
        }
        Ok(attached)
    }

    /// Attaches to what an engine has put into the group of its container.
    pub(super) fn follow_container(&mut self) -> io::Result<()> {
        let entered = self.container.as_mut().map(Container::entered).unwrap_or_default();
        for (process, threads) in entered {
            self.follow(process, &threads)?;
        }
        Ok(())
    }

    /// Ends the recording of programs that run on.
    pub(in crate::workload::record) fn stop(&mut self) -> io::Result<()> {
        self.perf.stop()
    }

    /// Threads that have ended give their numbers back.
    pub(in crate::workload::record) fn forget_all_but(&mut self, living: &HashSet<u32>) {
        self.threads.retain(|thread| living.contains(thread));
    }

    /// Whether events of a thread are recorded, as far as the events until now tell.
    pub(in crate::workload::record) fn follows(&self, thread: u32) -> bool {
        self.threads.contains(&thread)
    }
}
