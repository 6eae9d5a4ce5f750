//! Several runs under each limit: that the figures are medians, and how far the runs lie apart.

use nbuf::experiment::result::{Sample, SizeReport, Spread, Verified};
use nbuf::units::whole;

use super::super::text::grouped;

/// That the figures are medians, and of how many runs; nothing of single runs.
pub(crate) fn medians(report: &SizeReport) -> String {
    let each = || report.verify.iter().map(|run| run.samples.len());
    match (each().min().unwrap_or(0), each().max().unwrap_or(0)) {
        (_, 0 | 1) => String::new(),
        (least, most) if least == most => format!(", medians of {most} runs"),
        (least, most) => format!(", medians of {least} to {most} runs"),
    }
}

/// The least and the most of several runs that came to their end.
pub(crate) fn spread_of_fills(run: &Verified) -> Option<String> {
    let spread = spread(run, |sample| sample.measured_fills as f64)?;
    Some(format!("{}..{}", grouped(whole(spread.low)), grouped(whole(spread.high))))
}

/// The same, of their time.
pub(crate) fn spread_of_seconds(run: &Verified) -> Option<String> {
    let spread = spread(run, |sample| sample.measured_seconds)?;
    Some(format!("{:.2}..{:.2}", spread.low, spread.high))
}

fn spread(run: &Verified, of: fn(&Sample) -> f64) -> Option<Spread> {
    let ended = run.samples.iter().filter(|sample| sample.finished());
    Spread::of(ended.map(of)).filter(|spread| spread.count > 1)
}
