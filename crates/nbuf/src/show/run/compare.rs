//! Two documents side by side: the answer, the parts that make the difference, and what else moved.

use nbuf::experiment::result::{
    Difference, RunComparison, RunMoved, RunPartMoved, RunSide, RunUnit, RunVerdict,
};
use nbuf::units::{Bytes, grouped, whole};

use super::super::table::{Table, number, text};
use super::super::text::{wrap, wrap_each};
use super::seconds;

/// Figures that have a row.
const ROWS: usize = 20;
/// A smaller share of the difference has no row, unless it is beyond the noise.
const SHARE_MIN: f64 = 0.01;

/// The answer, the tables and the warnings, in lines of at most `width` columns. `names` are those of A and B.
pub(crate) fn comparison(found: &RunComparison, names: [&str; 2], width: usize) -> String {
    let mut out = String::new();
    wrap(&mut out, &answer(found, names), width);
    for table in [parts(found, names), moved(found, names)] {
        if !table.is_empty() {
            out.push('\n');
            out.push_str(&table.draw(width));
        }
    }
    let notes = notes(found);
    if !notes.is_empty() {
        out.push('\n');
    }
    wrap_each(&mut out, &notes, width);
    out
}

/// Whether B is faster, by how much, and what most of the difference is.
pub(super) fn answer(found: &RunComparison, names: [&str; 2]) -> String {
    let [a, b] = [(names[0], &found.a), (names[1], &found.b)]
        .map(|(name, side)| format!("{name} {}", side_seconds(side)));
    let times = format!("{b}, {a}");
    let more = more(found.ratio);
    let noise = found.noise.map_or(String::new(), percent);
    let (what, reason) = match found.verdict {
        RunVerdict::Slower => ("Slower", format!("{more}{}", interval(found))),
        RunVerdict::Faster => ("Faster", format!("{more}{}", interval(found))),
        RunVerdict::NotSeen => {
            return format!(
                "No difference larger than the noise ({noise}): {times}.{}",
                firm(found)
            );
        }
        RunVerdict::Unsure => (
            if found.difference_seconds > 0.0 { "Perhaps slower" } else { "Perhaps faster" },
            format!("{more}, which may be chance; more runs would tell"),
        ),
        RunVerdict::NotJudged => {
            ("The noise is unknown", format!("{more}; {}", single(found, names)))
        }
    };
    // Other programs make one part or the other large by chance: what moved beyond its noise comes first.
    let is_firm =
        |part: &&RunPartMoved| matches!(part.difference, Difference::More | Difference::Less);
    let most = found.parts.iter().find(is_firm).or_else(|| found.parts.first());
    let most = most.filter(|part| part.share.is_some_and(|share| share >= 0.005));
    let most = most.map_or(String::new(), |part| {
        format!(" {} of the difference is {}.", percent(part.share.unwrap_or_default()), part.part)
    });
    format!("{what}: {times}: {reason}.{most}")
}

/// The part that moved beyond its own noise, although real time did not: other programs may have made that noisy.
fn firm(found: &RunComparison) -> String {
    let is_firm =
        |part: &&RunPartMoved| matches!(part.difference, Difference::More | Difference::Less);
    found.parts.iter().find(is_firm).map_or_else(String::new, |part| {
        let by = signed(part.difference_seconds, seconds);
        format!(" But the part \"{}\" moved by {by}, beyond its own noise.", part.part)
    })
}

fn side_seconds(side: &RunSide) -> String {
    match side.runs {
        0 | 1 => seconds(side.real_seconds),
        runs => format!("{} ({runs} runs)", seconds(side.real_seconds)),
    }
}

fn single(found: &RunComparison, [a, b]: [&str; 2]) -> String {
    let who = match (found.a.runs, found.b.runs) {
        (0 | 1, 0 | 1) => "both are single runs".to_owned(),
        (0 | 1, _) => format!("{a} is a single run"),
        _ => format!("{b} is a single run"),
    };
    format!("{who}; measure both with --runs 10")
}

