//! A parameter varied, for people and for spreadsheets.

mod page;

use nbuf::experiment::result::{Against, SweepDocument, SweepRow};
use nbuf::experiment::sweep::samples_to_differ;

use super::table::{Table, number, text};
use super::text::{count, wrap_each};
pub(crate) use page::page;

fn digits(seconds: f64) -> String {
    super::text::digits(seconds, 4)
}

fn against(against: Option<Against>, is_too_few: bool) -> String {
    match against {
        None => String::new(),
        Some(_) if is_too_few => "too few runs".to_owned(),
        Some(against) if !against.differs => "no difference seen".to_owned(),
        Some(against) => format!("{:+.1} %", (against.times - 1.0) * 100.0),
    }
}

/// The table of the post, for any command.
fn sheet(document: &SweepDocument) -> Table {
    let is_too_few = too_few(document).is_some();
    let rows = document.rows.iter().filter(|row| !row.samples.is_empty());
    Table::of(title(document), rows)
        .column(number(&document.parameter), |row| row.value.as_str())
        .column(number("seconds"), |row| digits(row.seconds))
        .column(number("from").rank(2), |row| digits(row.low))
        .column(number("to").rank(2), |row| digits(row.high))
        .column(number("speedup").rank(1), |row| format!("{:.2}x", row.speedup))
        .column(number("vs previous"), |row| against(row.against_previous, is_too_few))
        .done()
}

fn title(document: &SweepDocument) -> String {
    format!("Time of {}", document.command.join(" "))
}

fn least_samples(document: &SweepDocument) -> usize {
    document.rows.iter().map(|row| row.samples.len()).min().unwrap_or(0)
}

/// The runs of each value that it takes to see a difference, if there are fewer.
fn too_few(document: &SweepDocument) -> Option<u32> {
    let needed = samples_to_differ(document.rows.len());
    (least_samples(document) < needed as usize).then_some(needed)
}

/// How it was measured, and whether to the end.
fn notes(document: &SweepDocument) -> Vec<String> {
    let cut = (!document.is_complete).then(|| "interrupted: not all runs were made".to_owned());
    [method(document)].into_iter().chain(cut).collect()
}

/// How often each value was measured, and what the columns are.
fn method(document: &SweepDocument) -> String {
    let least = least_samples(document);
    if least == 0 {
        return "nothing was measured".to_owned();
    }
    let runs = count(least as u64, "run", "runs");
    let range = if least < 5 { "the range of the runs" } else { "its 95 % interval" };
    let previous = match too_few(document) {
        _ if document.rows.len() < 2 => String::new(),
        Some(needed) => format!("; it takes --samples {needed} to tell neighbours apart"),
        None => {
            "; vs previous: how much faster, by pairs of runs of the same round (95 %)".to_owned()
        }
    };
    format!("the median of {runs} or more each, with {range}{previous}")
}

/// The whole report.
pub(crate) fn table(document: &SweepDocument, width: usize) -> String {
    let mut out = format!("{}\n{}", title(document), sheet(document).draw(width));
    wrap_each(&mut out, notes(document), width);
    out
}

/// A line for each value.
pub(crate) fn csv(document: &SweepDocument) -> String {
    let previous = |row: &SweepRow, of: fn(Against) -> String| {
        row.against_previous.map_or_else(String::new, of)
    };
    Table::of("", &document.rows)
        .column(text("value"), |row| row.value.as_str())
        .column(number("seconds"), |row| row.seconds.to_string())
        .column(number("low"), |row| row.low.to_string())
        .column(number("high"), |row| row.high.to_string())
        .column(number("speedup"), |row| row.speedup.to_string())
        .column(number("times_previous"), |row| previous(row, |against| against.times.to_string()))
        .column(number("differs"), |row| previous(row, |against| against.differs.to_string()))
        .column(number("samples"), |row| row.samples.len().to_string())
        .done()
        .csv()
}

#[cfg(test)]
pub(crate) mod tests {
    use expect_test::expect;
    use nbuf::experiment::sweep::rows;

    use super::*;

    pub(crate) fn document() -> SweepDocument {
        let seconds = [
            vec![3.2; 10],
            vec![1.3; 10],
            vec![1.29, 1.31, 1.3, 1.28, 1.32, 1.3, 1.3, 1.3, 1.3, 1.3],
        ];
        SweepDocument {
            command: vec!["./prog".to_owned(), "{n}".to_owned()],
            parameter: "n".to_owned(),
            rows: rows(&"n=1..3".parse().unwrap(), &seconds),
            is_complete: false,
            ..SweepDocument::default()
        }
    }

    #[test]
    fn the_table_of_the_post() {
        expect![[r#"
            Time of ./prog {n}
              n  seconds  from    to  speedup         vs previous
              1     3.20  3.20  3.20    1.00x
              2     1.30  1.30  1.30    2.46x            +146.2 %
              3     1.30  1.29  1.31    2.46x  no difference seen
              the median of 10 runs or more each, with its 95 % interval; vs previous: how
                much faster, by pairs of runs of the same round (95 %)
              interrupted: not all runs were made
        "#]]
        .assert_eq(&table(&document(), 80));
    }

    #[test]
    fn nothing_is_said_of_nothing() {
        let text = table(&SweepDocument::default(), 40);
        assert!(text.contains("nothing was measured"), "{text}");
    }

    #[test]
    fn the_page_has_the_curve_and_fetches_nothing() {
        let drawn = page(&document());
        let elements = super::super::page::tests::well_formed(&drawn);
        assert!(elements.iter().any(|name| name == "svg"), "{elements:?}");
        assert!(drawn.contains("Fastest with n = 2"), "{drawn}");
        let none = page(&SweepDocument::default());
        super::super::page::tests::well_formed(&none);
        assert!(none.contains("Nothing was measured"), "{none}");
    }

    #[test]
    fn a_line_for_each_value() {
        expect![[r#"
            value,seconds,low,high,speedup,times_previous,differs,samples
            1,3.2,3.2,3.2,1,,,10
            2,1.3,1.3,1.3,2.4615384615384617,2.4615384615384617,true,10
            3,1.3,1.295,1.3050000000000002,2.4615384615384617,1,false,10
        "#]]
        .assert_eq(&csv(&document()));
    }
}
