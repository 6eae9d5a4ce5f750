//! Prefetchers by name, as `nbuf curve --prefetch` takes them.
//!
//! Each has parameters behind colons: `next:pages=2`. Invariant: what is displayed is read as the same again.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::units::as_text;

/// How a cache prefetches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prefetching {
    /// The next pages behind an access.
    Next {
        /// How many.
        pages: u32,
        /// The accesses that fetch.
        on: On,
    },
    /// The next steps of streams with equal strides.
    Stride {
        /// How many steps.
        pages: u32,
        /// Streams that are followed at the same time.
        streams: u32,
        /// The largest stride that is found, in pages.
        reach: u32,
    },
    /// The next pages of sequential streams, as many as each of them used.
    Amp {
        /// Pages of the first prefetch of a stream.
        pages: u32,
        /// Pages of a prefetch at most.
        most: u32,
        /// How many pages before the last one of a prefetch the next one begins.
        trigger: u32,
    },
    /// Pages that were missed together.
    Mithril {
        /// Accesses between two misses that belong together, at most.
        lookahead: u32,
        /// Misses of a page from which on it is mined.
        support: u32,
        /// Misses of a page beyond which it is not.
        most: u32,
        /// Pages that one page brings, at most.
        list: u32,
        /// Pages that are mined together.
        mine: u32,
        /// Rows of the other two tables.
        rows: u32,
    },
}

/// Which accesses fetch the next pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// A miss.
    Miss,
    /// A miss, and the first use of a prefetched page.
    Tagged,
    /// Every access.
    Always,
}

/// A prefetcher as help lists it.
#[derive(Clone, Copy, Debug)]
pub struct PrefetcherRow {
    /// As it is written.
    pub name: &'static str,
    /// What it fetches, in a line.
    pub summary: &'static str,
    /// Where it comes from.
    pub citation: &'static str,
    /// The parameters with their usual values, as they are written, and what each is.
    pub parameters: &'static [(&'static str, &'static str)],
}

/// Every prefetcher. Help and documents go through this table.
pub const PREFETCHERS: &[PrefetcherRow] = &[
    PrefetcherRow {
        name: "next",
        summary: "the next pages",
        citation: "Smith 1978",
        parameters: &[
            ("pages=1", "how many"),
            ("on=tagged", "after a miss (miss), a first use too (tagged), or always (always)"),
        ],
    },
    PrefetcherRow {
        name: "stride",
        summary: "the next pages of streams with equal steps",
        citation: "Baer and Chen 1991",
        parameters: &[
            ("pages=4", "how many"),
            ("streams=64", "the streams that are followed"),
            ("reach=256", "the longest first step of a stream, in pages"),
        ],
    },
    PrefetcherRow {
        name: "amp",
        summary: "the next pages of sequential streams, more for those that use them",
        citation: "Gill and Bathen 2007",
        parameters: &[
            ("pages=2", "how many at first"),
            ("most=256", "how many at most"),
            ("trigger=0", "how many of them are left when the next ones are fetched"),
        ],
    },
    PrefetcherRow {
        name: "mithril",
        summary: "pages that missed together several times",
        citation: "Yang et al. 2017",
        parameters: &[
            ("lookahead=20", "the accesses between two such misses, at most"),
            ("support=2", "the misses of a page that is mined, at least"),
            ("most=8", "the misses of a page that is mined, at most"),
            ("list=2", "the pages that a page brings, at most"),
            ("mine=2560", "the pages that are mined together"),
            ("rows=16384", "the pages that are recorded, and those that bring others"),
        ],
    },
];

impl PrefetcherRow {
    /// The name with all parameters at their usual values.
    pub fn text(&self) -> String {
        let parameters = self.parameters.iter().map(|(text, _)| format!(":{text}"));
        self.name.to_owned() + &parameters.collect::<String>()
    }
}

/// Why a text names no prefetcher.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no prefetcher: write next:pages=1, stride, amp or mithril; \
     `nbuf curve --help-policies` lists their parameters"
)]
pub struct PrefetchError(String);

/// Pages that an access fetches at most.
const PAGES: RangeInclusive<u32> = 1..=1024;
/// Streams that an access looks at.
const STREAMS: RangeInclusive<u32> = 1..=4096;
/// Steps and distances.
const REACH: RangeInclusive<u32> = 1..=1 << 20;
/// Rows of a table.
const ROWS: RangeInclusive<u32> = 1..=1 << 24;
/// Times of a page that are kept.
const TIMES: RangeInclusive<u32> = 1..=64;

impl Prefetching {
    /// Whether it goes by the numbers of pages, so that keys and whole requests have no meaning for it.
    pub fn needs_pages(&self) -> bool {
        !matches!(self, Self::Mithril { .. })
    }

