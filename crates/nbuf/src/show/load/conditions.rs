//! What steps differ in besides their users: memory limits.

use nbuf::experiment::result::{LoadDocument, LoadStep};

use super::super::table::{Column, number};

type Of = fn(&LoadStep) -> String;

/// The columns that tell steps with the same users apart.
pub(super) struct Conditions(Vec<(&'static str, Of)>);

impl Conditions {
    pub(super) fn of(document: &LoadDocument) -> Self {
        let mut all: Vec<(&'static str, Of)> = Vec::new();
        if !document.limits.is_empty() {
            all.push(("limit", |step| {
                step.limit_bytes.map_or_else(String::new, |limit| limit.to_string())
            }));
        }
        Self(all)
    }

    pub(super) fn columns(&self) -> impl Iterator<Item = Column> {
        self.0.iter().map(|(name, _)| number(*name))
    }

    pub(super) fn cells(&self, step: &LoadStep) -> Vec<String> {
        self.0.iter().map(|(_, of)| of(step)).collect()
    }
}
