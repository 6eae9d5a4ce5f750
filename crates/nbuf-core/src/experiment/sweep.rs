//! One parameter of a command varied: the method of the nbuf post of 2026, for any command.
//!
//! Every round runs every value once, and every second round goes backwards: a machine that gets
//! slower while it is measured slows all values alike, and neighbours by turns. Values are compared by the
//! pairs of a round.
//!
//! ```
//! use nbuf::experiment::sweep::Parameter;
//!
//! let parameter: Parameter = "n=1..3".parse()?;
//! assert_eq!(parameter.put("2", "./prog --buffers {n}"), "./prog --buffers 2");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "capture")]
mod run;

use std::fmt;
use std::str::FromStr;

#[cfg(feature = "capture")]
pub use run::{Error, Spec, run};

use super::result::{Against, SweepRow};
use super::statistics::{Ratio, holm, interval_of_median, signed_rank_chance};
use crate::units::as_text;

/// Chances of more than this are no difference, over all neighbours of a sweep.
const LEVEL: f64 = 0.05;

/// Values of one parameter at most: more are a slip of the pen.
const VALUES_MAX: usize = 10_000;

/// What is varied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name, without the braces.
    pub name: String,
    /// What takes its place, in order.
    pub values: Vec<String>,
}

/// Why a text is no parameter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParameterError {
    /// Not in the grammar.
    #[error("`{0}` is no parameter: write n=1..6, n=0..64:16 or level=low,high")]
    Grammar(String),
    /// A range that goes nowhere.
    #[error("the range `{0}` has no values: its end is below its beginning, or its step is 0")]
    Empty(String),
    /// More values than anybody can want.
    #[error("more than {VALUES_MAX} values: write a larger step")]
    TooMany,
}

impl FromStr for Parameter {
    type Err = ParameterError;

    fn from_str(text: &str) -> Result<Self, ParameterError> {
        let wrong = || ParameterError::Grammar(text.to_owned());
        let (name, list) = text.split_once('=').ok_or_else(wrong)?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if name.is_empty() || !name.chars().all(is_name) {
            return Err(wrong());
        }
        let mut values = Vec::new();
        for item in list.split(',') {
            match item.split_once("..") {
                Some((from, to)) => values.extend(range(from, to).ok_or_else(wrong)??),
                None if item.is_empty() => return Err(wrong()),
                None => values.push(item.to_owned()),
            }
            if values.len() > VALUES_MAX {
                return Err(ParameterError::TooMany);
            }
        }
        Ok(Self { name: name.to_owned(), values })
    }
}

impl fmt::Display for Parameter {
    /// With the values one by one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.name, self.values.join(","))
    }
}

as_text!(Parameter);

/// Whole numbers from `from` to `to`, both included; nothing where they are none.
fn range(from: &str, to: &str) -> Option<Result<Vec<String>, ParameterError>> {
    let (to, step) = to.split_once(':').unwrap_or((to, "1"));
    let (first, last): (i64, i64) = (from.parse().ok()?, to.parse().ok()?);
    let step: usize = step.parse().ok()?;
    if last < first || step == 0 {
        return Some(Err(ParameterError::Empty(format!("{from}..{to}:{step}"))));
    }
    let values = (first..=last).step_by(step).take(VALUES_MAX + 1);
    Some(Ok(values.map(|value| value.to_string()).collect()))
}

impl Parameter {
    /// The text with a value in the place of the name in braces.
    pub fn put(&self, value: &str, text: &str) -> String {
        text.replace(&format!("{{{}}}", self.name), value)
    }

    /// Whether a text has the name in braces.
    pub fn is_in(&self, text: &str) -> bool {
        text.contains(&format!("{{{}}}", self.name))
    }

