//! What watching mapped files cost a program, and what it did not show.

use std::thread;
use std::time::Duration;

use super::super::record::{MappedWatch, MappedWhen};
use super::super::result::{LiveDocument, LiveFaults, LiveMarks};
use super::super::warning::{LiveWarning, Warning};
use crate::sys::process::monotonic_ns;
use crate::trace::{CacheEvent, Looks, Trace};
use crate::units::{Bytes, PAGE_BYTES};
use crate::workload::record::running::{Faults, Quiet, Stop};

/// For how long faults are counted after the last look.
const AFTER_NS: u64 = 2_000_000_000;
/// A part of the records: fewer touches of mapped pages do not matter.
const TOUCHES_PART: usize = 20;

impl From<Looks> for LiveMarks {
    fn from(looks: Looks) -> Self {
        let seconds = |ns: u64| ns as f64 / 1e9;
        Self {
            rounds: looks.rounds,
            longest_clear_seconds: seconds(looks.clear_ns_max),
            interval_seconds: seconds(looks.interval_ns),
            waited_seconds: seconds(looks.waited_ns),
            rested_seconds: seconds(looks.rested_ns),
            processes_left_out: looks.left_out,
            large_bytes: Bytes(looks.large_pages * PAGE_BYTES),
            ..Self::default()
        }
    }
}

/// The time in a recording before which accesses do not count. Touches of mapped pages are missing before the first
/// look, so where they matter, the window begins with it, unless less than half of it would be left.
pub(super) fn counts_from(trace: &Trace) -> u64 {
    let waited_ns = trace.facts.capture.looks.map_or(0, |looks| looks.waited_ns);
    if waited_ns == 0 || waited_ns > trace.facts.elapsed_ns / 2 {
        return 0;
    }
    let touches = trace.records.iter().filter(|record| record.op == CacheEvent::Touch).count();
    let matter = touches * TOUCHES_PART > trace.records.len();
    if matter { waited_ns } else { 0 }
}

/// Adds what a caller must know of the watch of mapped files.
pub(super) fn add(document: &mut LiveDocument, watch: MappedWatch) {
    let mut warn = |warning| document.warnings.push(Warning::Live(warning));
    let Some(marks) = &mut document.marks else {
        let is_off = watch.when == MappedWhen::Off;
        return warn(if is_off { LiveWarning::MappedOff } else { LiveWarning::TouchesUnseen });
    };
    marks.pause_seconds = watch.pause_seconds;
    if marks.rounds == 0 && marks.waited_seconds > 0.0 {
        warn(LiveWarning::MarksKept);
    } else if marks.waited_seconds * 2.0 > document.seconds {
        warn(LiveWarning::MarksLate { seconds: marks.waited_seconds });
    }
    if marks.rested_seconds > 0.0 {
        warn(LiveWarning::MarksRested { seconds: marks.rested_seconds });
    }
    if marks.processes_left_out > 0 {
        let (processes, pause_seconds) = (marks.processes_left_out, marks.pause_seconds);
        warn(LiveWarning::ProcessesLeftOut { processes, pause_seconds });
    }
    if marks.large_bytes.0 > 0 {
        warn(LiveWarning::LargePages { bytes: marks.large_bytes });
    }
}

/// After a recording in which marks were cleared although memory was reclaimed, or might have been: counts faults for
/// a while, or until a signal comes. All that were noted.
pub(super) fn faults_after(
    watch: MappedWatch,
    quiet: &Quiet,
    is_interrupted: bool,
    stop: &dyn Fn() -> Option<Stop>,
) -> Vec<Faults> {
    let has_looked = quiet.noted().len() == 2;
    if watch.when == MappedWhen::On && has_looked && !is_interrupted {
        quiet.note();
        let until_ns = monotonic_ns() + AFTER_NS;
        while monotonic_ns() < until_ns && !matches!(stop(), Some(Stop::Signal(_))) {
            thread::sleep(Duration::from_millis(20));
        }
        quiet.note();
    }
    quiet.noted()
}

/// Adds faults before the first look, while there were looks, and after them.
pub(super) fn add_faults(document: &mut LiveDocument, noted: &[Faults]) {
    let (Some(marks), [began, first, last, after]) = (&mut document.marks, noted) else { return };
    marks.faults_before = Some(between(began, first));
    marks.faults_during = Some(between(first, last));
    marks.faults_after = Some(between(last, after));
}

fn between(from: &Faults, to: &Faults) -> LiveFaults {
    let seconds = (to.time_ns.saturating_sub(from.time_ns) as f64 / 1e9).max(1e-9);
    let each = |from: u64, to: u64| to.saturating_sub(from) as f64 / seconds;
    LiveFaults {
        seconds,
        refaults_per_second: each(from.refaults, to.refaults),
        major_per_second: each(from.major, to.major),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(looks: Option<Looks>, when: MappedWhen) -> (LiveDocument, String) {
        let marks = looks.map(LiveMarks::from);
        let mut document = LiveDocument { marks, seconds: 60.0, ..LiveDocument::default() };
        add(&mut document, MappedWatch { when, ..MappedWatch::default() });
        let words: Vec<String> = document.warnings.iter().map(ToString::to_string).collect();
        (document, words.join("\n"))
    }

    #[test]
    fn what_was_not_watched_is_said() {
        let words = |looks, when| with(looks, when).1;
        assert!(words(None, MappedWhen::Off).contains("--mmap off"));
        assert!(words(None, MappedWhen::Auto).contains("nbuf doctor"));
        let watched = Looks { rounds: 9, waited_ns: 10, ..Looks::default() };
        assert_eq!(words(Some(watched), MappedWhen::Auto), "");
        let late = Looks { waited_ns: 31_000_000_000, ..watched };
        assert!(words(Some(late), MappedWhen::Auto).contains("only after 31 s"));
        let kept = Looks { rounds: 0, ..watched };
        assert!(words(Some(kept), MappedWhen::Auto).contains("--mmap on"));
        let rested = Looks { rested_ns: 3_000_000_000, ..watched };
        assert!(words(Some(rested), MappedWhen::Auto).contains("3.0 s"));
        let left = Looks { left_out: 2, ..watched };
        assert!(words(Some(left), MappedWhen::On).contains("more than 5 ms"));
        let large = Looks { large_pages: 512, ..watched };
        assert!(words(Some(large), MappedWhen::On).contains("2.00 MiB of mapped files"));
    }

    #[test]
    fn faults_are_rates_of_the_times_between() {
        let (mut document, _) = with(Some(Looks::default()), MappedWhen::On);
        let at = |second: u64, refaults, major| Faults {
            time_ns: second * 1_000_000_000,
            refaults,
            major,
        };
        add_faults(&mut document, &[at(0, 0, 0), at(2, 4, 2)]);
        assert_eq!(document.marks.unwrap().faults_before, None, "nothing was cleared");
        add_faults(&mut document, &[at(0, 0, 0), at(2, 4, 2), at(62, 64, 2), at(64, 70, 3)]);
        let marks = document.marks.unwrap();
        let rates = [marks.faults_before, marks.faults_during, marks.faults_after].map(|it| {
            let it = it.unwrap();
            (it.refaults_per_second, it.major_per_second)
        });
        assert_eq!(rates, [(2.0, 1.0), (1.0, 0.0), (3.0, 0.5)]);
    }
}
