//! What steps differ in besides their users: memory limits, places of a system table, and processors.

use nbuf::experiment::result::{LoadCurve, LoadDocument, LoadStep};

use super::super::table::{Column, number};

type Of = fn(&LoadCurve) -> String;

/// The columns that tell steps with the same users apart.
pub(super) struct Conditions(Vec<(&'static str, Of)>);

/// What steps differ in besides their users.
pub(super) fn conditions(document: &LoadDocument) -> Conditions {
    let mut all: Vec<(&'static str, Of)> = Vec::new();
    let curves = &document.curves;
    let is_any = |of: fn(&LoadCurve) -> bool| curves.iter().any(of);
    if !document.limits.is_empty() {
        all.push(("limit", |of| of.limit_bytes.map_or_else(String::new, |l| l.to_string())));
    }
    if is_any(|curve| curve.table.is_some()) {
        all.push(("table", |of| of.table.map_or_else(String::new, |table| table.to_string())));
    }
    if is_any(|curve| curve.cpus.is_some()) {
        all.push(("CPUs", |of| of.cpus.map_or_else(String::new, |cpus| cpus.to_string())));
    }
    Conditions(all)
}

impl Conditions {
    pub(super) fn columns(&self) -> impl Iterator<Item = Column> {
        self.0.iter().map(|(name, _)| number(*name))
    }

    pub(super) fn cells(&self, step: &LoadStep) -> Vec<String> {
        self.cells_of(&of_step(step))
    }

    pub(super) fn cells_of(&self, curve: &LoadCurve) -> Vec<String> {
        self.0.iter().map(|(_, of)| of(curve)).collect()
    }

    /// How lines and charts name a condition.
    pub(super) fn name(&self, curve: &LoadCurve) -> String {
        let word = |(name, of): &(&str, Of)| match *name {
            "limit" => of(curve),
            "table" => format!("table of {}", of(curve)),
            _ if curve.cpus == Some(1) => "1 CPU".to_owned(),
            name => format!("{} {name}", of(curve)),
        };
        self.0.iter().map(word).collect::<Vec<_>>().join(", ")
    }

    /// What a chart has a line for.
    pub(super) fn kind(&self) -> String {
        let word = |&(name, _): &(&str, Of)| match name {
            "limit" => "memory limit",
            "table" => "system table",
            _ => "number of CPUs",
        };
        self.0.iter().map(word).collect::<Vec<_>>().join(" and ")
    }

    /// Whether nothing was varied.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The condition of a step.
pub(super) fn of_step(step: &LoadStep) -> LoadCurve {
    LoadCurve { limit_bytes: step.limit_bytes, table: step.table, cpus: step.cpus, knee: None }
}
