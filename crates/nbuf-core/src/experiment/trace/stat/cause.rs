//! Where one policy hits more than another, and which class of accesses explains it.
//!
//! The rule: a class explains a difference of a tenth of a point or more if it has at least half of it,
//! and if the better policy hits more of the class in three quarters of the eighths of the trace that have
//! such accesses. It says where the hits are, in every case; it proves no mechanism.

use super::classes::Classes;
use super::judge::{Judge, NO_DISTANCE, PATTERNS};
use crate::experiment::result::{ShapeClass, ShapeDifference, ShapePolicy};
use crate::meter::shape::bounds;

/// Smaller differences are not explained, in points.
const POINTS_MIN: f64 = 0.1;
/// The share of a difference that a class must have.
const SHARE_MIN: f64 = 0.5;

/// The first policy against each of the others.
pub(super) fn differences(judge: &Judge, rows: &[ShapePolicy]) -> Vec<ShapeDifference> {
    let others = 1..rows.len();
    others.map(|other| difference(judge, rows, other)).collect()
}

fn difference(judge: &Judge, rows: &[ShapePolicy], other: usize) -> ShapeDifference {
    let (better, worse) = if rows[other].hits > rows[0].hits { (other, 0) } else { (0, other) };
    let points = 100.0 * (rows[better].hit_ratio - rows[worse].hit_ratio);
    let accesses: u64 = (0..judge.by_pattern.len()).map(|at| judge.by_pattern.accesses(at)).sum();
    let list = |classes: &Classes, name: &dyn Fn(usize) -> String| -> Vec<ShapeClass> {
        let row = |class: usize| {
            let hits = [better, worse].map(|policy| classes.hits(policy, class));
            let (eighths, eighths_better) = classes.eighths(class, better, worse);
            ShapeClass {
                class: name(class),
                accesses: classes.accesses(class),
                better_hits: hits[0],
                worse_hits: hits[1],
                points: 100.0 * (hits[0] as f64 - hits[1] as f64) / accesses.max(1) as f64,
                eighths,
                eighths_better,
            }
        };
        (0..classes.len()).map(row).filter(|row| row.accesses > 0).collect()
    };
    let by_pattern = list(&judge.by_pattern, &|class| PATTERNS[class].to_owned());
    let mut by_distance = list(&judge.by_distance, &distance);
    // Those without a distance come first.
    by_distance.rotate_right(usize::from(judge.by_distance.accesses(NO_DISTANCE) > 0));
    let explained = explain(points, &by_pattern);
    ShapeDifference {
        better: rows[better].policy.clone(),
        worse: rows[worse].policy.clone(),
        points,
        class: explained.as_ref().ok().cloned(),
        reason: explained.err(),
        by_popularity: list(&judge.by_popularity, &|class| {
            format!("{} to {} %", 10 * class, 10 * (class + 1))
        }),
        by_distance,
        by_pattern,
    }
}

fn distance(row: usize) -> String {
    match bounds(row) {
        _ if row == NO_DISTANCE => "first use".to_owned(),
        (from, below) if below - from == 1 => from.to_string(),
        (from, below) => format!("{from} to {}", below - 1),
    }
}

/// The class that explains a difference by the rule, or why none does.
pub(super) fn explain(points: f64, classes: &[ShapeClass]) -> Result<String, String> {
    if points < POINTS_MIN {
        return Err("the difference is less than a tenth of a point".to_owned());
    }
    let most = classes.iter().max_by(|a, b| a.points.total_cmp(&b.points));
    let Some(most) = most.filter(|most| most.points >= SHARE_MIN * points) else {
        return Err("no class has half of the difference".to_owned());
    };
    if 4 * most.eighths_better < 3 * most.eighths {
        return Err(format!(
            "the class with most of it, {}, does not go one way: only {} of {} eighths of the trace do",
            most.class, most.eighths_better, most.eighths
        ));
    }
    Ok(most.class.clone())
}
