//! From what was seen to the document of a shape.

use super::shape::{FIRST, Found, Over, Shape};
use super::walk::Walk;
use crate::experiment::result::{
    ShapeAbsent, ShapeBin, ShapeCeiling, ShapeHeat, ShapeHeatRow, ShapeHistogram, ShapeLoop,
    ShapePopularity, ShapeRank, ShapeRuns, ShapeSeries, ShapeSizes, ShapeZipf, TraceShape,
};
use crate::meter::shape::{Columns, Powers, Runs, bounds, deciles, fit, ranks};
use crate::trace::request::Unit;
use crate::units::Bytes;

/// Loops that a document has.
const LOOPS: usize = 16;

const NS: &str = "ns";
const ACCESSES: &str = "accesses";

impl Shape {
    /// The document, and how often each key was used.
    pub(super) fn finish(self, sample: Option<f64>) -> (TraceShape, Vec<u32>) {
        let Self { walk, found, lengths, unit } = self;
        let mut absent = Vec::new();
        let mut lacks = |what: &str, reason: &str| {
            absent.push(ShapeAbsent { what: what.to_owned(), reason: reason.to_owned() });
        };
        let has_times = walk.span_ns() > 0;
        if !has_times {
            lacks("times", "the trace has no times, so time is the number of the access");
        }
        let sizes = sizes(&found, &lengths, unit);
        if sizes.is_none() {
            lacks("sizes", "the trace has no sizes of its keys");
        }
        let (clock, over) =
            if has_times { (NS, &found.by_ns) } else { (ACCESSES, &found.by_access) };
        let popularity = popularity(&found, sample);
        if popularity.zipf.is_none() {
            lacks("zipf", "fewer than 16 keys are used 20 times or more");
        }
        if sample.is_some() {
            lacks("patterns", "loops and scans need all keys, and this is a sample");
        }
        let mut working_set = found_set(over, clock);
        working_set.values.iter_mut().for_each(|keys| *keys = walk.scaled(*keys));
        let mut shape = TraceShape {
            unit: if unit == Unit::Bytes { "page" } else { "key" }.to_owned(),
            clock: clock.to_owned(),
            sample,
            accesses: found.accesses,
            keys: walk.scaled(walk.distinct()),
            ceiling: ceiling(&found, &walk, unit == Unit::Keys && sizes.is_some()),
            popularity,
            reuse_distance: heat(&over.distances, clock),
            reuse_time: heat(&over.times, clock),
            sizes,
            lifetimes: lifetimes(&found, has_times),
            working_set,
            reads: series(&over.mix, 0, clock),
            writes: series(&over.mix, 1, clock),
            absent,
            ..TraceShape::default()
        };
        let uses = found.keys.iter().map(|key| key.uses).collect();
        if sample.is_none() {
            let patterns = walk.patterns();
            shape.scans = Some(runs(patterns.scans));
            shape.first_uses = Some(runs(patterns.first_uses));
            let loops = patterns.loops.iter().take(LOOPS);
            shape.loops = Some(
                loops
                    .map(|found| ShapeLoop {
                        keys: found.keys,
                        accesses: found.accesses,
                        runs: found.runs,
                    })
                    .collect(),
            );
        }
        (shape, uses)
    }
}

/// First uses go with the keys, so a sample of these gives their number; accesses to all keys are counted.
fn ceiling(found: &Found, walk: &Walk, has_sizes: bool) -> ShapeCeiling {
    let share = |first: u64, all: u64| all.saturating_sub(first) as f64 / all.max(1) as f64;
    let (accesses, bytes) = (walk.accesses_of_all(), walk.bytes_of_all());
    let compulsory = walk.scaled(found.compulsory).min(accesses);
    let compulsory_bytes = walk.scaled(found.compulsory_bytes).min(bytes);
    ShapeCeiling {
        compulsory_misses: compulsory,
        hit_ratio: share(compulsory, accesses),
        bytes: has_sizes.then_some(Bytes(bytes)),
        compulsory_bytes: has_sizes.then_some(Bytes(compulsory_bytes)),
        byte_hit_ratio: has_sizes.then(|| share(compulsory_bytes, bytes)),
    }
}