    /// Yields the numbers of the values in their turn: this many rounds, every second one
    /// backwards.
    pub fn turns(&self, rounds: usize) -> impl Iterator<Item = usize> + use<> {
        let count = self.values.len();
        (0..rounds).flat_map(move |round| {
            (0..count).map(move |at| if round % 2 == 0 { at } else { count - 1 - at })
        })
    }
}

/// The rows, of the seconds that each run of each value took; values that were not run have none. Neighbours differ
/// where the signs of their pairs would not be by chance (Wilcoxon), over all neighbours of the sweep (Holm).
pub fn rows(parameter: &Parameter, seconds: &[Vec<f64>]) -> Vec<SweepRow> {
    let mut rows: Vec<SweepRow> = Vec::new();
    for (value, samples) in parameter.values.iter().zip(seconds) {
        let Some(interval) = interval_of_median(samples, 1) else { continue };
        let first = rows.first().map_or(interval.median, |row| row.seconds);
        let before = rows.last().map(|row| pairs(&row.samples, samples));
        rows.push(SweepRow {
            value: value.clone(),
            seconds: interval.median,
            low: interval.low,
            high: interval.high,
            speedup: first / interval.median,
            against_previous: before.and_then(|pairs| against(&pairs)),
            samples: samples.clone(),
        });
    }
    let chances: Vec<f64> = rows.windows(2).map(|two| chance(&two[0], &two[1])).collect();
    for (row, is_below) in rows.iter_mut().skip(1).zip(holm(&chances, LEVEL)) {
        if let Some(against) = &mut row.against_previous {
            against.differs = is_below && (against.low > 1.0 || against.high < 1.0);
        }
    }
    rows
}

/// The samples of each value that it takes before any two neighbours can differ, with this many values.
pub fn samples_to_differ(values: usize) -> u32 {
    let neighbours = values.saturating_sub(1).max(1) as f64;
    (1..64)
        .find(|&samples| neighbours * 2.0 * 0.5_f64.powi(samples) <= LEVEL)
        .map_or(64, i32::unsigned_abs)
}

/// The samples of a round, each with the sample of the round before.
fn pairs(before: &[f64], samples: &[f64]) -> Vec<(f64, f64)> {
    samples.iter().zip(before).map(|(&now, &then)| (now, then)).collect()
}

/// The chance that two values which take as long give pairs as lopsided as these.
fn chance(before: &SweepRow, row: &SweepRow) -> f64 {
    let pairs = pairs(&before.samples, &row.samples);
    let is_time = |(now, then): &(f64, f64)| *now > 0.0 && *then > 0.0;
    let logs: Vec<f64> =
        pairs.into_iter().filter(is_time).map(|(now, then)| (then / now).ln()).collect();
    signed_rank_chance(&logs)
}

