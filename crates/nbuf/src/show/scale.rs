//! An axis of a chart: the position of a value, and the ticks of the axis.
//!
//! Positions run from 0 to 1. Nothing here knows about columns or pixels.

use nbuf::units::Bytes;
pub(super) use nbuf::units::whole;

/// Sizes up to this ratio of the ends are drawn to scale.
const LINEAR_RATIO: f64 = 32.0;
/// Distances of ticks of shares, in percent.
const SHARE_STEPS: [f64; 7] = [0.5, 1.0, 2.0, 5.0, 10.0, 25.0, 50.0];
/// The empty part of the picture below the lowest share up to which the axis begins at 0.
const EMPTY: f64 = 0.25;
/// The rounding error of a quotient.
const HAIR: f64 = 1e-9;
/// Ratios of ticks on a logarithmic axis of bytes, as powers of two.
const POWERS: [i32; 6] = [1, 2, 4, 5, 10, 20];

/// The kind of an axis decides its ticks.
#[derive(Clone, Debug, Default)]
enum Ticks {
    /// Powers of two and their multiples.
    #[default]
    Bytes,
    /// 1, 2 and 5 times powers of ten on a logarithmic axis.
    Keys,
    /// 1, 2 and 5 times powers of ten from 0, the smallest step a power of ten.
    Steps(i32, fn(f64) -> String),
    /// Multiples of a step, from the lowest.
    Shares(f64),
    /// Powers of ten on a logarithmic axis.
    Decades(fn(f64) -> String),
    /// As they are.
    Given(Vec<(f64, String)>),
}

/// Values from end to end.
#[derive(Clone, Debug, Default)]
pub(super) struct Axis {
    pub(super) name: String,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) is_log: bool,
    ticks: Ticks,
}

impl Axis {
    fn new(name: &str, ends: (f64, f64), is_log: bool, ticks: Ticks) -> Self {
        // Values that are all alike have positions too.
        let (low, high) = if ends.0 < ends.1 { ends } else { (ends.0, ends.0 + 1.0) };
        Self { name: name.to_owned(), low, high, is_log, ticks }
    }

    /// Sizes in bytes: to scale from nothing, or logarithmic where the ends are far apart.
    pub(super) fn sizes(name: &str, low: f64, high: f64) -> Self {
        let is_log = high / low > LINEAR_RATIO;
        let low = if is_log { low } else { 0.0 };
        Self::new(name, (low, high), is_log, Ticks::Bytes)
    }

    /// Sizes in bytes, always to scale from nothing.
    pub(super) fn linear_sizes(name: &str, high: f64) -> Self {
        Self::new(name, (0.0, high), false, Ticks::Bytes)
    }

    /// Sizes in bytes, always logarithmic.
    pub(super) fn log_sizes(name: &str, low: f64, high: f64) -> Self {
        Self::new(name, (low, high), true, Ticks::Bytes)
    }

    /// Numbers of keys, logarithmic.
    pub(super) fn log_keys(name: &str, low: f64, high: f64) -> Self {
        Self::new(name, (low, high), true, Ticks::Keys)
    }

    /// Counts from 0 to the largest of these.
    pub(super) fn counts(name: &str, counts: impl Iterator<Item = u64>) -> Self {
        let high = counts.max().unwrap_or(0).max(1) as f64;
        Self::new(name, (0.0, high), false, Ticks::Steps(0, round_count))
    }

    /// Seconds from 0 to a little above the longest of these.
    pub(super) fn seconds(name: &str, seconds: impl Iterator<Item = f64>) -> Self {
        let longest = seconds.filter(|seconds| seconds.is_finite()).fold(0.001, f64::max);
        Self::new(name, (0.0, 1.05 * longest), false, Ticks::Steps(-4, round_seconds))
    }

    /// Any number from 0.
    pub(super) fn numbers(name: &str, high: f64, text: fn(f64) -> String) -> Self {
        Self::new(name, (0.0, high), false, Ticks::Steps(-3, text))
    }

