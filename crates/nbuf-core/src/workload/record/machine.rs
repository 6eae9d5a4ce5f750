//! The facts of this machine that a trace needs to be understood elsewhere.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use super::log::MemorySeen;
use super::mounts::Mount;
use super::overlay;
use crate::clock;
use crate::sys::cgroup::{Hierarchies, Usage};
use crate::trace::{Device, Facts};
use crate::units::Bytes;

/// Facts as they are known before the command starts.
pub fn facts(command: Vec<String>) -> Facts {
    let directory = std::env::current_dir().unwrap_or_default();
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    Facts {
        schema: Facts::SCHEMA.to_owned(),
        command,
        directory: directory.to_string_lossy().into_owned(),
        kernel: kernel.trim().to_owned(),
        multi_generational: multi_generational(),
        processors: std::thread::available_parallelism()
            .map_or(1, |n| u32::try_from(n.get()).unwrap_or(u32::MAX)),
        memory_total_bytes: Hierarchies::of_this_process()
            .memory_limit()
            .map_or(memory_total(), |limit| limit.min(memory_total())),
        started_unix_seconds: clock::unix_time().unwrap_or(Duration::ZERO).as_secs(),
        warnings: hidden(Path::new("/proc"))
            .into_iter()
            .chain(unknown(Path::new("/sys")))
            .collect(),
        ..Facts::default()
    }
}

/// What is missing without the kernel's account of processes and mounts, as in some containers.
fn hidden(proc: &Path) -> Option<String> {
    let is_there = fs::metadata(proc.join("self/mountinfo")).is_ok();
    (!is_there).then(|| {
        "/proc is hidden or empty here: without it nbuf cannot find all files, so that accesses \
         are missing; mount it (`mount -t proc proc /proc`) and record again"
            .to_owned()
    })
}

/// The interface that a private group of ours is made through.
pub fn cgroup() -> &'static str {
    let Hierarchies { memory_v1, unified, .. } = Hierarchies::of_this_process();
    match (memory_v1, unified) {
        (Some(_), _) => "v1",
        (None, Some(_)) => "v2",
        (None, None) => "",
    }
}

/// Whether processes go by the numbers that the kernel itself has for them (`PROC_PID_INIT_INO` in
/// `include/linux/proc_ns.h`).
pub(in crate::workload) fn is_in_first_pid_namespace() -> bool {
    fs::read_link("/proc/self/ns/pid").is_ok_and(|link| link == Path::new("pid:[4026531836]"))
}

/// Processors online, by number.
pub(in crate::workload) fn processors_online() -> io::Result<Vec<i32>> {
    Ok(parse_list(&fs::read_to_string("/sys/devices/system/cpu/online")?))
}

/// `0-3,6`
fn parse_list(text: &str) -> Vec<i32> {
    let mut numbers = Vec::new();
    for part in text.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.parse::<i32>(), last.parse::<i32>()) {
            numbers.extend(first..=last);
        }
    }
    numbers
}

/// `/sys/kernel/mm/lru_gen/enabled`: a bit mask, absent where the kernel was built without.
fn multi_generational() -> bool {
    let mask = fs::read_to_string("/sys/kernel/mm/lru_gen/enabled").unwrap_or_default();
    let digits = mask.trim().trim_start_matches("0x");
    u32::from_str_radix(digits, 16).is_ok_and(|mask| mask & 1 != 0)
}

/// What is not known of the devices without the kernel's account of them.
fn unknown(sys: &Path) -> Option<String> {
    (!sys.join("class/bdi").exists()).then(|| {
        "/sys is hidden or empty here: the readahead of the devices is not known, and taken for \
         128 KiB; mount it (`mount -t sysfs sys /sys`) and record again"
            .to_owned()
    })
}

fn memory_total() -> Bytes {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kib = text.lines().find_map(|line| {
        line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()
    });
    Bytes(kib.unwrap_or(0) * 1024)
}

/// What the kernel does for files on the devices of these mounts, but those that are known.
pub fn devices(mounts: &[Mount], known: &[Device], kernel: &str) -> Vec<Device> {
    let is_known = |mount: &&Mount| known.iter().any(|d| (d.major, d.minor) == parts(mount.device));
    let news = mounts.iter().filter(|mount| !is_known(mount));
    news.map(|mount| device(mount, mounts, kernel)).collect()
}

