//! The sections of a shape, in the order of the report.

use nbuf::experiment::result::{TraceDocument, TraceShape};

use super::super::chart::Chart;
use super::super::heat::Heat;
use super::super::table::Table;
use super::super::text::grouped;
use super::words::{keys, percent, share};
use super::{against, patterns, policies, popularity, reuse, time};

/// A part of the report.
#[derive(Default)]
pub(super) struct Section {
    pub(super) title: &'static str,
    /// Sentences.
    pub(super) lines: Vec<String>,
    pub(super) tables: Vec<Table>,
    pub(super) charts: Vec<Chart>,
    pub(super) heats: Vec<Heat>,
}

/// All of them; none where only counts were asked for.
pub(super) fn sections(document: &TraceDocument) -> Vec<Section> {
    let Some(shape) = &document.shape else { return Vec::new() };
    let other = document.against.as_deref();
    let mut sections: Vec<Section> =
        other.and_then(|other| against::section(document, other)).into_iter().collect();
    sections.extend([
        ceiling(shape),
        popularity::section(shape),
        reuse::distances(shape),
        reuse::times(shape),
        reuse::sizes(shape),
        reuse::lifetimes(shape),
        patterns::section(shape),
        time::working_set(shape),
        time::mix(shape),
    ]);
    sections.extend(shape.policies.as_ref().map(|judged| policies::section(shape, judged)));
    sections
}

/// Why something is not known, if it is not.
pub(super) fn lacking(shape: &TraceShape, what: &str) -> Option<String> {
    let absent = shape.absent.iter().find(|absent| absent.what == what)?;
    Some(format!("Not known: {}.", absent.reason))
}

/// The answer of the report.
pub(super) fn most(shape: &TraceShape) -> String {
    let ceiling = &shape.ceiling;
    format!(
        "A cache that holds everything hits {} of accesses; {} are first uses, which miss in any cache.",
        share(ceiling.hit_ratio),
        grouped(ceiling.compulsory_misses)
    )
}

/// What a cache of any policy could hit.
fn ceiling(shape: &TraceShape) -> Section {
    let mut lines = vec![most(shape)];
    let ceiling = &shape.ceiling;
    if let (Some(bytes), Some(compulsory), Some(ratio)) =
        (ceiling.bytes, ceiling.compulsory_bytes, ceiling.byte_hit_ratio)
    {
        lines.push(format!(
            "It hits {} of the bytes: {bytes} are asked for, and {compulsory} of them by first uses.",
            share(ratio)
        ));
    } else if shape.unit == "key" {
        lines.extend(lacking(shape, "sizes"));
    }
    if let Some(rate) = shape.sample {
        lines.push(format!(
            "This is a sample: {} of the {}s, chosen by a hash. Numbers of {}s, stack distances and first uses are estimates for all.",
            share(rate),
            shape.unit,
            shape.unit
        ));
    }
    let once = shape.popularity.used_once;
    lines.push(format!(
        "One-hit wonders: {} of {} are used once, {} of them.",
        grouped(once),
        keys(shape, shape.keys),
        percent(once, shape.keys)
    ));
    Section { title: "What any cache could hit", lines, ..Section::default() }
}
