//! A line for each interaction of a step: the ready message of 1969, for every command of every user.
//!
//! Cost: three strings for each interaction, one interaction at a time.

use std::io;

use super::script::Script;
use super::step::Seen;
use super::user::Interaction;
use crate::experiment::result::{LoadLine, LoadStep};
use crate::experiment::run::parts;
use crate::experiment::session::{Interim, Observer};
use crate::meter::split::Times;
use crate::units::Bytes;

/// Hands all interactions of a step to the observer, in the order of their answers. `number` is the step's, from 1.
pub(super) fn hand_over(
    script: &Script,
    number: u64,
    (row, seen): (&LoadStep, &Seen),
    observer: &dyn Observer,
) -> io::Result<()> {
    let mut all: Vec<(u32, &Interaction)> = Vec::new();
    for kept in &seen.kept {
        all.extend(kept.interactions.iter().map(|one| (kept.user, one)));
    }
    all.sort_by_key(|(_, one)| one.ended_ns);
    let split = seen.metered.by_end();
    for (user, one) in all {
        let line = line(script, (row, seen), (user, one), split.get(&one.ended_ns));
        observer.interim(Interim::LoadLine(&LoadLine { step: number, ..line }))?;
    }
    Ok(())
}

fn line(
    script: &Script,
    (row, seen): (&LoadStep, &Seen),
    (user, one): (u32, &Interaction),
    times: Option<&Times>,
) -> LoadLine {
    let class = script.classes.get(one.class);
    let action = class.and_then(|class| class.actions.get(one.action));
    let since = |time_ns: u64| time_ns.saturating_sub(seen.begin_ns);
    let of_command = |value: u64| one.is_command.then_some(value);
    LoadLine {
        step: 0,
        users: row.users,
        limit_bytes: row.limit_bytes,
        table: row.table,
        cpus: row.cpus,
        class: class.map(|class| class.name.clone()).unwrap_or_default(),
        user: user.saturating_add(1),
        action: action.map(|action| action.what.name()).unwrap_or_default(),
        intended_ns: since(one.intended_ns),
        began_ns: since(one.began_ns),
        ended_ns: since(one.ended_ns),
        think_ns: one.think_ns,
        place_ns: one.place_ns,
        cpu_ns: of_command(one.cpu_ns),
        major_faults: of_command(one.major_faults),
        minor_faults: of_command(one.minor_faults),
        read_bytes: of_command(one.bytes_read).map(Bytes),
        real_time: times.filter(|_| one.is_command).map(parts),
        has_failed: one.has_failed,
        is_counted: !one.has_failed && seen.has(one),
    }
}
