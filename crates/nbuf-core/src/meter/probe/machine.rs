//! The machine behind a figure: processor, caches, kernel, file system, and how busy the machine is
//! just now. Everything that cannot be read is empty or 0, never guessed.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The machine, and the file system under one file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Surroundings {
    /// The kernel's release.
    pub kernel: String,
    /// The processor's own name.
    pub processor: String,
    /// Processors that this process may use.
    pub processors: u32,
    /// Memory.
    pub memory_bytes: u64,
    /// The largest cache of the first processor: what fits there never comes from memory.
    pub cache_bytes: u64,
    /// The type of the file system: `ext4`.
    pub filesystem: String,
    /// The device's readahead window.
    pub readahead_bytes: u64,
    /// The device's scheduler: `mq-deadline`.
    pub scheduler: String,
}

impl Surroundings {
    /// This machine, and what is under `file`.
    pub(crate) fn of(file: &File) -> Self {
        let device = file.metadata().map_or(0, |metadata| metadata.dev());
        let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
        Self {
            kernel: text("/proc/sys/kernel/osrelease"),
            processor: processor(),
            processors: std::thread::available_parallelism()
                .map_or(1, |count| u32::try_from(count.get()).unwrap_or(u32::MAX)),
            memory_bytes: memory(&text("/proc/meminfo")),
            cache_bytes: cache(),
            filesystem: filesystem(&text("/proc/self/mountinfo"), &format!("{major}:{minor}")),
            readahead_bytes: text(format!("/sys/class/bdi/{major}:{minor}/read_ahead_kb"))
                .parse::<u64>()
                .map_or(0, |kib| kib * 1024),
            scheduler: scheduler(major, minor),
        }
    }
}

/// How busy the machine is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Load {
    /// Percent of the last ten seconds in which some task waited for a processor (PSI); none where the
    /// kernel does not account it.
    pub processor_pressure_percent: Option<f64>,
    /// The same of discs.
    pub disc_pressure_percent: Option<f64>,
    /// Time that a hypervisor took from this machine since it started, in ticks of all processors.
    pub stolen_ticks: u64,
    /// All time since it started, in the same ticks.
    pub all_ticks: u64,
}

impl Load {
    /// Looks.
    pub(crate) fn now() -> Self {
        let (stolen_ticks, all_ticks) = ticks(&text("/proc/stat"));
        Self {
            processor_pressure_percent: pressure(&text("/proc/pressure/cpu")),
            disc_pressure_percent: pressure(&text("/proc/pressure/io")),
            stolen_ticks,
            all_ticks,
        }
    }

    /// Percent of the time since an earlier look that a hypervisor took.
    pub(crate) fn stolen_percent_since(&self, before: &Self) -> f64 {
        let all = self.all_ticks.saturating_sub(before.all_ticks);
        let stolen = self.stolen_ticks.saturating_sub(before.stolen_ticks);
        if all == 0 { 0.0 } else { stolen as f64 * 100.0 / all as f64 }
    }
}

fn text(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}

fn processor() -> String {
    let all = text("/proc/cpuinfo");
    let name = all.lines().find_map(|line| line.strip_prefix("model name"));
    name.map_or(String::new(), |name| name.trim_start_matches(['\t', ' ', ':']).to_owned())
}

fn memory(meminfo: &str) -> u64 {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let kib = line.and_then(|rest| rest.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

fn cache() -> u64 {
    let indices = (0..8).map(|n| format!("/sys/devices/system/cpu/cpu0/cache/index{n}/size"));
    let sizes = indices.filter_map(|path| text(path).strip_suffix('K')?.parse::<u64>().ok());
    sizes.max().unwrap_or(0) * 1024
}

/// The type behind the dash of the line with this device.
fn filesystem(mountinfo: &str, device: &str) -> String {
    let line = mountinfo.lines().find(|line| line.split(' ').nth(2) == Some(device));
    let kind = line.and_then(|line| line.split_once(" - ")?.1.split(' ').next());
    kind.unwrap_or_default().to_owned()
}

/// The one in brackets; a partition has its device's.
fn scheduler(major: u32, minor: u32) -> String {
    let device = PathBuf::from(format!("/sys/dev/block/{major}:{minor}"));
    let names = ["queue/scheduler", "../queue/scheduler"].map(|end| text(device.join(end)));
    let chosen = |all: &String| Some(all.split_once('[')?.1.split_once(']')?.0.to_owned());
    names.iter().find_map(chosen).unwrap_or_default()
}

/// `avg10` of the line `some`.
fn pressure(text: &str) -> Option<f64> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    some.split(' ').find_map(|field| field.strip_prefix("avg10="))?.parse().ok()
}

/// Returns the stolen ticks and all ticks, from the first line of `/proc/stat`. The time of users
/// already includes the time of guests.
fn ticks(stat: &str) -> (u64, u64) {
    let line = stat.lines().next().and_then(|line| line.strip_prefix("cpu "));
    let numbers: Vec<u64> = line
        .unwrap_or_default()
        .split_ascii_whitespace()
        .filter_map(|number| number.parse().ok())
        .collect();
    (numbers.get(7).copied().unwrap_or(0), numbers.iter().take(8).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_kernel_are_read() {
        assert_eq!(memory("MemTotal:       24 kB\nMemFree: 1 kB"), 24 << 10);
        let mounts =
            "21 1 8:1 / / rw shared:1 - ext4 /dev/sda1 rw\n22 21 0:20 / /x rw - tmpfs t rw";
        assert_eq!(filesystem(mounts, "8:1"), "ext4");
        assert_eq!(filesystem(mounts, "0:20"), "tmpfs");
        assert_eq!(filesystem(mounts, "9:9"), "");
        assert_eq!(pressure("some avg10=27.20 avg60=30.31 avg300=1 total=9\nfull"), Some(27.2));
        assert_eq!(pressure(""), None);
        assert_eq!(ticks("cpu  1 2 3 4 5 6 7 8 100 100\ncpu0 1"), (8, 36));
        assert_eq!(ticks(""), (0, 0));
    }

    #[test]
    fn what_is_stolen_is_a_part_of_the_time() {
        let at = |stolen_ticks, all_ticks| Load { stolen_ticks, all_ticks, ..Load::default() };
        let percent = at(15, 300).stolen_percent_since(&at(5, 100));
        assert!((percent - 5.0).abs() < 1e-9);
        assert!(at(5, 100).stolen_percent_since(&at(5, 100)).abs() < 1e-9);
    }

    #[test]
    fn this_machine_has_a_kernel_and_memory() {
        let here = Surroundings::of(&File::open("/proc/self/exe").unwrap());
        assert!(!here.kernel.is_empty() && here.memory_bytes > 0 && here.processors > 0);
    }
}