fn popularity(found: &Found, sample: Option<f64>) -> ShapePopularity {
    let uses: Vec<(u32, u32)> = found.keys.iter().map(|key| (key.uses, key.half)).collect();
    let zipf = fit(&uses);
    let mut counts: Vec<u32> = uses.into_iter().map(|(all, _)| all).collect();
    counts.sort_unstable_by_key(|&count| std::cmp::Reverse(count));
    let once = counts.iter().rev().take_while(|&&count| count == 1).count() as u64;
    let for_all = |keys: u64| sample.map_or(keys, |rate| crate::units::whole(keys as f64 / rate));
    let rank = |(rank, accesses)| ShapeRank { rank: for_all(rank), accesses };
    ShapePopularity {
        used_once: for_all(once),
        ranks: ranks(&counts).into_iter().map(rank).collect(),
        deciles: deciles(&counts).to_vec(),
        zipf: zipf.map(|fit| ShapeZipf {
            exponent: fit.exponent,
            error: fit.error,
            ranks: for_all(fit.ranks),
            factor: fit.factor,
        }),
    }
}

/// Sizes of the objects, or of the requests; none where all are 0.
fn sizes(found: &Found, lengths: &Powers, unit: Unit) -> Option<ShapeSizes> {
    let (of, bytes) = if unit == Unit::Bytes {
        ("request", histogram(lengths))
    } else {
        let mut sizes = Powers::default();
        found.keys.iter().for_each(|key| sizes.add(key.bytes));
        ("object", histogram(&sizes))
    };
    let is_known = unit == Unit::Bytes || found.bytes > 0;
    (bytes.count > 0 && is_known).then(|| ShapeSizes { of: of.to_owned(), bytes })
}

fn lifetimes(found: &Found, has_times: bool) -> ShapeHistogram {
    let mut lifetimes = Powers::default();
    for key in found.keys.iter().filter(|key| key.uses > 1) {
        lifetimes.add(if has_times {
            key.last_ns - key.first_ns
        } else {
            key.last_at - key.first_at
        });
    }
    histogram(&lifetimes)
}

fn histogram(powers: &Powers) -> ShapeHistogram {
    let rows = powers.rows().into_iter();
    let rows = rows.map(|(from, below, count)| ShapeBin { from, below, count }).collect();
    ShapeHistogram { count: powers.count(), mean: powers.mean(), rows }
}

fn heat(columns: &Columns, clock: &str) -> ShapeHeat {
    let rows: Vec<Vec<u64>> = (0..FIRST).map(|row| columns.row(row)).collect();
    let is_used = |row: &usize| rows[*row].iter().any(|&count| count > 0);
    let ends = (0..FIRST).find(is_used).zip((0..FIRST).rfind(is_used));
    let row = |at: usize| {
        let (from, below) = bounds(at);
        ShapeHeatRow { from, below, counts: rows[at].clone() }
    };
    ShapeHeat {
        clock: clock.to_owned(),
        column_width: columns.width(),
        rows: ends.map(|(first, last)| (first..=last).map(row).collect()).unwrap_or_default(),
        first_uses: columns.row(FIRST),
    }
}

fn series(columns: &Columns, row: usize, clock: &str) -> ShapeSeries {
    ShapeSeries { clock: clock.to_owned(), column_width: columns.width(), values: columns.row(row) }
}

fn found_set(over: &Over, clock: &str) -> ShapeSeries {
    ShapeSeries {
        clock: clock.to_owned(),
        column_width: over.working_set.width(),
        values: over.working_set.pieces().to_vec(),
    }
}

fn runs(runs: Runs) -> ShapeRuns {
    let Runs { count, accesses, longest, first_uses } = runs;
    ShapeRuns { runs: count, accesses, longest, first_uses }
}