/// `29 % more`, or `2.40 times as long`.
fn more(ratio: Option<f64>) -> String {
    match ratio {
        None => "the first took no time".to_owned(),
        Some(ratio) if ratio >= 2.0 => format!("{ratio:.2} times as long"),
        Some(ratio) if ratio >= 1.0 => format!("{} more", percent(ratio - 1.0)),
        Some(ratio) => format!("{} less", percent(1.0 - ratio)),
    }
}

/// ` (27 % to 31 %)`, in the sense of the words before it; without an interval, the noise.
fn interval(found: &RunComparison) -> String {
    let (Some(low), Some(high), Some(ratio)) = (found.ratio_low, found.ratio_high, found.ratio)
    else {
        let noise = found.noise.map(percent);
        return noise.map_or_else(String::new, |noise| format!("; the noise is {noise}"));
    };
    match ratio {
        ratio if ratio >= 2.0 => format!(" ({low:.2} to {high:.2})"),
        ratio if ratio >= 1.0 => format!(" ({} to {})", percent(low - 1.0), percent(high - 1.0)),
        _ => format!(" ({} to {})", percent(1.0 - high), percent(1.0 - low)),
    }
}

/// Two significant digits below 10 %.
pub(super) fn percent(part: f64) -> String {
    let percent = 100.0 * part;
    if percent.abs() < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// The parts of the real time, those that moved most first.
pub(super) fn parts(found: &RunComparison, names: [&str; 2]) -> Table {
    let title = match found.verdict {
        RunVerdict::NotSeen => "Part of real time",
        _ if found.difference_seconds > 0.0 => "Why slower",
        _ => "Why faster",
    };
    let is_seen = |part: &&RunPartMoved| {
        matches!(part.difference, Difference::More | Difference::Less)
            || (found.verdict != RunVerdict::NotSeen
                && part.share.is_some_and(|share| share.abs() >= SHARE_MIN))
    };
    Table::of(title, found.parts.iter().filter(is_seen))
        .column(text(title), |part| part.part.as_str())
        .column(number(names[0]).rank(2), |part| seconds(part.a_seconds))
        .column(number(names[1]).rank(2), |part| seconds(part.b_seconds))
        .column(number("difference"), |part| signed(part.difference_seconds, seconds))
        .column(number("share"), |part| part.share.map_or_else(String::new, percent))
        .column(text("").label("noise").rank(1), |part| said(part.difference))
        .done()
}

/// Counts and times that moved, those that moved most first.
pub(super) fn moved(found: &RunComparison, names: [&str; 2]) -> Table {
    let columns =
        [text("What else moved"), number(names[0]), number(names[1]), number("difference").rank(1)];
    let rows = found.moved.iter().take(ROWS).map(|row| {
        let shown = |amount: f64| amount_of(row, amount);
        [row.name.clone(), shown(row.a), shown(row.b), signed(row.b - row.a, shown)]
    });
    Table::new("What else moved", columns).with(rows)
}

fn amount_of(row: &RunMoved, amount: f64) -> String {
    match row.unit {
        RunUnit::Count => grouped(whole(amount.round())),
        RunUnit::Bytes => Bytes(whole(amount.round())).to_string(),
        RunUnit::Seconds => seconds(amount),
    }
}

fn signed(amount: f64, shown: impl Fn(f64) -> String) -> String {
    let sign = if amount < 0.0 { '-' } else { '+' };
    format!("{sign}{}", shown(amount.abs()))
}

fn said(difference: Difference) -> &'static str {
    match difference {
        Difference::More | Difference::Less => "",
        Difference::NotSeen => "within its noise",
        Difference::NotJudged => "noise unknown",
    }
}

/// What the tables leave out, and what to be careful with.
pub(super) fn notes(found: &RunComparison) -> Vec<String> {
    let mut notes = Vec::new();
    let more = found.moved.len().saturating_sub(ROWS);
    if more > 0 {
        notes.push(format!("{more} more figures moved; --json has all."));
    }
    notes.extend(found.warnings.iter().map(|warning| format!("Warning: {warning}.")));
    notes
}

