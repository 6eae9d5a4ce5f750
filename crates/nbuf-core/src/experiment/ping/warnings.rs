//! What a reader of wake-ups must know about the run: its end, its processors, its company.

use super::super::result::{PingMachine, PingRow};
use super::super::warning::{PingWarning, Warning};
use crate::path::wake::{Placement, Waits};

/// The warnings of a whole run.
pub(super) fn of(rows: &[PingRow], machine: &PingMachine, interrupted: bool) -> Vec<Warning> {
    let never_idle = |row: &&PingRow| {
        row.placement == Placement::OtherCore.name()
            && row.waits == Waits::Sleeping.name()
            && row.idle.is_some_and(|idle| idle < 0.05)
    };
    let busy = rows.iter().filter(never_idle).count();
    let (clean, samples): (u64, u64) =
        rows.iter().fold((0, 0), |(clean, all), row| (clean + row.clean, all + row.samples));
    let waited = samples.saturating_sub(clean);
    let is_disturbed = samples > 0 && clean < samples / 2;
    let found = [
        interrupted.then_some(PingWarning::Interrupted),
        machine.siblings.then_some(PingWarning::OneCore),
        (busy > 0).then_some(PingWarning::NeverIdle { rows: busy }),
        is_disturbed.then_some(PingWarning::Busy { waited, samples }),
    ];
    found.into_iter().flatten().map(Warning::Ping).collect()
}
