//! What is mounted: which device a mount point stands for, and which file systems can have pages
//! in the page cache that matter to us.

use std::fs;
use std::path::{Path, PathBuf};

/// One line of `/proc/self/mountinfo`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mount {
    /// The number of the mount; bind mounts of one device have several.
    pub number: u64,
    /// The kernel's device number, `major << 20 | minor`.
    pub device: u32,
    /// Which of its directories is mounted.
    pub root: PathBuf,
    /// Where it is mounted.
    pub point: PathBuf,
    /// `ext4`, `overlay`, ...
    pub filesystem: String,
    /// What is mounted: a block device, most often.
    pub source: PathBuf,
    /// Whether it is mounted for writing.
    pub writable: bool,
    /// The mount options of the file system, separated by `,`.
    pub options: String,
}

impl Mount {
    /// Whether its files lie in memory.
    pub fn is_in_memory(&self) -> bool {
        matches!(self.filesystem.as_str(), "tmpfs" | "ramfs")
    }

    /// Whether its files lie in memory or are made up.
    pub fn is_pseudo(&self) -> bool {
        PSEUDO.contains(&self.filesystem.as_str())
    }
}

/// File systems that live in memory or make their files up.
const PSEUDO: [&str; 24] = [
    "autofs",
    "binfmt_misc",
    "bpf",
    "cgroup",
    "cgroup2",
    "configfs",
    "debugfs",
    "devpts",
    "devtmpfs",
    "efivarfs",
    "fusectl",
    "hugetlbfs",
    "mqueue",
    "nsfs",
    "proc",
    "pstore",
    "ramfs",
    "rpc_pipefs",
    "securityfs",
    "selinuxfs",
    "sysfs",
    "tmpfs",
    "tracefs",
    "virtiofs_dax",
];

/// File systems whose writes have a tracepoint, that cannot be written to, or whose writes are
/// seen at the file system below.
const NEEDS_NO_CALLS: [&str; 11] = [
    "ext3",
    "ext4",
    "xfs",
    "overlay",
    "squashfs",
    "erofs",
    "iso9660",
    "cramfs",
    "fuse.lxcfs",
    "fuse.portal",
    "fuse.gvfsd-fuse",
];

/// Where a file system may be mounted without a measured command writing to it.
const SELDOM_WRITTEN: [&str; 5] = ["/boot", "/efi", "/recovery", "/run/user", "/var/lib/lxcfs"];

/// The mounts with files behind them, the first for each device.
pub fn backed() -> Vec<Mount> {
    parse(&mountinfo())
}

/// The mounts whose files lie in memory, the first for each device.
pub fn in_memory() -> Vec<Mount> {
    distinct(&mountinfo(), Mount::is_in_memory)
}

/// All mounts that a task sees; nothing if it is no more.
pub fn seen_by(task: u32) -> Option<Vec<Mount>> {
    let theirs = fs::read_to_string(format!("/proc/{task}/mountinfo")).ok()?;
    Some(theirs.lines().filter_map(parse_line).collect())
}

/// All mounts that this process sees.
pub fn all() -> Vec<Mount> {
    mountinfo().lines().filter_map(parse_line).collect()
}

/// The number and device of every mount whose writes only the system calls show. Empty unless
/// there is one that is likely written to: anything but a boot partition and its like, or the one
/// that `directory` is on.
/// Those for which `seen` holds are none of them.
pub fn without_tracepoint(directory: &Path, seen: impl Fn(&Mount) -> bool) -> Vec<(u64, u32)> {
    select(&mountinfo(), directory, |mount| seen(mount) || driven_by_ext4(mount))
}

/// The device of the mount with this number, as tracepoints print it. `stat` says something else
/// for the subvolumes of btrfs.
pub fn device_of_mount(number: u64) -> Option<u32> {
    let mounts = mountinfo();
    mounts.lines().filter_map(parse_line).find(|mount| mount.number == number).map(|m| m.device)
}

fn mountinfo() -> String {
    fs::read_to_string("/proc/self/mountinfo").unwrap_or_default()
}

/// ext2 has a driver of its own, which has no tracepoints, or is left to the one of ext4.
fn driven_by_ext4(mount: &Mount) -> bool {
    if mount.filesystem != "ext2" {
        return false;
    }
    let device = format!("/sys/dev/block/{}:{}", mount.device >> 20, mount.device & 0xf_ffff);
    let name = fs::read_link(device).ok().and_then(|link| Some(link.file_name()?.to_owned()));
    name.is_some_and(|name| Path::new("/sys/fs/ext4").join(name).exists())
}

