//! What is to be measured, in order: rows, floors and comparisons, lines.

use std::path::PathBuf;
use std::time::Duration;

use super::comparisons::{self, Comparison};
use super::measure::Effort;
use super::pair::Design;
use super::table::Test;
use crate::experiment::result::{BenchDocument, State};

/// What is to be measured.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// Where the files lie.
    pub directory: PathBuf,
    /// Whether a file of the caller's is read instead of ours.
    pub is_lent: bool,
    /// Rows.
    pub tests: Vec<Test>,
    /// For each row.
    pub effort: Effort,
    /// Whether the noise floor of what is in memory is measured even where nothing is compared.
    pub has_floor: bool,
    /// Comparisons, each kind with its floor.
    pub comparisons: Vec<Comparison>,
    /// The design for data in memory.
    pub memory: Design,
    /// The design for data from a device.
    pub device: Design,
    /// Lines to lay: path, whether it writes, state.
    pub models: Vec<(&'static str, bool, State)>,
    /// The file of the lines.
    pub model_bytes: u64,
    /// When nothing new is begun any more; what was not reached is named.
    pub time_max: Option<Duration>,
    /// A slowdown to plant in every sample, in percent, to see whether comparisons find it.
    pub slowdown_percent: f64,
}

impl Plan {
    /// Steps that progress is reported in.
    pub(super) fn steps(&self) -> usize {
        let of = |design: &Design| design.same * design.rounds();
        let floors = usize::from(self.needs_floor(false)) * of(&self.memory)
            + usize::from(self.needs_floor(true)) * of(&self.device);
        let rows: u64 = self.tests.iter().map(|test| self.effort.processes_of(test)).sum();
        usize::try_from(rows).unwrap_or(usize::MAX)
            + floors
            + self.comparisons.len()
            + self.models.len()
    }

    /// Whether a floor is measured: of what comes from a device, or of what is in memory.
    pub(super) fn needs_floor(&self, of_device: bool) -> bool {
        let is_compared = self.comparisons.iter().any(|pair| pair.needs_device() == of_device);
        is_compared || self.has_floor && !of_device
    }

    /// What the floor of a kind is measured on.
    pub(super) fn floor_tests(&self, needs_device: bool) -> Vec<Test> {
        let first = self.comparisons.iter().find(|pair| pair.needs_device() == needs_device);
        comparisons::same(needs_device, first.map(|first| first.a.size_bytes))
    }

    /// What a document has nothing of, by name.
    pub(super) fn missing(&self, document: &BenchDocument) -> Vec<String> {
        let is_refused = |name: &str| document.refused.iter().any(|refused| refused.test == name);
        let mut missing = Vec::new();
        for test in &self.tests {
            if document.rows.iter().all(|row| row.test != test.name) && !is_refused(&test.name) {
                missing.push(test.name.clone());
            }
        }
        for pair in &self.comparisons {
            let (name, label) = (pair.name(), [pair.a.label(), pair.b.label()]);
            let is_there = document.comparisons.iter().any(|found| {
                found.question == pair.question
                    && found.pattern == pair.b.shape()
                    && [&found.a, &found.b] == [&label[0], &label[1]]
            });
            if !is_there && !is_refused(&name) {
                missing.push(name);
            }
        }
        for &(path, is_write, state) in &self.models {
            let direction = if is_write { "write" } else { "read" };
            let name = super::model::name(path, state);
            let is_there = document.models.iter().any(|model| {
                model.path == path && model.direction == direction && model.state == state
            });
            if !is_there && !is_refused(&name) {
                missing.push(name);
            }
        }
        missing
    }
}
