//! What to know of the figures of a step, in words.

use super::bounds;
use super::step::Seen;
use super::warm_up::Cut;
use crate::experiment::result::{LoadStep, Warning};

/// How notes name a step.
fn name(row: &LoadStep) -> String {
    let plural = if row.users == 1 { "" } else { "s" };
    let users = format!("{} user{plural}", row.users);
    let limit = row.limit_bytes.map(|limit| limit.to_string());
    let table = row.table.map(|places| format!("table of {places}"));
    let cpus = row.cpus.map(|cpus| format!("{cpus} CPU{}", if cpus == 1 { "" } else { "s" }));
    [Some(users), limit, table, cpus].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// Other work of the machine, where it took a quarter of all processors or more.
pub(super) fn strangers(row: &LoadStep, processors: u32) -> Option<Warning> {
    let processors = row.cpus.unwrap_or(processors);
    let others = row.processors_busy? - bounds::own_share(row, processors)?;
    let text = format!(
        "{}: other processes, nbuf among them, had {:.0} % of the processors",
        name(row),
        others * 100.0
    );
    (others >= 0.25).then_some(Warning::Text(text))
}

/// What to know of the figures of a step.
pub(super) fn note(row: &LoadStep, seen: &Seen, notes: &mut Vec<Warning>) {
    let of = name(row);
    let mut add = |text: String| notes.push(Warning::Text(format!("{of}: {text}")));
    if seen.killed > 0 {
        add(format!("the kernel killed {} processes for lack of memory", seen.killed));
    }
    if let (Some(failure), true) = (&row.failure, row.failed > 0) {
        add(format!("{} interactions failed, the first was {failure}", row.failed));
    }
    if row.not_begun > 0 {
        add(format!(
            "{} arrivals found no free user before the end of the step, so that the response is longer \
             than shown",
            row.not_begun
        ));
    }
    if seen.metered.lost > 0 {
        add(format!(
            "{} records of the kernel were lost: idle times and the split are not exact",
            seen.metered.lost
        ));
    }
    match seen.cut {
        Some(Cut::NoSteadyState(_)) => {
            add("the response has not settled; give a longer --duration".to_owned());
        }
        Some(Cut::TooFew) => {
            add("too few interactions to leave out a beginning; give a longer --duration"
                .to_owned());
        }
        Some(Cut::After(_)) | None => {}
    }
    let missing = seen.metered.missing.as_ref().map(|reason| {
        Warning::Text(format!(
            "idle time is split by samples, and where the time of commands went is missing: {reason}; run nbuf by \
             sudo"
        ))
    });
    notes.extend(missing.filter(|note| !notes.contains(note)));
}
