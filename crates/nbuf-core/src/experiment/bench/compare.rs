//! Two documents side by side: which rows of one machine became faster or slower.
//!
//! Runs differ by more than chance: the disc, the clocks, the neighbours. So a difference is firm
//! only if two things hold. The processes of the two runs are of different ranks, with all rows
//! together wrong in one run of twenty ([`holm`]); and by those ranks the rates differ by more than two
//! runs of one program do, at the nearer end of the interval. Where one of the two holds it is unsure.
//! Where the machine itself differed, as its reference jobs show, rates must differ by that much more. Where a neighbour
//! had a part of the core for most of a run, no row of it is firm: samples look clean between turns of the neighbour.
//! How many rows are firm when a program is compared with itself is measured by `cargo xtask truth`
//! (`docs/performance.md`). Not for documents of different machines: those differ, and why is not asked.

use std::path::Path;

use serde::Serialize;

use super::Error;
use super::bound::{Bound, Did};
use crate::experiment::document;
use crate::experiment::result::{BenchDocument, BenchMachine, BenchReference, BenchRow, Trust};
use crate::experiment::statistics::{Ranks, holm, percentile};

/// A test that both documents have.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// Its name.
    pub test: String,
    /// The rate in the first document, in bytes a second.
    pub a: f64,
    /// The rate in the second.
    pub b: f64,
    /// The second to the first.
    pub ratio: f64,
    /// How likely ranks as far apart are by chance.
    pub chance: f64,
    /// `faster`, `slower`, `no difference seen` or `unsure`, of the second.
    pub verdict: &'static str,
}

/// How often one comparison may have any false verdict.
const LEVEL: f64 = 0.05;
/// Loops in registers that take 3 % longer than the shortest had a neighbour on their core.
const LOOP_ALONE: f64 = 0.97;
/// The shortest loop, without the few that a change of the clock made shorter.
const SHORTEST: f64 = 0.9;
const LOOPS_MIN: usize = 10;
/// The percentile of reference jobs that a processor of their own gives, as samples that count have one.
const ALONE: f64 = 0.9;

/// Reads two documents from files. Rates through different C libraries are not compared: their calls and
/// buffers differ.
pub fn open(a: &Path, b: &Path) -> Result<[BenchDocument; 2], Error> {
    let documents = [document::open(a)?, document::open(b)?];
    must_share_library([(a, &documents[0]), (b, &documents[1])])?;
    Ok(documents)
}

fn must_share_library(documents: [(&Path, &BenchDocument); 2]) -> Result<(), Error> {
    let mut rows =
        documents.iter().flat_map(|(path, document)| document.rows.iter().map(|row| (*path, row)));
    let Some((first, row)) = rows.next() else { return Ok(()) };
    match rows.find(|(_, other)| other.c_library != row.c_library) {
        None => Ok(()),
        Some((other, odd)) => Err(Error::Libraries {
            a: first.to_owned(),
            a_library: row.c_library.clone(),
            b: other.to_owned(),
            b_library: odd.c_library.clone(),
        }),
    }
}

/// The tests that both have, in the order of the first.
pub fn compare(a: &BenchDocument, b: &BenchDocument) -> Vec<Compared> {
    let is_same = |a: &BenchRow, b: &BenchRow| b.test == a.test && b.size_bytes == a.size_bytes;
    let pairs: Vec<(&BenchRow, &BenchRow)> =
        a.rows.iter().filter_map(|a| Some((a, b.rows.iter().find(|b| is_same(a, b))?))).collect();
    let Moved { processor: moved, is_shared, .. } = moved(&a.reference, &b.reference);
    let of = |machine: &BenchMachine| (machine.copy_bytes_per_second, machine.cache_bytes);
    let machines = [of(&a.machine), of(&b.machine)];
    judge(&pairs, Runs::Two { moved, is_shared, machines })
}

/// By how much the machine itself differed between two runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Moved {
    /// In what a processor does alone, system calls or work in registers, the larger change of both: the
    /// logarithm of a ratio, without its sign.
    pub processor: f64,
    /// The same of copies from memory. They change by 10 % between quiet runs, and most rows by 1 %, so
    /// no verdict depends on them.
    pub copies: f64,
    /// Whether a neighbour used the core in most of one of the runs.
    pub is_shared: bool,
}

/// Compares the reference jobs of two runs. Documents that are older than these jobs give 0.
pub fn moved(a: &BenchReference, b: &BenchReference) -> Moved {
    let change = |a: &[f64], b: &[f64], part: f64| {
        percentile(a, part).zip(percentile(b, part)).map_or(0.0, |(a, b)| (b / a).ln().abs())
    };
    let processor = change(&a.calls, &b.calls, ALONE).max(change(&a.loops, &b.loops, ALONE));
    let is_shared = had_company(&a.loops) || had_company(&b.loops);
    Moved { processor, copies: change(&a.copies, &b.copies, 0.5), is_shared }
}

