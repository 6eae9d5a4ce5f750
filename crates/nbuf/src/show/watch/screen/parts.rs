//! Parts of pages of the live display: strips over time, bars, histograms.

use nbuf::experiment::result::FigureStep;
use nbuf::units::{grouped, whole};
use ratatui::text::Line;

use super::super::{Named, time};

/// Width of the names of bars and strips.
pub(crate) const NAMES: usize = 22;
/// Width of their figures.
pub(crate) const FIGURES: usize = 10;

/// A figure with what it was in the intervals before, the last at the right. `most` is the top of the strip;
/// the largest value without it.
pub(crate) fn strip<V>(
    name: &str,
    seen: &[&V],
    width: usize,
    most: Option<f64>,
    value: impl Fn(&V) -> f64,
) -> Line<'static> {
    const SIGNS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let room = width.saturating_sub(NAMES + FIGURES + 1);
    let values: Vec<f64> = seen.iter().map(|seen| value(seen)).collect();
    let shown = &values[values.len().saturating_sub(room)..];
    let most = most.unwrap_or_else(|| shown.iter().copied().fold(0.0, f64::max)).max(1e-12);
    let signs: String = shown
        .iter()
        .map(|value| {
            let height = whole((8.0 * value / most).ceil());
            SIGNS[usize::try_from(height).unwrap_or(8).min(8)]
        })
        .collect();
    let last = shown.last().copied().unwrap_or(0.0);
    let figure = if last >= 100.0 { grouped(whole(last.round())) } else { format!("{last:.2}") };
    Line::from(format!("{name:<NAMES$}{figure:>FIGURES$} {signs:>room$}"))
}

/// A bar of a share from 0 to 1.
pub(crate) fn bar(share: f64, room: usize) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = usize::try_from(whole((share.clamp(0.0, 1.0) * room as f64 * 8.0).round()));
    let eighths = eighths.unwrap_or(0).min(room * 8);
    "█".repeat(eighths / 8) + PARTS[eighths % 8]
}

/// Counts between two times, as bars.
pub(crate) fn histogram(steps: &[FigureStep], width: usize) -> Vec<Line<'static>> {
    let most = steps.iter().map(|step| step.count).max().unwrap_or(0).max(1);
    let room = width.saturating_sub(NAMES + FIGURES + 1);
    let line = |step: &FigureStep| {
        let name = format!("{} to {}", time(step.from), time(step.to));
        let share = step.count as f64 / most as f64;
        let count = grouped(step.count);
        Line::from(format!("{name:<NAMES$}{count:>FIGURES$} {}", bar(share, room)))
    };
    steps.iter().map(line).collect()
}

/// Lines of the text.
pub(crate) fn written(lines: Vec<Named>) -> impl Iterator<Item = Line<'static>> {
    lines.into_iter().map(|(name, text)| Line::from(format!("{name:<10}{text}")))
}
