//! Histograms of rates: as small bars in a line of text, and as a picture. All of one report share an
//! axis, so that they can be compared by eye.

use std::fmt::Write as _;

use nbuf::experiment::result::{PingBin, PingRow};

use super::rate;

/// Eighths of a line of text.
const EIGHTHS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Rates from left to right, in equal ratios.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RateAxis {
    low: f64,
    high: f64,
}

impl RateAxis {
    /// From the lowest to the highest sample of all rows.
    pub(crate) fn of(rows: &[PingRow]) -> Self {
        let bins = || rows.iter().flat_map(|row| &row.histogram);
        let low = bins().map(|bin| bin.from).fold(f64::INFINITY, f64::min);
        let high = bins().map(|bin| bin.to).fold(0.0, f64::max);
        if low < high { Self { low, high } } else { Self { low: 1.0, high: 2.0 } }
    }

    /// Where a rate lies, from 0 to 1.
    pub(crate) fn place(&self, rate: f64) -> f64 {
        ((rate / self.low).log2() / (self.high / self.low).log2()).clamp(0.0, 1.0)
    }

    /// The ends of the axis over bars.
    pub(super) fn heading(&self, bars: usize) -> String {
        let (low, high) = (short(self.low), short(self.high));
        let room = bars.saturating_sub(low.chars().count());
        format!("{low}{high:>room$}")
    }

    /// Samples from left to right, each bar's height by its share of the highest; a sample that is
    /// there is seen.
    pub(super) fn bars(&self, bins: &[PingBin], bars: usize) -> String {
        let mut counts = vec![0; bars];
        for bin in bins {
            let at = self.place((bin.from * bin.to).sqrt()) * bars as f64;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "0 to bars"
            )]
            let at = (at as usize).min(bars.saturating_sub(1));
            counts[at] += bin.samples;
        }
        let highest = counts.iter().copied().max().unwrap_or(0).max(1);
        let bar = |&count: &u64| match count {
            0 => ' ',
            count => {
                EIGHTHS[usize::try_from((count * 8).div_ceil(highest) - 1).unwrap_or(7).min(7)]
            }
        };
        counts.iter().map(bar).collect()
    }

    /// Powers of ten on the axis.
    fn tens(&self) -> impl Iterator<Item = f64> {
        let (low, high) = (self.low, self.high);
        (0..16).map(|power| 10_f64.powi(power)).filter(move |rate| (low..=high).contains(rate))
    }

    /// The samples as a picture of its own: clean ones in colour, the others pale above them, and the
    /// median as a line.
    pub(crate) fn picture(&self, bins: &[PingBin], median: Option<f64>, label: &str) -> String {
        const WIDTH: f64 = 240.0;
        const GROUND: f64 = 40.0;
        let highest = bins.iter().map(|bin| bin.samples).max().unwrap_or(0).max(1) as f64;
        let mut body = String::new();
        for ten in self.tens() {
            let x = self.place(ten) * WIDTH;
            let _ = write!(body, "<path class=\"grid\" d=\"M{x:.1} 2V{GROUND}\"/>");
        }
        for bin in bins.iter().filter(|bin| bin.samples > 0) {
            let (left, right) = (self.place(bin.from) * WIDTH, self.place(bin.to) * WIDTH);
            let mut ground = GROUND;
            for (class, samples) in [("measured", bin.clean), ("busy", bin.samples - bin.clean)] {
                let height = samples as f64 / highest * (GROUND - 4.0);
                if samples > 0 {
                    ground -= height;
                    let _ = write!(
                        body,
                        "<path class=\"{class}\" d=\"M{left:.1} {ground:.1}H{right:.1}v{height:.1}H{left:.1}z\"/>"
                    );
                }
            }
        }
        if let Some(median) = median {
            let x = self.place(median) * WIDTH;
            let _ = write!(body, "<path class=\"median\" d=\"M{x:.1} 0V{GROUND}\"/>");
        }
        format!(
            "<svg class=\"rates\" viewBox=\"0 0 {WIDTH} 44\" role=\"img\" aria-label=\"{label}\">{body}\
             <path class=\"axis\" d=\"M0 {GROUND}H{WIDTH}\"/></svg>"
        )
    }

    /// The numbers below such pictures.
    pub(crate) fn scale(&self) -> String {
        let mut body = String::new();
        for ten in self.tens() {
            let share = self.place(ten) * 100.0;
            let _ = write!(body, "<span style=\"left:{share:.1}%\">{}</span>", short(ten));
        }
        format!("<div class=\"scale faint\">{body}</div>")
    }
}

/// A rate in as few letters as can be.
pub(super) fn short(number: f64) -> String {
    let (number, unit) = match number {
        small if small < 1e3 => (small, ""),
        thousands if thousands < 1e6 => (thousands / 1e3, "k"),
        millions => (millions / 1e6, "M"),
    };
    let number = if number < 10.0 { format!("{number:.1}") } else { rate(number) };
    format!("{}{unit}", number.strip_suffix(".0").unwrap_or(&number))
}
