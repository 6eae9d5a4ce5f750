//! Two results side by side, for people.

use nbuf::experiment::result::{Comparison, Difference, Measure, Quantity};
use nbuf::units::{Bytes, whole};

use super::super::table::{Table, number, text as words};
use super::super::text::{grouped, wrap};
use super::warnings;

/// Returns the table, the verdict and the warnings.
pub(crate) fn comparison(found: &Comparison, width: usize) -> String {
    let mut text = String::from("Compared: A and B\n");
    let columns = [words(""), number("A"), number("B"), number("B/A"), words("")];
    let rows = found.measures.iter().map(|row| {
        let ratio = row.ratio.map_or("-".into(), |ratio| format!("{ratio:.3}"));
        let (a, b) = (shown(row, row.a), shown(row, row.b));
        [name(row), a, b, ratio, said(row.difference).into()]
    });
    let lines = found.measures.iter().map(|row| {
        let (a, b) = (shown(row, row.a), shown(row, row.b));
        format!("{}: {a}, {b}: {}", name(row), said(row.difference))
    });
    text += &Table::new("A and B", columns).with(rows).else_lines(lines).draw(width);
    text.push('\n');
    wrap(&mut text, &verdict(found), width);
    text.push_str(&warnings(&found.warnings, width));
    text
}

fn name(row: &Measure) -> String {
    let where_measured = match row.limited {
        Some(true) => " at that limit",
        Some(false) => ", no limit",
        None => "",
    };
    match (row.what, row.cache_bytes) {
        (Quantity::PredictedFills, Some(cache)) => format!("fills predicted, {cache} cache"),
        (Quantity::MeasuredFills, _) => format!("fills{where_measured}"),
        (Quantity::MeasuredSeconds, _) => format!("seconds{where_measured}"),
        (other, _) => other.name().to_owned(),
    }
}

fn shown(row: &Measure, amount: f64) -> String {
    match row.what {
        Quantity::MeasuredSeconds => format!("{amount:.2}"),
        Quantity::MeasuredFills | Quantity::PredictedFills => grouped(whole(amount)),
        _ => Bytes(whole(amount)).to_string(),
    }
}

fn said(difference: Difference) -> &'static str {
    match difference {
        Difference::NotSeen => "no difference seen",
        Difference::More => "more",
        Difference::Less => "less",
        Difference::NotJudged => "single runs, not judged",
    }
}

fn verdict(found: &Comparison) -> String {
    let (a, b) = (found.a.limit_bytes, found.b.limit_bytes);
    let (budget, allowed) = (found.budget, found.allowed_bytes);
    let ratio = if a.0 == 0 { 0.0 } else { b.0 as f64 / a.0 as f64 };
    let most = format!("{budget} times {a} and the noise allow {allowed}");
    if found.exceeded {
        return format!("B needs too much: {b}, {ratio:.3} times what A needs; {most}.");
    }
    format!("B is within the budget: it needs {b}, {ratio:.3} times what A needs; {most}.")
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use nbuf::experiment::result::Side;

    use super::*;
    use crate::show::tests::fit;

    #[test]
    fn what_differs_and_what_does_not() {
        let row = |what, a: f64, b: f64, difference| Measure {
            what,
            cache_bytes: None,
            limited: None,
            a,
            b,
            ratio: (a > 0.0).then(|| b / a),
            noise: Some(1.0),
            difference,
        };
        let mib = f64::from(1 << 20);
        let side = |mib: u64| Side { command: Vec::new(), limit_bytes: Bytes(mib << 20) };
        let mut found = Comparison {
            schema: Comparison::SCHEMA.into(),
            a: side(80),
            b: side(90),
            budget: 1.05,
            allowed_bytes: Bytes(86 << 20),
            exceeded: true,
            measures: vec![
                row(Quantity::Limit, 80.0 * mib, 90.0 * mib, Difference::More),
                row(Quantity::Shared, 0.0, 0.0, Difference::NotSeen),
                Measure {
                    cache_bytes: Some(Bytes(66 << 20)),
                    ..row(Quantity::PredictedFills, 16_896.0, 16_000.0, Difference::Less)
                },
                Measure {
                    limited: Some(true),
                    ..row(Quantity::MeasuredSeconds, 1.0, 1.25, Difference::NotJudged)
                },
            ],
            warnings: vec!["the commands differ: `a` and `b`".into()],
        };
        expect![[r#"
            Compared: A and B
              limit: 80.0 MiB, 90.0 MiB: more
              shared: 0 B, 0 B: no difference seen
              fills predicted, 66.0 MiB cache: 16,896, 16,000: less
              seconds at that limit: 1.00, 1.25: single runs, not judged

              B needs too much: 90.0 MiB, 1.125 times what A needs; 1.05 times 80.0 MiB and
                the noise allow 86.0 MiB.
              Warning: the commands differ: `a` and `b`.
        "#]]
        .assert_eq(&comparison(&found, 80));
        fit(20..120, |width| comparison(&found, width));
        found.exceeded = false;
        assert!(comparison(&found, 80).contains("  B is within the budget: it needs 90.0 MiB"));
    }
}
