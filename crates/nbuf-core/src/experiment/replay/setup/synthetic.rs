//! A synthetic workload: `zipf:keys=10000,alpha=1,requests=100000,writes=0.2`.

use super::super::Feed;
use crate::clock::Random;
use crate::trace::request::{Op, Request};
use crate::workload::synthetic::{Keys, Pattern};

/// Requests of a batch.
const BATCH: u64 = 4096;

/// A pattern and its options.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) struct Synthetic {
    pattern: Pattern,
    keys: u32,
    requests: u64,
    writes: f64,
}

impl Synthetic {
    /// The workload that the text names; nothing where it is the name of a file.
    pub(super) fn parse(text: &str) -> Option<Result<Self, String>> {
        let (name, options) = text.split_once(':').unwrap_or((text, ""));
        let pattern = match name {
            "zipf" => Pattern::Zipf { alpha: 1.0 },
            "uniform" => Pattern::Uniform,
            "loop" => Pattern::Loop,
            "scan" => Pattern::Scan,
            _ => return None,
        };
        let mut synthetic = Self { pattern, keys: 10_000, requests: 100_000, writes: 0.0 };
        for option in options.split(',').filter(|option| !option.is_empty()) {
            if synthetic.set(option).is_none() {
                return Some(Err(refused(name, option)));
            }
        }
        let fits = synthetic.pattern.must_fit(synthetic.keys).map_err(|error| error.to_string());
        Some(fits.map(|()| synthetic))
    }

    fn set(&mut self, option: &str) -> Option<()> {
        let (name, value) = option.split_once('=')?;
        match (name, &mut self.pattern) {
            ("keys", _) => self.keys = value.parse().ok().filter(|&keys| keys > 0)?,
            ("requests", _) => self.requests = value.parse().ok().filter(|&count| count > 0)?,
            ("writes", _) => {
                self.writes = value.parse().ok().filter(|share| (0.0..=1.0).contains(share))?;
            }
            ("alpha", Pattern::Zipf { alpha }) => {
                *alpha = value.parse().ok().filter(|alpha| (0.0..100.0).contains(alpha))?;
            }
            _ => return None,
        }
        Some(())
    }

    /// Units of the disc that it touches.
    pub(super) fn units(&self) -> u64 {
        match self.pattern {
            Pattern::Scan => self.requests,
            _ => self.keys.into(),
        }
    }

    /// How many there are.
    pub(super) fn requests(&self) -> u64 {
        self.requests
    }

    /// Whether some of them write.
    pub(super) fn is_writing(&self) -> bool {
        self.writes > 0.0
    }

    /// The requests, each of one unit.
    pub(super) fn feed(&self, unit_bytes: u32, seed: u64) -> SyntheticFeed {
        SyntheticFeed {
            synthetic: *self,
            keys: Keys::new(self.pattern, self.keys, seed),
            // Keys and writes are drawn apart.
            random: Random::new(!seed),
            spread: self.spread(),
            unit_bytes,
            count: 0,
        }
    }

    /// The factor of a rank, so that frequent keys are not neighbours.
    fn spread(&self) -> u64 {
        let keys = u64::from(self.keys);
        match self.pattern {
            // About the golden part of them, with no common factor: then each has a place.
            Pattern::Zipf { .. } => {
                (1..=keys * 618 / 1000).rev().find(|&step| common(step, keys) == 1).unwrap_or(1)
            }
            _ => 1,
        }
    }
}

/// Why an option is none, and what to write.
fn refused(pattern: &str, option: &str) -> String {
    let (name, value) = option.split_once('=').unwrap_or((option, ""));
    let takes = match name {
        "keys" if pattern == "zipf" => "a number of keys from 1 to 134217728",
        "keys" => "a number of keys from 1 to 4294967295",
        "requests" => "a number of requests from 1 on",
        "writes" => "a share of the requests from 0 to 1",
        "alpha" if pattern == "zipf" => "a number from 0 to 100",
        _ => {
            return format!(
                "`{option}` is no option of {pattern}: write keys=10000, requests=100000, writes=0.2 \
                 (a share), and with zipf alpha=1; a file of this name is ./{pattern}"
            );
        }
    };
    format!("`{value}` is nothing that {name} of {pattern} can be: write {name}= and {takes}")
}

/// The largest common factor.
fn common(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common(b, a % b) }
}

/// See [`Synthetic::feed`].
pub(in super::super) struct SyntheticFeed {
    synthetic: Synthetic,
    keys: Keys,
    random: Random,
    spread: u64,
    unit_bytes: u32,
    count: u64,
}

impl Feed for SyntheticFeed {
    fn next(&mut self, requests: &mut Vec<Request>) {
        requests.clear();
        for _ in 0..BATCH.min(self.synthetic.requests - self.count) {
            let key = self.keys.next().unwrap_or(0);
            let place = if self.spread == 1 {
                key
            } else {
                key * self.spread % u64::from(self.synthetic.keys)
            };
            let writes = self.synthetic.writes > 0.0 && self.random.unit() < self.synthetic.writes;
            let op = if writes { Op::Write } else { Op::Read };
            let unit_bytes = u64::from(self.unit_bytes);
            requests.push(Request::new(op, place * unit_bytes, unit_bytes));
            self.count += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_synthetic_workload_is_named_with_options() {
        let parse = |text: &str| Synthetic::parse(text).map(Result::ok);
        assert_eq!(parse("./zipf"), None);
        assert_eq!(parse("trace.parquet"), None);
        let synthetic = parse("zipf:keys=7,alpha=0.5,requests=9,writes=0.25").unwrap().unwrap();
        let pattern = Pattern::Zipf { alpha: 0.5 };
        assert_eq!(synthetic, Synthetic { pattern, keys: 7, requests: 9, writes: 0.25 });
        for wrong in [
            "zipf:keys=0",
            "zipf:keys=4000000000",
            "loop:alpha=1",
            "scan:x",
            "scan:writes=2",
            "uniform:keys=-1",
        ] {
            assert_eq!(parse(wrong), Some(None), "{wrong}");
        }
    }

    #[test]
    fn every_key_has_a_place_of_its_own() {
        for keys in 1..200 {
            let synthetic =
                Synthetic { pattern: Pattern::Zipf { alpha: 1.0 }, keys, requests: 1, writes: 0.0 };
            let keys = u64::from(keys);
            let mut places: Vec<u64> =
                (0..keys).map(|key| key * synthetic.spread() % keys).collect();
            places.sort_unstable();
            assert_eq!(places, (0..keys).collect::<Vec<_>>());
        }
    }
}
