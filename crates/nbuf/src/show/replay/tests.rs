//! Reports and plots at every width.

use console::measure_text_width;
use nbuf::experiment::replay::{Cpu, Points, Stats};
use nbuf::experiment::result::{ReplayDocument, ReplaySize};
use nbuf::units::Nanos;

use super::super::page::tests::well_formed;
use super::*;

/// An S of nine sizes, with invented words.
pub(crate) fn document() -> ReplayDocument {
    let cpu = Cpu::named("modcomp-900us").unwrap();
    let stats = Stats { elapsed: Nanos::from_seconds(22.0), ..Stats::default() };
    let times = [22.0, 23.1, 22.4, 20.0, 18.5, 18.0, 18.0, 18.0, 18.0];
    let run = |(at, seconds): (u64, f64)| (at * 96, Nanos::from_seconds(seconds));
    let runs: Vec<(u64, Nanos)> = (0..).zip(times).map(run).collect();
    let row = |(at, &(size_units, elapsed)): (usize, &(u64, Nanos))| ReplaySize {
        hit_ratio: at as f64 / 10.0,
        ..ReplaySize::of(size_units, &Stats { elapsed, ..Stats::default() })
    };
    ReplayDocument {
        workload: "/tmp/<i>a & b</i>".into(),
        policy: "max-iv".into(),
        unit: "sector".into(),
        unit_bytes: 256,
        size_units: 768,
        processes: 5,
        disc: "modcomp-4138".into(),
        sizes: runs.iter().enumerate().map(row).collect(),
        points: Some(Points::of(runs[0].1, &runs).into()),
        warnings: vec!["<b>nothing</b> was real".into()],
        ..ReplayDocument::of(&stats, &cpu)
    }
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let one = ReplayDocument { sizes: Vec::new(), points: None, ..document() };
    for document in [document(), one] {
        for width in 40..130 {
            let drawn = report(&document, width, false);
            for line in drawn.lines() {
                assert!(measure_text_width(line) <= width, "{width}: {line}");
                assert!(!line.ends_with(' '), "{width}: {line}");
            }
            let coloured = report(&document, width, true);
            assert_eq!(console::strip_ansi_codes(&coloured), drawn);
        }
    }
}

#[test]
fn the_three_points_are_named() {
    let drawn = report(&document(), 80, false);
    for want in [
        "slower than no cache: up to 192 sectors",
        "worth it: from 288 sectors",
        "saves nothing more: from 480 sectors (120 KiB)",
        "elapsed by cache size",
        "hit % by cache size",
    ] {
        assert!(drawn.contains(want), "{want} in\n{drawn}");
    }
}

#[test]
fn the_page_is_whole_and_nobody_gets_in() {
    let page = page(&document());
    well_formed(&page);
    assert!(page.contains("&lt;i&gt;a &amp; b") && !page.contains("<i>a"));
    assert!(page.contains("saves nothing more"));
    // Without a look of its own a line is a black area.
    assert!(page.contains("class=\"line c0\"") && page.contains(".line{fill:none"));
}
