//! What is neither good nor bad here, but decides what is measured.

use std::fs;
use std::io;
use std::path::Path;

use super::{Capability, State, text};
use crate::units::Bytes;
use crate::workload::record::machine;
use crate::workload::record::mounts::Mount;

/// Each as it is, in the order of the report.
pub(super) fn circumstances(mounts: &[Mount]) -> Vec<Capability> {
    let is = |name, why: String, remedy: &str| {
        let remedy = remedy.to_owned();
        Capability { name, needed: false, state: State::Is, why, remedy }
    };
    let facts = machine::facts(Vec::new());
    let lru = if facts.multi_generational {
        is("eviction", "multi-generational LRU: modelled, not validated".into(), "")
    } else {
        is("eviction", "active and inactive lists, as modelled".into(), "")
    };
    let swaps = text("/proc/swaps").lines().skip(1).count();
    let here = mounts
        .iter()
        .filter(|mount| Path::new(&facts.directory).starts_with(&mount.point))
        .max_by_key(|mount| mount.point.as_os_str().len());
    let readahead = here.map_or_else(
        || "the current directory is on no disc".to_owned(),
        |mount| {
            let window = Bytes(machine::device(mount, mounts, &facts.kernel).readahead_bytes);
            format!("{window} on {} ({})", mount.point.display(), mount.filesystem)
        },
    );
    let (reclaim, remedy) = match proactive_reclaim() {
        Some(true) => ("DAMON pages out what is not used", "what it evicts spoils a curve"),
        Some(false) => ("none", ""),
        None => ("not visible to this user", "run as root"),
    };
    vec![
        is("kernel", facts.kernel, ""),
        lru,
        is("readahead", readahead, ""),
        is("swap", if swaps == 0 { "none".into() } else { format!("{swaps} areas") }, ""),
        is("proactive reclaim", reclaim.into(), remedy),
    ]
}

/// Returns whether DAMON takes pages away although memory is not short; nothing where that cannot
/// be seen.
fn proactive_reclaim() -> Option<bool> {
    if text("/sys/module/damon_reclaim/parameters/enabled") == "Y" {
        return Some(true);
    }
    let listed = |path: &Path| {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect::<Vec<_>>()
    };
    let read = |path: &Path| match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => None,
        read => Some(read.unwrap_or_default().trim().to_owned()),
    };
    for daemon in listed(Path::new("/sys/kernel/mm/damon/admin/kdamonds")) {
        if read(&daemon.join("state"))? != "on" {
            continue;
        }
        for context in listed(&daemon.join("contexts")) {
            for scheme in listed(&context.join("schemes")) {
                if read(&scheme.join("action"))? == "pageout" {
                    return Some(true);
                }
            }
        }
    }
    Some(false)
}