#[cfg(test)]
pub(crate) mod tests {
    use expect_test::expect;

    use super::*;
    use crate::show::tests::fit;

    pub(crate) fn sample() -> RunComparison {
        let side = |real_seconds: f64| RunSide {
            command: vec!["./job".into()],
            runs: 7,
            real_seconds,
            real_seconds_low: real_seconds * 0.99,
            real_seconds_high: real_seconds * 1.01,
            ..RunSide::default()
        };
        let part = |part: &str, a_seconds: f64, b_seconds: f64, difference| RunPartMoved {
            part: part.into(),
            a_seconds,
            b_seconds,
            difference_seconds: b_seconds - a_seconds,
            share: Some((b_seconds - a_seconds) / 0.3),
            difference,
        };
        let row = |name: &str, unit, a, b| RunMoved {
            name: name.into(),
            unit,
            a,
            b,
            share: None,
            difference: Difference::More,
        };
        RunComparison {
            verdict: RunVerdict::Slower,
            a: side(1.0),
            b: side(1.3),
            difference_seconds: 0.3,
            ratio: Some(1.3),
            ratio_low: Some(1.28),
            ratio_high: Some(1.32),
            noise: Some(0.04),
            parts: vec![
                part("asleep", 0.0, 0.27, Difference::More),
                part("disc", 0.1, 0.13, Difference::NotSeen),
                part("on CPU", 0.9, 0.9, Difference::NotSeen),
            ],
            moved: vec![
                row("time in clock_nanosleep", RunUnit::Seconds, 0.0, 0.27),
                row("minor faults", RunUnit::Count, 100.0, 5100.0),
                row("peak memory", RunUnit::Bytes, 1_048_576.0, 2_097_152.0),
            ],
            warnings: vec!["B: 3 records of the kernel were lost".into()],
            ..RunComparison::default()
        }
    }

    #[test]
    fn the_answer_comes_first_and_then_the_reason() {
        let mut found = sample();
        // A line without margin, so that the margin of the others is a part of the text.
        expect![[r#"
            :
              Slower: B 1.30 s (7 runs), A 1.00 s (7 runs): 30 % more (28 % to 32 %). 90 %
                of the difference is asleep.

              Why slower        A       B  difference  share
              asleep      0.00 ms  270 ms     +270 ms   90 %
              disc         100 ms  130 ms    +30.0 ms   10 %  within its noise

              What else moved                 A         B  difference
              time in clock_nanosleep   0.00 ms    270 ms     +270 ms
              minor faults                  100     5,100      +5,000
              peak memory              1.00 MiB  2.00 MiB   +1.00 MiB

              Warning: B: 3 records of the kernel were lost.
        "#]]
        .assert_eq(&format!(":\n{}", comparison(&found, ["A", "B"], 80)));
        fit(30..120, |width| comparison(&found, ["the baseline", "now"], width));
        found.verdict = RunVerdict::NotSeen;
        let text = comparison(&found, ["A", "B"], 200);
        assert!(text.contains("No difference larger than the noise (4.0 %)"), "{text}");
        assert!(text.contains("But the part \"asleep\" moved by +270 ms"), "{text}");
        assert!(!text.contains("disc "), "a part within its noise is no reason: {text}");
        (found.verdict, found.noise, found.a.runs) = (RunVerdict::NotJudged, None, 1);
        let text = comparison(&found, ["A", "B"], 200);
        assert!(
            text.contains("The noise is unknown: ") && text.contains("A is a single run"),
            "{text}"
        );
        (found.verdict, found.ratio) = (RunVerdict::Faster, Some(0.6));
        (found.ratio_low, found.ratio_high) = (Some(0.5), Some(0.7));
        assert!(comparison(&found, ["A", "B"], 200).contains("40 % less (30 % to 50 %)"));
    }
}
