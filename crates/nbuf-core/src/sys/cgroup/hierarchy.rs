//! Where our own control groups are: `/proc/self/cgroup` joined with `/proc/self/mountinfo`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::units::Bytes;

/// Our own group in each hierarchy that matters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hierarchies {
    /// Our group in the v1 hierarchy that has the memory controller.
    pub memory_v1: Option<PathBuf>,
    /// Our group in the v1 hierarchy that has the block I/O controller.
    pub blkio_v1: Option<PathBuf>,
    /// Our group in the unified hierarchy.
    pub unified: Option<PathBuf>,
}

impl Hierarchies {
    /// Looks at this process.
    pub fn of_this_process() -> Self {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        Self::parse(&read("/proc/self/cgroup"), &read("/proc/self/mountinfo"))
    }

    /// From the two texts. Lines that make no sense are passed over.
    pub fn parse(groups: &str, mounts: &str) -> Self {
        let mut found = Self::default();
        for line in groups.lines() {
            let mut parts = line.splitn(3, ':');
            let (Some(_), Some(controllers), Some(path)) =
                (parts.next(), parts.next(), parts.next())
            else {
                continue;
            };
            if controllers.is_empty() {
                found.unified = locate(mounts, "cgroup2", None, path);
            } else if controllers.split(',').any(|name| name == "memory") {
                found.memory_v1 = locate(mounts, "cgroup", Some("memory"), path);
            } else if controllers.split(',').any(|name| name == "blkio") {
                found.blkio_v1 = locate(mounts, "cgroup", Some("blkio"), path);
            }
        }
        found
    }
}

impl Hierarchies {
    /// The memory that this process and what it starts may have, if a group around it limits that, as the
    /// group of a container does.
    pub fn memory_limit(&self) -> Option<Bytes> {
        let v1 = self.memory_v1.iter().filter_map(|group| {
            let text = fs::read_to_string(group.join("memory.stat")).ok()?;
            let limit = text.lines().find_map(|l| l.strip_prefix("hierarchical_memory_limit "))?;
            // Without a limit it is the largest number of whole pages.
            limit.trim().parse().ok().filter(|&limit: &u64| limit < 1 << 62)
        });
        let around = self.unified.iter().flat_map(|group| group.ancestors());
        let v2 = around.filter_map(|group| {
            fs::read_to_string(group.join("memory.max")).ok()?.trim().parse::<u64>().ok()
        });
        v1.chain(v2).min().map(Bytes)
    }
}

impl Hierarchies {
    /// The memory that the groups around this process leave it. Pages of files that a group has read count
    /// as left: they go when others are wanted.
    pub fn memory_left(&self) -> Option<Bytes> {
        let left = |group: &Path, limit: &str, used: &str, prefix: &str| {
            let number =
                |file: &str| fs::read_to_string(group.join(file)).ok()?.trim().parse::<u64>().ok();
            // Without a limit it is the largest number of whole pages, or no number.
            let limit = number(limit).filter(|&limit| limit < 1 << 62)?;
            let text = fs::read_to_string(group.join("memory.stat")).unwrap_or_default();
            let files = ["inactive_file", "active_file"]
                .map(|key| super::stat(&text, &format!("{prefix}{key}")));
            let used = number(used)?.saturating_sub(files.iter().sum());
            Some(Bytes(limit) - Bytes(used))
        };
        let v1 = self.memory_v1.iter().flat_map(|group| group.ancestors());
        let v1 = v1.filter_map(|group| {
            left(group, "memory.limit_in_bytes", "memory.usage_in_bytes", "total_")
        });
        let v2 = self.unified.iter().flat_map(|group| group.ancestors());
        let v2 = v2.filter_map(|group| left(group, "memory.max", "memory.current", ""));
        v1.chain(v2).min()
    }
}

/// The directory of group `path` in the mount of this type and controller.
fn locate(mounts: &str, kind: &str, controller: Option<&str>, path: &str) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        let mut right = right.split(' ');
        if right.next()? != kind {
            return None;
        }
        let options = right.nth(1)?;
        if let Some(controller) = controller
            && !options.split(',').any(|option| option == controller)
        {
            return None;
        }
        let mut left = left.split(' ').skip(3);
        let (root, mount_point) = (left.next()?, left.next()?);
        // In a container the mount shows a subtree only, and our path may start inside it.
        let below =
            Path::new(path).strip_prefix(root).or_else(|_| Path::new(path).strip_prefix("/"));
        Some(Path::new(mount_point).join(below.ok()?))
    })
}

/// The group that memory is charged to, in the text of `/proc/PID/cgroup`: of the hierarchy that has the memory
/// controller, or else of the unified one.
pub(crate) fn memory_path(text: &str) -> Option<&str> {
    let groups = || {
        text.lines().filter_map(|line| {
            let (_, rest) = line.split_once(':')?;
            rest.split_once(':')
        })
    };
    let memory = groups().find(|(controllers, _)| controllers.split(',').any(|it| it == "memory"));
    let found = memory.or_else(|| groups().find(|(controllers, _)| controllers.is_empty()));
    found.map(|(_, path)| path)
}

/// Where the group `path` is in every hierarchy, whether it exists there or not: mount point, directory, and
/// whether it is the unified one.
pub(super) fn everywhere(mounts: &str, path: &str) -> Vec<(PathBuf, PathBuf, bool)> {
    let found = mounts.lines().filter_map(|line| {
        let (left, right) = line.split_once(" - ")?;
        let kind = right.split(' ').next()?;
        let mut left = left.split(' ').skip(3);
        let (root, mount) = (left.next()?, left.next()?);
        if !["cgroup", "cgroup2"].contains(&kind) {
            return None;
        }
        let below =
            Path::new(path).strip_prefix(root).or_else(|_| Path::new(path).strip_prefix("/"));
        let mount = PathBuf::from(mount);
        let directory = mount.join(below.ok()?);
        Some((mount, directory, kind == "cgroup2"))
    });
    found.collect()
}

/// The group of a process in the unified hierarchy.
pub(crate) fn unified_path(process: u32) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{process}/cgroup")).ok()?;
    text.lines().find_map(|line| line.strip_prefix("0::")).map(str::to_owned)
}

/// The directory of a group of the unified hierarchy.
pub(crate) fn unified_directory(path: &str) -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    locate(&mounts, "cgroup2", None, path)
}

/// Where the hierarchy is mounted that memory is charged in.
pub(crate) fn memory_mount() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let v1 = locate(&mounts, "cgroup", Some("memory"), "/");
    v1.or_else(|| locate(&mounts, "cgroup2", None, "/"))
}
