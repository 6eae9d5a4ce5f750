//! What to know of the figures of a step.

use super::bounds;
use super::step::Seen;
use super::warm_up::Cut;
use crate::experiment::result::{LoadStep, Warning};
use crate::experiment::warning::{LoadStepName, LoadWarning};

/// Other processes with this share of all processors slow a step.
const OTHERS_MIN: f64 = 0.25;

/// Other work of the machine, where it took a quarter of all processors or more.
pub(super) fn strangers(row: &LoadStep, processors: u32) -> Option<Warning> {
    let processors = row.cpus.unwrap_or(processors);
    let share = row.processors_busy? - bounds::own_share(row, processors)?;
    let warning = LoadWarning::OthersBusy { step: row.into(), share };
    (share >= OTHERS_MIN).then_some(Warning::Load(warning))
}

/// What to know of the figures of a step.
pub(super) fn note(row: &LoadStep, seen: &Seen, notes: &mut Vec<Warning>) {
    let step = LoadStepName::from(row);
    let mut add = |warning| notes.push(Warning::Load(warning));
    if seen.killed > 0 {
        add(LoadWarning::Killed { step, processes: seen.killed });
    }
    if let (Some(first), true) = (&row.failure, row.failed > 0) {
        add(LoadWarning::Failed { step, failed: row.failed, first: first.clone() });
    }
    if row.not_begun > 0 {
        add(LoadWarning::NotBegun { step, arrivals: row.not_begun });
    }
    if seen.metered.lost > 0 {
        add(LoadWarning::RecordsLost { step, records: seen.metered.lost });
    }
    match seen.cut {
        Some(Cut::NoSteadyState(_)) => add(LoadWarning::NotSettled { step }),
        Some(Cut::TooFew) => add(LoadWarning::TooFew { step }),
        Some(Cut::After(_)) | None => {}
    }
    let missing = seen.metered.missing.clone();
    let missing = missing.map(|reason| Warning::Load(LoadWarning::SplitMissing { reason }));
    notes.extend(missing.filter(|note| !notes.contains(note)));
}
