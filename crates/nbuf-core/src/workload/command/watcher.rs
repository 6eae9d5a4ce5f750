//! What looks on while a command runs.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use super::TICK;
use crate::sys::seccomp::Filter;

/// Looks on while a command runs.
pub trait Watcher {
    /// The command's process exists but has not executed anything.
    fn attach(&mut self, pid: i32) -> io::Result<()>;

    /// What to wake up for.
    fn descriptors(&self) -> Vec<BorrowedFd<'_>>;

    /// A filter over system calls that the command is put under before it executes.
    fn filter(&self) -> Option<Filter> {
        None
    }

    /// Called on every wake-up and every 20 ms.
    fn tick(&mut self) -> io::Result<()>;

    /// Whether it has seen enough: then the command is ended as at a deadline.
    fn has_enough(&self) -> bool {
        false
    }

    /// The longest time between two ticks.
    fn tick_every(&self) -> Duration {
        TICK
    }

    /// Whether servers that the command is connected to are looked for.
    fn looks_for_peers(&self) -> bool {
        false
    }

    /// What still runs is killed now: nothing is to be seen of it any more, and nothing may hold it up.
    fn let_die(&mut self) {}
}

/// Does not look: for runs of which nothing is asked but their end.
#[derive(Debug)]
pub struct Unwatched;

impl Watcher for Unwatched {
    fn attach(&mut self, _pid: i32) -> io::Result<()> {
        Ok(())
    }

    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        Vec::new()
    }

    fn tick(&mut self) -> io::Result<()> {
        Ok(())
    }
}
