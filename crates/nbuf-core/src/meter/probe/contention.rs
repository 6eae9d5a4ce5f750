//! Whether something else had the processor: what makes a sample worthless.
//!
//! Two counters of the kernel, read before and after: the time that this thread was ready to run and
//! waited for a processor (`/proc/thread-self/schedstat`), and the times that the processor was
//! taken from it. A sample of a few milliseconds of which neither has grown ran alone, whatever the
//! load of the machine. Cost: a read and a call, about 2 us. What a hypervisor takes (steal) is
//! not in them: see [`super::machine`]. Source: shared scheduler statistics, `sched-stats.rst`.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;

use crate::sys::usage::Usage;

/// The open counters of one thread, or of all threads of the process.
#[derive(Debug)]
pub(crate) struct Contention {
    own: Option<File>,
    is_whole: bool,
}

/// What they show at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reading {
    /// Time spent waiting for a processor; `None` where the kernel does not account it.
    pub run_delay_ns: Option<u64>,
    /// Faults and switches.
    pub usage: Usage,
}

impl Contention {
    /// The contention of the calling thread.
    pub(crate) fn of_thread() -> Self {
        Self { own: File::open("/proc/thread-self/schedstat").ok(), is_whole: false }
    }

    /// The contention of all threads that the process has at each look. The kernel drops the waits of a thread when
    /// it ends, so this is for threads that live throughout, as those of a pool.
    pub(crate) fn of_process() -> Self {
        Self { own: None, is_whole: true }
    }

    /// Looks.
    pub(crate) fn read(&self) -> io::Result<Reading> {
        if self.is_whole {
            let run_delay_ns = delay_of_all();
            return Ok(Reading { run_delay_ns, usage: Usage::of_process()? });
        }
        let run_delay_ns = self.own.as_ref().and_then(|file| {
            let mut text = [0; 96];
            let length = file.read_at(&mut text, 0).ok()?;
            delay(std::str::from_utf8(&text[..length]).ok()?)
        });
        Ok(Reading { run_delay_ns, usage: Usage::of_thread()? })
    }
}

impl Reading {
    /// What came since an earlier look.
    #[must_use]
    pub(crate) fn since(self, before: Self) -> Self {
        let run_delay_ns = self.run_delay_ns.zip(before.run_delay_ns);
        Self {
            run_delay_ns: run_delay_ns.map(|(after, before)| after.saturating_sub(before)),
            usage: self.usage.since(before.usage),
        }
    }
}

/// The second number: nanoseconds on the run queue. A kernel that does not account them shows zeros, also
/// for the times that the thread got a processor, which no thread that reads this can have.
fn delay(text: &str) -> Option<u64> {
    let turns = text.split_ascii_whitespace().nth(2)?;
    if turns.parse::<u64>().ok()? > 0 { waited(text) } else { None }
}

fn waited(text: &str) -> Option<u64> {
    text.split_ascii_whitespace().nth(1)?.parse().ok()
}

fn delay_of_all() -> Option<u64> {
    // Whether it is accounted at all; another thread may be too new to have had a turn.
    delay(&fs::read_to_string("/proc/thread-self/schedstat").ok()?)?;
    let tasks = fs::read_dir("/proc/self/task").ok()?.flatten();
    tasks
        .map(|task| {
            fs::read_to_string(task.path().join("schedstat")).map_or(Some(0), |t| waited(&t))
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_number_is_the_delay() {
        assert_eq!(delay("162356 3421 9\n"), Some(3421));
        assert_eq!(delay(""), None);
        assert_eq!(delay("0 x 0"), None);
        assert_eq!(delay("0 0 0\n"), None);
        assert_eq!(delay("0 0 1\n"), Some(0));
    }

    #[test]
    fn counters_only_grow() {
        for contention in [Contention::of_thread(), Contention::of_process()] {
            let before = contention.read().unwrap();
            std::thread::yield_now();
            let after = contention.read().unwrap();
            assert_eq!(before.run_delay_ns.is_some(), after.run_delay_ns.is_some());
            // The threads of other tests end, and take theirs with them.
            assert!(contention.is_whole || after.run_delay_ns >= before.run_delay_ns);
            assert!(after.usage.faults_minor >= before.usage.faults_minor);
        }
    }
}
