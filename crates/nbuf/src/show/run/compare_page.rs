//! The comparison as a page: the answer, both real times as bars of their parts, the tables.

use nbuf::experiment::result::{RunComparison, RunPartMoved, RunParts, RunVerdict};

use super::super::chart::Look;
use super::super::page::{Answer, Mood, Page, Part};
use super::super::svg::{Block, Boxes};
use super::super::table::{Table, number, text};
use super::compare::{answer, moved, notes, parts};
use super::seconds;

/// What the words of the page mean.
const WORDS: &str = "\
real time: the time of the clock; each instant is in the first part that holds for any thread
share: the difference of the part to the difference in real time; the shares sum to 100 %
noise: a smaller difference may be chance: the interval of ranks, and at least 4 % of time
fill: a page that was put into the page cache";

/// The whole page. `names` are those of A and B.
pub(crate) fn comparison_page(found: &RunComparison, names: [&str; 2]) -> String {
    let mood = match found.verdict {
        RunVerdict::Slower => Mood::Bad,
        RunVerdict::Faster | RunVerdict::NotSeen if found.warnings.is_empty() => Mood::Good,
        _ => Mood::Open,
    };
    let command = found.b.command.join(" ");
    let why = bars(found, names).map(Part::Boxes);
    let title = match found.verdict {
        RunVerdict::NotSeen => "Where the time went",
        _ if found.difference_seconds > 0.0 => "Why slower",
        _ => "Why faster",
    };
    Page::new("run", command.as_str(), WORDS)
        .title(format!("nbuf run: {command} compared"))
        .answers([Answer::new(mood, answer(found, names))])
        .lead(notes(found).into_iter().map(Part::Bad))
        .section(title, why.into_iter().chain(Part::table(parts(found, names))))
        .section("What else moved", Part::table(moved(found, names)))
        .html()
}

/// A bar for each side, as long as its real time; nothing where the parts are unknown.
fn bars(found: &RunComparison, names: [&str; 2]) -> Option<Boxes> {
    let longest = found.a.real_seconds.max(found.b.real_seconds);
    // In the order of precedence.
    let order = RunParts::default().named().map(|(name, _)| name);
    let looks = (0..order.len() - 1).map(Look::Nth).chain([Look::Grey]);
    let part = |(look, name)| Some((look, name, found.parts.iter().find(|it| it.part == name)?));
    let known: Vec<(Look, &str, &RunPartMoved)> = looks.zip(order).filter_map(part).collect();
    if known.is_empty() || longest <= 0.0 {
        return None;
    }
    let columns = [text("part"), number(names[0]), number(names[1])];
    let rows = known.iter().map(|(_, name, part)| {
        [(*name).to_owned(), seconds(part.a_seconds), seconds(part.b_seconds)]
    });
    let mut blocks = Vec::new();
    for (line, side) in [(0, &found.a), (2, &found.b)] {
        let label = format!("{}: {}", names[line / 2], seconds(side.real_seconds));
        blocks.push(Block { line, from: 0.0, to: 1.0, label, row: None });
        let mut from = 0.0;
        for (row, (look, name, part)) in known.iter().enumerate() {
            let to = from + [part.a_seconds, part.b_seconds][line / 2] / longest;
            if to > from {
                let (label, row) = ((*name).to_owned(), Some((*look, row)));
                blocks.push(Block { line: line + 1, from, to, label, row });
            }
            from = to;
        }
    }
    Some(Boxes {
        title: "Parts of both real times".to_owned(),
        blocks,
        keys: known.iter().map(|(look, name, _)| (*look, *name)).collect(),
        table: Table::new("Parts of both real times", columns).with(rows),
    })
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
            "<th scope=\"row\" class=\"text\">asleep</th><td>0.00 ms</td><td>270 ms</td>",
            "minor faults",
            "5,100",
            "records of the kernel were lost",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        // The bar of A ends where its real time ends.
        assert!(page.contains("d=\"M595.4 20h66.2v20h-66.2z\""), "{page}");
        let unknown = RunComparison { parts: Vec::new(), ..sample() };
        assert!(!comparison_page(&unknown, ["A", "B"]).contains("<svg"));
    }
}
