//! The machine of the NBS after a shot: processes that read short tables again and again, and compute.
//!
//! The paper says of it that a shot took 22 s without the cache and 18 s with it, in which the processor
//! was busy all the time; that about 60 % of the requests hit; that the most useful things in the cache
//! were short tables far behind in one big partition. All numbers here are fitted to that; what follows
//! from them is that the cache turns a machine that waits for its disc into one that computes.
//!
//! V. Jacobson, *A MAX-IV Disc Cache*, LBL-15552, 1982, sections 3.1 and 3.3. Deterministic by the seed.
//!
//! ```
//! use nbuf::workload::synthetic::shot::{PROCESSES, workers};
//!
//! let workers = workers(1, 300 << 20)?;
//! assert_eq!(workers.len(), PROCESSES as usize);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::VecDeque;

use super::tools::{SECTOR_BYTES, TRACK_SECTORS};
use crate::clock::Random;
use crate::trace::request::{Op, Request};
use crate::units::Nanos;
use crate::workload::process::{Process, Step};

/// Processes that work on a shot.
pub const PROCESSES: u32 = 6;
/// Tables that each of them reads.
const READINGS: u32 = 22;
/// Tables in the partition, each on a track of its own.
const TABLES: u64 = 36;
/// Sectors of a table.
const TABLE_SECTORS: u32 = 4;
/// One of this many readings ends with a result that is written.
const READINGS_A_RESULT: u64 = 4;
/// Sectors of a result, which is ended with an EOF.
const RESULT_SECTORS: u32 = 2;
/// Computing before each request.
const COMPUTE: Nanos = Nanos::from_micros(28_500);
/// Where the tables begin in their partition: behind what an admission filter would let pass.
const FIRST_POSITION: u32 = 1_000;

/// Bytes of a disc that it needs: results lie behind the middle.
const BYTES_MIN: u64 = 2 * (2 + PROCESSES as u64 * READINGS as u64) * TRACK_SECTORS * SECTOR_BYTES;

/// A disc is too small.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a shot needs a disc of {BYTES_MIN} B, and this one has {size_bytes} B: choose a larger disc"
)]
pub struct DiscTooSmall {
    /// What there is.
    pub size_bytes: u64,
}

/// One of the processes.
#[derive(Clone, Debug)]
pub struct Worker {
    number: u64,
    readings_left: u32,
    tracks: u64,
    random: Random,
    steps: VecDeque<Step>,
}

/// All of them, on a disc of this size: tables all over it, results in the middle.
pub fn workers(seed: u64, size_bytes: u64) -> Result<Vec<Worker>, DiscTooSmall> {
    if size_bytes < BYTES_MIN {
        return Err(DiscTooSmall { size_bytes });
    }
    let worker = |number: u32| Worker {
        number: number.into(),
        readings_left: READINGS,
        tracks: size_bytes / (SECTOR_BYTES * TRACK_SECTORS),
        random: Random::new(seed ^ (u64::from(number) + 1).rotate_left(40)),
        steps: VecDeque::new(),
    };
    Ok((0..PROCESSES).map(worker).collect())
}

impl Process for Worker {
    fn step(&mut self) -> Option<Step> {
        if self.steps.is_empty() && self.readings_left > 0 {
            self.readings_left -= 1;
            self.read_table();
        }
        self.steps.pop_front()
    }
}

impl Worker {
    fn read_table(&mut self) {
        let table = self.random.below(TABLES);
        let first = table * (self.tracks / TABLES) * TRACK_SECTORS;
        let position = FIRST_POSITION + u32::try_from(table).unwrap_or(0) * TABLE_SECTORS;
        for sector in 0..TABLE_SECTORS {
            self.ask(Op::Read, first + u64::from(sector), position + sector, SECTOR_BYTES);
        }
        if self.random.below(READINGS_A_RESULT) == 0 {
            let results = self.tracks / 2 + 1 + self.number * u64::from(READINGS);
            let first = (results + u64::from(self.readings_left)) * TRACK_SECTORS;
            for sector in 0..RESULT_SECTORS {
                self.ask(Op::Write, first + u64::from(sector), sector, SECTOR_BYTES);
            }
            // A write of no bytes ends the file.
            self.ask(Op::Write, first + u64::from(RESULT_SECTORS), RESULT_SECTORS, 0);
        }
    }

    fn ask(&mut self, op: Op, sector: u64, position: u32, length_bytes: u64) {
        let request = Request::new(op, sector * SECTOR_BYTES, length_bytes);
        let request = Step::Request(Request { position, ..request });
        self.steps.extend([Step::Compute(COMPUTE), request]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_lies_on_the_disc() {
        assert!(workers(1, BYTES_MIN - 1).is_err());
        for size_bytes in [BYTES_MIN, 80_000_000] {
            for mut worker in workers(1, size_bytes).unwrap() {
                while let Some(step) = worker.step() {
                    let Step::Request(request) = step else { continue };
                    assert!(request.offset + SECTOR_BYTES <= size_bytes, "{request:?}");
                    let is_table = request.op == Op::Read;
                    assert_eq!(is_table, request.position >= FIRST_POSITION, "{request:?}");
                }
            }
        }
    }
}
