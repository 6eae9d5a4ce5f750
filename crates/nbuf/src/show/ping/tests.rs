//! The table and the page of a small document that was made by hand.

use expect_test::expect;
use nbuf::experiment::result::{
    PingBin, PingDocument, PingJudged, PingMachine, PingOutcome, PingRange, PingReference, PingRow,
};

use super::histogram::{RateAxis, short};
use super::{page, rate, table};
use crate::show::page::tests::well_formed;
use crate::show::tests::fit;

fn measured(mechanism: &str, placement: &str, bins: &[(f64, u64, u64)]) -> PingRow {
    let histogram: Vec<PingBin> = bins
        .iter()
        .map(|&(from, samples, clean)| PingBin { from, to: from * 1.19, samples, clean })
        .collect();
    PingRow {
        mechanism: mechanism.into(),
        placement: placement.into(),
        outcome: PingOutcome::Measured,
        round_trips_per_second: Some(bins[0].0 * 1.1),
        low: Some(bins[0].0),
        high: bins.last().map(|bin| bin.0 * 1.1),
        clean: bins.iter().map(|bin| bin.2).sum(),
        samples: bins.iter().map(|bin| bin.1).sum(),
        judged: PingJudged::Clean,
        sends_per_round_trip: Some(2.0),
        wakes_per_round_trip: Some(2.0),
        sleeps_per_round_trip: Some(2.0),
        histogram,
        ..PingRow::default()
    }
}

fn without(mechanism: &str, placement: &str, outcome: PingOutcome, why: &str) -> PingRow {
    PingRow {
        mechanism: mechanism.into(),
        placement: placement.into(),
        outcome,
        reason: (!why.is_empty()).then(|| why.to_owned()),
        ..PingRow::default()
    }
}

pub(crate) fn document() -> PingDocument {
    let pummel = PingRow {
        round: "wake-ups of the loop, not sends".into(),
        sends_per_round_trip: Some(6000.0),
        wakes_per_round_trip: Some(1.0),
        judged: PingJudged::All,
        ..measured("loop-pummel", "unpinned", &[(40_000.0, 50, 3)])
    };
    PingDocument {
        schema: PingDocument::SCHEMA.into(),
        machine: PingMachine {
            kernel: "6.18".into(),
            processor: "A <processor>".into(),
            processors: vec![0, 1, 2],
            used: vec![0, 1],
            siblings: false,
            pressure_percent: Some(12.5),
        },
        rows: vec![
            measured("futex", "same core", &[(260_000.0, 100, 98), (310_000.0, 20, 10)]),
            without("spin", "same core", PingOutcome::NotApplicable, "each waits for the other"),
            without("ring-message", "same core", PingOutcome::Refused, "no io_uring"),
            without("ring-eventfd", "same core", PingOutcome::Refused, "no io_uring"),
            measured("futex", "unpinned", &[(12_000.0, 60, 60), (250_000.0, 40, 39)]),
            without("spin", "unpinned", PingOutcome::Hung, "no answer within 30 s; it was ended"),
            without("ring-message", "unpinned", PingOutcome::NotMeasured, ""),
            without("pipe", "unpinned", PingOutcome::Busy, "other programs had the processors"),
            pummel,
        ],
        ranges: vec![PingRange {
            placement: "same core".into(),
            mechanisms: 2,
            slowest: "pipe".into(),
            low: 130_123.0,
            fastest: "futex".into(),
            high: 289_999.0,
        }],
        references: vec![PingReference {
            machine: "OpenVMS, 2023".into(),
            mechanism: "pipe+poll, DECthreads".into(),
            round_trips_per_second: 60.0,
            is: "at most".into(),
        }],
        warnings: vec!["it was ended early".into()],
    }
}

#[test]
fn the_table_shows_what_was_measured_and_what_was_not() {
    expect![[r#"
          A <processor>, Linux 6.18, processors 0 and 1; in the ten seconds before, programs waited for a
            processor 12 % of the time
          same core: 130,000 (pipe) to 290,000 (futex) round trips a second by what sleeps

        Same core
                        round trips/s   low..high    clean  12k         369k  sleeps
          futex               286,000  260k..341k  108/120                █▂     2.0
          spin                    n/a
          ring-message        refused
          ring-eventfd        refused
          spin n/a: each waits for the other
          ring-message and ring-eventfd refused: no io_uring

        Unpinned
                        round trips/s  low..high   clean  12k         369k  sleeps
          futex                13,200  12k..275k  99/100  █             ▆      2.0
          spin                   HUNG
          ring-message              -
          pipe                   busy
          loop-pummel         ~44,000   40k..44k    3/50        █              2.0
          spin HUNG: no answer within 30 s; it was ended
          pipe busy: other programs had the processors

        For comparison
          OpenVMS, 2023: pipe+poll, DECthreads: at most 60 round trips a second

          loop-pummel: a second, 264,000,000 sends made 44,000 wake-ups (unpinned)
          loop-pummel counts wake-ups of the loop, not sends
          round trips/s: the median of the clean samples; low..high: 5 and 95 of a hundred of them; sleeps:
            those of a round trip
          ~ this kernel does not tell which samples were clean: all are judged
          it was ended early
    "#]].assert_eq(&table(&document(), 100));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    fit([40, 60, 80, 120], |width| table(&document(), width));
}

#[test]
fn the_page_has_every_row_and_no_markup_of_others() {
    let page = page(&document());
    well_formed(&page);
    assert!(page.contains("A &lt;processor&gt;") && !page.contains("<processor>"));
    assert_eq!(page.matches("<svg class=\"spark\"").count(), 3);
    for text in ["no io_uring", "HUNG", "at most 60", "it was ended early", "264,000,000"] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn rates_have_three_digits() {
    let cases =
        [(59.6, "60"), (123.4, "123"), (289_999.0, "290,000"), (17_212_345.0, "17,200,000")];
    for (number, want) in cases {
        assert_eq!(rate(number), want);
    }
    let cases = [(60.0, "60"), (999.0, "999"), (1024.0, "1k"), (18_234.0, "18k"), (2.5e6, "2.5M")];
    for (number, want) in cases {
        assert_eq!(short(number), want);
    }
}

#[test]
fn bars_stand_where_the_rates_are() {
    let row = measured("a", "b", &[(1000.0, 8, 8), (32_000.0, 1, 0)]);
    let axis = RateAxis::of(std::slice::from_ref(&row));
    assert_eq!(axis.bars(&row.histogram, 10), "█        ▁");
    assert_eq!(axis.heading(10), "1k     38k");
    assert_eq!(RateAxis::of(&[]).bars(&[], 4), "    ");
}
