//! What is measured, and for how long.

use std::time::Duration;

use crate::path::wake::{Placement, Row};

/// What is measured, and for how long.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The mechanisms.
    pub mechanisms: Vec<Row>,
    /// The placements.
    pub placements: Vec<Placement>,
    /// Processes a row.
    pub processes: u64,
    /// Clean samples after which a process is done.
    pub samples_min: u64,
    /// Samples after which it gives up.
    pub samples_max: u64,
    /// Time after which it gives up; a few samples are measured in any case.
    pub time_max: Duration,
    /// Time beyond that which all processes together may wait for quiet moments.
    pub patience: Duration,
    /// Silence after which it is taken to hang: it says something after each batch, once a second has
    /// passed. It is ended after four times this and `time_max`, whatever it says.
    pub allowed: Duration,
}

impl Plan {
    /// All mechanisms in all placements, in three processes each.
    pub fn thorough(mechanisms: &[Row]) -> Self {
        Self {
            mechanisms: mechanisms.to_vec(),
            placements: Placement::ALL.to_vec(),
            processes: 3,
            samples_min: 100,
            samples_max: 200,
            time_max: Duration::from_millis(1500),
            patience: Duration::from_mins(2),
            allowed: Duration::from_secs(30),
        }
    }

    /// The same in one process each, within a minute.
    pub fn quick(mechanisms: &[Row]) -> Self {
        Self {
            processes: 1,
            samples_max: 120,
            time_max: Duration::from_millis(500),
            patience: Duration::from_secs(15),
            allowed: Duration::from_secs(10),
            ..Self::thorough(mechanisms)
        }
    }

    /// Returns the longest time it takes, in seconds, if nothing hangs. It is reported before the
    /// measurement begins.
    pub fn seconds_max(&self) -> f64 {
        let sampling = self.time_max.as_secs_f64() * self.steps() as f64;
        sampling + self.patience.as_secs_f64() + 1.0
    }

    /// Rows, and steps that there will be at most.
    pub fn steps(&self) -> usize {
        let rows = self.mechanisms.len() * self.placements.len();
        usize::try_from(self.processes).map_or(rows, |processes| rows.saturating_mul(processes))
    }
}
