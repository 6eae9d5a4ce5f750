//! The comparison as a page: the answer, both real times as bars of their parts, the tables.

use std::fmt::Write as _;

use nbuf::experiment::result::{RunComparison, RunVerdict};

use super::super::markup::escape;
use super::super::page::{Answer, Mood, Page, Part};
use super::compare::{answer, moved, notes, parts};
use super::seconds;

const WIDTH: f64 = 1000.0;
const BAR: f64 = 34.0;
const STEP: f64 = 62.0;
/// The colours of the parts, in the order of precedence.
const COLOURS: [(&str, &str); 7] = [
    ("on CPU", "#d1704a"),
    ("runnable", "#e3b341"),
    ("disc", "#5b7fa6"),
    ("memory", "#8a63a8"),
    ("lock or pipe", "#4f9d69"),
    ("asleep", "#b8c0c8"),
    ("unknown", "#7d7d7d"),
];

/// What the words of the page mean.
const WORDS: [(&str, &str); 4] = [
    (
        "real time",
        "the time of the clock; each instant is in the first part that holds for any thread",
    ),
    ("share", "the difference of the part to the difference in real time; the shares sum to 100 %"),
    (
        "noise",
        "a smaller difference may be chance: the interval of ranks, and at least 4 % of time",
    ),
    ("fill", "a page that was put into the page cache"),
];

/// The whole page. `names` are those of A and B.
pub(crate) fn comparison_page(found: &RunComparison, names: [&str; 2]) -> String {
    let mood = match found.verdict {
        RunVerdict::Slower => Mood::Bad,
        RunVerdict::Faster | RunVerdict::NotSeen if found.warnings.is_empty() => Mood::Good,
        _ => Mood::Open,
    };
    let command = found.b.command.join(" ");
    let mut why: Vec<Part> = bars(found, names).map(Part::Picture).into_iter().collect();
    why.extend(Part::table(parts(found, names)));
    let title = match found.verdict {
        RunVerdict::NotSeen => "Where the time went",
        _ if found.difference_seconds > 0.0 => "Why slower",
        _ => "Why faster",
    };
    Page {
        verb: "run",
        title: format!("nbuf run: {command} compared"),
        heading: command,
        answers: vec![Answer::new(mood, answer(found, names))],
        tiles: Vec::new(),
        lead: notes(found).into_iter().map(Part::Bad).collect(),
        sections: vec![
            (title.to_owned(), why),
            ("What else moved".to_owned(), Part::table(moved(found, names)).into_iter().collect()),
        ],
        words: &WORDS,
    }
    .html()
}

/// A bar for each side, as long as its real time; nothing where the parts are unknown.
fn bars(found: &RunComparison, names: [&str; 2]) -> Option<String> {
    let longest = found.a.real_seconds.max(found.b.real_seconds);
    if found.parts.is_empty() || longest <= 0.0 {
        return None;
    }
    let mut drawn = String::new();
    for (at, (name, side)) in names.iter().zip([&found.a, &found.b]).enumerate() {
        let y = at as f64 * STEP;
        let _ = write!(
            drawn,
            "<text x=\"0\" y=\"{:.0}\">{}: {}</text>",
            y + 14.0,
            escape(name),
            seconds(side.real_seconds)
        );
        let mut x = 0.0;
        for (part, colour) in COLOURS {
            let Some(row) = found.parts.iter().find(|row| row.part == part) else { continue };
            let long = if at == 0 { row.a_seconds } else { row.b_seconds };
            let width = long / longest * WIDTH;
            let _ = write!(
                drawn,
                "<rect x=\"{x:.1}\" y=\"{:.0}\" width=\"{width:.1}\" height=\"{BAR}\" fill=\"{colour}\">\
                 <title>{}, {part}: {}</title></rect>",
                y + 20.0,
                escape(name),
                seconds(long)
            );
            x += width;
        }
    }
    let mut x = 0.0;
    for (part, colour) in COLOURS {
        let y = 2.0 * STEP + 8.0;
        let _ = write!(
            drawn,
            "<rect x=\"{x:.0}\" y=\"{y:.0}\" width=\"12\" height=\"12\" fill=\"{colour}\"/>\
             <text x=\"{:.0}\" y=\"{:.0}\">{part}</text>",
            x + 17.0,
            y + 11.0
        );
        x += WIDTH / COLOURS.len() as f64;
    }
    let height = 2.0 * STEP + 26.0;
    Some(format!(
        "<svg class=\"parts\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"Parts of both real \
         times\">\n<style>.parts{{display:block;width:100%;min-width:640px;height:auto}}.parts text{{\
         font:13px system-ui,sans-serif;fill:var(--ink)}}</style>\n{drawn}</svg>\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::super::compare::tests::sample;
    use super::*;

    #[test]
    fn the_page_has_the_answer_the_bars_and_the_tables() {
        let page = comparison_page(&sample(), ["the baseline", "now"]);
        for part in [
            "Slower: now 1.30 s",
            "<title>now, asleep: 270 ms</title>",
            "minor faults",
            "5,100",
            "records of the kernel were lost",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        // The bar of A ends where its real time ends.
        assert!(page.contains("x=\"692.3\" y=\"20\" width=\"76.9\""), "{page}");
        let unknown = RunComparison { parts: Vec::new(), ..sample() };
        assert!(!comparison_page(&unknown, ["A", "B"]).contains("class=\"parts\""));
    }
}