/// Whether fewer than half of these loops had the core for themselves. A few loops say nothing.
pub(super) fn had_company(loops: &[f64]) -> bool {
    if loops.len() < LOOPS_MIN {
        return false;
    }
    let alone = |fastest: f64| loops.iter().filter(|&&it| it >= fastest * LOOP_ALONE).count();
    percentile(loops, SHORTEST).is_some_and(|fastest| alone(fastest) * 2 < loops.len())
}

/// Where the two rows of a pair come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Runs {
    /// Both belong to one run: they took turns, and had the same company.
    One,
    /// They belong to two runs. Where hardly a sample was clean, the measurement includes other
    /// programs, which come and go.
    Two {
        /// What the processor did faster or slower in one of them.
        moved: f64,
        /// Whether a neighbour used the core in most of one of them.
        is_shared: bool,
        /// What each machine copies in its caches, in bytes a second, and the bytes of the last of them.
        machines: [(f64, u64); 2],
    },
}

/// The verdicts on pairs of rows, all together.
pub(super) fn judge(pairs: &[(&BenchRow, &BenchRow)], runs: Runs) -> Vec<Compared> {
    let mut ranks = Ranks::default();
    let chances: Vec<f64> =
        pairs.iter().map(|(a, b)| ranks.chance(&a.process_rates, &b.process_rates)).collect();
    let firm = holm(&chances, LEVEL);
    let is_clean = |row: &BenchRow| match runs {
        Runs::One => true,
        Runs::Two { is_shared, .. } => !is_shared && row.trust != Trust::Contended,
    };
    let rows = pairs.iter().zip(chances).zip(firm);
    rows.map(|((&(a, b), chance), is_of_other_ranks)| {
        let is_apart = match runs {
            Runs::One => are_outside(a, b),
            Runs::Two { moved, machines, .. } => {
                let bounds = [(a, machines[0]), (b, machines[1])].map(|(row, machine)| {
                    let did = Did {
                        path: &row.path,
                        state: row.state,
                        is_write: row.direction == "write",
                        rate: row.bytes_per_second,
                        size_bytes: row.size_bytes,
                    };
                    Bound::of(did, machine)
                });
                differ_beyond_runs(a, b, (bounds, moved), &mut ranks)
            }
        };
        Compared {
            test: a.test.clone(),
            a: a.bytes_per_second,
            b: b.bytes_per_second,
            ratio: b.bytes_per_second / a.bytes_per_second,
            chance,
            verdict: verdict(a, b, is_of_other_ranks && is_clean(a) && is_clean(b), is_apart),
        }
    })
    .collect()
}

/// Whether each median is outside of the range of the other.
fn are_outside(a: &BenchRow, b: &BenchRow) -> bool {
    let is_outside = |rate: f64, range: &BenchRow| !(range.low..=range.high).contains(&rate);
    is_outside(a.bytes_per_second, b) && is_outside(b.bytes_per_second, a)
}

fn differ_beyond_runs(
    a: &BenchRow,
    b: &BenchRow,
    (bounds, moved): ([Bound; 2], f64),
    ranks: &mut Ranks,
) -> bool {
    let logarithms = |row: &BenchRow| -> Vec<f64> {
        row.process_rates.iter().map(|rate| rate.max(f64::MIN_POSITIVE).ln()).collect()
    };
    let difference = ranks.difference(&logarithms(a), &logarithms(b));
    let most = bounds.map(Bound::limit).into_iter().fold(0.0, f64::max).ln_1p();
    let most = most + if bounds.contains(&Bound::Device) { 0.0 } else { moved };
    *difference.start() > most || *difference.end() < -most
}

