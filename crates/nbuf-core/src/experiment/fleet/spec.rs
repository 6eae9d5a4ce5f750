//! What a fleet is asked: what to plan, which rows to work on, and what to answer.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Error;
use crate::cache::policy::Choice;
use crate::experiment::result::FleetBy;
use crate::units::{Bytes, CacheSize, Nanos, PAGE_BYTES, Size, as_text};
use crate::workload::format::Parameters;

/// The largest page.
const PAGE_BYTES_MAX: u64 = 1 << 30;
/// The size at which policies are compared.
const POLICY_SIZE: CacheSize = CacheSize::Percent(10.0);

/// What is planned, who works, and what is answered. The default has no inputs.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// Files, directories and patterns.
    pub inputs: Vec<String>,
    /// The folder for the plan and its results.
    pub out: PathBuf,
    /// What a volume is.
    pub by: FleetBy,
    /// The format of the inputs, instead of what they look like.
    pub format: Option<Parameters>,
    /// Bytes of a page.
    pub page_bytes: u64,
    /// How large volumes are split.
    pub split: Split,
    /// Workers that share the memory, and for which giants are split.
    pub workers: u16,
    /// Memory of all workers, by default half of what is available.
    pub memory: Option<Size>,
    /// Policies that are simulated on each volume; none by default.
    pub policies: Vec<Choice>,
    /// The size of the cache of each volume, for policies.
    pub policy_size: CacheSize,
    /// A time since the first request: whether a split by what came before lasts.
    pub until: Option<Nanos>,
    /// What has a partition, where the cache of a host is compared with partitions of it: a file or a directory.
    pub partitions: Option<FleetBy>,
    /// The name of the runner that [`run`](super::run) takes, one of [`RUNNERS`](super::RUNNERS).
    pub runner: String,
    /// What [`run`](super::run) answers.
    pub ask: Ask,
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            inputs: Vec::new(),
            out: PathBuf::new(),
            by: FleetBy::File,
            format: None,
            page_bytes: PAGE_BYTES,
            split: Split::Auto,
            workers: 1,
            memory: None,
            policies: Vec::new(),
            policy_size: POLICY_SIZE,
            until: None,
            partitions: None,
            runner: "local".to_owned(),
            ask: Ask::default(),
        }
    }
}

impl Spec {
    /// Refuses what a caller or a file may say and no plan can have.
    pub(super) fn check_plan(&self) -> Result<(), Error> {
        let is_page = self.page_bytes.is_power_of_two() && self.page_bytes <= PAGE_BYTES_MAX;
        refuse([
            (self.workers == 0, "workers is 0: give at least 1"),
            (!is_page, "page_bytes is no power of two up to 1 GiB: give one, such as 4096"),
            (
                self.partitions.is_some() && self.by != FleetBy::Host,
                "partitions are of the cache that a host shares: plan by host",
            ),
            (
                matches!(self.partitions, Some(FleetBy::Volume | FleetBy::Host)),
                "partitions are by file or by directory: give one of them",
            ),
        ])
    }

    /// Refuses what a file may say and no fleet can do.
    pub(super) fn check(&self) -> Result<(), Error> {
        self.check_plan()?;
        refuse([
            (!(0.0..=1.0).contains(&self.ask.hit_ratio), "hit_ratio is a share from 0 to 1"),
            (
                self.until.is_some() && self.ask.budget.is_none(),
                "until asks whether a split lasts: give what to split as ask.budget",
            ),
        ])
    }
}

/// The first that is wrong, as an error.
fn refuse<const N: usize>(wrong: [(bool, &'static str); N]) -> Result<(), Error> {
    match wrong.into_iter().find(|(is_wrong, _)| *is_wrong) {
        Some((_, what)) => Err(Error::Spec(what)),
        None => Ok(()),
    }
}

/// How large volumes are split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Split {
    /// Giants by time, and by hash where their pages may not fit into memory.
    #[default]
    Auto,
    /// Not at all.
    None,
    /// All by time, into this many pieces.
    Time(u32),
    /// All by hash, into this many parts.
    Hash(u32),
}

/// Why a text is no way to split.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no way to split: write auto, none, time:8 (at most 64), or hash:16 (at most 4096)"
)]
pub struct SplitError(String);

impl FromStr for Split {
    type Err = SplitError;

