//! Whose turn it was: how long a thread ran, how long it waited for a processor, how often it was
//! switched away.
//!
//! Any thread of the process may ask about any other. Cost: about 10 µs a reading, most of it for the
//! text of `status`; read before and after what is measured, never inside. Source: the thread's
//! processor clock, `/proc/self/task/N/schedstat` (`Documentation/scheduler/sched-stats.rst`) and
//! `status`. A wait that has not ended yet is not in it.

use std::fs::File;
use std::io;

use crate::sys::thread::{ProcessorClock, number};

/// A thread of this process, to be asked about.
#[derive(Debug)]
pub struct Thread {
    clock: ProcessorClock,
    /// Absent on kernels that do not account for it (`CONFIG_SCHED_INFO`).
    schedstat: Option<File>,
    status: File,
}

/// What a thread had, from its beginning or between two readings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turns {
    /// On a processor.
    pub ran_ns: u64,
    /// Ready to run, while others ran; nothing where the kernel does not tell.
    pub waited_ns: Option<u64>,
    /// Times it went to sleep.
    pub voluntary: u64,
    /// Times it was made to make room.
    pub involuntary: u64,
}

impl Thread {
    /// The calling one.
    pub fn current() -> io::Result<Self> {
        let task = format!("/proc/self/task/{}", number());
        Ok(Self {
            clock: ProcessorClock::of_this_thread()?,
            schedstat: File::open(format!("{task}/schedstat")).ok(),
            status: File::open(format!("{task}/status"))?,
        })
    }

    /// Nanoseconds on a processor up to now, to be asked for close to what is measured: the rest of
    /// [`read`](Self::read) takes longer and is this thread's own running.
    pub fn ran_ns(&self) -> io::Result<u64> {
        self.clock.ran_ns()
    }

    /// Up to now. An error once it has ended.
    pub fn read(&self) -> io::Result<Turns> {
        let mut text = [0; 4096];
        let waited_ns = match &self.schedstat {
            Some(file) => field(read(file, &mut text)?, 1),
            None => None,
        };
        let status = read(&self.status, &mut text)?;
        Ok(Turns {
            voluntary: line(status, "voluntary_ctxt_switches:"),
            involuntary: line(status, "nonvoluntary_ctxt_switches:"),
            waited_ns,
            ran_ns: self.ran_ns()?,
        })
    }
}

impl Turns {
    /// What came between an earlier reading and this one.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let waited = self.waited_ns.zip(earlier.waited_ns);
        Self {
            ran_ns: self.ran_ns.saturating_sub(earlier.ran_ns),
            waited_ns: waited.map(|(now, then)| now.saturating_sub(then)),
            voluntary: self.voluntary.saturating_sub(earlier.voluntary),
            involuntary: self.involuntary.saturating_sub(earlier.involuntary),
        }
    }
}

/// The text of a small file of `/proc`, from its beginning.
fn read<'a>(file: &File, into: &'a mut [u8]) -> io::Result<&'a str> {
    let bytes = rustix::io::pread(file, &mut *into, 0)?;
    std::str::from_utf8(&into[..bytes]).map_err(io::Error::other)
}

fn field(text: &str, at: usize) -> Option<u64> {
    text.split_whitespace().nth(at)?.parse().ok()
}

fn line(text: &str, name: &str) -> u64 {
    let rest = text.lines().find_map(|line| line.strip_prefix(name));
    rest.and_then(|rest| rest.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    use std::time::Duration;

    use super::*;

    /// Adds to what the thread had until the meter says so: a meter that stands still would hang.
    fn until(thread: &Thread, work: impl Fn(), enough: impl Fn(&Turns) -> bool) -> Turns {
        let before = thread.read().unwrap();
        loop {
            work();
            let had = thread.read().unwrap().since(&before);
            if enough(&had) {
                return had;
            }
        }
    }

    #[test]
    fn running_and_sleeping_are_told_apart() {
        let thread = Thread::current().unwrap();
        let spin = || {
            for number in 0..100_000 {
                black_box(number);
            }
        };
        let ran = until(&thread, spin, |had| had.ran_ns > 2_000_000);
        assert!(ran.ran_ns > 2_000_000);
        let sleep = || std::thread::sleep(Duration::from_micros(10));
        let slept = until(&thread, sleep, |had| had.voluntary >= 5);
        assert!(slept.voluntary >= 5);
    }

    #[test]
    fn another_thread_is_seen_until_it_ends() {
        let (give, take) = std::sync::mpsc::channel();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let other = std::thread::spawn(move || {
            give.send(Thread::current().unwrap()).unwrap();
            ended.recv().unwrap_err();
        });
        let thread = take.recv().unwrap();
        assert!(thread.read().unwrap().ran_ns > 0);
        drop(end);
        other.join().unwrap();
        // The kernel wakes who waits for its end a little before there is nothing left of it.
        let gone = || {
            std::thread::sleep(Duration::from_millis(1));
            thread.read().is_err()
        };
        assert!((0..10_000).any(|_| gone()));
    }
}
