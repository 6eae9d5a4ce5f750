//! The kernel's counters of the whole machine: `/proc/stat`, `/proc/vmstat` and `/proc/pressure`.
//!
//! Any user may read them. They only grow, so that two readings give an interval. Cost: some 200 µs.
//! `iowait` counts as idle here: it is charged to the processor where a task began to wait, and means
//! nothing once another one wakes it (`Documentation/filesystems/proc.rst`, 1.7).

use std::fs;
use std::io;

/// A reading of all counters.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Counts {
    /// Time by use.
    pub times: Ticks,
    /// Times that a processor was given to another task.
    pub switches: u64,
    /// Processes and threads that were made.
    pub forks: u64,
    /// Interrupts.
    pub interrupts: u64,
    /// Tasks that run or could run, now.
    pub running: u64,
    /// Tasks in a wait for a block device, now.
    pub blocked: u64,
    /// Idle ticks by processor.
    pub idle_by_processor: Vec<u64>,
    /// Counts of memory.
    pub memory: MemoryCounts,
    /// Pressure; nothing where the kernel does not measure it.
    pub pressure: Option<Pressure>,
}

/// Ticks of all processors together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ticks {
    /// In programs.
    pub user: u64,
    /// In the kernel, for programs.
    pub system: u64,
    /// In interrupts.
    pub interrupt: u64,
    /// Not given by the hypervisor.
    pub stolen: u64,
    /// With nothing to run.
    pub idle: u64,
}

/// `/proc/vmstat`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MemoryCounts {
    /// Page faults, the major ones too.
    pub faults: u64,
    /// Page faults that waited for a disc.
    pub faults_major: u64,
    /// Pages in the page cache, now.
    pub file_pages: u64,
    /// KiB that were read from block devices.
    pub read_kib: u64,
    /// Pages of files that reclaim took.
    pub evicted: u64,
    /// Pages of files that were read again after reclaim took them.
    pub refaulted: u64,
    /// Pages of programs' own memory that were read again after reclaim took them.
    pub swapped_back: u64,
}

/// Microseconds in which tasks waited, since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pressure {
    /// Some task waited for a processor.
    pub cpu_some: u64,
    /// Some task waited for a disc.
    pub io_some: u64,
    /// All that were not idle waited for a disc.
    pub io_full: u64,
    /// Some task waited for memory.
    pub memory_some: u64,
    /// All that were not idle waited for memory.
    pub memory_full: u64,
}

impl Counts {
    /// Reads all.
    pub(crate) fn read() -> io::Result<Self> {
        let mut counts = parse_stat(&fs::read_to_string("/proc/stat")?);
        counts.memory = parse_vmstat(&fs::read_to_string("/proc/vmstat")?);
        counts.pressure = pressure();
        Ok(counts)
    }

    /// Reads what changes within an interval: tasks that can run, tasks that wait, and idle time.
    pub(crate) fn read_now() -> io::Result<Self> {
        Ok(parse_stat(&fs::read_to_string("/proc/stat")?))
    }
}

fn parse_stat(text: &str) -> Counts {
    let mut counts = Counts::default();
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        let Some(name) = words.next() else { continue };
        // The line of interrupts is long, and its first number is their sum.
        let mut number = || words.next().and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
        match name {
            "ctxt" => counts.switches = number(),
            "processes" => counts.forks = number(),
            "intr" => counts.interrupts = number(),
            "procs_running" => counts.running = number(),
            "procs_blocked" => counts.blocked = number(),
            _ if name.starts_with("cpu") => {
                let [user, nice, system, idle, iowait, irq, softirq, stolen] =
                    std::array::from_fn(|_| number());
                let ticks = Ticks {
                    user: user + nice,
                    system,
                    interrupt: irq + softirq,
                    stolen,
                    idle: idle + iowait,
                };
                if name == "cpu" {
                    counts.times = ticks;
                } else {
                    counts.idle_by_processor.push(ticks.idle);
                }
            }
            _ => {}
        }
    }
    counts
}

fn parse_vmstat(text: &str) -> MemoryCounts {
    let mut counts = MemoryCounts::default();
    for line in text.lines() {
        let Some((name, value)) = line.split_once(' ') else { continue };
        let into = match name {
            "pgfault" => &mut counts.faults,
            "pgmajfault" => &mut counts.faults_major,
            "nr_file_pages" => &mut counts.file_pages,
            "pgpgin" => &mut counts.read_kib,
            "pgsteal_file" => &mut counts.evicted,
            "workingset_refault_file" => &mut counts.refaulted,
            "workingset_refault_anon" => &mut counts.swapped_back,
            _ => continue,
        };
        *into = value.trim().parse().unwrap_or(0);
    }
    counts
}

fn pressure() -> Option<Pressure> {
    let read = |name: &str| fs::read_to_string(format!("/proc/pressure/{name}")).ok();
    let (cpu, io, memory) = (read("cpu")?, read("io")?, read("memory")?);
    Some(Pressure {
        cpu_some: total(&cpu, "some")?,
        io_some: total(&io, "some")?,
        io_full: total(&io, "full")?,
        memory_some: total(&memory, "some")?,
        memory_full: total(&memory, "full")?,
    })
}

/// `some avg10=0.00 avg60=0.00 avg300=0.00 total=123`
fn total(text: &str, kind: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(kind))?;
    line.rsplit_once("total=")?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_the_kernel_are_read() {
        let stat = "cpu  10 2 3 40 5 1 6 7 0 0\ncpu0 5 1 1 20 5 0 0 0 0 0\ncpu3 5 1 2 20 0 1 6 7 0 0\n\
                    intr 99 1 2 3\nctxt 1234\nbtime 1\nprocesses 55\nprocs_running 3\nprocs_blocked 2\n";
        let counts = parse_stat(stat);
        let times = Ticks { user: 12, system: 3, interrupt: 7, stolen: 7, idle: 45 };
        assert_eq!(counts.times, times);
        assert_eq!(counts.idle_by_processor, [25, 20]);
        let others = (counts.switches, counts.forks, counts.interrupts);
        assert_eq!(others, (1234, 55, 99));
        assert_eq!((counts.running, counts.blocked), (3, 2));
        let memory = parse_vmstat("nr_file_pages 7\npgfault 100\npgmajfault 3\npgpgin 9\nx\n");
        assert_eq!((memory.faults, memory.faults_major, memory.file_pages), (100, 3, 7));
        let io = "some avg10=0.00 avg60=0.00 avg300=0.00 total=123\nfull avg10=0.00 total=45\n";
        assert_eq!(
            (total(io, "some"), total(io, "full"), total(io, "none")),
            (Some(123), Some(45), None)
        );
    }

    #[test]
    fn counters_of_this_machine_only_grow() {
        let first = Counts::read().unwrap();
        let second = Counts::read().unwrap();
        assert!(first.times.user > 0 && second.times.user >= first.times.user);
        assert!(first.memory.faults > 0 && second.memory.faults >= first.memory.faults);
        assert!(second.switches >= first.switches && second.running >= 1);
    }
}
