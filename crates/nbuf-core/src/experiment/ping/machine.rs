//! The processors that threads are put on, and what else has to be known of the machine.

use std::fs::{self, File};

use rustix::thread::sched_getaffinity;

use super::super::result::PingMachine;
use crate::meter::probe::machine::{Load, Surroundings};

/// Looks at the machine as it is before anything is measured.
pub fn machine() -> PingMachine {
    let processors = allowed();
    let siblings = |processor: usize| {
        let path = format!("/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list");
        fs::read_to_string(path).unwrap_or_default().trim().to_owned()
    };
    let (used, are_siblings) = choose(&processors, siblings);
    let known =
        File::open("/proc/self/exe").map(|file| Surroundings::of(&file)).unwrap_or_default();
    PingMachine {
        kernel: known.kernel,
        processor: known.processor,
        processors,
        used,
        siblings: are_siblings,
        pressure_percent: Load::now().processor_pressure_percent,
    }
}

/// The processors that this process may use. Cgroups and `taskset` take some away.
fn allowed() -> Vec<usize> {
    let Ok(set) = sched_getaffinity(None) else { return vec![0] };
    (0..rustix::thread::CpuSet::MAX_CPU).filter(|&processor| set.is_set(processor)).collect()
}

/// Chooses the first processor and one of each other core; with no other core, the first's sibling.
/// `core` returns the same text for processors that share a core.
fn choose(allowed: &[usize], core: impl Fn(usize) -> String) -> (Vec<usize>, bool) {
    let Some((&first, others)) = allowed.split_first() else { return (Vec::new(), false) };
    let mut cores = vec![core(first)];
    let mut used = vec![first];
    for &other in others {
        let its = core(other);
        // A kernel that says nothing of cores is taken to have one for each processor.
        if its.is_empty() || !cores.contains(&its) {
            cores.push(its);
            used.push(other);
        }
    }
    match (used.len(), others.first()) {
        (1, Some(&sibling)) => (vec![first, sibling], true),
        _ => (used, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_core_is_preferred_to_another_thread_of_the_same() {
        let check = |allowed: &[usize], cores: &[&str], used: &[usize], siblings: bool| {
            let core = |processor: usize| cores[processor].to_owned();
            assert_eq!(choose(allowed, core), (used.to_vec(), siblings), "{allowed:?} {cores:?}");
        };
        check(&[0, 1], &["0", "1"], &[0, 1], false);
        check(&[0, 1, 2, 3], &["0,2", "1,3", "0,2", "1,3"], &[0, 1], false);
        check(&[0, 1, 2, 3], &["0-1", "0-1", "2-3", "2-3"], &[0, 2], false);
        check(&[0, 1], &["0-1", "0-1"], &[0, 1], true);
        check(&[3], &["", "", "", "3"], &[3], false);
        check(&[0, 1], &["", ""], &[0, 1], false);
        check(&[], &[], &[], false);
    }
}
