//! Histograms of rates: as small bars in a line of text, and as a picture. All of one report share an
//! axis, so that they can be compared by eye.

use nbuf::experiment::result::{PingBin, PingRow};

use super::super::svg::{Bin, spark};
use super::super::text::{count, grouped};
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

    /// Returns the position of a rate, from 0 to 1.
    pub(crate) fn place(&self, rate: f64) -> f64 {
        ((rate / self.low).log2() / (self.high / self.low).log2()).clamp(0.0, 1.0)
    }

    /// Its ends, as text.
    pub(super) fn ends(&self) -> (String, String) {
        (short(self.low), short(self.high))
    }

    /// The ends of the axis over bars.
    pub(super) fn heading(&self, bars: usize) -> String {
        let (low, high) = self.ends();
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

    /// The samples as a small picture: clean ones in colour, the others pale above them, and the
    /// median as a line.
    pub(crate) fn picture(&self, bins: &[PingBin], median: f64, label: &str) -> String {
        let highest = bins.iter().map(|bin| bin.samples).max().unwrap_or(0).max(1) as f64;
        let bar = |bin: &PingBin| {
            let (ends, samples) = ([bin.from, bin.to], count(bin.samples, "sample", "samples"));
            let [from, to] = ends.map(short);
            Bin {
                ends: ends.map(|end| self.place(end)),
                parts: [bin.clean, bin.samples - bin.clean].map(|part| part as f64 / highest),
                says: format!("{from} to {to}, {samples}, {} clean", grouped(bin.clean)),
            }
        };
        spark(bins.iter().map(bar).collect(), self.place(median), label)
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