    /// What `take` gives for the names of the parameters of this prefetcher.
    fn read<'a>(name: &str, mut take: impl FnMut(&str) -> Option<&'a str>) -> Option<Self> {
        let mut number = |name, range, usual| number(take(name), range, usual);
        match name {
            "next" => {
                let pages = number("pages", PAGES, 1)?;
                let on = take("on").map_or(Some(On::Tagged), On::read)?;
                Some(Self::Next { pages, on })
            }
            "stride" => Some(Self::Stride {
                pages: number("pages", PAGES, 4)?,
                streams: number("streams", STREAMS, 64)?,
                reach: number("reach", REACH, 256)?,
            }),
            "amp" => {
                let (first, most) = (number("pages", PAGES, 2)?, number("most", PAGES, 256)?);
                let trigger = number("trigger", 0..=*PAGES.end(), 0)?;
                (first <= most).then_some(Self::Amp { pages: first, most, trigger })
            }
            "mithril" => {
                let (support, most) = (number("support", TIMES, 2)?, number("most", TIMES, 8)?);
                let lookahead = number("lookahead", REACH, 20)?;
                let list = number("list", PAGES, 2)?;
                let (mine, rows) = (number("mine", ROWS, 2560)?, number("rows", ROWS, 1 << 14)?);
                let mithril = Self::Mithril { lookahead, support, most, list, mine, rows };
                (support <= most).then_some(mithril)
            }
            _ => None,
        }
    }
}

impl On {
    fn read(text: &str) -> Option<Self> {
        [Self::Miss, Self::Tagged, Self::Always].into_iter().find(|on| on.name() == text)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Miss => "miss",
            Self::Tagged => "tagged",
            Self::Always => "always",
        }
    }
}

impl FromStr for Prefetching {
    type Err = PrefetchError;

    fn from_str(text: &str) -> Result<Self, PrefetchError> {
        let wrong = || PrefetchError(text.to_owned());
        let mut parts = text.split(':');
        let name = parts.next().unwrap_or_default();
        let mut pairs = Vec::new();
        for part in parts {
            pairs.push(part.split_once('=').ok_or_else(wrong)?);
        }
        let take = |name: &str| {
            let at = pairs.iter().position(|(found, _)| *found == name);
            at.map(|at| pairs.remove(at).1)
        };
        let read = Self::read(name, take);
        read.filter(|_| pairs.is_empty()).ok_or_else(wrong)
    }
}

/// A number of this range; the usual one where none is given.
fn number(text: Option<&str>, range: RangeInclusive<u32>, usual: u32) -> Option<u32> {
    let Some(text) = text else { return Some(usual) };
    // The parser of the library would take a sign.
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| digits && range.contains(number))
}

impl fmt::Display for Prefetching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Next { pages, on } => write!(f, "next:pages={pages}:on={}", on.name()),
            Self::Stride { pages, streams, reach } => {
                write!(f, "stride:pages={pages}:streams={streams}:reach={reach}")
            }
            Self::Amp { pages, most, trigger } => {
                write!(f, "amp:pages={pages}:most={most}:trigger={trigger}")
            }
            Self::Mithril { lookahead, support, most, list, mine, rows } => write!(
                f,
                "mithril:lookahead={lookahead}:support={support}:most={most}:list={list}\
                 :mine={mine}:rows={rows}"
            ),
        }
    }
}

as_text!(Prefetching);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_displayed_is_read_again_and_help_names_the_usual_values() {
        for row in PREFETCHERS {
            let found: Prefetching = row.text().parse().unwrap();
            assert_eq!(found.to_string(), row.text());
            assert_eq!(row.name.parse(), Ok(found), "{} alone", row.name);
        }
        for text in
            ["next:pages=7:on=miss", "next:pages=1024:on=always", "amp:pages=3:most=3:trigger=9"]
        {
            assert_eq!(text.parse::<Prefetching>().unwrap().to_string(), text);
        }
        assert_eq!("next:on=miss:pages=2".parse(), "next:pages=2:on=miss".parse::<Prefetching>());
    }

    #[test]
    fn what_is_none_says_what_to_write() {
        for text in [
            "",
            "lru",
            "next:",
            "next:pages",
            "next:pages=0",
            "next:pages=+1",
            "next:pages=1025",
            "next:on=never",
            "next:pages=1:pages=2",
            "stride:on=miss",
            "stride:streams=0",
            "amp:pages=9:most=8",
            "amp:trigger=-1",
            "mithril:support=9",
            "mithril:lookahead=0",
        ] {
            let error = text.parse::<Prefetching>().unwrap_err().to_string();
            assert!(error.contains("write next:pages=1") && !error.contains('\n'), "{error}");
        }
    }
}
