//! Groups that bear our name and whose owner is dead: all of us were killed at once.

use std::fs;
use std::path::{Path, PathBuf};

use super::Hierarchies;
use super::container::Nest;
use super::removal::{end_processes, remove};
use crate::sys::process;

/// Ends what runs in such groups, removes them, and gives back their paths. What another process removed meanwhile,
/// such as the watchdog of its owner, is not among them.
///
/// Only groups directly below our own are looked at, and only names from our own pid namespace:
/// elsewhere a process number says nothing about an owner.
pub fn sweep(hierarchies: &Hierarchies) -> Vec<PathBuf> {
    let namespace = process::pid_namespace();
    let mut removed = Vec::new();
    let Hierarchies { memory_v1, blkio_v1, unified } = hierarchies;
    for parent in [memory_v1, blkio_v1, unified].into_iter().flatten() {
        let Ok(entries) = fs::read_dir(parent) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            let name = entry.file_name();
            if name.to_str().is_some_and(|name| is_orphan(name, namespace)) {
                removed.extend(remove_orphan(&path).then_some(path));
            }
        }
    }
    removed
}

/// Whether it was us who removed it.
fn remove_orphan(path: &Path) -> bool {
    // The group of a container has groups of its engine below it, and others of its name elsewhere.
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let nest = Nest::below_ours(&name);
    nest.iter().for_each(Nest::end);
    end_processes(path);
    let _ = fs::write(path.join("memory.force_empty"), "0");
    let is_removed = remove(path);
    nest.iter().for_each(Nest::remove);
    is_removed
}

/// Whether the owner in a group's name is dead: no process of that number, or one that started at
/// another time.
fn is_orphan(name: &str, namespace: u64) -> bool {
    let mut parts = name.split('-');
    if parts.next() != Some("nbuf") || parts.next().and_then(|n| n.parse().ok()) != Some(namespace)
    {
        return false;
    }
    let pid: Option<i32> = parts.next().and_then(|pid| pid.parse().ok());
    let start: Option<u64> = parts.next().and_then(|start| start.parse().ok());
    match (pid, start) {
        (Some(pid), Some(start)) => process::start_ticks(pid) != Some(start),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_we_removed_ourselves_counts() {
        let directory = tempfile::tempdir().unwrap();
        let group = directory.path().join("group");
        fs::create_dir(&group).unwrap();
        assert!(remove(&group) && !group.exists());
        // Another process was first.
        assert!(!remove(&group));
    }

    #[test]
    fn only_our_dead_are_orphans() {
        let namespace = process::pid_namespace();
        let pid = i32::try_from(std::process::id()).unwrap();
        let start = process::start_ticks(pid).unwrap();
        let cases = [
            (format!("nbuf-{namespace}-{pid}-{start}-0"), false),
            (format!("nbuf-{namespace}-{pid}-{}-0", start + 1), true),
            (format!("nbuf-{namespace}-{}-1-0", i32::MAX), true),
            (format!("nbuf-{}-{}-1-0", namespace + 1, i32::MAX), false),
            ("nbuf".to_owned(), false),
            ("nbuf-x-1-1-0".to_owned(), false),
            (format!("nbuf-{namespace}-tools"), false),
            ("user.slice".to_owned(), false),
        ];
        for (name, want) in cases {
            assert_eq!(is_orphan(&name, namespace), want, "{name}");
        }
    }
}
