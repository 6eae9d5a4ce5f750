//! Comparisons of documents whose difference is known.

use proptest::prelude::*;

use super::*;
use crate::experiment::result::{RunMeter, RunMeters, RunParts, RunSampleMeter};

/// Runs of so much on a processor and asleep, with a few faults and calls.
fn document(runs: &[(f64, f64)], faults: u64, calls: u64) -> RunDocument {
    let sample = |&(on_cpu_seconds, asleep_seconds): &(f64, f64)| RunSample {
        real_seconds: on_cpu_seconds + asleep_seconds,
        user_seconds: on_cpu_seconds,
        faults_minor: faults,
        real_time: Some(RunParts { on_cpu_seconds, asleep_seconds, ..RunParts::default() }),
        meters: Some(vec![RunSampleMeter {
            name: "openat".into(),
            is_call: true,
            count: calls,
            total_seconds: calls as f64 / 1e6,
            ..RunSampleMeter::default()
        }]),
        ..RunSample::default()
    };
    RunDocument {
        command: vec!["job".into()],
        runs: runs.iter().map(sample).collect(),
        ..RunDocument::default()
    }
}

/// Seven runs, a percent apart.
fn seven(on_cpu: f64, asleep: f64) -> Vec<(f64, f64)> {
    (0..7).map(|n| (on_cpu * (0.997 + 0.001 * f64::from(n)), asleep)).collect()
}

#[test]
fn what_was_added_is_named_first_with_its_share() {
    use RunVerdict::{Faster, NotSeen, Slower};
    let a = document(&seven(1.0, 0.2), 100, 10);
    let check = |b: &RunDocument, verdict, want: &[(&str, f64)], moved: &[&str]| {
        let found = compare(&a, b, false).unwrap();
        assert_eq!(found.verdict, verdict, "{found:?}");
        for (row, (part, share)) in found.parts.iter().zip(want) {
            assert_eq!(row.part, *part, "{found:?}");
            assert!((row.share.unwrap() - share).abs() < 1e-3, "{found:?}");
        }
        let names: Vec<&str> = found.moved.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(names, moved);
    };
    check(&a, NotSeen, &[], &[]);
    check(&document(&seven(1.0, 0.5), 100, 10), Slower, &[("asleep", 1.0)], &[]);
    let cpu = ["CPU in programs"];
    check(&document(&seven(1.6, 0.2), 100, 10), Slower, &[("on CPU", 1.0)], &cpu);
    check(&document(&seven(0.5, 0.2), 100, 10), Faster, &[("on CPU", 1.0)], &cpu);
    let two = [("on CPU", 0.75), ("asleep", 0.25)];
    check(&document(&seven(1.3, 0.3), 100, 10), Slower, &two, &cpu);
    // Counts may move where time does not.
    check(&document(&seven(1.0, 0.2), 200, 10), NotSeen, &[], &["minor faults"]);
    check(&document(&seven(1.0, 0.2), 100, 30), NotSeen, &[], &["openat calls"]);
}

#[test]
fn a_single_run_has_no_noise() {
    let a = document(&seven(1.0, 0.2), 100, 10);
    let once = document(&[(2.0, 0.2)], 300, 10);
    for (a, b) in [(&a, &once), (&once, &a), (&once, &once)] {
        let found = compare(a, b, false).unwrap();
        assert_eq!((found.verdict, found.noise), (RunVerdict::NotJudged, None));
        let judged = found.moved.iter().any(|row| row.difference != Difference::NotJudged);
        assert!(!judged, "{found:?}");
    }
    assert_eq!(compare(&a, &once, false).unwrap().moved.len(), 2);
}

