//! Whom the programs look at: what is in a group, by the hierarchy that the group is of, or what was marked.
//!
//! Where both hierarchies exist, memory may be charged in the old one, and all containers be in the root of the
//! new one: so the directory that was given decides.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use super::super::running::Running;
use crate::sys::bpf::whom::{Groups, Marks};
use crate::sys::files;

/// `CGROUP2_SUPER_MAGIC`.
const UNIFIED: u64 = 0x6367_7270;

/// Whose events are recorded.
#[derive(Debug)]
pub(super) enum Whom {
    /// Processes that were marked, and those that they start.
    Marked(Marks),
    /// A group of the unified hierarchy, and the groups below it.
    Group(Groups),
    /// A group that memory is charged to, `level` groups below the root, and the groups below it.
    Charged {
        /// Below the root.
        level: i32,
        /// By which the kernel knows it.
        number: u64,
    },
}

impl Whom {
    /// What fits these programs.
    pub(super) fn of(running: &Running) -> io::Result<Self> {
        let group = running.cgroup.as_deref().filter(|_| running.processes.is_empty());
        let Some(path) = group else { return Marks::none().map(Self::Marked) };
        let directory: OwnedFd = files::directory(path)?;
        if u64::try_from(rustix::fs::fstatfs(&directory)?.f_type) == Ok(UNIFIED) {
            return Groups::of(&directory).map(Self::Group);
        }
        let mounts = fs::read_to_string("/proc/self/mountinfo")?;
        let canonical = fs::canonicalize(path)?;
        match level(&mounts, &canonical) {
            Some(level) => {
                let number = rustix::fs::fstat(&directory)?.st_ino;
                Ok(Self::Charged { level, number })
            }
            None => Marks::none().map(Self::Marked),
        }
    }
}

/// How far a group is below the root of the hierarchy of version 1 that memory is charged in; nothing of others, and
/// where the mount does not say.
fn level(mounts: &str, group: &Path) -> Option<i32> {
    mounts.lines().find_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        let mut right = right.split(' ');
        let is_old = right.next()? == "cgroup";
        if !is_old || !right.nth(1)?.split(',').any(|option| option == "memory") {
            return None;
        }
        let mut left = left.split(' ').skip(3);
        let (root, mount) = (left.next()?, left.next()?);
        let below = group.strip_prefix(mount).ok()?;
        let names = |path: &Path| {
            path.components().filter(|it| !matches!(it, std::path::Component::RootDir)).count()
        };
        let is_plain = !root.split('/').any(|name| name == "..");
        is_plain.then(|| i32::try_from(names(Path::new(root)) + names(below)).ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_level_is_counted_from_the_root_of_the_hierarchy() {
        let line = |root: &str, kind: &str| {
            format!("35 31 0:32 {root} /sys/fs/cgroup/memory rw - {kind} cgroup rw,memory\n")
        };
        let group = Path::new("/sys/fs/cgroup/memory/a/b");
        for (mounts, want) in [
            (line("/", "cgroup"), Some(2)),
            (line("/docker/x", "cgroup"), Some(4)),
            (line("/../x", "cgroup"), None),
            (line("/", "cgroup2"), None),
            (line("/", "cgroup").replace("rw,memory", "rw,cpu"), None),
            ("broken".to_owned(), None),
        ] {
            assert_eq!(level(&mounts, group), want, "{mounts}");
        }
        assert_eq!(level(&line("/", "cgroup"), Path::new("/sys/fs/cgroup/memory")), Some(0));
    }
}
