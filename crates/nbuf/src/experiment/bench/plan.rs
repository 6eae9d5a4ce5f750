//! What is to be measured, and what that costs: told before it begins.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::measure::Effort;
use super::model;
use super::pair::Design;
use super::table::Test;
use super::versus::{Versus, is_device};
use crate::experiment::result::State;
use crate::units::Bytes;

/// What is to be measured.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Where the files lie.
    pub directory: PathBuf,
    /// Rows.
    pub tests: Vec<Test>,
    /// For each row.
    pub effort: Effort,
    /// Whether the noise floor of what is in memory is measured even where nothing is compared.
    pub has_floor: bool,
    /// Comparisons, each kind with its floor.
    pub versus: Vec<Versus>,
    /// Of what is in memory.
    pub memory: Design,
    /// Of what comes from a device.
    pub device: Design,
    /// Lines to lay: path, whether it writes, state.
    pub models: Vec<(&'static str, bool, State)>,
    /// The file of the lines.
    pub model_bytes: u64,
}

/// What a plan costs, told before it begins.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Price {
    /// Files that are there at the same time.
    pub files: Bytes,
    /// Seconds, about.
    pub seconds: f64,
}

/// What a process costs besides its samples: to start, to prepare its file, to find its slice.
const START_NS: u64 = 12_000_000;

impl Plan {
    /// What it costs. Files that grow are as large as what they grow to.
    pub fn price(&self) -> Price {
        let sides = self.versus.iter().flat_map(|versus| [&versus.a, &versus.b]);
        let files: BTreeSet<(bool, bool, u64)> = self
            .tests
            .iter()
            .chain(sides)
            .map(|test| (test.is_write, test.grows(), test.size_bytes))
            .chain(self.models.iter().map(|model| (model.1, false, self.model_bytes)))
            .collect();
        let design = |needs| if needs { &self.device } else { &self.memory };
        let compare = |design: &Design| {
            // A process that is not disturbed takes half of what it may.
            design.pairs as u64 * 2 * (design.effort.time_ns_max / 2 + START_NS)
        };
        let floors: u64 = [false, true]
            .into_iter()
            .filter(|&needs| self.needs_floor(needs))
            .map(|needs| compare(design(needs)) * design(needs).same as u64)
            .sum();
        let pairs: u64 =
            self.versus.iter().map(|versus| compare(design(versus.needs_device()))).sum();
        let row = |effort: &Effort| effort.processes * (effort.time_ns_max / 4 + START_NS);
        let points = (self.models.len() * model::BLOCKS.len()) as u64;
        let slow = self.tests.iter().filter(|test| is_device(test)).count() as u64;
        let slowly = self.effort.row_ns_max() * slow;
        let rows =
            self.tests.len() as u64 * row(&self.effort) + points * row(&model::EFFORT) + slowly;
        Price {
            files: Bytes(files.iter().map(|file| file.2).sum()),
            seconds: (rows + floors + pairs) as f64 / 1e9,
        }
    }

    /// Steps that progress is told in.
    pub fn steps(&self) -> usize {
        let floors = usize::from(self.needs_floor(false)) * self.memory.same
            + usize::from(self.needs_floor(true)) * self.device.same;
        self.tests.len() + floors + self.versus.len() + self.models.len()
    }

    /// Whether a floor is measured: of what comes from a device, or of what is in memory.
    pub(super) fn needs_floor(&self, of_device: bool) -> bool {
        let is_compared = self.versus.iter().any(|versus| versus.needs_device() == of_device);
        is_compared || self.has_floor && !of_device
    }
}
