//! The line through the times of a path: what a call costs, and what a byte.
//!
//! Blocks from a byte to a mebibyte are measured and t = a + b x size is laid through them. What is
//! more than 15 % off is shown as such: the line misses something there, a cache that ends, a buffer
//! that is gone round. Not a prediction for other patterns or states than its own.

use super::Error;
use super::measure::{Bench, Effort};
use super::table::{Layout, Test, modern};
use crate::experiment::result::{BenchModel, ModelPoint, Refused, State};
use crate::experiment::statistics::fit_line;
use crate::path::{self, Direction};
use crate::units::Bytes;

/// The blocks.
pub(super) const BLOCKS: [u64; 9] = [1, 16, 64, 512, 4096, 16384, 65536, 262_144, 1 << 20];

/// The effort for a point.
pub(super) const EFFORT: Effort = Effort {
    processes: 3,
    processes_device: 3,
    clean: 7,
    samples_max: 20,
    sample_ns: 700_000,
    time_ns_max: 40_000_000,
    is_whole_pass: false,
};

/// Processes of a line.
pub const PROCESSES: u64 = BLOCKS.len() as u64 * EFFORT.processes;

/// Paths and states that have a line.
pub(super) fn subjects() -> Vec<(&'static str, bool, State)> {
    let wanted = [
        ("read", false, State::Hot),
        ("pread", false, State::Hot),
        ("stdio", false, State::Hot),
        ("mmap", false, State::Hot),
        ("io_uring", false, State::Hot),
        ("direct", false, State::Device),
        ("read", false, State::Cold),
        ("read", true, State::Overwrite),
        ("read", true, State::Append),
        ("stdio", true, State::Append),
    ];
    let is_there = |(name, is_write, _): &(&'static str, bool, State)| {
        let way = if *is_write { Direction::Write } else { Direction::Read };
        path::row(name).is_some_and(|row| row.directions.contains(&way))
    };
    wanted.into_iter().filter(is_there).collect()
}

/// What a line is called where there is none.
pub(super) fn name(path: &str, state: State) -> String {
    format!("model {path} {}", state.name())
}

/// Measures a line. Sizes that the path refuses are left out; nothing where fewer than three remain.
pub(super) fn line(
    bench: &mut Bench<'_>,
    (path, is_write, state): (&'static str, bool, State),
    size_bytes: u64,
) -> Result<Result<BenchModel, Refused>, Error> {
    let mut measured = Vec::new();
    let mut reason = "fewer than three sizes of block gave a number".to_owned();
    let blocks = BLOCKS.into_iter().filter(|block| *block <= size_bytes);
    let test = |block| modern(path, is_write, (Layout::Sequential, block), state, 1);
    let tests: Vec<Test> = blocks.map(|block| Test { size_bytes, ..test(block) }).collect();
    let (rows, ended) = bench.rows(&tests, &EFFORT, &mut |_| {});
    ended?;
    for row in rows {
        match row {
            Ok(row) => measured.push((row.block_bytes, row.operation_ns)),
            Err(refused) => reason = refused.reason,
        }
    }
    let none = Refused { test: name(path, state), reason, is_contradiction: false };
    if measured.len() < 3 {
        return Ok(Err(none));
    }
    let Some(model) = through(path, is_write, state, &measured) else { return Ok(Err(none)) };
    Ok(match misfit(&model) {
        Some(reason) => Err(Refused { reason, ..none }),
        None => Ok(model),
    })
}

/// A point that is so far off its line, in percent, that no line describes the path.
const MISFIT_PERCENT: f64 = 50.0;

/// Why the line is none: the point that is farthest off.
fn misfit(model: &BenchModel) -> Option<String> {
    let off = |point: &&ModelPoint| point.residual_percent.abs();
    let worst = model.points.iter().max_by(|a, b| off(a).total_cmp(&off(b)))?;
    (off(&worst) > MISFIT_PERCENT).then(|| {
        format!(
            "no line fits: a block of {} takes {:.0} % {} than it says",
            Bytes(worst.block_bytes),
            worst.residual_percent.abs(),
            if worst.residual_percent > 0.0 { "more" } else { "less" }
        )
    })
}

/// Lays the line.
fn through(
    path: &str,
    is_write: bool,
    state: State,
    measured: &[(u64, f64)],
) -> Option<BenchModel> {
    let points: Vec<(f64, f64)> =
        measured.iter().map(|&(block, time)| (block as f64, time)).collect();
    let fit = fit_line(&points)?;
    let point = |&(block_bytes, measured_ns): &(u64, f64)| {
        let size = block_bytes as f64;
        ModelPoint {
            block_bytes,
            measured_ns,
            predicted_ns: fit.at(size),
            residual_percent: fit.residual(size, measured_ns) * 100.0,
        }
    };
    Some(BenchModel {
        path: path.to_owned(),
        direction: if is_write { "write" } else { "read" }.to_owned(),
        state,
        base_ns: fit.base,
        byte_ns: fit.slope,
        half_bandwidth_bytes: fit.half_size(),
        points: measured.iter().map(point).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_off_the_line_is_odd() {
        let on = |block: u64| (block, 300.0 + 0.05 * block as f64);
        let mut measured: Vec<(u64, f64)> = BLOCKS.map(on).to_vec();
        let model = through("read", false, State::Hot, &measured).unwrap();
        assert!((model.base_ns - 300.0).abs() < 1e-6 && (model.byte_ns - 0.05).abs() < 1e-9);
        assert!((model.half_bandwidth_bytes.unwrap() - 6000.0).abs() < 1e-3);
        assert!(!model.points.iter().any(ModelPoint::is_odd));
        measured[6].1 *= 1.4;
        let model = through("read", false, State::Hot, &measured).unwrap();
        let odd: Vec<u64> =
            model.points.iter().filter(|point| point.is_odd()).map(|p| p.block_bytes).collect();
        assert_eq!(odd, [65536]);
        assert_eq!(misfit(&model), None);
        measured[6].1 *= 4.0;
        let model = through("read", false, State::Hot, &measured).unwrap();
        let said = misfit(&model).unwrap();
        assert!(
            said.starts_with("no line fits: a block of 64.0 KiB takes ")
                && said.contains(" % more"),
            "{said}"
        );
    }
}
