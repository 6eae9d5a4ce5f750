//! The page as a reader of markup sees it, and its sentence in every case.

pub(crate) mod sample;

use std::fmt::Write as _;

use expect_test::{Expect, expect};
use nbuf::experiment::result::{
    Advice, ReadaheadPoint, Sample as RunSample, TargetReport, TimePoint, Verified,
};

use super::*;
use crate::show::page::tests::well_formed;
use nbuf::units::Bytes;
use sample::{HOSTILE, Sample, full};

fn lacking() -> [Sample; 3] {
    let mut unverified = full();
    unverified.report.verify.clear();
    let mut bound = full();
    bound.report.recommend = None;
    bound.report.verify.clear();
    bound.report.capture.mapped_share = 0.4;
    let mut empty = full();
    empty.report.recommend = None;
    empty.report.verify.clear();
    empty.report.capture.accesses = 0;
    empty.report.command.clear();
    (empty.curve, empty.cliffs) = Default::default();
    (empty.files, empty.facts) = Default::default();
    [unverified, bound, empty]
}

#[test]
fn every_page_is_well_formed_and_fetches_nothing() {
    let mut timed = full();
    let point = |mib: u64, seconds: f64| TimePoint {
        cache_bytes: Bytes(mib << 20),
        limit_bytes: Bytes((mib + 13) << 20),
        seconds_low: seconds,
        seconds_high: 1.2 * seconds,
    };
    timed.time = vec![point(10, 9.0), point(60, 5.0), point(67, 1.0), point(132, 1.0)];
    for sample in lacking().into_iter().chain([full(), timed]) {
        let page = sample.page();
        well_formed(&page);
        assert!(page.len() < 300_000, "{}", page.len());
    }
}

#[test]
fn names_of_files_and_commands_stay_text() {
    let page = full().page();
    // Ours, and no other.
    assert_eq!(well_formed(&page).iter().filter(|name| *name == "script").count(), 1);
    assert!(!page.contains(HOSTILE) && !page.contains("alert(1)</"), "{page}");
    let shown = "/srv/&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;&quot;&#39;";
    // Table and legend of the map; heading, title and command of the machine, where a quotation mark
    // is as a shell must be given it.
    assert!(page.matches(&format!("{shown}\u{fffd}")).count() >= 2, "{page}");
    assert!(page.matches(&format!("{shown}\\&#39;&#39;\u{fffd}")).count() >= 3, "{page}");
    for shown in ["/home/&lt;b&gt;", "&lt;fuse&gt; on sda1 (8:2)", "&lt;i&gt;things&lt;/i&gt;"] {
        assert!(page.contains(shown), "{shown}");
    }
    let acts = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
    assert!(!page.contains(acts));
}

#[test]
fn the_page_says_who_would_gain_and_what_was_measured() {
    let page = full().page();
    for fragment in [
        "<dt>memory limit to set</dt><dd>81.0 MiB</dd>",
        "MemoryMax=81M",
        "knee = ceiling 67.3 MiB",
        "<td>100</td>",
        "<td>321,024</td>",
        "1,234 other files</span>",
        "<dt>cgroup</dt><dd>v2</dd>",
        "2026-11-21 05:49:53 UTC",
        "None of 1,234,567 kernel events was lost.",
        "How long other sizes would take is not predicted.",
    ] {
        assert!(page.contains(fragment), "{fragment}");
    }
    // A run in each of two charts, for wide and narrow pages, and a key in each.
    assert_eq!(page.matches("class=\"measured\"").count(), 4 * 4 + 2);
    assert_eq!(page.matches("class=\"missed\"").count(), 0);
    let mut missed = full();
    missed.report.verify[3].within_band = Some(false);
    assert_eq!(missed.page().matches("class=\"missed\"").count(), 4 + 2);
    // Nothing is drawn of what is not there.
    let [unverified, _, empty] = lacking();
    assert!(!unverified.page().contains("Time against memory"));
    assert!(!empty.page().contains("<figure"));
}

type Change = fn(&mut SizeReport);

#[track_caller]
fn check(cases: &[(&str, Change)], want: &Expect) {
    let mut text = String::new();
    for (name, change) in cases {
        let mut report = full().report;
        report.command = vec!["./query".into()];
        change(&mut report);
        let report = report.judged();
        let answer = Answer::of(&report);
        let _ = writeln!(text, "{name}: {} {}", answer.verdict(), answer.sentence());
    }
    want.assert_eq(&text);
}

