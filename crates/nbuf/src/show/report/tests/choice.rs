//! Targets, samples and other windows, as they look.

use nbuf::experiment::result::Verdict;

use super::super::answer::headline;
use super::*;

/// With a target that is met, two or three samples a limit, and three windows.
fn chosen() -> SizeReport {
    let mut report = full();
    let sample = |measured_fills, measured_seconds| Sample {
        measured_fills,
        measured_seconds,
        killed: false,
        timed_out: false,
    };
    report.verify.truncate(3);
    for run in &mut report.verify {
        let fills = run.measured_fills;
        run.samples = vec![sample(fills - 7, 11.0), sample(fills, 12.345), sample(fills + 9, 14.5)];
    }
    report.verify[2].samples.pop();
    let knee = report.recommend.clone().unwrap();
    let reason = "at 300 MiB 95.2 % of the page accesses hit".to_owned();
    report.recommend = Some(Recommend {
        kind: Advice::Target,
        limit_bytes: Bytes(320 * MIB),
        cache_bytes: Bytes(300 * MIB),
        reason: reason.clone(),
        ..knee.clone()
    });
    report.target =
        Some(TargetReport { goal: "hit=0.95".into(), met: true, reason, knee: Some(knee.clone()) });
    let window = |kib: u64, fills, limit: Option<u64>| ReadaheadPoint {
        readahead_bytes: Bytes(kib << 10),
        fills,
        limit_bytes: limit.map(|mib| Bytes(mib * MIB)),
        is_own: kib == 8192,
    };
    report.readahead = vec![
        window(0, 1_234_567, None),
        window(128, 9, Some(99)),
        window(8192, 100_112, Some(320)),
    ];
    report
}

#[test]
fn a_target_several_samples_and_other_windows() {
    let report = chosen();
    let text = [answer(&report, 72), readahead(&report, 72), verification(&report, 72)];
    expect![[r#"
        320 MiB. Not to be relied on: the fills were out of band at 1 of 3
          sizes.
          = 300 MiB cache + 9.00 MiB anonymous + 1.00 MiB kernel + 2.00 MiB
            shared text + 10.0 MiB slack
          --target hit=0.95: at 300 MiB 95.2 % of the page accesses hit; the
            knee is 412 MiB (392 MiB cache)
        With another readahead window
            window      fills     limit
               0 B  1,234,567      none
           128 KiB          9  99.0 MiB
          8.00 MiB    100,112   320 MiB  current
          fills: with 300 MiB of cache; limit: the smallest with no more fills
            than the current window. Predicted, not verified; nbuf does not
            change the setting
        Verified: pages filled, medians of 2 to 3 runs
          none: in band
            99,331 fills (99,324..99,340), predicted 99,328
          412 MiB: in band, cliff
            100,112 fills (100,105..100,121), predicted 99,328..101,000
          371 MiB: OUT OF BAND
            2,345,678 fills (2,345,671..2,345,678), predicted
            1,120,345..1,201,777

            limit   major      read  seconds      from..to  waited
             none  12,345  1.21 GiB    12.35  11.00..14.50    1.50
          412 MiB  12,345  1.21 GiB    12.35  11.00..14.50    1.50
          371 MiB  12,345  1.21 GiB    12.35  11.00..12.35    1.50
          412 MiB is on a cliff of the curve, at 388 MiB of cache: slightly less
            memory gives the fills below the cliff
    "#]]
    .assert_eq(&text.concat());
    // The meters are there as in the table of single runs, and the spread is next to or below them.
    for width in [80, 120] {
        let text = verification(&report, width);
        for column in ["major", "read", "seconds", "waited"] {
            assert!(text.contains(column), "{width}: {column}\n{text}");
        }
        assert!(text.contains("99,324..99,340"), "{text}");
        assert!(text.lines().all(|line| measure_text_width(line) <= width), "{width}:\n{text}");
    }
    for width in 20..120 {
        let text = [answer(&report, width), readahead(&report, width)].concat();
        let widest = text.lines().map(measure_text_width).max().unwrap();
        assert!(widest <= width.max(30), "{width}:\n{text}");
    }
}

#[test]
fn a_target_that_cannot_be_met_leaves_the_knee_where_it_is() {
    let mut report = full();
    let reason = "90 % of the page accesses hit at best".to_owned();
    report.target = Some(TargetReport { goal: "hit=0.95".into(), met: false, reason, knee: None });
    let told = answer(&report, 100);
    assert!(told.starts_with("412 MiB. "), "{told}");
    assert!(
        told.contains("  --target hit=0.95 is not met: 90 % of the page accesses hit at best\n")
    );
    // And where nothing is recommended, that is said too.
    report.recommend = None;
    assert!(answer(&report, 100).contains("--target hit=0.95 is not met"));
    assert_eq!(readahead(&report, 100), "");
}

#[test]
fn a_number_above_the_limit_that_was_run_says_so() {
    let mut report = full();
    report.verdict = Verdict::Proved;
    assert!(headline(&report).contains(" Proved in "));
    let recommend = report.recommend.as_mut().unwrap();
    recommend.spread_bytes = Bytes(recommend.limit_bytes.0 / 10);
    let want = format!(" Proved with {} in ", recommend.tried_bytes());
    let said = headline(&report);
    assert!(said.contains(&want) && said.contains(", and raised"), "{said}");
}

#[test]
fn a_count_within_a_band_that_says_nothing_is_too_wide() {
    let run = |measured_fills| Verified {
        limit_bytes: Some(Bytes(1 << 20)),
        predicted_fills_low: 100,
        predicted_fills_high: 200,
        measured_fills,
        within_band: Some(false),
        ..full().verify[1].clone()
    };
    let words =
        [150, 200, 201].map(|fills| verdict(&Verified { samples: Vec::new(), ..run(fills) }));
    assert_eq!(words, ["TOO WIDE", "TOO WIDE", "OUT OF BAND"]);
}
