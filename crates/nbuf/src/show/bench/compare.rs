//! Two documents side by side, as text: the rates of tests that both have, and the verdicts.

use nbuf::experiment::bench::{Moved, compare, moved};
use nbuf::experiment::result::BenchDocument;

use super::super::table::{Table, number, text as words};
use super::super::text::wrap_each;
use super::words::{rate, ratio};

/// Changes of the machine that are worth a note: quiet runs differ by less.
const PROCESSOR_PERCENT: f64 = 1.0;
const COPIES_PERCENT: f64 = 20.0;

/// What the machine itself did otherwise.
fn machine(moved: &Moved) -> Vec<String> {
    let percent = |logarithm: f64| logarithm.exp_m1() * 100.0;
    let (processor, copies) = (percent(moved.processor), percent(moved.copies));
    let mut notes = Vec::new();
    if moved.is_shared {
        notes.push(
            "another program or virtual machine used the core in most of one of them, so no row is firm: measure \
             again when the machine is quieter"
                .to_owned(),
        );
    }
    if processor >= PROCESSOR_PERCENT {
        notes.push(format!(
            "the processor itself was {processor:.1} % faster or slower in one of them: rows in memory must \
             differ by that much more"
        ));
    }
    if copies >= COPIES_PERCENT {
        notes.push(format!(
            "copies from memory were {copies:.0} % faster or slower in one of them, as when a neighbour of this \
             machine uses the memory: compare again before you trust rows that copy much"
        ));
    }
    notes
}

/// The table, and what it does not say.
pub(crate) fn comparison(a: &BenchDocument, b: &BenchDocument, width: usize) -> String {
    let rows = compare(a, b);
    if rows.is_empty() {
        return "The two have no test in common.\n".to_owned();
    }
    let columns = [words("test"), number("A"), number("B"), number("B/A"), words("")];
    let cells = rows.iter().map(|row| {
        [row.test.clone(), rate(row.a), rate(row.b), ratio(row.ratio), row.verdict.to_owned()]
    });
    let lines = rows
        .iter()
        .map(|row| format!("{}: {} to {}: {}", row.test, rate(row.a), rate(row.b), row.verdict));
    let table = Table::new("A and B", columns).with(cells).else_lines(lines);
    let mut text = String::from("Compared: A and B\n") + &table.draw(width);
    let left = a.rows.len() + b.rows.len() - 2 * rows.len();
    let mut notes = vec![
        "faster and slower are firm: the processes of both are of different ranks (Wilcoxon, Holm \
         over all rows, 5 %), and by these ranks the rates differ by more than 4 %, or 12 % for rows \
         that a device or the memory bounds"
            .to_owned(),
    ];
    notes.extend(machine(&moved(&a.reference, &b.reference)));
    if left > 0 {
        notes.push(format!("{left} rows are in one of them only"));
    }
    if a.machine.processor != b.machine.processor || a.machine.kernel != b.machine.kernel {
        notes.push("they come from different machines or kernels".to_owned());
    }
    wrap_each(&mut text, notes, width);
    text
}

#[cfg(test)]
mod tests {
    use nbuf::experiment::result::BenchRow;

    use super::super::super::table::fits;
    use super::*;

    #[test]
    fn a_machine_that_differed_is_named() {
        let of = |processor: f64, copies: f64| {
            machine(&Moved { processor, copies, is_shared: false }).join(" ")
        };
        let shared = machine(&Moved { is_shared: true, ..Moved::default() });
        assert!(shared[0].contains("no row is firm"), "{shared:?}");
        assert_eq!(of(0.004, 0.15), "");
        assert!(of(0.05, 0.0).contains("the processor itself was 5.1 %"), "{}", of(0.05, 0.0));
        assert!(of(0.0, 0.3).contains("copies from memory were 35 %"), "{}", of(0.0, 0.3));
    }

    #[test]
    fn verdicts_stand_beside_rates() {
        let row = |test: &str, rate: f64| BenchRow {
            test: test.to_owned(),
            bytes_per_second: rate,
            low: rate * 0.99,
            high: rate * 1.01,
            process_rates: (0..9).map(|n| rate * (1.0 + f64::from(n) / 1000.0)).collect(),
            ..BenchRow::default()
        };
        let document = |rows: Vec<BenchRow>| BenchDocument { rows, ..BenchDocument::default() };
        let a = document(vec![row("r1", 100.0), row("r2", 100.0), row("only", 1.0)]);
        let b = document(vec![row("r2", 50.0), row("r1", 100.0)]);
        for width in [44, 80] {
            let text = comparison(&a, &b, width);
            assert!(fits(&text, width), "{text}");
            let line = |test| text.lines().find(|line| line.trim().starts_with(test)).unwrap();
            assert!(line("r1").ends_with("no difference seen"), "{text}");
            assert!(line("r2").ends_with("slower"), "{text}");
            assert!(text.contains("1 rows are in one of them only"));
        }
        assert!(comparison(&a, &document(vec![]), 80).contains("no test in common"));
    }
}
