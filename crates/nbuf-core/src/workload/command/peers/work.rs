//! The processor time of a process and its children, read from outside.

use std::fs;

use crate::sys::process;

/// A server whose processor time is followed.
#[derive(Debug)]
pub(super) struct Work {
    pid: i32,
    /// Another process may get its number.
    started: Option<u64>,
    first: u64,
    last: u64,
}

impl Work {
    /// From now on.
    pub(super) fn of(pid: i32) -> Self {
        let ticks = ticks_of_all(pid);
        Self { pid, started: process::start_ticks(pid), first: ticks, last: ticks }
    }

    /// Looks again; nothing if it has ended.
    pub(super) fn look(&mut self) {
        if self.started.is_some() && process::start_ticks(self.pid) == self.started {
            // Children that it did not wait for take theirs with them.
            self.last = self.last.max(ticks_of_all(self.pid));
        }
    }

    /// What was used between the first look and the last, in steps of the kernel's clock (10 ms).
    pub(super) fn ns(&self) -> u64 {
        let per_second = rustix::param::clock_ticks_per_second().max(1);
        (self.last - self.first).saturating_mul(1_000_000_000 / per_second)
    }
}

/// The time of a process, its children, and what those have left; nothing of our own processes.
fn ticks_of_all(pid: i32) -> u64 {
    let ours = i32::try_from(std::process::id()).unwrap_or(-1);
    let all = process::descendants(&[pid]);
    // A terminal or a shell may be a server, too.
    let is_around_us = all.contains(&ours);
    let except = if is_around_us { process::descendants(&[ours]) } else { Vec::new() };
    all.into_iter().filter(|pid| !except.contains(pid)).map(ticks).sum()
}

fn ticks(pid: i32) -> u64 {
    fs::read_to_string(format!("/proc/{pid}/stat")).ok().and_then(|stat| read(&stat)).unwrap_or(0)
}

/// User and system time, of a process and of its children that have ended.
fn read(stat: &str) -> Option<u64> {
    // Fields count from behind the command name, which may hold anything.
    let (_, rest) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split(' ').collect();
    fields.get(11..15)?.iter().map(|field| field.parse::<u64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_counted_with_ended_children() {
        let stat = "7 (a) b) S 1 2 3 4 5 6 7 8 9 10 100 20 3 4 20 0 1 0 99";
        assert_eq!(read(stat), Some(127));
        assert_eq!(read("7 (a) S 1 2"), None);
        assert_eq!(read("nothing"), None);
    }

    #[test]
    fn only_time_after_the_first_look_counts() {
        let ours = i32::try_from(std::process::id()).unwrap();
        let mut work = Work::of(ours);
        work.look();
        assert_eq!(work.ns(), 0, "our own processes are left out");
        work.last = work.first + 3;
        assert_eq!(work.ns(), 30_000_000);
    }
}
