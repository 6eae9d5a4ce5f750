//! What policies did, where they differ, and which class explains it.

use nbuf::experiment::result::{ShapeAge, ShapeClass, ShapeDifference, ShapePolicies, TraceShape};
use nbuf::units::Bytes;

use super::super::table::{Cell, Table, number, text};
use super::super::text::grouped;
use super::sections::Section;
use super::words::{keys, round, share};

/// The classes by pattern: the name in the document, and what it means.
const PATTERNS: [(&str, &str); 6] = [
    ("used_once", "one-hit wonders"),
    ("first_use", "other first uses"),
    ("loop", "loops"),
    ("scan", "scans used again"),
    ("near", "near: within the size"),
    ("far", "far: beyond the size"),
];

pub(super) fn section(shape: &TraceShape, judged: &ShapePolicies) -> Section {
    let size =
        if judged.is_bytes { Bytes(judged.size).to_string() } else { keys(shape, judged.size) };
    let mut lines = vec![format!("Caches of {size}, the same for each policy.")];
    let mut tables = vec![table(judged)];
    for difference in &judged.differences {
        lines.extend(answer(judged, difference));
        let whose = format!("{} against {}", difference.better, difference.worse);
        let lists = [
            ("Pattern", "pattern", &difference.by_pattern),
            ("Popularity", "tenth of the keys", &difference.by_popularity),
            ("Reuse distance", "distance", &difference.by_distance),
        ];
        for (by, name, list) in lists {
            tables.push(classes(&format!("{by}: {whose}"), name, difference, list));
        }
    }
    if !judged.differences.is_empty() {
        lines.push(
            "The rule: a class explains a difference of 0.1 points or more if it has at least half of it, \
             and goes the same way in three quarters of the eighths of the trace that have the class. \
             It says where the hits are; it proves no mechanism."
                .to_owned(),
        );
    }
    Section { title: "Policies", lines, tables, ..Section::default() }
}

/// Which policy is better, by how much, and where.
fn answer(judged: &ShapePolicies, difference: &ShapeDifference) -> Vec<String> {
    let ShapeDifference { better, worse, points, class, reason, .. } = difference;
    let first = format!("{better} hits {points:.2} points more than {worse}.");
    let Some(class) = class else {
        let why = reason.as_deref().unwrap_or("no class has half of the difference");
        return vec![format!("{first} No class explains it: {why}.")];
    };
    let row = difference.by_pattern.iter().find(|row| row.class == *class);
    let evidence = row.map(|row| {
        let others = points - row.points;
        let others = if others < -0.005 {
            format!(" Other classes take {:.2} points away.", -others)
        } else {
            String::new()
        };
        format!(
            "The class \"{}\" explains it with {:.2} points: {better} hits {} of it and {worse} {}, \
             and {better} hits more in {} of {} eighths of the trace.{others}",
            named(class),
            row.points,
            share(row.better_hits as f64 / row.accesses.max(1) as f64),
            share(row.worse_hits as f64 / row.accesses.max(1) as f64),
            row.eighths_better,
            row.eighths
        )
    });
    let of = |name: &String| judged.rows.iter().find(|row| row.policy == *name);
    let room = of(better).zip(of(worse)).map(|(better, worse)| {
        format!(
            "One-hit wonders have {} of the cache of {}, and {} of the cache of {}.",
            share(better.used_once_share),
            better.policy,
            share(worse.used_once_share),
            worse.policy
        )
    });
    [Some(first), evidence, room].into_iter().flatten().collect()
}

fn named(class: &str) -> String {
    let pattern = PATTERNS.iter().find(|(name, _)| *name == class);
    pattern.map_or(class, |(_, says)| says).to_owned()
}

/// What each policy did.
fn table(judged: &ShapePolicies) -> Table {
    let age = |age: Option<ShapeAge>, of: fn(ShapeAge) -> u64| {
        age.map_or("none".to_owned(), |age| round(of(age)))
    };
    Table::of("Hits, ages in accesses, and what has the cache over time", &judged.rows)
        .column(text("policy"), |row| row.policy.as_str())
        .column(number("hits"), |row| share(row.hit_ratio))
        .column(number("eviction age p50"), |row| age(row.eviction_age, |age| age.p50))
        .column(number("p10").rank(3), |row| age(row.eviction_age, |age| age.p10))
        .column(number("p90").rank(3), |row| age(row.eviction_age, |age| age.p90))
        .column(number("stay p50").rank(2), |row| age(row.stay, |age| age.p50))
        .column(number("one-hit share").rank(1), |row| share(row.used_once_share))
        .column(number("no-hit share").rank(1), |row| share(row.no_hit_share))
        .done()
}

/// The hits of two policies by class.
fn classes(caption: &str, name: &str, difference: &ShapeDifference, list: &[ShapeClass]) -> Table {
    let most = list.iter().map(|row| row.points.abs()).fold(0.0, f64::max).max(1e-9);
    let ratio = |row: &ShapeClass, hits: u64| share(hits as f64 / row.accesses.max(1) as f64);
    Table::of(caption, list)
        .column(text(name), |row| named(&row.class))
        .column(number("accesses").rank(2), |row| grouped(row.accesses))
        .column(number(difference.better.clone()), |row| ratio(row, row.better_hits))
        .column(number(difference.worse.clone()), |row| ratio(row, row.worse_hits))
        .column(number("points"), |row| Cell::heat(points(row.points), row.points.abs() / most))
        .column(number("eighths").rank(1), |row| {
            format!("{} of {}", row.eighths_better, row.eighths)
        })
        .done()
}

/// Points with their sign; none where they are too few to be seen.
fn points(points: f64) -> String {
    if points.abs() < 0.005 { "0.00".to_owned() } else { format!("{points:+.2}") }
}
