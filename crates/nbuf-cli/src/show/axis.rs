//! What the terminal plot and the picture have in common: where a size or a count lies on its
//! axis, which ticks it gets, and what the three sizes are called.
//!
//! Positions run from 0 to 1. Nothing here knows about columns or pixels.

use nbuf::experiment::result::{Advice, Curve, Point, Recommend};
use nbuf::units::Bytes;

/// Ratio of the ends up to which sizes are drawn to scale.
const LINEAR_RATIO: f64 = 32.0;
/// Room to the right of the last size, to show that nothing happens there.
const BEYOND: f64 = 1.10;
/// How much of a plateau on the left is worth its room: from a quarter of its end on.
const PLATEAU: f64 = 4.0;
/// Fills on that plateau, as a share of the worst.
const ALMOST_ALL: f64 = 0.95;

/// The axis of cache sizes: to scale from nothing, or logarithmic.
pub(crate) struct SizeAxis {
    low: f64,
    high: f64,
    logarithmic: bool,
}

impl SizeAxis {
    /// Wide enough for the curve and for `marks`.
    pub(crate) fn of(curve: &Curve, marks: impl Iterator<Item = Bytes> + Clone) -> Self {
        let size = |bytes: Bytes| (bytes.0 as f64).max(1.0);
        let high = marks.clone().map(size).fold(1.0, f64::max);
        let high = curve.points.last().map_or(high, |p| (BEYOND * size(p.cache_bytes)).max(high));
        let most = curve.points.iter().map(Point::fills_high).max().unwrap_or(0);
        let flat = |low: u64| low as f64 >= ALMOST_ALL * most as f64;
        let plateau = curve.points.iter().take_while(|p| flat(p.fills_low())).last();
        let first = curve.points.first().map_or(1.0, |p| size(p.cache_bytes));
        let low = plateau.map_or(first, |p| first.max(size(p.cache_bytes) / PLATEAU));
        let low = marks.map(size).fold(low, f64::min);
        let logarithmic = high / low > LINEAR_RATIO;
        Self { low: if logarithmic { low } else { 0.0 }, high, logarithmic }
    }

    /// Where a size lies; what is beyond the ends lies on them.
    pub(crate) fn position(&self, size: f64) -> f64 {
        let size = size.clamp(self.low, self.high);
        if self.logarithmic {
            (size / self.low).ln() / (self.high / self.low).ln()
        } else {
            (size - self.low) / (self.high - self.low)
        }
    }

    /// The size at a position.
    pub(crate) fn size(&self, position: f64) -> f64 {
        if self.logarithmic {
            self.low * (self.high / self.low).powf(position)
        } else {
            self.low + (self.high - self.low) * position
        }
    }

    /// At most `most` ticks (which is more than two), at powers of two or whole multiples of one.
    pub(crate) fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        let all: Vec<f64> = if self.logarithmic {
            let powers = |step: i32| (0..64 / step).map(move |n| 2_f64.powi(n * step));
            let inside = |size: &f64| (self.low..=self.high).contains(size);
            let steps = [1, 2, 5, 10, 20];
            let fits = |step: &i32| powers(*step).filter(inside).count() <= most;
            let step = steps.into_iter().find(fits).unwrap_or(20);
            powers(step).filter(inside).collect()
        } else {
            let mut step = 1.0;
            while (self.high / step).floor() + 1.0 > most.max(3) as f64 {
                step *= 2.0;
            }
            let multiples = (0..).map(|n| f64::from(n) * step);
            multiples.take_while(|&size| size <= self.high).collect()
        };
        all.into_iter().map(|size| (self.position(size), round_size(size))).collect()
    }
}

/// A tick's size without digits that say nothing: `32 MiB`.
pub(super) fn round_size(size: f64) -> String {
    let shown = Bytes(whole(size)).to_string();
    match shown.split_once(' ') {
        Some(("0", _)) => "0".to_owned(),
        Some((number, unit)) if number.contains('.') => {
            format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => shown,
    }
}

/// The axis of counts or of seconds, from 0.
pub(crate) struct CountAxis {
    high: f64,
    seconds: bool,
}

impl CountAxis {
    /// Up to the largest of these.
    pub(crate) fn of(counts: impl Iterator<Item = u64>) -> Self {
        let high = counts.max().unwrap_or(0).max(1) as f64;
        Self { high, seconds: false }
    }

    /// Up to the longest of these.
    pub(crate) fn of_seconds(seconds: impl Iterator<Item = f64>) -> Self {
        let longest = seconds.filter(|seconds| seconds.is_finite()).fold(0.001, f64::max);
        Self { high: 1.05 * longest, seconds: true }
    }

    /// Where an amount lies above the ground.
    pub(crate) fn position(&self, amount: f64) -> f64 {
        (amount / self.high).clamp(0.0, 1.0)
    }

    /// At most `most` (which is more than one) round amounts, 0 among them.
    pub(crate) fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        let fits = |step: &f64| (self.high / step).floor() < most.max(2) as f64;
        // Counts are whole; of a second, a tick may be a part.
        let least = if self.seconds { -4 } else { 0 };
        let decades = (least..20).map(|n| 10_f64.powi(n));
        let mut steps = decades.flat_map(|ten| [ten, 2.0 * ten, 5.0 * ten]);
        let step = steps.find(fits).unwrap_or(self.high);
        let amounts = (0..).map(|n| f64::from(n) * step).take_while(|&amount| amount <= self.high);
        let text = if self.seconds { round_seconds } else { round_count };
        amounts.map(|amount| (self.position(amount), text(amount))).collect()
    }
}