#[test]
fn what_is_no_comparison_is_refused_in_a_line() {
    let a = document(&seven(1.0, 0.2), 100, 10);
    let without = |mut of: RunDocument| {
        of.runs.iter_mut().for_each(|run| run.meters = None);
        of
    };
    let others = [
        (
            RunDocument { command: vec!["other".into()], ..a.clone() },
            "the commands differ: A ran `job`",
        ),
        (
            RunDocument { exit_status: 3, ..a.clone() },
            "ended with status 0, the command of B with 3",
        ),
        (without(a.clone()), "only A was made with --meters"),
    ];
    for (b, want) in others {
        let error = compare(&a, &b, false).unwrap_err().to_string();
        assert!(error.contains(want) && error.contains("--force"), "{error}");
        let forced = compare(&a, &b, true).unwrap();
        let warning = forced.warnings[0].to_string();
        assert!(warning.contains(want) && !warning.contains("--force"), "{warning}");
    }
}

#[test]
fn a_document_of_one_run_is_its_own_sample() {
    let meter = |name: &str, count| RunMeter { name: name.into(), count, ..RunMeter::default() };
    let once = RunDocument {
        real_seconds: 2.0,
        meters: Some(RunMeters {
            events: vec![meter("reclaim", 3)],
            calls: vec![meter("read", 4)],
            ..RunMeters::default()
        }),
        ..RunDocument::default()
    };
    let samples = once.samples();
    let meters = samples[0].meters.as_ref().unwrap();
    let found: Vec<_> = meters.iter().map(|of| (of.name.as_str(), of.is_call, of.count)).collect();
    assert_eq!((samples.len(), samples[0].real_seconds), (1, 2.0));
    assert_eq!(found, [("reclaim", false, 3), ("read", true, 4)]);
}

#[test]
fn a_busy_machine_is_named() {
    let quiet = document(&seven(1.0, 0.2), 100, 10);
    let mut busy = quiet.clone();
    busy.runs.iter_mut().for_each(|run| run.others_share = Some(0.42));
    let warnings = |a: &RunDocument, b: &RunDocument| -> Vec<String> {
        compare(a, b, false).unwrap().warnings.iter().map(ToString::to_string).collect()
    };
    assert_eq!(warnings(&quiet, &quiet), Vec::<String>::new());
    let found = warnings(&quiet, &busy);
    assert!(
        found.len() == 1 && found[0].starts_with("now (B): other programs had 42 %"),
        "{found:?}"
    );

    // What others can make is no verdict; what they cannot is one.
    let verdict = |real: f64, share: f64| {
        let mut b = document(&seven(real, 0.2), 100, 10);
        b.runs.iter_mut().for_each(|run| run.others_share = Some(share));
        compare(&quiet, &b, false).unwrap().verdict
    };
    assert_eq!(verdict(1.45, 0.0), RunVerdict::Slower);
    assert_eq!(verdict(1.45, 0.42), RunVerdict::Unsure);
    assert_eq!(verdict(0.7, 0.42), RunVerdict::Unsure);
    assert_eq!(verdict(2.5, 0.42), RunVerdict::Slower);
}

proptest! {
    #[test]
    fn differences_of_parts_add_up(
        a in prop::collection::vec((0.01..2.0_f64, 0.0..2.0_f64), 1..9),
        b in prop::collection::vec((0.01..2.0_f64, 0.0..2.0_f64), 1..9),
    ) {
        let found = compare(&document(&a, 1, 1), &document(&b, 1, 1), false).unwrap();
        let sum: f64 = found.parts.iter().map(|part| part.difference_seconds).sum();
        prop_assert!((sum - found.difference_seconds).abs() < 1e-9);
        prop_assert!((found.b.real_seconds - found.a.real_seconds - sum).abs() < 1e-9);
        if sum.abs() > 1e-6 {
            let shares: f64 = found.parts.iter().filter_map(|part| part.share).sum();
            prop_assert!((shares - 1.0).abs() < 1e-6);
        }
        let ratio = found.ratio.unwrap();
        prop_assert!(found.ratio_low.is_none_or(|low| low <= ratio));
        prop_assert!(found.ratio_high.is_none_or(|high| high >= ratio));
        // The other way round, the verdict is the opposite.
        let back = compare(&document(&b, 1, 1), &document(&a, 1, 1), false).unwrap();
        let opposite = match found.verdict {
            RunVerdict::Faster => RunVerdict::Slower,
            RunVerdict::Slower => RunVerdict::Faster,
            same => same,
        };
        prop_assert_eq!(back.verdict, opposite);
    }
}
