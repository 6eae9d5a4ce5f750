//! Time as it is estimated: what it rests on, and what it comes to at the sizes that matter.

use nbuf::experiment::result::{SizeReport, TimePoint, TimeReport, Verified};

use super::super::text::wrap;

/// The estimate in a sentence or two; nothing where there is none.
pub(super) fn time(report: &SizeReport, width: usize) -> String {
    let Some(time) = &report.time else { return String::new() };
    let mut text = String::from("Time, estimated\n");
    let how = if report.capture.backend == "calls" { ", timed without being recorded" } else { "" };
    let mut parts = vec![format!("{} s of work{how}", digits(time.work_seconds))];
    if let Some(last) = time.points.last() {
        parts.push(format!("with no limit, from a cold cache, {} s", range(last)));
    }
    if let Some(recommend) = &report.recommend {
        for (size, name) in [
            (recommend.cache_bytes, "at the recommendation"),
            (recommend.floor_bytes, "at the floor"),
        ] {
            let near = time.points.iter().min_by_key(|point| point.cache_bytes.0.abs_diff(size.0));
            let close = near.filter(|near| near.cache_bytes.0.abs_diff(size.0) * 8 <= size.0);
            parts.extend(close.map(|near| format!("{name} about {} s", range(near))));
        }
    }
    wrap(&mut text, &parts.join("; "), width);
    wrap(&mut text, &basis(time), width);
    text
}

fn basis(time: &TimeReport) -> String {
    let service = format!(
        "{:.0} us a request and {:.2} us a page",
        time.request_seconds * 1e6,
        time.page_seconds * 1e6
    );
    let known = match time.basis.as_str() {
        "recorded" => format!("the disc: {service}, as the recorded run waited"),
        "probed" => format!("the disc: {service}, by reading the same files just now"),
        _ => "of the disc nothing is known but its rate".to_owned(),
    };
    let iops = time.iops.map(|iops| format!("; held to {iops} requests a second"));
    let bytes = time.bytes_per_second.map(|bytes| format!("; held to {bytes} a second"));
    format!("{known}{}{}", iops.unwrap_or_default(), bytes.unwrap_or_default())
}

/// The estimate of a verified run.
pub(super) fn estimate(run: &Verified) -> String {
    let ends = run.predicted_seconds_low.zip(run.predicted_seconds_high);
    ends.map_or("-".into(), |(low, high)| between(low, high))
}

fn range(point: &TimePoint) -> String {
    between(point.seconds_low, point.seconds_high)
}

fn between(low: f64, high: f64) -> String {
    let [low, high] = [low, high].map(digits);
    if low == high { low } else { format!("{low}..{high}") }
}

/// Three significant digits.
fn digits(seconds: f64) -> String {
    match seconds {
        s if s < 0.01 => format!("{s:.4}"),
        s if s < 1.0 => format!("{s:.3}"),
        s if s < 10.0 => format!("{s:.2}"),
        s if s < 100.0 => format!("{s:.1}"),
        s => format!("{s:.0}"),
    }
}