/// `0.25 s`
fn round_seconds(seconds: f64) -> String {
    let digits = format!("{seconds:.4}");
    format!("{} s", digits.trim_end_matches('0').trim_end_matches('.'))
}

/// A round count with its SI prefix: `250 k`.
fn round_count(count: f64) -> String {
    let (scaled, prefix) = match count {
        small if small < 1e4 => (small, ""),
        thousands if thousands < 1e6 => (thousands / 1e3, " k"),
        millions if millions < 1e9 => (millions / 1e6, " M"),
        more => (more / 1e9, " G"),
    };
    // Ticks are 1, 2 or 5 times a power of ten, so one digit behind the point says it all.
    let number = format!("{scaled:.1}");
    format!("{}{prefix}", number.strip_suffix(".0").unwrap_or(&number))
}

/// One of the three sizes, or of the four where a target was set, or several that are the same.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mark {
    pub(crate) cache_bytes: Bytes,
    pub(crate) label: String,
    /// The recommended one.
    pub(crate) knee: bool,
}

/// The marks of a recommendation, ascending. Sizes that read the same share a mark, at the knee if
/// that is one of them, where they may be `joined`.
pub(crate) fn marks(recommend: &Recommend, joined: bool) -> Vec<Mark> {
    let chosen = match recommend.kind {
        Advice::Knee => "knee",
        Advice::Target => "target",
        Advice::NothingToGain => {
            return vec![Mark {
                cache_bytes: recommend.cache_bytes,
                label: format!("enough {}", recommend.cache_bytes),
                knee: true,
            }];
        }
    };
    let mut all = vec![
        ("floor", recommend.floor_bytes),
        (chosen, recommend.cache_bytes),
        ("ceiling", recommend.ceiling_bytes),
    ];
    if recommend.kind == Advice::Target {
        all.insert(1, ("knee", recommend.knee_bytes));
        // What was asked for may lie anywhere.
        all.sort_by_key(|&(_, size)| size);
    }
    let groups = all.chunk_by(|a, b| joined && a.1.to_string() == b.1.to_string());
    let mark = |group: &[(&str, Bytes)]| {
        let names: Vec<_> = group.iter().map(|(name, _)| *name).collect();
        let recommended = group.iter().find(|(name, _)| *name == chosen);
        let cache_bytes = recommended.unwrap_or(&group[0]).1;
        Mark {
            cache_bytes,
            label: format!("{} {cache_bytes}", names.join(" = ")),
            knee: recommended.is_some(),
        }
    };
    groups.map(mark).collect()
}

/// The band at a size, straight between points and level beyond them: low, high.
pub(crate) fn band(curve: &Curve, size: f64) -> (f64, f64) {
    let bytes = |at: usize| curve.points[at].cache_bytes.0 as f64;
    let edges = |at: usize| {
        let point = &curve.points[at];
        (point.fills_low() as f64, point.fills_high() as f64)
    };
    let after = curve.points.partition_point(|p| (p.cache_bytes.0 as f64) < size);
    if curve.points.is_empty() {
        return (0.0, 0.0);
    }
    if after == 0 || after == curve.points.len() {
        return edges(after.saturating_sub(usize::from(after > 0)));
    }
    let (before, beyond) = (edges(after - 1), edges(after));
    let share = (size - bytes(after - 1)) / (bytes(after) - bytes(after - 1));
    let between = |from: f64, to: f64| from + (to - from) * share;
    (between(before.0, beyond.0), between(before.1, beyond.1))
}

/// Whether the two models part anywhere by enough to be seen.
pub(crate) fn band_is_visible(curve: &Curve, counts: &CountAxis) -> bool {
    let height = |fills: u64| counts.position(fills as f64);
    curve.points.iter().any(|p| height(p.fills_high()) - height(p.fills_low()) > 0.04)
}

/// The nearest whole number; `as` saturates.
pub(crate) fn whole(number: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "places and sizes: not negative, and small or saturated"
    )]
    let whole = number.round() as u64;
    whole
}

/// The nearest of `count` places (columns, rows, dots) to a position.
pub(crate) fn place(position: f64, count: usize) -> usize {
    let last = count.saturating_sub(1);
    usize::try_from(whole(position * last as f64)).unwrap_or(last).min(last)
}
