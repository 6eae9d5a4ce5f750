//! Two results side by side, for people.

use nbuf::experiment::result::{Comparison, Difference, Measure};
use nbuf::units::{Bytes, whole};

use super::super::text::{clean, grouped, wrap};
use super::{cautions, fits, indent, plain, right};

/// The table, the verdict, and what must be told.
pub(crate) fn comparison(found: &Comparison, width: usize) -> String {
    let mut text = String::from("Compared: A and B\n");
    let mut table = plain();
    table.set_header(["", "A", "B", "B/A", ""]);
    for row in &found.measures {
        let ratio = row.ratio.map_or("-".into(), |ratio| format!("{ratio:.3}"));
        table.add_row([
            name(row),
            shown(row, row.a),
            shown(row, row.b),
            ratio,
            said(row.difference).into(),
        ]);
    }
    right(&mut table, &[1, 2, 3]);
    let table = indent(&table.to_string());
    if fits(&table, width) {
        text.push_str(&table);
    } else {
        for row in &found.measures {
            let (a, b) = (shown(row, row.a), shown(row, row.b));
            let said = said(row.difference);
            wrap(&mut text, &format!("{}: {a}, {b}: {said}", name(row)), width);
        }
    }
    text.push('\n');
    wrap(&mut text, &verdict(found), width);
    text.push_str(&cautions(&found.cautions, width));
    text
}

fn name(row: &Measure) -> String {
    let where_measured = match row.limited {
        Some(true) => " at that limit",
        Some(false) => ", no limit",
        None => "",
    };
    match (row.what, row.cache_bytes) {
        ("predicted_fills", Some(cache)) => format!("fills predicted, {cache} cache"),
        ("measured_fills", _) => format!("fills{where_measured}"),
        ("measured_seconds", _) => format!("seconds{where_measured}"),
        (other, _) => clean(other),
    }
}

fn shown(row: &Measure, amount: f64) -> String {
    match row.what {
        "measured_seconds" => format!("{amount:.2}"),
        "measured_fills" | "predicted_fills" => grouped(whole(amount)),
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
                row("limit", 80.0 * mib, 90.0 * mib, Difference::More),
                row("shared", 0.0, 0.0, Difference::NotSeen),
                Measure {
                    cache_bytes: Some(Bytes(66 << 20)),
                    ..row("predicted_fills", 16_896.0, 16_000.0, Difference::Less)
                },
                Measure {
                    limited: Some(true),
                    ..row("measured_seconds", 1.0, 1.25, Difference::NotJudged)
                },
            ],
            cautions: vec!["the commands differ: `a` and `b`".into()],
        };
        expect![[r#"
            Compared: A and B
              limit: 80.0 MiB, 90.0 MiB: more
              shared: 0 B, 0 B: no difference seen
              fills predicted, 66.0 MiB cache: 16,896, 16,000: less
              seconds at that limit: 1.00, 1.25: single runs, not judged

              B needs too much: 90.0 MiB, 1.125 times what A needs; 1.05 times 80.0 MiB and
                the noise allow 86.0 MiB.
              Caution: the commands differ: `a` and `b`.
        "#]]
        .assert_eq(&comparison(&found, 80));
        for width in 20..120 {
            let text = comparison(&found, width);
            assert!(fits(&text, width), "{width}:\n{text}");
        }
        found.exceeded = false;
        assert!(comparison(&found, 80).contains("  B is within the budget: it needs 90.0 MiB"));
    }
}