    /// Powers of ten from the lowest to the highest value; nothing where there is one value.
    pub(super) fn decades(
        name: &str,
        values: impl Iterator<Item = f64>,
        text: fn(f64) -> String,
    ) -> Option<Self> {
        let ends = |(low, high): (f64, f64), value: f64| (low.min(value), high.max(value));
        let (low, high) = values.fold((f64::INFINITY, 0.0), ends);
        // From a tick on, so that the least values have one below them.
        let ends = (10_f64.powf(low.log10().floor()), high);
        (low < high && low > 0.0).then(|| Self::new(name, ends, true, Ticks::Decades(text)))
    }

    /// From 0 to `high` with these ticks.
    pub(super) fn given(name: &str, high: f64, ticks: Vec<(f64, String)>) -> Self {
        Self::new(name, (0.0, high), false, Ticks::Given(ticks))
    }

    /// Shares in percent, from round percent to round percent, in at most `steps` steps (two at the
    /// least). It begins at 0 unless that would leave much of the picture empty.
    pub(super) fn shares(name: &str, percents: impl Iterator<Item = f64>, steps: usize) -> Self {
        let ends = |(low, high): (f64, f64), percent: f64| (low.min(percent), high.max(percent));
        let (low, high) = percents.fold((100.0, 0.0), ends);
        let axis = |low, high, step| Self::new(name, (low, high), false, Ticks::Shares(step));
        if high <= low.min(0.0) || low > high {
            return axis(0.0, 100.0, 50.0);
        }
        let low = if low <= EMPTY * high { 0.0 } else { low };
        let fits = |step: f64| {
            let from = (low / step + HAIR).floor() * step;
            let to = (high / step - HAIR).ceil() * step;
            let to = if to > from { to } else { from + step };
            // Where all hit everywhere, the room is below.
            let (from, to) = if to > 100.0 { (from - step, 100.0) } else { (from, to) };
            ((to - from) / step <= steps.max(2) as f64).then(|| axis(from, to, step))
        };
        SHARE_STEPS.into_iter().find_map(fits).unwrap_or_else(|| axis(0.0, 100.0, 50.0))
    }

    /// Whether a value is on the axis.
    pub(super) fn has(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// Returns the position of a value; a value beyond an end is at that end.
    pub(super) fn position(&self, value: f64) -> f64 {
        let value = value.clamp(self.low, self.high);
        if self.is_log {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        }
    }

    /// The value at a position.
    pub(super) fn value(&self, position: f64) -> f64 {
        if self.is_log {
            self.low * (self.high / self.low).powf(position)
        } else {
            self.low + (self.high - self.low) * position
        }
    }

    /// Positions and names of ticks, at most `most` (which is more than one).
    pub(super) fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        let (values, text): (Vec<f64>, fn(f64) -> String) = match &self.ticks {
            Ticks::Bytes if self.is_log => (self.fitting(powers_of_two(), most), round_size),
            Ticks::Bytes => (self.multiples(most), round_size),
            Ticks::Keys => (self.fitting(powers_of_ten(), most), round_keys),
            Ticks::Steps(least, text) => (self.steps(*least, most), *text),
            Ticks::Shares(step) => {
                let steps = (0..).map(|n| self.low + f64::from(n) * step);
                (steps.take_while(|&at| at <= self.high + step / 2.0).collect(), |n| n.to_string())
            }
            Ticks::Decades(text) => {
                let tens = (0..16).map(|power| 10_f64.powi(power));
                (tens.filter(|&value| self.has(value)).collect(), *text)
            }
            Ticks::Given(ticks) => {
                let every = ticks.len().div_ceil(most.max(1)).max(1);
                let shown = ticks.iter().step_by(every);
                return shown.map(|(value, text)| (self.position(*value), text.clone())).collect();
            }
        };
        values.into_iter().map(|value| (self.position(value), text(value))).collect()
    }

    /// The first of these rows that has few enough values on the axis, or else its ends.
    fn fitting(&self, rows: Vec<Vec<f64>>, most: usize) -> Vec<f64> {
        let inside = rows
            .into_iter()
            .map(|row| row.into_iter().filter(|&value| self.has(value)).collect::<Vec<f64>>());
        let mut inside = inside.filter(|row| row.len() <= most.max(2));
        inside.next().filter(|row| row.len() > 1).unwrap_or_else(|| vec![self.low, self.high])
    }

