//! How sizes, shares and times of curves are written.

use nbuf::units::Bytes;

use super::super::scale::{round_size, trimmed};
use super::super::text::{self, count, digits, grouped};

/// Shares below it are not distinguished from nothing, in percent.
const PERCENT_MIN: f64 = 0.01;
/// Nanoseconds of each unit of time, the longest first, and how much is better said in it.
const TIMES: [(&str, f64, f64); 5] = [
    ("d", 86_400e9, 3.0),
    ("h", 3_600e9, 3.0),
    ("min", 60e9, 10.0),
    ("s", 1e9, 1.0),
    ("ms", 1e6, 0.0),
];

/// The unit of a cache: pages of `page_bytes`, keys, which have no size, or bytes of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) page_bytes: u64,
    /// Whether the cache holds objects of any size; a page is then a byte.
    pub(super) is_objects: bool,
}

impl Unit {
    pub(super) fn has_bytes(self) -> bool {
        self.page_bytes > 0
    }

    /// Whether sizes are numbers of pages of some bytes, so that both are worth a column.
    pub(super) fn has_pages(self) -> bool {
        self.has_bytes() && !self.is_objects
    }

    /// `pages`, `keys` or `objects`.
    pub(super) fn plural(self) -> &'static str {
        match (self.is_objects, self.has_bytes()) {
            (true, _) => "objects",
            (false, true) => "pages",
            (false, false) => "keys",
        }
    }

    /// `16,384 pages`, or `64.0 MiB` of objects.
    pub(super) fn count(self, number: u64) -> String {
        if self.is_objects {
            return Bytes(number).to_string();
        }
        let one = if self.has_bytes() { "page" } else { "key" };
        count(number, one, self.plural())
    }

    /// `16,384 distinct pages`
    pub(super) fn distinct(self, number: u64) -> String {
        if self.has_bytes() {
            count(number, "distinct page", "distinct pages")
        } else {
            count(number, "distinct key", "distinct keys")
        }
    }

    /// `64.0 MiB`, or nothing where there are no bytes.
    pub(super) fn bytes(self, pages: u64) -> Option<Bytes> {
        self.has_bytes().then(|| Bytes(pages.saturating_mul(self.page_bytes)))
    }

    /// `64.0 MiB`, or `16,384` where there are no bytes.
    pub(super) fn brief(self, pages: u64) -> String {
        self.bytes(pages).map_or_else(|| grouped(pages), |bytes| bytes.to_string())
    }

    /// `64.0 MiB`, or `16,384 keys`.
    pub(super) fn size(self, pages: u64) -> String {
        self.bytes(pages).map_or_else(|| self.count(pages), |bytes| bytes.to_string())
    }

    /// `64.0 MiB (16,384 pages)`, or `16,384 keys`.
    pub(super) fn full(self, pages: u64) -> String {
        let count = self.count(pages);
        if self.is_objects {
            return count;
        }
        self.bytes(pages).map_or_else(|| count.clone(), |bytes| format!("{bytes} ({count})"))
    }

    /// `16.0 MiB to 64.0 MiB`, or `4,096 to 16,384`; nothing where both are the same.
    pub(super) fn range(self, [low, high]: [u64; 2]) -> Option<String> {
        let [from, to] = [low, high].map(|pages| self.brief(pages));
        (from != to).then(|| format!("{from} to {to}"))
    }

    /// Returns the target of an access, a title that distinguishes sections of several sizes.
    pub(super) fn title(self) -> String {
        match self.page_bytes {
            _ if self.is_objects => "objects".to_owned(),
            0 => "keys".to_owned(),
            bytes => format!("pages of {}", round_size(bytes as f64)),
        }
    }
}

/// A share in percent, with three digits at most. Neither 0 nor 100 is said of what is not.
pub(super) fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    match percent {
        none if none <= 0.0 => "0".into(),
        all if all >= 100.0 => "100".into(),
        few if few < PERCENT_MIN => format!("<{PERCENT_MIN}"),
        small if small < 9.995 => format!("{small:.2}"),
        some => format!("{:.1}", some.min(99.9)),
    }
}

/// As [`percent`], without digits that say nothing.
pub(super) fn round_percent(share: f64) -> String {
    trimmed(&percent(share)).to_owned()
}

/// The unit that suits times up to this one: its name, and its nanoseconds.
pub(super) fn time_unit(longest_ns: f64) -> (&'static str, f64) {
    let suits = |&&(_, ns, least): &&(&str, f64, f64)| longest_ns / ns >= least;
    let (name, ns, _) = TIMES.iter().find(suits).unwrap_or(&TIMES[TIMES.len() - 1]);
    (name, *ns)
}

/// `12.5 min`
pub(super) fn time(ns: f64) -> String {
    let (name, unit) = time_unit(ns);
    format!("{} {name}", three_digits(ns / unit))
}

/// A number with three digits, or more where they stand before the point.
pub(super) fn three_digits(number: f64) -> String {
    if number.abs() < 1e-9 { format!("{number:.0}") } else { digits(number, 2) }
}

/// `2026-11-21 05:49:53 UTC`, where a time since 1970 is meant and not one since some start.
pub(super) fn moment(ns: i64) -> Option<String> {
    /// 2001; no recording is older, and none is as long.
    const EARLIEST_S: u64 = 1_000_000_000;
    let seconds = u64::try_from(ns / 1_000_000_000).ok().filter(|&seconds| seconds > EARLIEST_S)?;
    Some(text::moment(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_three_digits_and_do_not_round_to_all_or_nothing() {
        let shares = [0.0, 0.000_01, 0.001_234, 0.099_96, 0.123_45, 0.999_99, 1.0];
        let shown = shares.map(percent);
        assert_eq!(shown, ["0", "<0.01", "0.12", "10.0", "12.3", "99.9", "100"]);
    }

    #[test]
    fn sizes_have_bytes_where_pages_have() {
        let unit = Unit { page_bytes: 4096, is_objects: false };
        assert_eq!(unit.full(16_384), "64.0 MiB (16,384 pages)");
        assert_eq!(unit.title(), "pages of 4 KiB");
        let keys = Unit { page_bytes: 0, is_objects: false };
        assert_eq!((keys.full(1), keys.brief(1234)), ("1 key".into(), "1,234".into()));
        let objects = Unit { page_bytes: 1, is_objects: true };
        assert_eq!((objects.full(1 << 26), objects.title()), ("64.0 MiB".into(), "objects".into()));
    }

    #[test]
    fn times_are_in_the_unit_that_suits() {
        let shown = [0.0, 2e6, 5e9, 599e9, 7_200e9, 86_400e9, 700_000e9].map(time);
        assert_eq!(shown, ["0 ms", "2.00 ms", "5.00 s", "599 s", "120 min", "24.0 h", "8.10 d"]);
        assert_eq!(moment(1_795_240_193_000_000_000).unwrap(), "2026-11-21 05:49:53 UTC");
        assert_eq!(moment(3_600_000_000_000), None);
    }
}