    fn from_str(text: &str) -> Result<Self, SplitError> {
        let wrong = || SplitError(text.to_owned());
        let number = |digits: &str, most: u32| {
            let number = digits.parse().ok().filter(|number| (2..=most).contains(number));
            number.ok_or_else(wrong)
        };
        match text.split_once(':') {
            None if text == "auto" => Ok(Self::Auto),
            None if text == "none" => Ok(Self::None),
            Some(("time", pieces)) => number(pieces, 64).map(Self::Time),
            Some(("hash", parts)) => number(parts, 4096).map(Self::Hash),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::None => f.write_str("none"),
            Self::Time(pieces) => write!(f, "time:{pieces}"),
            Self::Hash(parts) => write!(f, "hash:{parts}"),
        }
    }
}

as_text!(Split);

/// Rows of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// All.
    All,
    /// From one row to another, both included, from 1.
    Range(usize, usize),
    /// One share of several: rows are dealt like cards, so that each share has large and small ones.
    Share {
        /// The share, from 0.
        share: usize,
        /// How many there are.
        shares: usize,
    },
}

impl Rows {
    /// The places of these rows in a plan of this length, from 0.
    pub(super) fn of(&self, rows: usize) -> Result<Vec<usize>, Error> {
        match *self {
            Self::All => Ok((0..rows).collect()),
            Self::Range(first, last) if first >= 1 && first <= last && last <= rows => {
                Ok((first - 1..last).collect())
            }
            Self::Range(first, last) => Err(Error::Rows { rows, first, last }),
            Self::Share { share, shares } => Ok((share..rows).step_by(shares.max(1)).collect()),
        }
    }
}

/// What is answered.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ask {
    /// The hit ratio, from 0 to 1, that memory is wanted for.
    pub hit_ratio: f64,
    /// The memory that is split.
    pub budget: Option<Bytes>,
    /// Milliseconds that a miss takes.
    pub miss_ms: Option<f64>,
    /// Dollars for a million misses.
    pub miss_price: Option<f64>,
    /// Dollars for a GiB of memory in a month.
    pub gib_price: Option<f64>,
}

impl Default for Ask {
    fn default() -> Self {
        Self { hit_ratio: 0.9, budget: None, miss_ms: None, miss_price: None, gib_price: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_to_split_are_read() {
        let check = |text: &str, want: Option<Split>| {
            assert_eq!(text.parse::<Split>().ok(), want, "{text}");
        };
        check("auto", Some(Split::Auto));
        check("none", Some(Split::None));
        check("time:8", Some(Split::Time(8)));
        check("hash:4096", Some(Split::Hash(4096)));
        for wrong in ["", "time", "time:1", "time:65", "hash:4097", "hash:x", "auto:2"] {
            check(wrong, None);
        }
    }

    #[test]
    fn a_spec_is_read_from_a_file() {
        let text = r#"{"inputs": ["a.csv"], "out": "out", "split": "time:8", "policies": ["lru"],
            "policy_size": "5%", "ask": {"hit_ratio": 0.8}}"#;
        let spec: Spec = serde_json::from_str(text).unwrap();
        assert_eq!((spec.split, spec.ask.hit_ratio, spec.workers), (Split::Time(8), 0.8, 1));
        let again: Spec = serde_json::from_str(&serde_json::to_string(&spec).unwrap()).unwrap();
        assert_eq!(format!("{again:?}"), format!("{spec:?}"));
    }

    #[test]
    fn a_spec_that_no_fleet_can_do_is_refused() {
        assert!(serde_json::from_str::<Spec>(r#"{"worker": 8}"#).is_err());
        for text in [
            r#"{"workers": 0}"#,
            r#"{"page_bytes": 0}"#,
            r#"{"page_bytes": 1000}"#,
            r#"{"page_bytes": 2147483648}"#,
            r#"{"ask": {"hit_ratio": 1.5}}"#,
            r#"{"until": 1000}"#,
            r#"{"partitions": "directory"}"#,
            r#"{"partitions": "volume", "by": "host"}"#,
        ] {
            let spec: Spec = serde_json::from_str(text).unwrap();
            assert!(matches!(spec.check(), Err(Error::Spec(_))), "{text}");
        }
        assert!(Spec::default().check().is_ok());
        // A plan may be made before what is asked of it.
        let until = Spec { until: Some(Nanos(1000)), ..Spec::default() };
        assert!(until.check_plan().is_ok());
    }

    #[test]
    fn shares_deal_every_row_once() {
        let mut all: Vec<usize> =
            (0..3).flat_map(|share| Rows::Share { share, shares: 3 }.of(10).unwrap()).collect();
        all.sort_unstable();
        assert_eq!(all, (0..10).collect::<Vec<_>>());
        assert_eq!(Rows::Range(2, 3).of(3).unwrap(), [1, 2]);
        assert!(Rows::Range(2, 4).of(3).is_err() && Rows::Range(0, 1).of(3).is_err());
    }
}
