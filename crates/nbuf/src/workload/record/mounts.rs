//! What is mounted: which device a mount point stands for, and which file systems can have pages
//! in the page cache that matter to us.

use std::fs;
use std::path::PathBuf;

/// One line of `/proc/self/mountinfo`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// The kernel's device number, `major << 20 | minor`.
    pub device: u32,
    /// Where it is mounted.
    pub point: PathBuf,
    /// `ext4`, `overlay`, ...
    pub filesystem: String,
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

/// The mounts with files behind them, the first for each device.
pub fn backed() -> Vec<Mount> {
    parse(&fs::read_to_string("/proc/self/mountinfo").unwrap_or_default())
}

fn parse(text: &str) -> Vec<Mount> {
    let mut mounts: Vec<Mount> = Vec::new();
    for mount in text.lines().filter_map(parse_line) {
        let known = mounts.iter().any(|other| other.device == mount.device);
        if !known && !PSEUDO.contains(&mount.filesystem.as_str()) {
            mounts.push(mount);
        }
    }
    mounts
}

fn parse_line(line: &str) -> Option<Mount> {
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ').skip(2);
    let (major, minor) = left.next()?.split_once(':')?;
    let point = unescape(left.nth(1)?);
    Some(Mount {
        device: device_number(major.parse().ok()?, minor.parse().ok()?),
        point: PathBuf::from(point),
        filesystem: right.split(' ').next()?.to_owned(),
    })
}

/// The kernel's own form of a device number, as its tracepoints print it.
pub fn device_number(major: u32, minor: u32) -> u32 {
    major << 20 | minor & 0xf_ffff
}

/// `\040` and its kin, as the kernel writes spaces, tabs, newlines and backslashes.
fn unescape(text: &str) -> std::ffi::OsString {
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
}
