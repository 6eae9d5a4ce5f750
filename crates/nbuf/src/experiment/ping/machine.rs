//! The processors that threads are put on, and what else has to be known of the machine.

use std::fs;

use rustix::thread::sched_getaffinity;

use super::super::result::PingMachine;

/// Looks at the machine as it is before anything is measured.
pub fn machine() -> PingMachine {
    let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let processors = allowed();
    let siblings = |processor: usize| {
        let path = format!("/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list");
        text(&path).trim().to_owned()
    };
    let (used, are_siblings) = choose(&processors, siblings);
    PingMachine {
        kernel: text("/proc/sys/kernel/osrelease").trim().to_owned(),
        processor: model(&text("/proc/cpuinfo")),
        processors,
        used,
        siblings: are_siblings,
        pressure: pressure(&text("/proc/pressure/cpu")),
    }
}

/// The processors that this process may use. Cgroups and `taskset` take some away.
fn allowed() -> Vec<usize> {
    let Ok(set) = sched_getaffinity(None) else { return vec![0] };
    (0..rustix::thread::CpuSet::MAX_CPU).filter(|&processor| set.is_set(processor)).collect()
}

/// The first processor, and of the others one of each core; with no other core, the first's sibling.
/// Which threads share a core is told by a text that all of them have.
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

/// `model name : AMD EPYC`
fn model(cpuinfo: &str) -> String {
    let line = cpuinfo.lines().find_map(|line| line.strip_prefix("model name"));
    line.and_then(|line| line.split_once(':')).map_or(String::new(), |(_, name)| name.trim().into())
}

/// `some avg10=12.34 ...`, in hundredths
fn pressure(text: &str) -> Option<f64> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let average = some.split(' ').find_map(|field| field.strip_prefix("avg10="))?;
    Some(average.parse::<f64>().ok()? / 100.0)
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

    #[test]
    fn what_the_kernel_says_is_read() {
        assert_eq!(model("processor\t: 0\nmodel name\t: AMD EPYC 9 \nx: y"), "AMD EPYC 9");
        assert_eq!(model(""), "");
        let text = "some avg10=12.50 avg60=1.00 avg300=0.00 total=5\nfull avg10=0.00";
        assert_eq!(pressure(text), Some(0.125));
        assert_eq!(pressure(""), None);
    }
}
