//! A probe of a service, for people: what each limit did, and what ended it.

use nbuf::experiment::result::{
    LivePressureOf, LiveProbe, LiveProbeEnd, LiveProbeRates, LiveProbeStep,
};
use nbuf::units::Bytes;

use super::super::table::{Table, number};
use super::super::text::rate;
use super::note::Note;

/// What each limit did.
pub(super) fn sheet(probe: &LiveProbe) -> Table {
    let measured = |step: &LiveProbeStep, of: fn(LiveProbeRates) -> f64| step.measured.map(of);
    let none = || "-".to_owned();
    let share = |share: Option<f64>| share.map_or_else(none, |s| format!("{:.1}", s * 100.0));
    Table::of("Limits that were tried", &probe.steps)
        .column(number("limit"), |step| step.limit_bytes.to_string())
        .column(number("cache").rank(2), |step| step.cache_bytes.to_string())
        .column(number("predicted/s").rank(1), |step| rate(step.predicted_per_second))
        .column(number("expected/s"), |step| {
            rate(step.expected_per_second.unwrap_or(step.predicted_per_second))
        })
        .column(number("measured/s"), |step| {
            measured(step, |rates| rates.fills_per_second).map_or_else(none, rate)
        })
        .column(number("memory %").rank(1), |step| {
            share(measured(step, |rates| rates.memory_pressure))
        })
        .column(number("I/O %").rank(1), |step| share(measured(step, |rates| rates.io_pressure)))
        .column(number("back s"), back)
        .done()
}

/// How long the cache took to come back.
fn back(step: &LiveProbeStep) -> String {
    match step.back_seconds {
        Some(seconds) => format!("{seconds:.1}"),
        None => format!(">{:.0}", step.back_watched_seconds),
    }
}

fn limit(limit: Option<Bytes>) -> String {
    limit.map_or_else(|| "no limit".to_owned(), |limit| limit.to_string())
}

/// What ended it.
fn end(probe: &LiveProbe) -> Note {
    let of = match probe.pressure_of {
        LivePressureOf::Group => "of the group",
        LivePressureOf::Machine => "of the machine",
        LivePressureOf::Nothing => "by fills",
    };
    Note::Warning(match probe.end {
        LiveProbeEnd::Complete => {
            return Note::Plain("Probed: all limits were tried.".to_owned());
        }
        LiveProbeEnd::Declined => return Note::Plain("Not probed.".to_owned()),
        LiveProbeEnd::NoStep => {
            "not probed: no known size meets the target below the limit of now. Watch longer, or ask \
             for less with --target."
                .to_owned()
        }
        LiveProbeEnd::Pressure => format!(
            "the probe ended early: the pressure {of} was above {:.0} %.",
            probe.pressure_max * 100.0
        ),
        LiveProbeEnd::NoRoom => {
            "the probe ended early: the other memory of the service has grown, and the next limit has no \
             room for it."
                .to_owned()
        }
        LiveProbeEnd::Grew => {
            "the probe ended early: the other memory of the service grew under the limit, which was lifted \
             at once."
                .to_owned()
        }
        LiveProbeEnd::Killed => {
            "the kernel killed a process of the group under the limit.".to_owned()
        }
        LiveProbeEnd::Changed => format!(
            "the probe ended early: another program changed the limit to {}, which was left alone.",
            limit(probe.after_bytes)
        ),
        LiveProbeEnd::Ended => "the service ended while it was probed.".to_owned(),
        LiveProbeEnd::Interrupted => "the probe was interrupted.".to_owned(),
        LiveProbeEnd::Refused => format!(
            "the probe ended early: the kernel refused: {}.",
            probe.error.as_deref().unwrap_or("no reason is known")
        ),
    })
}

/// What to know of it.
pub(super) fn notes(probe: &LiveProbe) -> Vec<Note> {
    let mut notes = vec![end(probe)];
    if probe.is_restored {
        let text = format!("The limit is what it was: {}.", limit(probe.before_bytes));
        notes.push(Note::Plain(text));
    } else if probe.end != LiveProbeEnd::Changed {
        notes.push(Note::Warning(format!(
            "the limit in {} is {}, and was {}: look at it. `nbuf size --restore-limits` puts back one of the \
             probe's.",
            probe.file,
            limit(probe.after_bytes),
            limit(probe.before_bytes)
        )));
    }
    if probe.steps.is_empty() {
        return notes;
    }
    let free = &probe.free;
    notes.push(Note::Plain(format!(
        "Before the first limit: {} fills a second, {:.1} % of the time waiting for memory, {:.1} % for I/O. Measured \
         fills are pages that came back after they had been evicted, with what the kernel read ahead of them. A service that waits reads less: expected is the prediction at the pace of \
         its calls under the limit.",
        rate(free.fills_per_second),
        free.memory_pressure * 100.0,
        free.io_pressure * 100.0
    )));
    notes.push(Note::Plain(
        match probe.pressure_of {
            LivePressureOf::Group => "Pressure is the group's own.",
            LivePressureOf::Machine => {
                "Pressure is the whole machine's: the group has none of its own, and other programs count."
            }
            LivePressureOf::Nothing => {
                "The kernel keeps no pressure here: twice the predicted fills end a probe instead."
            }
        }
        .to_owned(),
    ));
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use nbuf::experiment::result::LiveProbeRates;

    pub(in super::super) fn probe() -> LiveProbe {
        let step = |mib: u64, fills: f64| LiveProbeStep {
            limit_bytes: Bytes(mib << 20),
            cache_bytes: Bytes((mib - 12) << 20),
            predicted_per_second: fills,
            expected_per_second: Some(fills * 0.875),
            measured: Some(LiveProbeRates {
                seconds: 6.0,
                fills_per_second: fills * 1.1,
                calls_per_second: 100.0,
                memory_pressure: 0.012,
                io_pressure: 0.034,
            }),
            back_seconds: Some(2.5),
            ..LiveProbeStep::default()
        };
        let steps = vec![step(90, 10.0), step(53, 400.0)];
        LiveProbe { is_restored: true, steps, ..LiveProbe::default() }
    }

    #[test]
    fn each_limit_has_a_row() {
        let shown = sheet(&probe()).draw(100);
        let row = shown.lines().last().unwrap().split_whitespace().collect::<Vec<_>>();
        assert_eq!(row.join(" "), "53.0 MiB 41.0 MiB 400 350 440 1.2 3.4 2.5");
        assert!(notes(&probe())[1].to_string().contains("The limit is what it was: no limit"));
    }

    #[test]
    fn what_another_program_set_is_said() {
        let changed = LiveProbe {
            end: LiveProbeEnd::Changed,
            is_restored: false,
            after_bytes: Some(Bytes(64 << 20)),
            ..probe()
        };
        let notes = notes(&changed);
        assert!(
            notes[0].to_string().contains("changed the limit to 64.0 MiB, which was left alone"),
            "{notes:?}"
        );
        let refused = LiveProbe { end: LiveProbeEnd::Refused, ..changed };
        assert!(super::notes(&refused)[1].to_string().contains("--restore-limits"));
    }
}
