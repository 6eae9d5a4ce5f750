//! What several running programs need, for people: a table of the machine, those first that gain most.

use nbuf::experiment::result::{LiveDocument, LiveMachine, LivePoint, LiveTarget};
use nbuf::units::Bytes;

use super::super::table::{Table, number, text};
use super::super::text::{flush, rate, tail, wrap_each};
use super::{limit, spoils};

/// Names are cut at their beginning beyond this.
const NAME_WIDTH: usize = 40;

/// The whole report.
pub(crate) fn machine(machine: &LiveMachine, width: usize) -> String {
    let mut out = flush(&summary(machine), width) + "\n";
    let table = sheet(machine);
    if !table.is_empty() {
        out += &table.draw(width);
        out += "\n";
    }
    wrap_each(&mut out, notes(machine), width);
    out
}

/// The answer, in a sentence or two.
fn summary(machine: &LiveMachine) -> String {
    let sum = |of: fn(&LiveTarget) -> Option<Bytes>| {
        Bytes(machine.targets.iter().filter_map(of).map(|bytes| bytes.0).sum())
    };
    let (free, lack) = (sum(|target| target.frees_bytes), sum(|target| target.lacks_bytes));
    let seen = watched(machine).count();
    if seen == 0 {
        return "Nothing could be watched.".to_owned();
    }
    let programs = if seen == 1 { "1 program".to_owned() } else { format!("{seen} programs") };
    format!(
        "{free} of cache can be freed, and {lack} more is needed. Modelled from {:.0} s of {programs}, not \
         verified.",
        machine.seconds
    )
}

fn watched(machine: &LiveMachine) -> impl Iterator<Item = (&LiveTarget, &LiveDocument)> {
    machine.targets.iter().filter_map(|target| Some((target, target.live.as_ref()?)))
}

fn sheet(machine: &LiveMachine) -> Table {
    let memory =
        |live: &LiveDocument| Bytes(live.memory.other_bytes().0 + live.memory.cache_bytes.0);
    // What has no use for a cache keeps its other memory.
    let answer = |live: &LiveDocument, of: fn(&LivePoint) -> String| {
        live.answer.as_ref().map_or_else(|| "-".to_owned(), of)
    };
    Table::of("Programs by what can be gained", watched(machine))
        .column(text("program"), |(target, _)| tail(&target.name, NAME_WIDTH))
        .column(number("memory").rank(2), |(_, live)| memory(live).to_string())
        .column(number("cache"), |(_, live)| live.memory.cache_bytes.to_string())
        .column(number("needs"), |(_, live)| needs(live))
        .column(number("misses/s").rank(1), |(_, live)| answer(live, |p| rate(p.misses_per_second)))
        .column(number("limit to set"), |(_, live)| answer(live, |point| limit(point).to_string()))
        .column(number("frees or lacks"), |(target, _)| gain(target))
        .done()
}

/// The cache that meets the target.
fn needs(live: &LiveDocument) -> String {
    match (&live.answer, live.points.last()) {
        (Some(point), _) => point.cache_bytes.to_string(),
        (None, Some(known)) => format!("over {}", known.cache_bytes),
        (None, None) => "buys nothing".to_owned(),
    }
}

fn gain(target: &LiveTarget) -> String {
    match (target.frees_bytes, target.lacks_bytes) {
        (Some(free), _) => format!("frees {free}"),
        (None, Some(lack)) => format!("lacks {lack}"),
        (None, None) => "-".to_owned(),
    }
}

/// What the figures rest on, what spoils them, and what is missing.
fn notes(machine: &LiveMachine) -> Vec<String> {
    let mut notes = Vec::new();
    if watched(machine).next().is_some() {
        notes.push(
            "needs: the cache that meets the target; limit to set: with the other memory. frees and lacks \
             compare it with the cache that is charged to the cgroup."
                .to_owned(),
        );
    }
    if watched(machine).any(|(_, live)| !live.memory.is_charged) {
        notes.push(
            "The kernel has no account of the cache of single processes: only mapped pages are in their cache."
                .to_owned(),
        );
    }
    for (target, live) in watched(machine) {
        let name = &target.name;
        notes.extend(spoils(live).map(|text| format!("Warning: {name}: {text}")));
    }
    let failed = machine.targets.iter().filter_map(|target| {
        Some(format!("Not watched: {}: {}", target.name, target.failed.as_ref()?))
    });
    notes.extend(failed);
    notes
}

#[cfg(test)]
mod tests {
    use super::super::tests::document;
    use super::*;
    use crate::show::tests::fit;

    fn shown(width: usize) -> String {
        let frees = LiveTarget {
            name: "/system.slice/db.service".into(),
            frees_bytes: Some(Bytes(3 << 20)),
            live: Some(document()),
            ..LiveTarget::default()
        };
        let idle = LiveDocument { points: vec![], answer: None, lost: 3, ..document() };
        let idle = LiveTarget { name: "idle".into(), live: Some(idle), ..LiveTarget::default() };
        let failed = LiveTarget {
            name: "gone".into(),
            failed: Some("no process has the number 7".into()),
            ..LiveTarget::default()
        };
        let targets = vec![frees, idle, failed];
        machine(&LiveMachine { seconds: 60.0, targets, ..LiveMachine::default() }, width)
    }

    #[test]
    fn each_program_has_a_row_or_a_reason() {
        let text = shown(120);
        assert!(text.starts_with("3.00 MiB of cache can be freed, and 0 B more"), "{text}");
        let rows: Vec<&str> = text.lines().filter(|line| line.contains("MiB  ")).collect();
        for part in ["/system.slice/db.service", "40.0 MiB", "53.0 MiB", "frees 3.00 MiB"] {
            assert!(rows.iter().any(|row| row.contains(part)), "{part}: {text}");
        }
        assert!(text.contains("buys nothing"), "{text}");
        assert!(text.contains("Warning: idle: 3 of 0 events were lost"), "{text}");
        assert!(text.contains("Not watched: gone: no process has the number 7"), "{text}");
        fit([40, 80, 200], shown);
    }

    #[test]
    fn without_a_program_the_report_says_so() {
        let text = machine(&LiveMachine::default(), 80);
        assert_eq!(text, "Nothing could be watched.\n\n");
    }
}