    /// Whole multiples of a power of two from nothing.
    fn multiples(&self, most: usize) -> Vec<f64> {
        let mut step = 1.0;
        while (self.high / step).floor() + 1.0 > most.max(3) as f64 {
            step *= 2.0;
        }
        let multiples = (0..).map(|n| f64::from(n) * step);
        multiples.take_while(|&size| size <= self.high).collect()
    }

    /// Multiples of 1, 2 or 5 times a power of ten, from 0.
    fn steps(&self, least: i32, most: usize) -> Vec<f64> {
        let fits = |step: &f64| (self.high / step).floor() < most.max(2) as f64;
        let decades = (least..20).map(|n| 10_f64.powi(n));
        let mut steps = decades.flat_map(|ten| [ten, 2.0 * ten, 5.0 * ten]);
        let step = steps.find(fits).unwrap_or(self.high);
        let multiples = (0..).map(|n| f64::from(n) * step);
        multiples.take_while(|&amount| amount <= self.high).collect()
    }
}

/// Powers of two, and ever fewer of them.
fn powers_of_two() -> Vec<Vec<f64>> {
    let every = |step: i32| (0..64 / step).map(move |n| 2_f64.powi(n * step)).collect();
    POWERS.into_iter().map(every).collect()
}

/// 1, 2 and 5 times powers of ten, these alone, and ever fewer of them.
fn powers_of_ten() -> Vec<Vec<f64>> {
    let every = |step: i32| (0..20 / step).map(move |n| 10_f64.powi(n * step));
    let full = every(1).flat_map(|ten| [ten, 2.0 * ten, 5.0 * ten]).collect();
    [full].into_iter().chain([1, 2, 3, 6].into_iter().map(|step| every(step).collect())).collect()
}

/// A size without digits that say nothing: `32 MiB`.
pub(super) fn round_size(size: f64) -> String {
    let shown = Bytes(whole(size)).to_string();
    match shown.split_once(' ') {
        Some(("0", _)) => "0".to_owned(),
        Some((number, unit)) => format!("{} {unit}", trimmed(number)),
        None => shown,
    }
}

/// `0.25 s`
fn round_seconds(seconds: f64) -> String {
    format!("{} s", trimmed(&format!("{seconds:.4}")))
}

/// A round count with its SI prefix: `250 k`.
fn round_count(count: f64) -> String {
    let (scaled, prefix) = if count < 1e4 { (count, "") } else { prefixed(count) };
    // Ticks are 1, 2 or 5 times a power of ten: one digit behind the point is enough.
    format!("{}{prefix}", trimmed(&format!("{scaled:.1}")))
}

/// A round number with its SI prefix: `5 k`.
fn round_keys(count: f64) -> String {
    let (scaled, prefix) = prefixed(count);
    format!("{}{prefix}", trimmed(&format!("{scaled:.2}")))
}

fn prefixed(count: f64) -> (f64, &'static str) {
    match count {
        ones if ones < 1e3 => (ones, ""),
        thousands if thousands < 1e6 => (thousands / 1e3, " k"),
        millions if millions < 1e9 => (millions / 1e6, " M"),
        more => (more / 1e9, " G"),
    }
}

/// A decimal number without zeros at its end.
pub(super) fn trimmed(number: &str) -> &str {
    if !number.contains('.') {
        return number;
    }
    number.trim_end_matches('0').trim_end_matches('.')
}

