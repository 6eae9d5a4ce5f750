//! What to use instead: other paths, and larger blocks where the order allows them, measured against
//! what is done now.
//!
//! Every way is tried once; the best few are compared with now by pairs of fresh processes, beside the floor
//! of this very pattern. Advice is given only where all of the interval lies above it. Not a
//! judgement of what a program would have to change: a mapping and a ring are other programs.

use super::asked::Asked;
use super::measure::{Bench, Effort};
use super::pair::{self, Design};
use super::session;
use super::table::{Layout, Test, is_direct, is_synced};
use super::{Error, versus};
use crate::experiment::result::{
    AdviceDocument, BenchComparison, BenchRow, NoiseFloor, Refused, State,
};
use crate::experiment::statistics::{Floor, Verdict};
use crate::path::{self, Direction};

/// Ways that are compared after all were tried.
const BEST: usize = 4;
/// Larger blocks that are tried in sequence.
const LARGER: [u64; 2] = [4096, 65536];
/// To try a way.
const TRY: Effort = Effort {
    processes: 3,
    processes_device: 3,
    clean: 5,
    samples_max: 15,
    sample_ns: 700_000,
    time_ns_max: 40_000_000,
};

/// How a pattern is done now, and the other ways to do it.
pub fn candidates(asked: &Asked, now: &'static str, size_bytes: u64) -> Vec<Test> {
    let way = if asked.is_write { Direction::Write } else { Direction::Read };
    // What waits for the device does more than was asked for, `null` does nothing, and without the C
    // library no program reads.
    let serves = |row: &&path::Row| {
        let is_other = row.name == "null"
            || is_synced(row.name)
            || row.name.starts_with("option")
            || row.name.ends_with("-raw");
        let is_past_memory = is_direct(row.name) && asked.state != State::Cold;
        // A file for each stride is a way for strides only.
        let is_for_strides = row.name == "stdio-multi";
        let is_fit = !is_for_strides || matches!(asked.layout, Layout::Strided(_));
        row.directions.contains(&way) && !is_other && !is_past_memory && is_fit
    };
    let mut tests = Vec::new();
    for row in path::PATHS.iter().filter(serves) {
        if row.name != now {
            tests.push(asked.test(row.name, asked.block_bytes, size_bytes));
        }
        let is_plain = ["read", "pread", "stdio", "mmap", "direct"].contains(&row.name);
        if asked.layout == Layout::Sequential && is_plain {
            let larger = LARGER.into_iter().filter(|block| *block > asked.block_bytes);
            tests.extend(larger.map(|block| asked.test(row.name, block, size_bytes)));
        }
    }
    tests
}

/// Measures and advises. `step` is told what comes next. No document where now itself gives no
/// number.
pub fn run(
    bench: &mut Bench<'_>,
    asked: &Asked,
    now: &'static str,
    size_bytes: u64,
    step: &mut dyn FnMut(&str),
) -> Result<Result<AdviceDocument, Refused>, Error> {
    let test = asked.test(now, asked.block_bytes, size_bytes);
    step("now");
    let row = match bench.row(&test, &TRY)? {
        Ok(row) => row,
        Err(refused) => return Ok(Err(refused)),
    };
    let mut refused = Vec::new();
    let mut tried: Vec<(Test, BenchRow)> = Vec::new();
    for test in candidates(asked, now, size_bytes) {
        step(&test.name);
        match bench.row(&test, &TRY)? {
            Ok(row) => tried.push((test, row)),
            Err(reason) => refused.push(reason),
        }
    }
    tried.sort_by(|a, b| b.1.bytes_per_second.total_cmp(&a.1.bytes_per_second));
    let is_device =
        versus::is_device(&test) || tried.iter().any(|(test, _)| versus::is_device(test));
    let design = if is_device { Design::DEVICE } else { Design::MEMORY }.brief();
    let same = [test.clone()];
    let floor = pair::floor(bench, &same, &design, &mut || step("noise floor"))?;
    let Some((floor, design)) = floor else {
        let reason = "it cannot be compared with itself".to_owned();
        return Ok(Err(Refused { test: test.name, reason, is_contradiction: false }));
    };
    let mut ways = Vec::new();
    for (other, _) in tried.iter().take(BEST) {
        step(&other.name);
        match pair::compare(bench, &test, other, &design)? {
            Ok(ratio) => ways.push(way(&test, other, ratio.judge(floor.magnitude))),
            Err(reason) => {
                refused.push(Refused { test: other.name.clone(), reason, is_contradiction: false });
            }
        }
    }
    Ok(Ok(document(&test, row, (floor, &same), ways, refused)))
}

fn way(
    now: &Test,
    other: &Test,
    finding: crate::experiment::statistics::Finding,
) -> (BenchComparison, Verdict) {
    let comparison = BenchComparison {
        question: "instead of what is done now".to_owned(),
        pattern: other.pattern(),
        a: format!("{}, {} B", now.path, now.block_bytes),
        b: format!("{}, {} B", other.path, other.block_bytes),
        ratio: finding.ratio.middle,
        low: finding.ratio.low,
        high: finding.ratio.high,
        pairs: finding.ratio.pairs,
        verdict: session::verdict(finding.verdict).to_owned(),
    };
    (comparison, finding.verdict)
}

fn document(
    test: &Test,
    now: BenchRow,
    (floor, same): (Floor, &[Test]),
    mut ways: Vec<(BenchComparison, Verdict)>,
    refused: Vec<Refused>,
) -> AdviceDocument {
    ways.sort_by(|a, b| b.0.ratio.total_cmp(&a.0.ratio));
    let noise_floor: NoiseFloor = session::told(&floor, same);
    AdviceDocument {
        schema: AdviceDocument::SCHEMA.to_owned(),
        pattern: test.pattern(),
        now,
        noise_floor,
        is_advised: ways.first().is_some_and(|(_, verdict)| *verdict == Verdict::More),
        ways: ways.into_iter().map(|(comparison, _)| comparison).collect(),
        refused,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_for_each_stride_is_tried_for_strides_only() {
        let has = |pattern: &str| {
            let asked: Asked = pattern.parse().unwrap();
            let tests = candidates(&asked, "read", 10 << 20);
            assert!(tests.len() > 5, "{pattern}");
            tests.iter().any(|test| test.path == "stdio-multi")
        };
        assert!(has("512, stride 1 MiB, hot"));
        assert!(!has("4096, random, hot") && !has("512, sequential, cold"));
    }
}
