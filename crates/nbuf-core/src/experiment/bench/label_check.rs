//! Whether a row did what its name says: the kernel's own counts, held against the label.
//!
//! A number that is not what it says it is is slower than no cache: a cold row that found its file in
//! memory, a mapping that was read by calls, a ring that no process rang. Pure: counts in, a
//! sentence out. Source of the rules: the traps that were met, each with its size, in
//! `docs/experiments/cs61.md`.

use crate::experiment::result::{BenchSample, BenchTask, LabelCheck, State};

/// What a path does with calls that read or write (`syscr`, `syscw`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Calls {
    /// One for each operation at least.
    Each,
    /// A part of the operations makes one.
    Fewer,
    /// None at all.
    None,
    /// It depends.
    Any,
}

/// Part of the file that may be elsewhere than the label says: a page or two of others' doing.
const STRAY: f64 = 0.001;

/// Adds up what was counted.
pub(super) fn of(samples: &[BenchSample]) -> LabelCheck {
    let sum = |field: fn(&BenchSample) -> u64| samples.iter().map(field).sum::<u64>();
    let operations = sum(|sample| sample.operations);
    let each = |field: fn(&BenchSample) -> u64| sum(field) as f64 / operations.max(1) as f64;
    let part = |pages: u64, sample: &BenchSample| pages as f64 / sample.file_pages.max(1) as f64;
    let before = samples.iter().map(|sample| part(sample.resident_before_pages, sample));
    let has_ring = samples.iter().any(|sample| sample.completions.is_some());
    LabelCheck {
        operations,
        bytes: sum(|sample| sample.bytes),
        calls_per_operation: each(|sample| sample.reads + sample.writes),
        device_read_bytes: sum(|sample| sample.device_read_bytes),
        device_written_bytes: sum(|sample| sample.device_written_bytes),
        faults_minor_per_operation: each(|sample| sample.faults_minor),
        faults_major_per_operation: each(|sample| sample.faults_major),
        waits_per_operation: each(|sample| sample.switches_voluntary),
        resident_before_least: before.clone().fold(f64::INFINITY, f64::min).min(1.0),
        resident_before_most: before.fold(0.0, f64::max),
        resident_after: samples.last().map_or(0.0, |s| part(s.resident_after_pages, s)),
        completions_per_operation: has_ring.then(|| each(|s| s.completions.unwrap_or(0))),
    }
}

/// How the counts contradict the label of a task; nothing where all is as it says.
pub(super) fn contradiction(task: &BenchTask, check: &LabelCheck) -> Option<String> {
    if task.path == "null" {
        return None;
    }
    if check.operations == 0 || check.bytes == 0 {
        return Some("nothing was moved".to_owned());
    }
    state(task, check).or_else(|| way(task, check))
}

/// Where the bytes came from or went to.
fn state(task: &BenchTask, check: &LabelCheck) -> Option<String> {
    let percent = |part: f64| format!("{:.1} %", part * 100.0);
    let (read, bytes) = (check.device_read_bytes, check.bytes);
    match task.state {
        State::Hot if check.resident_before_least < 1.0 - STRAY => Some(format!(
            "it is called hot, and {} of the file was in memory before a sample",
            percent(check.resident_before_least)
        )),
        State::Hot if read as f64 > STRAY * bytes as f64 + 65536.0 => {
            Some(format!("it is called hot, and a device gave {read} bytes"))
        }
        State::Cold if check.resident_before_most > STRAY => Some(format!(
            "it is called cold, and {} of the file was in memory before a sample",
            percent(check.resident_before_most)
        )),
        State::Cold | State::Device if !task.is_write && read < bytes / 10 * 9 => {
            Some(format!("it is to come from the device, which gave {read} bytes of {bytes}"))
        }
        State::Device if task.is_write && check.device_written_bytes < bytes / 10 * 9 => {
            Some(format!(
                "it is to go to the device, which was sent {} bytes of {bytes}",
                check.device_written_bytes
            ))
        }
        // A process that waits for a device sleeps.
        State::Synced if check.waits_per_operation < 0.5 => Some(format!(
            "it is called synced, and only {} of the operations waited",
            percent(check.waits_per_operation)
        )),
        _ => None,
    }
}

/// By which calls.
fn way(task: &BenchTask, check: &LabelCheck) -> Option<String> {
    let calls = check.calls_per_operation;
    match expected(task) {
        Calls::Each if calls < 0.99 => {
            Some(format!("it is to make a call for each operation, and made {calls:.3}"))
        }
        Calls::Fewer if calls > 0.5 => {
            Some(format!("it is to gather operations, and made {calls:.2} calls for each"))
        }
        Calls::None if calls > 0.01 => {
            Some(format!("it is to make no calls that read or write, and made {calls:.3}"))
        }
        Calls::Each | Calls::Fewer | Calls::None | Calls::Any => ring(task, check),
    }
}

