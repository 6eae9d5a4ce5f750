//! Two documents side by side: which rows of one machine became faster or slower.
//!
//! Runs differ by more than chance: the disc, the clocks, the neighbours. So a difference is firm
//! only if two things hold. The processes of the two runs are of different ranks, with all rows
//! together wrong in one run of twenty ([`holm`]); and each median is outside of the other's range,
//! which has what runs differ by. Where one of the two holds it is unsure. How many rows are firm
//! when a program is compared with itself is measured by `cargo xtask truth` (`docs/performance.md`). Not
//! for documents of different machines: those differ, and why is not asked.

use std::path::Path;

use serde::Serialize;

use super::Error;
use crate::experiment::document;
use crate::experiment::result::{BenchDocument, BenchRow, Trust};
use crate::experiment::statistics::{holm, rank_test};

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
    judge(&pairs, true)
}

/// The verdicts on pairs of rows, all together. Rows of different runs must be clean: where hardly a
/// sample was, what else ran is measured, and it comes and goes. Rows that took turns had the same company.
pub(super) fn judge(pairs: &[(&BenchRow, &BenchRow)], must_be_clean: bool) -> Vec<Compared> {
    let chances: Vec<f64> =
        pairs.iter().map(|(a, b)| rank_test(&a.process_rates, &b.process_rates)).collect();
    let firm = holm(&chances, LEVEL);
    let is_clean = |row: &BenchRow| !must_be_clean || row.trust != Trust::Contended;
    let rows = pairs.iter().zip(chances).zip(firm);
    rows.map(|((&(a, b), chance), is_of_other_ranks)| Compared {
        test: a.test.clone(),
        a: a.bytes_per_second,
        b: b.bytes_per_second,
        ratio: b.bytes_per_second / a.bytes_per_second,
        chance,
        verdict: verdict(a, b, is_of_other_ranks && is_clean(a) && is_clean(b)),
    })
    .collect()
}

fn verdict(a: &BenchRow, b: &BenchRow, is_firm: bool) -> &'static str {
    let is_outside = |rate: f64, range: &BenchRow| !(range.low..=range.high).contains(&rate);
    let is_apart = is_outside(a.bytes_per_second, b) && is_outside(b.bytes_per_second, a);
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
    fn a_difference_is_firm_in_ranks_and_ranges() {
        let rates = [97.0, 98.0, 99.0, 100.0, 101.0, 102.0, 103.0];
        let times = |factor: f64| rates.map(|rate| rate * factor);
        let check = |factor: f64, part: f64, want: &str| {
            let (a, b) = (row("r", rates, part), row("r", times(factor), part));
            let found = compare(&document(vec![a]), &document(vec![b]));
            assert_eq!(found[0].verdict, want, "{factor} {part}: {found:?}");
        };
        check(1.0, 0.03, "no difference seen");
        check(1.2, 0.03, "faster");
        check(0.8, 0.03, "slower");
        // The ranks differ, but runs are known to differ as much.
        check(1.2, 0.3, "unsure");
        // Medians are apart, but processes are not.
        check(1.02, 0.01, "unsure");
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
