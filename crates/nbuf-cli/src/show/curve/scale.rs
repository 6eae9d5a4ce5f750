//! The axis of cache sizes, always logarithmic: in bytes, or in keys where these have none.
//!
//! It is as long as the curves are. A corner that lies farther away than a part of them has no mark:
//! the text says where it is.

use super::super::axis::round_size;
use super::family::Family;
use super::words::Unit;

/// How much longer a corner may make the axis at either end, as a part of its length.
const LONGER: f64 = 0.15;

/// The sizes of a family from end to end.
pub(super) struct Scale {
    unit: Unit,
    low: f64,
    high: f64,
}

impl Scale {
    /// Wide enough for every point, and for corners of the main curve that are near; nothing without
    /// a point.
    pub(super) fn of(family: &Family<'_>) -> Option<Self> {
        let sizes = family.sizes();
        let size = |pages: u64| pages.max(1) as f64;
        let (low, high) = (size(*sizes.first()?), size(*sizes.last()?));
        // A single size lies in the middle.
        let (low, high) = if low < high { (low, high) } else { (high / 2.0, high * 2.0) };
        let reach = (high / low).powf(LONGER);
        let corners = family.main().corners.map(|c| [c.floor_pages, c.knee_pages, c.ceiling_pages]);
        let near = corners.into_iter().flatten().map(size);
        let near = near.filter(|&size| size >= low / reach && size <= high * reach);
        let (low, high) = near.fold((low, high), |(a, b), size| (a.min(size), b.max(size)));
        Some(Self { unit: family.unit, low, high })
    }

    /// The same for these sizes alone, with a doubling at the least from end to end.
    pub(super) fn around(&self, sizes: impl Iterator<Item = u64>) -> Self {
        let ends = |(low, high): (f64, f64), pages: u64| {
            (low.min(pages.max(1) as f64), high.max(pages as f64))
        };
        let (low, high) = sizes.fold((f64::MAX, 0.0), ends);
        if low > high {
            return Self { ..*self };
        }
        let more = (2.0 * low / high).max(1.0).sqrt();
        Self { unit: self.unit, low: low / more, high: high * more }
    }

    /// Whether a size is on the axis.
    pub(super) fn has(&self, pages: u64) -> bool {
        (self.low..=self.high).contains(&(pages.max(1) as f64))
    }

    /// Where a size lies, from 0 to 1.
    pub(super) fn position(&self, pages: f64) -> f64 {
        (pages.clamp(self.low, self.high) / self.low).ln() / (self.high / self.low).ln()
    }

    /// The size at a position.
    pub(super) fn pages(&self, position: f64) -> f64 {
        self.low * (self.high / self.low).powf(position)
    }

    /// At most `most` ticks, which is more than one, at round sizes.
    pub(super) fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        let bytes = if self.unit.has_bytes() { self.unit.page_bytes as f64 } else { 1.0 };
        let (low, high) = (self.low * bytes, self.high * bytes);
        let inside = |size: &f64| (low..=high).contains(size);
        let rows = if self.unit.has_bytes() { powers_of_two() } else { powers_of_ten() };
        let fitting = rows.into_iter().map(|row| row.into_iter().filter(inside).collect());
        let fitting = fitting.into_iter().find(|row: &Vec<f64>| row.len() <= most.max(2));
        let mut sizes = fitting.unwrap_or_default();
        if sizes.len() < 2 {
            sizes = vec![low, high];
        }
        let text = if self.unit.has_bytes() { round_size } else { round_keys };
        sizes.into_iter().map(|size| (self.position(size / bytes), text(size))).collect()
    }
}

/// Powers of two, and ever fewer of them.
fn powers_of_two() -> Vec<Vec<f64>> {
    let every = |step: i32| (0..64 / step).map(move |n| 2_f64.powi(n * step)).collect();
    [1, 2, 4, 5, 10, 20].into_iter().map(every).collect()
}

/// 1, 2 and 5 times powers of ten, these alone, and ever fewer of them.
fn powers_of_ten() -> Vec<Vec<f64>> {
    let every = |step: i32| (0..20 / step).map(move |n| 10_f64.powi(n * step));
    let full = every(1).flat_map(|ten| [ten, 2.0 * ten, 5.0 * ten]).collect();
    [full].into_iter().chain([1, 2, 3, 6].into_iter().map(|step| every(step).collect())).collect()
}

/// `5 k`: a round number with its SI prefix.
fn round_keys(count: f64) -> String {
    let (unit, prefix) = match count {
        ones if ones < 1e3 => (1.0, ""),
        thousands if thousands < 1e6 => (1e3, " k"),
        millions if millions < 1e9 => (1e6, " M"),
        _ => (1e9, " G"),
    };
    let digits = format!("{:.2}", count / unit);
    format!("{}{prefix}", digits.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(page_bytes: u64, low: f64, high: f64, most: usize) -> String {
        let scale = Scale { unit: Unit { page_bytes }, low, high };
        let ticks = scale.ticks(most);
        assert!(ticks.is_sorted_by(|a, b| a.0 < b.0) && ticks.len() <= most.max(2), "{ticks:?}");
        ticks.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ticks_are_round_and_never_too_many() {
        assert_eq!(ticks(4096, 1.0, 1000.0, 5), "4 KiB 16 KiB 64 KiB 256 KiB 1 MiB");
        assert_eq!(ticks(4096, 1.0, 1e9, 4), "1 MiB 1 GiB 1 TiB");
        assert_eq!(ticks(4096, 262.0, 269_210.0, 3), "16 MiB 256 MiB");
        assert_eq!(ticks(0, 900.0, 30_000.0, 5), "1 k 2 k 5 k 10 k 20 k");
        assert_eq!(ticks(0, 3.0, 70.0, 9), "5 10 20 50");
        assert_eq!(ticks(0, 3.0, 7e6, 3), "100 10 k 1 M");
        assert_eq!(ticks(512, 5.0, 7.0, 4), "2.5 KiB 3.5 KiB");
    }

    #[test]
    fn a_position_is_that_of_its_size() {
        let scale = Scale { unit: Unit { page_bytes: 1 }, low: 10.0, high: 1000.0 };
        for (pages, position) in [(1.0, 0.0), (10.0, 0.0), (100.0, 0.5), (1000.0, 1.0), (1e9, 1.0)]
        {
            assert!((scale.position(pages) - position).abs() < 1e-12, "{pages}");
        }
        assert!((scale.pages(0.5) - 100.0).abs() < 1e-9);
    }
}