/// The nearest of `count` places (columns, rows, dots) to a position.
pub(super) fn place(position: f64, count: usize) -> usize {
    let last = count.saturating_sub(1);
    usize::try_from(whole(position * last as f64)).unwrap_or(last).min(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(axis: &Axis, most: usize) -> String {
        let ticks = axis.ticks(most);
        assert!(ticks.is_sorted_by(|a, b| a.0 < b.0), "{ticks:?}");
        ticks.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ticks_of_sizes_are_round_and_never_too_many() {
        let sizes = |page: f64, low: f64, high: f64, most| {
            names(&Axis::log_sizes("", page * low, page * high), most)
        };
        assert_eq!(sizes(4096.0, 1.0, 1000.0, 5), "4 KiB 16 KiB 64 KiB 256 KiB 1 MiB");
        assert_eq!(sizes(4096.0, 1.0, 1e9, 4), "1 MiB 1 GiB 1 TiB");
        assert_eq!(sizes(4096.0, 262.0, 269_210.0, 3), "16 MiB 256 MiB");
        assert_eq!(sizes(512.0, 5.0, 7.0, 4), "2.5 KiB 3.5 KiB");
        let keys = |low, high, most| names(&Axis::log_keys("", low, high), most);
        assert_eq!(keys(900.0, 30_000.0, 5), "1 k 2 k 5 k 10 k 20 k");
        assert_eq!(keys(3.0, 70.0, 9), "5 10 20 50");
        assert_eq!(keys(3.0, 7e6, 3), "100 10 k 1 M");
    }

    #[test]
    fn a_position_is_that_of_its_value() {
        let axis = Axis::log_sizes("", 10.0, 1000.0);
        for (value, position) in [(1.0, 0.0), (10.0, 0.0), (100.0, 0.5), (1000.0, 1.0), (1e9, 1.0)]
        {
            assert!((axis.position(value) - position).abs() < 1e-12, "{value}");
        }
        assert!((axis.value(0.5) - 100.0).abs() < 1e-9);
    }

    fn shares(percents: &[f64], steps: usize) -> String {
        let axis = Axis::shares("", percents.iter().copied(), steps);
        let ticks = axis.ticks(steps);
        assert!(ticks.len() <= steps + 1, "{ticks:?}");
        assert!((ticks[0].0, ticks[ticks.len() - 1].0) == (0.0, 1.0), "{ticks:?}");
        // At most half of the picture is empty, where the values differ at all.
        let (first, last) = (percents[0], percents[percents.len() - 1]);
        let room = axis.position(last) - axis.position(first);
        assert!(room >= 0.5 || last - first < 1.0, "{ticks:?}");
        names(&axis, steps)
    }

    #[test]
    fn the_axis_of_shares_is_as_long_as_the_curves() {
        assert_eq!(shares(&[10.0, 98.0], 5), "0 25 50 75 100");
        assert_eq!(shares(&[30.0, 65.0], 5), "30 40 50 60 70");
        assert_eq!(shares(&[83.0, 91.6], 5), "82 84 86 88 90 92");
        assert_eq!(shares(&[0.2, 4.0], 5), "0 1 2 3 4");
        assert_eq!(shares(&[0.0, 100.0], 2), "0 50 100");
        assert_eq!(shares(&[45.0, 55.0], 4), "45 50 55");
        assert_eq!(shares(&[50.0, 50.0], 4), "50 50.5");
        assert_eq!(shares(&[100.0, 100.0], 4), "99.5 100");
        assert_eq!(shares(&[99.1, 99.99], 4), "99 99.5 100");
    }

    #[test]
    fn each_power_of_ten_from_below_the_least_value_is_a_tick() {
        let decades =
            |values: &[f64]| Axis::decades("", values.iter().copied(), |value| value.to_string());
        // The times of calls, in nanoseconds.
        assert_eq!(names(&decades(&[437.0, 9_000.0]).unwrap(), 5), "100 1000");
        assert_eq!(names(&decades(&[437.0, 63_000.0]).unwrap(), 5), "100 1000 10000");
        assert!(decades(&[437.0, 437.0]).is_none());
    }

    #[test]
    fn where_nothing_hits_the_axis_of_shares_is_whole() {
        for percents in [&[0.0, 0.0][..], &[]] {
            let axis = Axis::shares("", percents.iter().copied(), 4);
            assert_eq!(axis.ticks(4).len(), 3);
            assert!((axis.position(100.0) - 1.0).abs() < 1e-12);
        }
    }
}
