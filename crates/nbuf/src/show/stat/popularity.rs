//! How often keys are used: the chart by rank, the Zipf law, and the tenths.

use nbuf::experiment::result::{ShapePopularity, ShapeZipf, TraceShape};

use super::super::chart::{Chart, Line, Look, Points};
use super::super::scale::Axis;
use super::super::table::{Cell, Table, number, text};
use super::super::text::grouped;
use super::sections::{Section, lacking};
use super::words::{keys, percent, round};

pub(super) fn section(shape: &TraceShape) -> Section {
    let mut lines = Vec::new();
    match &shape.popularity.zipf {
        Some(zipf) => {
            lines.push(format!("{}, over the first {} ranks.", law(zipf), grouped(zipf.ranks)));
            lines.push(format!(
                "The law and the counts of a bin of ranks differ by a factor of {:.2} at the most.",
                zipf.factor
            ));
        }
        None => lines.extend(lacking(shape, "zipf").map(|why| format!("Zipf exponent. {why}"))),
    }
    let chart = chart(&[("accesses", shape)]);
    Section {
        title: "Popularity",
        lines,
        tables: vec![tenths(shape)],
        charts: chart.into_iter().collect(),
        ..Section::default()
    }
}

/// `Zipf exponent 0.98 ± 0.03`
pub(super) fn law(zipf: &ShapeZipf) -> String {
    format!("Zipf exponent {:.2} ± {:.2}", zipf.exponent, zipf.error)
}

/// Accesses by rank, of one trace or two; none where all keys are used alike.
pub(super) fn chart(shapes: &[(&str, &TraceShape)]) -> Option<Chart> {
    let points = |popularity: &ShapePopularity| -> Points {
        let points = popularity.ranks.iter();
        points.map(|point| (point.rank as f64, point.accesses as f64)).collect()
    };
    let all: Vec<Points> = shapes.iter().map(|(_, shape)| points(&shape.popularity)).collect();
    let last = all.iter().flatten().map(|point| point.0).fold(0.0, f64::max);
    let counts = all.iter().flatten().map(|point| point.1);
    let y = Axis::decades("accesses", counts, |count| round(super::super::scale::whole(count)))?;
    if last <= 1.0 {
        return None;
    }
    let mut chart = Chart::new("accesses by rank", Axis::log_keys("rank", 1.0, last), y);
    let named = shapes.iter().zip(all).enumerate();
    chart.lines =
        named.map(|(at, ((name, _), points))| Line::new(*name, Look::Nth(at), points)).collect();
    if let [(_, shape)] = shapes {
        let law = shape.popularity.zipf.as_ref().and_then(|zipf| fitted(&shape.popularity, zipf));
        chart.lines.extend(law.map(|points| Line::new("Zipf law", Look::Bound, points)));
    }
    chart.caption.push_str("Both axes are logarithmic: a Zipf law is a straight line.");
    let columns = [number("rank"), number("accesses")];
    let ranks = shapes.first().map(|(_, shape)| &shape.popularity.ranks[..]).unwrap_or_default();
    let rows = ranks.iter().map(|point| [grouped(point.rank), grouped(point.accesses)]);
    chart.table = Table::new("Accesses by rank", columns).with(rows);
    chart.at = ranks.iter().map(|point| point.rank as f64).collect();
    Some(chart)
}

/// The law over the ranks that it was fitted to, through the middle of their counts.
fn fitted(popularity: &ShapePopularity, zipf: &ShapeZipf) -> Option<Points> {
    let ranks = popularity.ranks.iter().filter(|point| point.rank <= zipf.ranks);
    let logs: Vec<(f64, f64)> =
        ranks.map(|point| ((point.rank as f64).ln(), (point.accesses as f64).ln())).collect();
    if logs.is_empty() {
        return None;
    }
    let above = logs.iter().map(|(rank, count)| count + zipf.exponent * rank).sum::<f64>()
        / logs.len() as f64;
    let at = |rank: f64| (rank.exp(), (above - zipf.exponent * rank).exp());
    Some(logs.iter().map(|(rank, _)| at(*rank)).collect())
}

/// Accesses to each tenth of the keys.
fn tenths(shape: &TraceShape) -> Table {
    let deciles = &shape.popularity.deciles;
    let columns = [text(format!("{}s", shape.unit)), number("accesses"), number("share")];
    let all: u64 = deciles.iter().sum();
    let rows = deciles.iter().enumerate().filter(|(_, accesses)| **accesses > 0);
    let rows = rows.map(|(at, &accesses)| {
        let part = accesses as f64 / all.max(1) as f64;
        let name = match at {
            0 => "the most used tenth".to_owned(),
            at => format!("{} to {} %", 10 * at, 10 * (at + 1)),
        };
        [name.into(), grouped(accesses).into(), Cell::bar(percent(accesses, all), part)]
    });
    let caption = format!("Tenths of {} by popularity", keys(shape, shape.keys));
    Table::new(caption, columns).with(rows)
}