fn verdict(a: &BenchRow, b: &BenchRow, is_firm: bool, is_apart: bool) -> &'static str {
    match (is_firm, is_apart) {
        (true, true) if b.bytes_per_second > a.bytes_per_second => "faster",
        (true, true) => "slower",
        (false, false) => "no difference seen",
        _ => "unsure",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::result::State;

    fn row(test: &str, rates: [f64; 7], part: f64) -> BenchRow {
        BenchRow {
            test: test.to_owned(),
            bytes_per_second: rates[3],
            low: rates[3] * (1.0 - part),
            high: rates[3] * (1.0 + part),
            process_rates: rates.to_vec(),
            ..BenchRow::default()
        }
    }

    fn document(rows: Vec<BenchRow>) -> BenchDocument {
        BenchDocument { rows, ..BenchDocument::default() }
    }

    #[test]
    fn a_difference_is_firm_in_ranks_and_beyond_what_runs_differ_by() {
        let rates = [97.0, 98.0, 99.0, 100.0, 101.0, 102.0, 103.0];
        let times = |factor: f64| rates.map(|rate| rate * factor);
        let check = |factor: f64, state: State, want: &str| {
            let of = |rates| document(vec![BenchRow { state, ..row("r", rates, 0.03) }]);
            let found = compare(&of(rates), &of(times(factor)));
            assert_eq!(found[0].verdict, want, "{factor} {state:?}: {found:?}");
        };
        check(1.0, State::Hot, "no difference seen");
        check(1.2, State::Hot, "faster");
        check(0.8, State::Hot, "slower");
        check(1.2, State::Synced, "faster");
        // The ranks differ, but runs of one program are known to differ as much.
        check(1.06, State::Hot, "unsure");
        check(1.12, State::Synced, "unsure");
        // What neighbours share with it differs as much.
        let of = |factor| {
            let mut document = document(vec![row("r", times(factor), 0.03)]);
            document.machine.copy_bytes_per_second = 150.0;
            document
        };
        assert_eq!(compare(&of(1.0), &of(1.12))[0].verdict, "unsure");
        assert_eq!(compare(&of(1.0), &of(1.25))[0].verdict, "faster");
    }

    #[test]
    fn rows_of_one_run_need_not_be_as_far_apart() {
        let rates = [97.0, 98.0, 99.0, 100.0, 101.0, 102.0, 103.0];
        let (a, b) = (row("r", rates, 0.03), row("r", rates.map(|rate| rate * 1.06), 0.03));
        assert_eq!(judge(&[(&a, &b)], Runs::One)[0].verdict, "faster");
        assert_eq!(
            judge(&[(&a, &b)], Runs::Two { moved: 0.0, is_shared: false, machines: [(0.0, 0); 2] })
                [0]
            .verdict,
            "unsure"
        );
        let wide = BenchRow { high: 110.0, ..a };
        assert_eq!(judge(&[(&wide, &b)], Runs::One)[0].verdict, "unsure");
    }

    #[test]
    fn a_machine_that_moved_hides_what_moved_as_much() {
        let rates = [97.0, 98.0, 99.0, 100.0, 101.0, 102.0, 103.0];
        let reference = |copy: f64, call: f64| BenchReference {
            copies: vec![copy; 3],
            calls: vec![call; 3],
            loops: vec![1.0; 3],
        };
        let check = |state: State, calm: BenchReference, want: &str| {
            let rows =
                |factor: f64| vec![BenchRow { state, ..row("r", rates.map(|r| r * factor), 0.03) }];
            let of = |rows, reference| BenchDocument { reference, ..document(rows) };
            let (a, b) = (of(rows(1.0), reference(1.0, 1.0)), of(rows(0.8), calm));
            assert_eq!(compare(&a, &b)[0].verdict, want);
        };
        check(State::Hot, reference(1.0, 1.0), "slower");
        check(State::Hot, reference(0.7, 1.0), "slower");
        check(State::Hot, reference(1.0, 0.85), "unsure");
        check(State::Hot, reference(1.0, 1.2), "unsure");
        check(State::Synced, reference(1.0, 0.85), "slower");
        check(State::Hot, BenchReference::default(), "slower");
    }

    #[test]
    fn a_machine_that_was_disturbed_for_most_of_a_run_did_not_move() {
        let reference = |quiet: usize, disturbed: usize| BenchReference {
            calls: [vec![8.0; quiet], vec![6.0; disturbed]].concat(),
            ..BenchReference::default()
        };
        assert!(moved(&reference(60, 0), &reference(12, 48)).processor.abs() < 1e-9);
        assert!(moved(&reference(60, 0), &reference(0, 60)).processor > 0.2);
    }

    #[test]
    fn where_a_neighbour_had_the_core_for_most_of_a_run_no_row_is_firm() {
        let rates = [97.0, 98.0, 99.0, 100.0, 101.0, 102.0, 103.0];
        let check = |alone: usize, with_company: usize, want: &str| {
            let of = |factor: f64, loops: Vec<f64>| BenchDocument {
                reference: BenchReference { loops, ..BenchReference::default() },
                ..document(vec![row("r", rates.map(|rate| rate * factor), 0.03)])
            };
            // A neighbour comes and goes.
            let loops = [vec![1.0; alone], vec![0.8; with_company]].concat();
            let (a, b) = (of(1.0, vec![1.0; 60]), of(0.7, loops));
            let is_shared = moved(&a.reference, &b.reference).is_shared;
            assert_eq!((compare(&a, &b)[0].verdict, is_shared), (want, want == "unsure"));
        };
        check(60, 0, "slower");
        check(31, 29, "slower");
        check(19, 41, "unsure");
        // One that stays, and a slower clock, move the processor.
        check(0, 60, "slower");
    }

    #[test]
    fn rows_that_one_lacks_are_left_out() {
        let rates = [1.0; 7];
        let a = document(vec![row("one", rates, 0.1), row("two", rates, 0.1)]);
        let b = document(vec![row("two", rates, 0.1), row("three", rates, 0.1)]);
        let names: Vec<String> = compare(&a, &b).into_iter().map(|row| row.test).collect();
        assert_eq!(names, ["two"]);
        let longer = BenchRow { size_bytes: 1, ..row("two", rates, 0.1) };
        assert_eq!(compare(&a, &document(vec![longer])), []);
    }
}
