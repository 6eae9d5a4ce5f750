//! The charts of the page: fills and time against cache size.

use nbuf::experiment::result::{Detail, SizeReport, TimePoint, Verified};

use super::super::super::chart::{Band, Chart, Dot, Look};
use super::super::super::page::{Part, sentence};
use super::super::super::scale::Axis;
use super::super::super::table::{Table, number, text};
use super::super::chart;
use super::super::dots::{self, dot, finished};
use super::super::measured;
use super::super::medians;

/// The band of predicted fills, the three sizes, the cliffs, and the runs as dots.
pub(super) fn fills(report: &SizeReport, detail: &Detail<'_>) -> Vec<Part> {
    let curve = detail.curve;
    if curve.accesses == 0 || curve.points.is_empty() {
        return Vec::new();
    }
    let mut drawn = if let Some(search) = &report.search {
        measured::chart(report, search)
    } else {
        let mut dots = dots::fills(report);
        dots.extend(detail.cliffs.iter().map(chart::cliff));
        chart::fills(curve, report.recommend.as_ref(), dots)
    };
    let reason = report.recommend.as_ref().map_or_else(
        || "No size is recommended; see what was not seen, below".to_owned(),
        |recommend| recommend.reason.clone(),
    );
    drawn.caption = format!(
        "{} Lower is better: a fill is a page that has to be read again, or for the first time.",
        sentence(&reason)
    );
    vec![Part::Chart(drawn)]
}

/// How long the runs took, and how long others would take where that is predicted. Nothing is drawn
/// where nothing was timed.
pub(super) fn time(report: &SizeReport, detail: &Detail<'_>) -> Vec<Part> {
    let runs: Vec<&Verified> = finished(report).collect();
    // The times follow from fills that the search has refuted.
    let is_refuted = report.search.is_some() && report.is_lower_bound;
    if is_refuted || runs.is_empty() && detail.time.is_empty() {
        return Vec::new();
    }
    let marks =
        report.recommend.as_ref().map_or_else(Vec::new, |advice| chart::marks(advice, true));
    let shown = marks.iter().map(|mark| mark.x);
    let x =
        chart::sizes(detail.curve, shown.chain(runs.iter().map(|run| run.cache_bytes.0 as f64)));
    let measured = runs.iter().map(|run| run.measured_seconds);
    let predicted = detail.time.iter().flat_map(|at| [at.seconds_low, at.seconds_high]);
    let y = Axis::seconds("elapsed time", measured.chain(predicted));
    let mut drawn = Chart::new("elapsed time by cache size", x, y);
    let edge = |seconds: fn(&TimePoint) -> f64| {
        let points = detail.time.iter().map(|at| (at.cache_bytes.0 as f64, seconds(at)));
        points.filter(|&(size, _)| drawn.x.has(size)).collect::<Vec<_>>()
    };
    if !detail.time.is_empty() {
        let (low, high) = (edge(|at| at.seconds_low), edge(|at| at.seconds_high));
        let name = "predicted".to_owned();
        drawn.bands = vec![Band { name, look: Look::Nth(0), low, high, has_edges: true }];
    }
    drawn.dots = runs
        .iter()
        .map(|run| Dot { label: limit(run), ..dot(run, run.measured_seconds) })
        .collect();
    drawn.caption = caption(report, runs.len(), detail);
    (drawn.at, drawn.table) = seconds(&runs, detail);
    vec![Part::Chart(drawn)]
}

fn limit(run: &Verified) -> String {
    run.limit_bytes.map_or("no limit".into(), |limit| limit.to_string())
}

/// Sizes in order, each with what it took or would take.
fn seconds(runs: &[&Verified], detail: &Detail<'_>) -> (Vec<f64>, Table) {
    let row = |size: nbuf::units::Bytes, limit: String, seconds: String, how: &str| {
        (size.0 as f64, [size.to_string(), limit, seconds, how.to_owned()])
    };
    let predicted = detail.time.iter().map(|at| {
        let seconds = format!("{:.2} to {:.2} s", at.seconds_low, at.seconds_high);
        row(at.cache_bytes, at.limit_bytes.to_string(), seconds, "predicted")
    });
    let measured = runs.iter().map(|run| {
        row(run.cache_bytes, limit(run), format!("{:.2} s", run.measured_seconds), "measured")
    });
    let mut rows: Vec<_> = predicted.chain(measured).collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let columns = [number("cache"), number("limit"), number("elapsed"), text("").label("how")];
    let (at, rows): (Vec<f64>, Vec<_>) = rows.into_iter().unzip();
    (at, Table::new("Elapsed time by cache size", columns).with(rows))
}

fn caption(report: &SizeReport, runs: usize, detail: &Detail<'_>) -> String {
    let medians = medians(report);
    let mut text = match (runs, medians.strip_prefix(", medians of ")) {
        (0, _) => String::new(),
        (1, None) => "The dot is a single run. ".to_owned(),
        (1, Some(samples)) => format!("The dot is the median of {samples}. "),
        (_, None) => {
            "Each dot is a single run, marked with its memory limit: differences of a few \
                      percent between single runs mean nothing. "
                .to_owned()
        }
        (_, Some(samples)) => {
            format!("Each dot is the median of {samples}, marked with its memory limit. ")
        }
    };
    text.push_str(if detail.time.is_empty() {
        "How long other sizes would take is not predicted."
    } else {
        "The band is what was predicted."
    });
    text
}
