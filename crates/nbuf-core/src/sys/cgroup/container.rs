//! The group that a container engine is asked to put its container into (`--cgroup-parent`).
//!
//! The engine itself stays outside. It makes a group for the container below ours, at the same path in every
//! hierarchy that is mounted, and leaves some of these directories behind: all of them are removed with ours.
//! Sources: crun's `src/libcrun/cgroup-cgroupfs.c`, runc's `libcontainer/cgroups/fs/paths.go`.

use std::fs;
use std::path::{Path, PathBuf};

use super::nested::end_below;
use super::{Error, Group, Hierarchies, Throttle, hierarchy, removal};
use crate::sys::supervise::GroupPaths;

/// Where a container goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Nest {
    /// Path of our group, as an engine is given it.
    path: String,
    /// The same path in each hierarchy.
    directories: Vec<PathBuf>,
    /// The one of the unified hierarchy.
    pub(super) unified: Option<PathBuf>,
    /// Those above it that were not there, the deepest first.
    made_above: Vec<PathBuf>,
}

impl Nest {
    /// The place of the group with this name below ours.
    pub(super) fn below_ours(name: &str) -> Option<Self> {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        Self::parse(name, &read("/proc/self/cgroup"), &read("/proc/self/mountinfo"))
    }

    fn parse(name: &str, groups: &str, mounts: &str) -> Option<Self> {
        let ours = hierarchy::memory_path(groups)?;
        let path = format!("{}/{name}", ours.trim_end_matches('/'));
        let mut nest = Self { path, ..Self::default() };
        for (mount, parent, is_unified) in hierarchy::everywhere(mounts, ours) {
            nest.directories.push(parent.join(name));
            if is_unified {
                nest.unified = Some(parent.join(name));
            }
            let above = parent.ancestors().take_while(|above| *above != mount && !above.exists());
            nest.made_above.extend(above.map(Path::to_owned));
        }
        nest.made_above.sort_by_key(|path| std::cmp::Reverse(path.components().count()));
        Some(nest)
    }

    /// All directories, as the watchdog needs them.
    pub(super) fn watched(&self) -> (Vec<GroupPaths>, Vec<GroupPaths>) {
        let paths = |of: &[PathBuf]| of.iter().map(|path| GroupPaths::of(path)).collect();
        (paths(&self.directories), paths(&self.made_above))
    }

    /// Ends what is in the groups below ours.
    pub(super) fn end(&self) {
        for directory in &self.directories {
            let directory = GroupPaths::of(directory).directory;
            // SAFETY: the path lives as long as the call.
            unsafe { end_below(directory.as_ptr()) };
        }
    }

    /// Removes ours, where an engine made it, and what it made above.
    pub(super) fn remove(&self) {
        for directory in &self.directories {
            removal::remove(directory);
        }
        for above in &self.made_above {
            let _ = fs::remove_dir(above);
        }
    }
}

impl Group {
    /// Makes a private group for a container: the limit and the meters are of what is below it.
    ///
    /// # Errors
    /// As [`Self::create`]; where only systemd may make groups, a container cannot be put into one.
    pub fn for_container(
        hierarchies: &Hierarchies,
        throttle: Option<&Throttle>,
    ) -> Result<Self, Error> {
        let name = super::unique_name();
        let nest = Nest::below_ours(&name).ok_or(Error::NoController)?;
        Self::below_ours(hierarchies, throttle, &name, Some(nest))
    }

    /// What an engine is given as the parent of a container's group, if this is a group for one.
    pub fn parent_for_engine(&self) -> Option<&str> {
        self.nest.as_ref().map(|nest| nest.path.as_str())
    }

    /// Processes of the container, without those of the engine that look after it.
    pub(crate) fn container_processes(&self) -> Vec<u32> {
        let below = fs::read_dir(self.limiter.directory()).into_iter().flatten().flatten();
        let containers = below.filter(|entry| {
            entry.file_type().is_ok_and(|kind| kind.is_dir()) && entry.file_name() != "conmon"
        });
        let mut found = Vec::new();
        let mut open: Vec<PathBuf> = containers.map(|entry| entry.path()).collect();
        while let Some(group) = open.pop() {
            let text = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
            found.extend(text.lines().filter_map(|line| line.parse::<u32>().ok()));
            let below = fs::read_dir(group).into_iter().flatten().flatten();
            let groups = below.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
            open.extend(groups.map(|entry| entry.path()));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_makes_the_same_path_in_every_hierarchy() {
        let mounts = "1 0 0:1 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
            2 0 0:2 / /nowhere/cpu rw - cgroup cgroup rw,cpu\n\
            3 0 0:3 / /nowhere/unified rw - cgroup2 cgroup2 rw\n";
        let nest = Nest::parse("nbuf-1", "4:memory:/a/b\n1:cpu:/\n0::/\n", mounts).unwrap();
        assert_eq!(nest.path, "/a/b/nbuf-1");
        let [first, .., last] = nest.directories.as_slice() else { panic!("{nest:?}") };
        assert_eq!(first, Path::new("/sys/fs/cgroup/memory/a/b/nbuf-1"));
        assert_eq!(last, Path::new("/nowhere/unified/a/b/nbuf-1"));
        let above: Vec<_> = nest.made_above.iter().map(|path| path.to_str().unwrap()).collect();
        assert!(above.ends_with(&["/nowhere/cpu/a", "/nowhere/unified/a"]), "{above:?}");
        assert!(!above.contains(&"/nowhere/cpu"));
    }
}
