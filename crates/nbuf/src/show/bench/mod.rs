//! Results of `nbuf bench` for people.

mod advice;
mod compare;
mod csv;
mod lines;
mod model;
pub(crate) mod page;
mod table;
mod words;

pub(crate) use advice::advice;
pub(crate) use compare::comparison;
pub(crate) use csv::csv;
pub(crate) use page::page;
pub(crate) use table::list;
pub(crate) use words::rate;

use nbuf::experiment::result::{BenchDocument, NoiseFloor};
use nbuf::units::Bytes;

use super::text::{clean, wrap_each};
use words::percent;

/// The whole report.
pub(crate) fn report(document: &BenchDocument, width: usize) -> String {
    let mut text = table::rows(document, width);
    text.push_str(&lines::refused(document, width));
    text.push_str(&lines::comparisons(document, width));
    text.push_str(&model::lines(document, width));
    text.push_str(&model::points(document, width));
    text.push_str("\nMachine\n");
    wrap_each(&mut text, machine(document), width);
    if !document.warnings.is_empty() {
        text.push_str("\nWarnings\n");
        wrap_each(&mut text, &document.warnings, width);
    }
    text
}

/// Returns the facts about the machine that a reader needs to judge the figures.
fn machine(document: &BenchDocument) -> Vec<String> {
    let machine = &document.machine;
    let named = |text: &str| if text.is_empty() { "unknown".to_owned() } else { text.to_owned() };
    let mut libraries: Vec<&str> = Vec::new();
    for row in &document.rows {
        if !libraries.contains(&row.c_library.as_str()) {
            libraries.push(&row.c_library);
        }
    }
    let processors = machine.processors;
    let [cache, memory, readahead] =
        [machine.cache_bytes, machine.memory_bytes, machine.readahead_bytes].map(Bytes);
    let mut lines = vec![
        format!(
            "{}, {processors} processors, cache {cache}, memory {memory}, Linux {}",
            named(&machine.processor),
            named(&machine.kernel)
        ),
        format!(
            "{}, readahead {readahead}, scheduler {}; behind a virtual device the host may cache",
            named(&machine.filesystem),
            named(&machine.scheduler)
        ),
    ];
    if !libraries.is_empty() {
        let libraries = libraries.join(", ");
        lines.push(format!("system calls and stdio go through {}", clean(&libraries)));
    }
    let pressure = |name: &str, of: Option<f64>| {
        of.map(|of| format!("tasks waited for {name} {} of the time at the start", percent(of)))
    };
    lines.extend(pressure("a processor", machine.processor_pressure_percent));
    lines.extend(pressure("a disc", machine.disc_pressure_percent));
    let (all, clean) = document
        .rows
        .iter()
        .fold((0, 0), |(all, clean), row| (all + row.samples, clean + row.clean));
    if all > 0 {
        lines.push(format!("{clean} of {all} samples of the rows were clean"));
    }
    lines.extend(history(document));
    lines.extend(floors(document));
    if document.noise_floor.is_none() && document.noise_floor_device.is_none() {
        lines.push("no noise floor was measured, and nothing is compared".to_owned());
    }
    lines.push(format!("took {:.0} s", machine.seconds));
    lines
}

/// How many runs the ranges rest on.
fn history(document: &BenchDocument) -> Option<String> {
    let runs = || document.rows.iter().map(|row| row.earlier_runs);
    let (least, most) = (runs().min()?, runs().max()?);
    Some(match (least, most) {
        (_, 0) => "ranges rest on this run alone: repeat it three times for ranges that cover the next run"
            .to_owned(),
        (least, most) if least == most => format!("ranges rest on {most} earlier runs of this machine"),
        _ => format!("ranges rest on {least} to {most} earlier runs of this machine"),
    })
}

/// The noise floors.
fn floors(document: &BenchDocument) -> Vec<String> {
    let floors = [
        ("noise floor", &document.noise_floor),
        ("noise floor to the device", &document.noise_floor_device),
    ];
    let line = |(name, floor): (&str, &Option<NoiseFloor>)| {
        let floor = floor.as_ref()?;
        let NoiseFloor { comparisons, pairs, .. } = floor;
        let [least, typical, worst] =
            [floor.percent, floor.typical_percent, floor.worst_percent].map(percent);
        Some(format!(
            "{name} {least}: p95 of {comparisons} comparisons of a test with itself (p50 {typical}, max {worst}; {pairs} \
             pairs of fresh processes each)"
        ))
    };
    floors.into_iter().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use nbuf::experiment::result::BenchRow;

    use super::*;

    #[test]
    fn a_report_says_how_many_runs_its_ranges_rest_on() {
        let said = |runs: &[u64]| {
            let row = |&earlier_runs: &u64| BenchRow { earlier_runs, ..BenchRow::default() };
            let rows = runs.iter().map(row).collect();
            history(&BenchDocument { rows, ..BenchDocument::default() }).unwrap_or_default()
        };
        assert_eq!(said(&[]), "");
        assert!(said(&[0, 0]).starts_with("ranges rest on this run alone: repeat it three times"));
        assert_eq!(said(&[12, 12]), "ranges rest on 12 earlier runs of this machine");
        assert_eq!(said(&[0, 7]), "ranges rest on 0 to 7 earlier runs of this machine");
    }
}
