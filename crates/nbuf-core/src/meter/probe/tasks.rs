//! States of processes, and what the kernel has counted of some of them: `/proc/PID/stat`.
//!
//! A state is a sample of one moment. Cost: some 10 µs a process.

use std::fs;
use std::path::Path;

/// How many processes are in which state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct States {
    /// Run or could run.
    pub running: u64,
    /// Sleep until something happens.
    pub sleeping: u64,
    /// Sleep where no signal wakes them: mostly for a disc.
    pub disc: u64,
    /// Stopped by a signal or a debugger.
    pub stopped: u64,
    /// Ended, and not yet waited for.
    pub zombies: u64,
    /// Threads of the kernel without work.
    pub idle: u64,
}

impl States {
    fn add(&mut self, state: u8) {
        match state {
            b'R' => self.running += 1,
            b'S' => self.sleeping += 1,
            b'D' => self.disc += 1,
            b'T' | b't' => self.stopped += 1,
            b'Z' | b'X' => self.zombies += 1,
            _ => self.idle += 1,
        }
    }
}

/// What the kernel has counted of a process, its ended threads and ended children that were waited for not
/// included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TaskCounts {
    /// Faults that found their page in memory.
    pub faults_minor: u64,
    /// Faults that waited for a disc.
    pub faults_major: u64,
    /// Ticks in the program.
    pub user_ticks: u64,
    /// Ticks in the kernel for it.
    pub system_ticks: u64,
    /// Pages in memory, now.
    pub resident_pages: u64,
    /// Whether it is a thread of the kernel.
    pub is_of_kernel: bool,
}

/// `PF_KTHREAD` of `include/linux/sched.h`.
const KERNEL_THREAD: u64 = 0x0020_0000;

/// Numbers of all processes.
pub(crate) fn processes() -> Vec<u32> {
    numbers(Path::new("/proc"))
}

/// The states of these processes. One that ended meanwhile is passed over.
pub(crate) fn states(processes: &[u32]) -> States {
    let mut states = States::default();
    for process in processes {
        if let Some((state, _)) = stat(&format!("/proc/{process}/stat")) {
            states.add(state);
        }
    }
    states
}

/// The states of all threads of these processes.
pub(crate) fn thread_states(processes: &[u32]) -> States {
    let mut states = States::default();
    for process in processes {
        let folder = format!("/proc/{process}/task");
        for thread in numbers(Path::new(&folder)) {
            if let Some((state, _)) = stat(&format!("{folder}/{thread}/stat")) {
                states.add(state);
            }
        }
    }
    states
}

/// Threads of programs that sleep where no signal wakes them, now.
pub(crate) fn uninterruptible_threads() -> Vec<u32> {
    let mut found = Vec::new();
    for process in processes() {
        let folder = format!("/proc/{process}/task");
        let threads = numbers(Path::new(&folder)).into_iter();
        found.extend(threads.filter(|thread| {
            stat(&format!("{folder}/{thread}/stat"))
                .is_some_and(|(state, counts)| state == b'D' && !counts.is_of_kernel)
        }));
    }
    found
}

/// What was counted of a process; nothing once it has ended.
pub(crate) fn counts(process: u32) -> Option<TaskCounts> {
    stat(&format!("/proc/{process}/stat")).map(|(_, counts)| counts)
}

/// How many ticks are a second.
pub(crate) fn ticks_per_second() -> u64 {
    rustix::param::clock_ticks_per_second().max(1)
}

fn numbers(folder: &Path) -> Vec<u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

fn stat(path: &str) -> Option<(u8, TaskCounts)> {
    parse(&fs::read_to_string(path).ok()?)
}

/// The name of a program may have anything in it, also `) R`.
fn parse(text: &str) -> Option<(u8, TaskCounts)> {
    let rest = text.rsplit_once(") ")?.1;
    let words: Vec<&str> = rest.split_ascii_whitespace().collect();
    let number = |at: usize| words.get(at)?.parse::<u64>().ok();
    let counts = TaskCounts {
        faults_minor: number(7)?,
        faults_major: number(9)?,
        user_ticks: number(11)?,
        system_ticks: number(12)?,
        resident_pages: number(21)?,
        is_of_kernel: number(6)? & KERNEL_THREAD != 0,
    };
    Some((*rest.as_bytes().first()?, counts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_whatever_the_program_is_called() {
        let line =
            "12 (a) R 1 (x) D 1 12 12 0 -1 4194304 100 0 7 0 30 20 0 0 20 0 1 0 5 999 44 1 0";
        let (state, counts) = parse(line).unwrap();
        assert_eq!(state, b'D');
        let want = TaskCounts {
            faults_minor: 100,
            faults_major: 7,
            user_ticks: 30,
            system_ticks: 20,
            resident_pages: 44,
            is_of_kernel: false,
        };
        assert_eq!(counts, want);
        assert_eq!(parse("12 (a) R 1"), None);
    }

    #[test]
    fn this_process_runs() {
        let own = std::process::id();
        assert!(processes().contains(&own));
        assert!(thread_states(&[own]).running >= 1);
        assert!(counts(own).unwrap().faults_minor > 0);
        assert_eq!(states(&[u32::MAX]), States::default());
        assert_eq!(counts(u32::MAX), None);
    }
}