/// Returns the same for one mount. In `others` it finds the device below an overlay.
pub(super) fn device(mount: &Mount, others: &[Mount], kernel: &str) -> Device {
    let (major, minor) = parts(mount.device);
    let below = Some(mount).filter(|mount| mount.filesystem == "overlay");
    let below = below.and_then(|mount| overlay::device_below(&mount.options, others));
    let filesystem = below.and_then(|below| others.iter().find(|mount| mount.device == below));
    let (below_major, below_minor) = below.map_or((major, minor), parts);
    let kib = |path: String| -> Option<u64> {
        fs::read_to_string(path).ok()?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
    };
    let readahead = kib(format!("/sys/class/bdi/{below_major}:{below_minor}/read_ahead_kb"));
    let queue = |of: &str| {
        let device = format!("/sys/dev/block/{below_major}:{below_minor}");
        kib(format!("{device}/{of}queue/max_sectors_kb"))
    };
    let io = queue("").or_else(|| queue("../"));
    Device {
        major,
        minor,
        name: name(major, minor),
        filesystem: mount.filesystem.clone(),
        // 128 KiB is the kernel's default where a file system does not say.
        readahead_bytes: readahead.unwrap_or(128 << 10),
        io_bytes: io.unwrap_or(0),
        folio_order_max: folio_order_max(&filesystem.unwrap_or(mount).filesystem, kernel),
    }
}

fn parts(device: u32) -> (u32, u32) {
    (device >> 20, device & 0xf_ffff)
}

/// The last part of where `/sys/dev/block/MAJOR:MINOR` leads to.
fn name(major: u32, minor: u32) -> String {
    let target = fs::read_link(format!("/sys/dev/block/{major}:{minor}")).unwrap_or_default();
    target.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The largest folio a file system takes: 2 MiB where it knows large folios at all.
/// ext4 since Linux 6.16 (`ext4_set_inode_mapping_order`), xfs since 5.18.
fn folio_order_max(filesystem: &str, kernel: &str) -> u8 {
    let mut numbers = kernel.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    match filesystem {
        "ext4" if version >= (6, 16) => 9,
        "xfs" if version >= (5, 18) => 9,
        _ => 0,
    }
}

/// What a group's meters say, for the log.
pub(super) fn memory_of_group(usage: &Usage, time_ns: u64) -> MemorySeen {
    MemorySeen {
        time_ns,
        anonymous_bytes: usage.anonymous.0,
        shmem_bytes: usage.shmem.0,
        kernel_bytes: usage.kernel.max(usage.kernel_peak).0,
        page_cache_bytes: usage.page_cache.0,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{folio_order_max, hidden, parse_list, unknown};

    #[test]
    fn a_machine_that_hides_its_processes_is_told_of() {
        assert_eq!(hidden(Path::new("/proc")), None);
        let directory = tempfile::tempdir().unwrap();
        assert!(hidden(directory.path()).unwrap().contains("accesses are missing"));
    }

    #[test]
    fn devices_that_are_hidden_are_told_of() {
        assert_eq!(unknown(Path::new("/sys")), None);
        let directory = tempfile::tempdir().unwrap();
        assert!(unknown(directory.path()).unwrap().contains("taken for 128 KiB"));
    }

    #[test]
    fn processor_lists_have_ranges_and_holes() {
        assert_eq!(parse_list("0-3,6\n"), [0, 1, 2, 3, 6]);
        assert_eq!(parse_list("0"), [0]);
        assert_eq!(parse_list(""), [0; 0]);
    }

    #[test]
    fn large_folios_came_with_certain_kernels() {
        let cases = [
            ("ext4", "6.18.44-x", 9),
            ("ext4", "6.15.0", 0),
            ("ext4", "7.0", 9),
            ("xfs", "5.18.1", 9),
            ("vfat", "6.18", 0),
            ("ext4", "nonsense", 0),
        ];
        for (filesystem, kernel, want) in cases {
            assert_eq!(folio_order_max(filesystem, kernel), want, "{filesystem} {kernel}");
        }
    }
}
