//! What the recorder does as the command begins, and while it runs.

use std::io::{self, Write};
use std::os::fd::BorrowedFd;

use super::Recorder;
use crate::workload::command::Watcher;
use crate::workload::record::log::Kind;
use crate::workload::record::perf;

impl<W: Write> Watcher for Recorder<'_, W> {
    fn attach(&mut self, pid: i32) -> io::Result<()> {
        self.perf.attach(pid).map_err(|error| match error {
            // Its kind is how a caller tells what to advise.
            perf::Error::NotPermitted(cause) => cause,
            other => io::Error::other(other),
        })?;
        // An opened file is held until its name is seen here: when the command removes it
        // meanwhile, its pages leave the cache as this thread lets it go.
        self.perf.attach_to_this_thread(Kind::Delete).map_err(io::Error::other)?;
        self.this_thread = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
        self.names.look_at_process(pid, &self.given);
        self.uncached.look_at_process(pid, &self.given);
        self.touched.meet(pid.unsigned_abs());
        self.began = true;
        Ok(())
    }

    fn looks_for_peers(&self) -> bool {
        true
    }

    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        // A process may be gone soon: its descriptors are looked at as soon as it opens a file.
        let opens = self.writes.as_ref().map(|_| self.names.descriptors());
        self.perf.descriptors().into_iter().chain(opens.into_iter().flatten()).collect()
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
