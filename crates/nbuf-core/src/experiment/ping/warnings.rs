//! What a reader of wake-ups must know about the run: its end, its processors, its company.

use super::super::result::{PingMachine, PingRow};
use crate::path::wake::{Placement, Waits};

/// The warnings of a whole run.
pub(super) fn of(rows: &[PingRow], machine: &PingMachine, interrupted: bool) -> Vec<String> {
    let mut warnings = Vec::new();
    if interrupted {
        warnings.push("it was ended early: rows are missing, or have fewer samples".to_owned());
    }
    if machine.siblings {
        warnings.push(
            "the other core is another thread of the same core: there is no other".to_owned(),
        );
    }
    let never_idle = |row: &&PingRow| {
        row.placement == Placement::OtherCore.name()
            && row.waits == Waits::Sleeping.name()
            && row.idle.is_some_and(|idle| idle < 0.05)
    };
    let busy = rows.iter().filter(never_idle).count();
    if busy > 0 {
        warnings.push(format!(
            "in {busy} rows on two cores the processors did not idle while our threads slept: taking a processor \
             from another program costs a different time than waking an idle one"
        ));
    }
    let (clean, all) =
        rows.iter().fold((0, 0), |(clean, all), row| (clean + row.clean, all + row.samples));
    if all > 0 && clean < all / 2 {
        warnings.push(format!(
            "the machine is busy: our threads waited for others in {} of {all} samples",
            all - clean
        ));
    }
    warnings
}