fn ring(task: &BenchTask, check: &LabelCheck) -> Option<String> {
    if !is_ring(&task.path) {
        return None;
    }
    match check.completions_per_operation {
        None => Some("it is called a ring, and has none".to_owned()),
        Some(rung) if rung < 0.99 => {
            Some(format!("only {rung:.3} completions came through the ring for each operation"))
        }
        Some(_) => None,
    }
}

pub(super) fn is_ring(path: &str) -> bool {
    path.starts_with("io_uring")
}

fn expected(task: &BenchTask) -> Calls {
    let path = task.path.as_str();
    let is_small = task.block_bytes <= 512 && task.stride_bytes <= task.block_bytes;
    let is_one = ["read", "pread", "read-raw", "pread-raw", "direct"].contains(&path)
        || path.starts_with("preadv2")
        || path.starts_with("write-");
    if is_one {
        Calls::Each
    } else if path.starts_with("mmap") || is_ring(path) {
        Calls::None
    } else if (path.starts_with("stdio") || path.starts_with("buf")) && is_small && !task.is_random
    {
        Calls::Fewer
    } else {
        Calls::Any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGES: u64 = 2560;

    /// A sample of 100 blocks of 4096 that is what `read` of a hot file gives.
    fn hot() -> BenchSample {
        BenchSample {
            operations: 100,
            bytes: 409_600,
            elapsed_ns: 1000,
            reads: 100,
            resident_before_pages: PAGES,
            resident_after_pages: PAGES,
            file_pages: PAGES,
            ..BenchSample::default()
        }
    }

    fn task(path: &str, state: State) -> BenchTask {
        BenchTask {
            path: path.to_owned(),
            block_bytes: 4096,
            depth: 1,
            state,
            ..BenchTask::default()
        }
    }

    /// A second sample is like the first.
    #[track_caller]
    fn check(task: &BenchTask, sample: BenchSample, want: Option<&str>) {
        let found = contradiction(task, &of(&[sample, sample]));
        match (want, &found) {
            (None, None) => {}
            (Some(want), Some(found)) if found.contains(want) => {}
            _ => panic!("{task:?}: {found:?}, not {want:?}"),
        }
    }

    #[test]
    fn rows_that_are_what_they_say() {
        check(&task("read", State::Hot), hot(), None);
        let cold = BenchSample {
            resident_before_pages: 0,
            device_read_bytes: 8 << 20,
            switches_voluntary: 3,
            ..hot()
        };
        check(&task("read", State::Cold), cold, None);
        check(&task("direct", State::Device), cold, None);
        let mapped = BenchSample { reads: 0, faults_minor: 7, ..hot() };
        check(&task("mmap", State::Hot), mapped, None);
        let rung = BenchSample { reads: 0, completions: Some(100), ..hot() };
        check(&task("io_uring", State::Hot), rung, None);
        let write = BenchTask { is_write: true, ..task("write-sync", State::Synced) };
        let synced = BenchSample { reads: 0, writes: 100, switches_voluntary: 100, ..hot() };
        check(&write, synced, None);
        check(&task("null", State::Cold), BenchSample::default(), None);
    }

    #[test]
    fn rows_that_are_not_say_what_they_did() {
        let cold =
            |read| BenchSample { resident_before_pages: 0, device_read_bytes: read, ..hot() };
        let cases = [
            (task("read", State::Hot), cold(0), "called hot, and 0.0 % of the file"),
            (
                task("read", State::Hot),
                BenchSample { device_read_bytes: 1 << 20, ..hot() },
                "a device gave",
            ),
            (task("read", State::Cold), hot(), "called cold, and 100.0 %"),
            (task("read", State::Cold), cold(4096), "gave 8192 bytes of 819200"),
            (task("direct", State::Device), cold(0), "gave 0 bytes"),
            (task("write-sync", State::Synced), hot(), "only 0.0 % of the operations waited"),
            (task("read", State::Hot), BenchSample { reads: 50, ..hot() }, "made 0.500"),
            (task("mmap", State::Hot), hot(), "no calls that read or write, and made 1.000"),
            (task("io_uring", State::Hot), BenchSample { reads: 0, ..hot() }, "has none"),
            (
                task("io_uring", State::Hot),
                BenchSample { reads: 0, completions: Some(1), ..hot() },
                "only 0.010 completions",
            ),
            (
                BenchTask { block_bytes: 1, ..task("stdio", State::Hot) },
                hot(),
                "gather operations, and made 1.00",
            ),
            (task("read", State::Hot), BenchSample::default(), "nothing was moved"),
        ];
        for (task, sample, want) in cases {
            check(&task, sample, Some(want));
        }
    }

    #[test]
    fn one_bad_sample_among_many_is_enough() {
        let bad = BenchSample { resident_before_pages: 0, ..hot() };
        let mut samples = vec![hot(); 40];
        samples[20] = bad;
        let found = contradiction(&task("read", State::Hot), &of(&samples));
        assert!(found.is_some_and(|found| found.contains("called hot")));
    }
}