/// By the pairs of a round: how many times as fast.
fn against(pairs: &[(f64, f64)]) -> Option<Against> {
    let Ratio { low, middle, high, .. } = Ratio::of(pairs, 1)?;
    Some(Against { times: middle, low, high, differs: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_read() {
        let check = |text: &str, want: Result<&[&str], ParameterError>| {
            let got = text.parse::<Parameter>().map(|parameter| parameter.values);
            let want = want.map(|values| values.iter().map(|&v| v.to_owned()).collect::<Vec<_>>());
            assert_eq!(got, want, "{text}");
        };
        check("n=1..6", Ok(&["1", "2", "3", "4", "5", "6"]));
        check("n=0..64:16", Ok(&["0", "16", "32", "48", "64"]));
        check("n=-1..1", Ok(&["-1", "0", "1"]));
        check("level=low,high", Ok(&["low", "high"]));
        check("n=1,4..5,x", Ok(&["1", "4", "5", "x"]));
        let wrong = |text: &str| Err(ParameterError::Grammar(text.to_owned()));
        for text in ["", "n", "=1", "n=", "n=1,,2", "n m=1", "n=a..b", "n=1..2:x"] {
            check(text, wrong(text));
        }
        check("n=6..1", Err(ParameterError::Empty("6..1:1".to_owned())));
        check("n=1..6:0", Err(ParameterError::Empty("1..6:0".to_owned())));
        check("n=1..1000000", Err(ParameterError::TooMany));
    }

    #[test]
    fn a_spec_is_read_from_a_file() {
        let text = "parameter = \"n=1..3\"\nsamples = 2\ncommand = [\"make\", \"N={n}\"]";
        let spec: Spec = toml::from_str(text).unwrap();
        assert_eq!(spec.parameter.values, ["1", "2", "3"]);
        let again: Spec = serde_json::from_str(&serde_json::to_string(&spec).unwrap()).unwrap();
        assert_eq!(again, spec);
    }

    #[test]
    fn a_value_takes_the_place_of_the_name() {
        let parameter: Parameter = "n=1..3".parse().unwrap();
        assert_eq!(parameter.put("2", "make N={n} {m} {n}"), "make N=2 {m} 2");
        assert!(parameter.is_in("x{n}") && !parameter.is_in("n {m}"));
        assert_eq!(parameter.turns(3).collect::<Vec<_>>(), [0, 1, 2, 2, 1, 0, 0, 1, 2]);
    }

    #[test]
    fn a_slope_in_time_is_no_difference() {
        let parameter: Parameter = "n=a,b".parse().unwrap();
        let mut seconds = vec![Vec::new(), Vec::new()];
        for (at, value) in parameter.turns(10).enumerate() {
            seconds[value].push(1.0 + at as f64 / 100.0);
        }
        let rows = rows(&parameter, &seconds);
        let against = rows[1].against_previous.unwrap();
        assert!(!against.differs && (0.99..1.01).contains(&against.times), "{against:?}");
    }

    #[test]
    fn noise_is_no_difference() {
        let parameter: Parameter = "n=1..20".parse().unwrap();
        let mut random = crate::clock::Random::new(1971);
        for samples in [1, 2, 3, 5, 6, 10, 20] {
            let mut noise =
                || (0..samples).map(|_| 1.0 + random.below(1000) as f64 / 1000.0).collect();
            let wrong: usize = (0..20)
                .map(|_| {
                    let seconds: Vec<Vec<f64>> = (0..20).map(|_| noise()).collect();
                    rows(&parameter, &seconds)
                        .iter()
                        .filter(|row| row.against_previous.is_some_and(|against| against.differs))
                        .count()
                })
                .sum();
            assert!(wrong <= 3, "{samples} samples: {wrong} of 380 neighbours");
        }
    }

    #[test]
    fn few_samples_cannot_differ() {
        assert_eq!([1, 2, 3, 20].map(samples_to_differ), [6, 6, 7, 10]);
        for values in [2, 3, 20] {
            let parameter: Parameter = format!("n=1..{values}").parse().unwrap();
            let differ = |samples: u32| {
                let seconds: Vec<Vec<f64>> =
                    (0..values).map(|value| vec![0.5_f64.powi(value); samples as usize]).collect();
                rows(&parameter, &seconds)[1].against_previous.unwrap().differs
            };
            let least = samples_to_differ(usize::try_from(values).unwrap());
            assert!(differ(least) && !differ(least - 1), "{values}");
        }
    }

    #[test]
    fn twice_as_fast_is_twice_as_fast() {
        let parameter: Parameter = "n=1,2,3".parse().unwrap();
        let seconds = [vec![4.0; 6], vec![2.0; 6], vec![]];
        let rows = rows(&parameter, &seconds);
        assert_eq!(rows.len(), 2, "what was not run has no row");
        let row = &rows[1];
        assert!((row.speedup - 2.0).abs() < 1e-9 && (row.seconds - 2.0).abs() < 1e-9);
        let against = row.against_previous.unwrap();
        assert!(against.differs && (against.times - 2.0).abs() < 1e-9, "{against:?}");
        assert!(rows[0].against_previous.is_none());
    }
}