fn select(text: &str, directory: &Path, seen: impl Fn(&Mount) -> bool) -> Vec<(u64, u32)> {
    let here = text.lines().filter_map(parse_line);
    let here = here.filter(|mount| directory.starts_with(&mount.point));
    let here = here.max_by_key(|mount| mount.point.as_os_str().len()).map(|mount| mount.number);
    let mounts: Vec<Mount> = text
        .lines()
        .filter_map(parse_line)
        .filter(|mount| mount.writable && !mount.is_pseudo())
        .filter(|mount| !NEEDS_NO_CALLS.contains(&mount.filesystem.as_str()))
        .filter(|mount| !seen(mount))
        .collect();
    let likely = |mount: &Mount| {
        Some(mount.number) == here || !SELDOM_WRITTEN.iter().any(|at| mount.point.starts_with(at))
    };
    if !mounts.iter().any(likely) {
        return Vec::new();
    }
    mounts.iter().map(|mount| (mount.number, mount.device)).collect()
}

fn parse(text: &str) -> Vec<Mount> {
    distinct(text, |mount| !mount.is_pseudo())
}

fn distinct(text: &str, wanted: impl Fn(&Mount) -> bool) -> Vec<Mount> {
    let mut mounts: Vec<Mount> = Vec::new();
    for mount in text.lines().filter_map(parse_line) {
        let known = mounts.iter().any(|other| other.device == mount.device);
        if !known && wanted(&mount) {
            mounts.push(mount);
        }
    }
    mounts
}

fn parse_line(line: &str) -> Option<Mount> {
    let (left, right) = line.split_once(" - ")?;
    let (mut left, mut right) = (left.split(' '), right.split(' '));
    let number = left.next()?.parse().ok()?;
    let (major, minor) = left.nth(1)?.split_once(':')?;
    let (root, point) = (unescape(left.next()?), unescape(left.next()?));
    let options = left.next().unwrap_or_default();
    Some(Mount {
        number,
        device: device_number(major.parse().ok()?, minor.parse().ok()?),
        root: PathBuf::from(root),
        point: PathBuf::from(point),
        filesystem: right.next()?.to_owned(),
        source: PathBuf::from(unescape(right.next()?)),
        options: right.next().unwrap_or_default().to_owned(),
        writable: options.split(',').all(|option| option != "ro"),
    })
}

/// The kernel's own form of a device number, as its tracepoints print it.
pub fn device_number(major: u32, minor: u32) -> u32 {
    major << 20 | minor & 0xf_ffff
}

/// `\040` and its kin, as the kernel writes spaces, tabs, newlines and backslashes.
pub(super) fn unescape(text: &str) -> std::ffi::OsString {
    use std::os::unix::ffi::OsStringExt;
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let octal = (bytes[at] == b'\\')
            .then(|| text.get(at + 1..at + 4))
            .flatten()
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        out.push(octal.unwrap_or(bytes[at]));
        at += if octal.is_some() { 4 } else { 1 };
    }
    std::ffi::OsString::from_vec(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_backed_file_systems_count_once_each() {
        let text = "\
22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
23 22 254:0 /x /mnt rw - ext4 /dev/vda rw
24 22 0:5 / /proc rw - proc proc rw
25 22 7:0 / /media/a\\040b\\134c rw shared:1 - ext4 /dev/loop0 rw
nonsense
26 22 x:y / / rw - ext4 a rw
";
        let mounts = parse(text);
        let shown: Vec<_> = mounts.iter().map(|m| (m.device, m.point.to_str().unwrap())).collect();
        assert_eq!(shown, [(254 << 20, "/"), (7 << 20, "/media/a b\\c")]);
    }
    #[test]
    fn calls_are_watched_where_a_file_system_without_tracepoint_is_likely_written() {
        let check = |line: &str, directory: &str, want: &[(u64, u32)]| {
            let text = format!("22 1 254:0 / / rw - ext4 /dev/vda rw\n{line}");
            let got = select(&text, Path::new(directory), |mount| mount.device == 0);
            assert_eq!(got, want, "{line} in {directory}");
        };
        let efi = "23 22 8:1 / /boot/efi rw,relatime - vfat /dev/sda1 rw";
        check(efi, "/root", &[]);
        check(efi, "/boot/efi/EFI", &[(23, 8 << 20 | 1)]);
        check("24 22 0:40 / /data rw - btrfs /dev/sdb rw", "/root", &[(24, 40)]);
        check("24 22 0:40 / /data ro - btrfs /dev/sdb rw", "/data", &[]);
        check("25 22 7:0 / /snap/core ro - squashfs /dev/loop0 ro", "/root", &[]);
        check("26 22 0:41 / /o rw - overlay overlay rw", "/o", &[]);
        check("27 22 0:0 / /e rw - ext2 /dev/sdc rw", "/", &[]);
        check("28 22 0:1 / /e rw - ext2 /dev/sdc rw", "/", &[(28, 1)]);
        check("nonsense", "/", &[]);
    }
}