#[test]
fn the_sentence_says_what_is_needed() {
    let cases: [(&str, Change); 7] = [
        ("a cliff", |_| {}),
        ("wide", |report| {
            let advice = report.recommend.as_mut().unwrap();
            (advice.floor_bytes, advice.ceiling_bytes) = (Bytes(20 << 20), Bytes(120 << 20));
        }),
        ("nothing to gain", |r| r.recommend.as_mut().unwrap().kind = Advice::NothingToGain),
        ("losses", |r| r.capture.lost = 7),
        ("forced", |r| r.capture.mapped_share = 0.5),
        ("lower bound", |r| {
            r.capture.mapped_share = 0.5;
            r.recommend = None;
            r.verify.clear();
        }),
        ("nothing touched", |r| {
            r.capture.accesses = 0;
            r.recommend = None;
            r.verify.clear();
        }),
    ];
    check(
        &cases,
        &expect![[r#"
        a cliff: Proved. needs 81.0 MiB of memory: below about 79.7 MiB it reads the same pages again and again, with more nothing is gained; proved by 4 runs, all within 5 % of what was predicted.
        wide: Proved. needs 81.0 MiB of memory: below about 33.7 MiB it reads the same pages again and again, above about 134 MiB nothing is gained; proved by 4 runs, all within 5 % of what was predicted.
        nothing to gain: Proved. gains nothing from a larger cache: 81.0 MiB of memory is enough, and with more it would read as much; proved by 4 runs, all within 5 % of what was predicted.
        losses: A lower bound. needs at least 81.0 MiB of memory: below about 79.7 MiB it reads the same pages again and again, with more nothing is gained; events were lost, so that the need is higher than it looks; proved by 4 runs, all within 5 % of what was predicted.
        forced: A lower bound. needs at least 81.0 MiB of memory: below about 79.7 MiB it reads the same pages again and again, with more nothing is gained; proved by 4 runs, all within 5 % of what was predicted.
        lower bound: No recommendation. has an unknown need: 50 % of its pages were touched through mappings, where repeated touches are not seen, so that the curve is a lower bound.
        nothing touched: No recommendation. touched no file pages that the page cache holds, so that there is no size to recommend.
    "#]],
    );
}

#[test]
fn the_sentence_says_how_well_that_is_proved() {
    fn kill(run: &mut Verified) {
        (run.within_band, run.killed) = (None, true);
    }
    let cases: [(&str, Change); 12] = [
        ("not verified", |r| r.verify.clear()),
        ("out of band", |r| r.verify[2].within_band = Some(false)),
        ("not repeatable", |r| {
            r.repeatable = Some(false);
            r.verify[0].within_band = Some(false);
            // It takes three runs to know.
            let run = RunSample {
                measured_fills: r.verify[0].measured_fills,
                measured_seconds: 1.0,
                killed: false,
                timed_out: false,
            };
            r.verify[0].samples = vec![run; 3];
        }),
        ("killed below", |r| kill(&mut r.verify[2])),
        ("killed at it", |r| {
            kill(&mut r.verify[2]);
            r.verify[2].limit_bytes = Some(Bytes(81 << 20));
        }),
        ("cut off", |r| (r.verify[2].within_band, r.verify[2].timed_out) = (None, true)),
        ("a cliff", |r| {
            let run = &mut r.verify[2];
            (run.measured_fills, run.cliff_bytes) = (2 * run.measured_fills, Some(Bytes(1)));
        }),
        ("few pages", |r| {
            r.verify.drain(..3);
            let run = &mut r.verify[0];
            (run.predicted_fills_low, run.predicted_fills_high, run.measured_fills) = (66, 66, 99);
            run.within_band = None;
        }),
        ("no limit alone", |r| r.verify.truncate(1)),
        ("elsewhere alone", |r| drop(r.verify.remove(1))),
        ("as pasted", |r| r.verify[1].limit_bytes = Some(Bytes(81 << 20))),
        ("a target", |r| {
            let advice = r.recommend.as_mut().unwrap();
            advice.kind = Advice::Target;
            advice.reason = "at 67.3 MiB 95 % of the page accesses hit".into();
            let reason = advice.reason.clone();
            let knee = Some(advice.clone());
            r.target = Some(TargetReport { goal: "hit=0.95".into(), met: true, reason, knee });
        }),
    ];
    check(
        &cases,
        &expect![[r#"
            not verified: Not proved. needs 81.0 MiB of memory: below about 79.7 MiB it reads the same pages again and again, with more nothing is gained; not proved, because it was not run again under that limit.
            out of band: Not to be relied on. needs 81.0 MiB of memory: below about 79.7 MiB it reads the same pages again and again, with more nothing is gained; the fills were out of band in 1 of 4 runs.
            not repeatable: Not to be relied on. needs 81.0 MiB of memory: below about 79.7 MiB it reads the same pages again and again, with more nothing is gained; the fills were out of band at 1 of 4 sizes, and without a limit it did not do the same again.
            killed below: Proved. needs 81.0 MiB of memory: below about 79.7 MiB it reads the same pages again and again, with more nothing is gained; proved by 3 runs, all within 5 % of what was predicted; with 72.0 MiB it was OOM-killed.
            killed at it: Not to be relied on. needs 81.0 MiB of memory: below about 79.7 MiB it reads the same pages again and again, with more nothing is gained; the fills were in band in 3 runs; with 81.0 MiB it was OOM-killed.
            cut off: Proved. needs 81.0 MiB of memory: below about 79.7 MiB it reads the same pages again and again, with more nothing is gained; proved by 3 runs, all within 5 % of what was predicted; 1 run ended before the command was done.
            a cliff: Proved. needs 81.0 MiB of memory: below about 79.7 MiB it reads the same pages again and again, with more nothing is gained; proved by 4 runs, some of them on a cliff of the curve, where both sides count as predicted.
            few pages: Not proved. needs 81.0 MiB of memory: below about 79.7 MiB it reads the same pages again and again, with more nothing is gained; 1 run filled too few pages to judge by.
            no limit alone: Not proved. needs 81.0 MiB of memory: below about 79.7 MiB it reads the same pages again and again, with more nothing is gained; not proved, as it was not run with 81.0 MiB, only without a limit; 1 run, within 5 % of what was predicted.
            elsewhere alone: Not proved. needs 81.0 MiB of memory: below about 79.7 MiB it reads the same pages again and again, with more nothing is gained; not proved, as it was not run with 81.0 MiB, only without a limit, with 72.0 MiB and with 60.0 MiB; 3 runs, all within 5 % of what was predicted.
            as pasted: Proved. needs 81.0 MiB of memory: below about 79.7 MiB it reads the same pages again and again, with more nothing is gained; proved by 4 runs, all within 5 % of what was predicted.
            a target: Proved. needs 81.0 MiB of memory for hit=0.95: at 67.3 MiB 95 % of the page accesses hit; proved by 4 runs, all within 5 % of what was predicted.
        "#]],
    );
}

#[test]
fn choices_and_samples_have_their_places() {
    let mut sample = full();
    let plain = sample.page();
    for absent in ["Another readahead window", "minimum and maximum stand next to them"] {
        assert!(!plain.contains(absent), "{absent}");
    }
    let window = |kib: u64, limit_bytes, is_own| ReadaheadPoint {
        readahead_bytes: Bytes(kib << 10),
        fills: 1_234_567,
        limit_bytes,
        is_own,
    };
    sample.report.readahead =
        vec![window(0, None, false), window(8192, Some(Bytes(81 << 20)), true)];
    let ran = |measured_fills, measured_seconds| RunSample {
        measured_fills,
        measured_seconds,
        killed: false,
        timed_out: false,
    };
    for run in &mut sample.report.verify {
        run.samples = vec![ran(1111, 1.5), ran(2222, 2.5)];
    }
    let reason = "9 % < 95 % & less".to_owned();
    sample.report.target =
        Some(TargetReport { goal: "hit=0.95".into(), met: false, reason, knee: None });
    let page = sample.page();
    well_formed(&page);
    for part in [
        "Another readahead window",
        ">1,234,567</td>",
        "minimum and maximum stand next to them",
        "(1,111..2,222)</td>",
        "(1.50..2.50)</td>",
        "proved by 8 runs at 4 sizes, all medians within 5 %",
        "Each dot is the median of 2 runs, marked with its memory limit.",
        "--target hit=0.95 is not met: 9 % &lt; 95 % &amp; less.",
    ] {
        assert!(page.contains(part), "{part}");
    }
}
