//! A policy as it is asked for: a row of the table and, where the row has a parameter, its value.
//!
//! Written as `lru`, `v1` or `v1:busy=3`. Invariant: what is displayed is read as the same again.

use std::fmt;
use std::str::FromStr;

use super::{AnyPolicy, POLICIES, Parameter, Row, Settable, find};
use crate::cache::engine::Engine;
use crate::cache::objects::{Layers, ObjectEngine};
use crate::units::as_text;

/// Parameters that a policy has at the most.
const PARAMETERS_MAX: usize = 8;

/// The values of parameters, as they are given; the defaults where they are not.
#[derive(Clone, Copy, Debug)]
struct Values {
    settable: &'static Settable,
    given: [Option<u32>; PARAMETERS_MAX],
}

impl Values {
    fn all(&self) -> Vec<u32> {
        let each = self.settable.parameters.iter().zip(self.given);
        each.map(|(parameter, given)| given.unwrap_or(parameter.default)).collect()
    }
}

/// A policy and its parameters, as `lru` or `v1:busy=3` name it.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    row: &'static Row,
    values: Option<Values>,
}

/// Why a text names no policy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChoiceError {
    /// No such row.
    #[error("there is no policy `{0}`: write one of {names}", names = names())]
    Unknown(String),
    /// A parameter where there is none.
    #[error("{0} has no parameter: write {0} alone")]
    None(&'static str),
    /// Another parameter, or no number.
    #[error(
        "`{text}` is no parameter of {policy}: write {policy}:{name}=N, {summary}, up to {most}"
    )]
    Wrong {
        /// What was written.
        text: String,
        /// The policy.
        policy: &'static str,
        /// Its parameter.
        name: &'static str,
        /// What that is.
        summary: &'static str,
        /// Its largest value.
        most: String,
    },
}

impl Choice {
    /// The row of the policy.
    pub fn row(&self) -> &'static Row {
        self.row
    }

    /// Memory that a cache of any size takes, whatever comes: what is learned, for example.
    pub fn least_bytes(&self) -> u64 {
        let usual = self.row.settable.map(|settable| Values { settable, given: <_>::default() });
        let values = self.values.or(usual);
        values.map_or(0, |values| (values.settable.least_bytes)(&values.all()))
    }

    /// One cache of this many pages, at least one.
    pub fn build(&self, capacity: u32, seed: u64) -> Box<dyn AnyPolicy> {
        match &self.values {
            Some(values) => (values.settable.build)(capacity, seed, &values.all()),
            None => (self.row.build)(capacity, seed),
        }
    }

    /// Caches of several sizes, fed in one pass; see [`crate::cache::engine::engine`].
    pub fn engine(&self, sizes_pages: &[u64], seed: u64) -> Box<dyn Engine> {
        match &self.values {
            Some(values) => (values.settable.engine)(sizes_pages, seed, &values.all()),
            None => (self.row.engine)(sizes_pages, seed),
        }
    }

    /// Caches of objects with sizes; none where no rule says what the policy does with them.
    pub(crate) fn objects(
        &self,
        sizes_bytes: &[u64],
        layers: &Layers,
    ) -> Option<Box<dyn ObjectEngine>> {
        match &self.values {
            Some(values) => {
                let make = values.settable.objects;
                make.map(|objects| objects(sizes_bytes, layers, &values.all()))
            }
            None => self.row.objects.map(|objects| objects(sizes_bytes, layers)),
        }
    }
}

impl From<&'static Row> for Choice {
    fn from(row: &'static Row) -> Self {
        Self { row, values: None }
    }
}

impl FromStr for Choice {
    type Err = ChoiceError;

    fn from_str(text: &str) -> Result<Self, ChoiceError> {
        let (name, rest) = match text.split_once(':') {
            Some((name, rest)) => (name, Some(rest)),
            None => (text, None),
        };
        let row = find(name).ok_or_else(|| ChoiceError::Unknown(name.to_owned()))?;
        let Some(rest) = rest else { return Ok(row.into()) };
        let settable = row.settable.ok_or(ChoiceError::None(row.name))?;
        let mut given = [None; PARAMETERS_MAX];
        for part in rest.split(':') {
            let (at, value) = value_of(row.name, settable.parameters, part)?;
            given[at] = Some(value);
        }
        Ok(Self { row, values: Some(Values { settable, given }) })
    }
}

/// Which of the parameters a part sets, and to what.
fn value_of(
    policy: &'static str,
    parameters: &'static [Parameter],
    part: &str,
) -> Result<(usize, u32), ChoiceError> {
    let (name, value) =
        part.split_once('=').map_or((part, None), |(name, value)| (name, Some(value)));
    let at = parameters.iter().position(|parameter| parameter.name == name);
    let parameter = &parameters[at.unwrap_or(0)];
    let value = value.map_or(parameter.alone, |text| parameter.read(text));
    at.zip(value).ok_or_else(|| ChoiceError::Wrong {
        text: part.to_owned(),
        policy,
        name: parameter.name,
        summary: parameter.summary,
        most: parameter.text(parameter.most),
    })
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row.name)?;
        let Some(Values { settable, given }) = &self.values else { return Ok(()) };
        for (parameter, value) in settable.parameters.iter().zip(given) {
            match value {
                Some(value) if parameter.alone == Some(*value) => write!(f, ":{}", parameter.name)?,
                Some(value) => write!(f, ":{}={}", parameter.name, parameter.text(*value))?,
                None => {}
            }
        }
        Ok(())
    }
}

as_text!(Choice);

fn names() -> String {
    POLICIES.iter().map(|row| row.name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_displayed_is_what_was_read() {
        for row in POLICIES {
            assert_eq!(row.name.parse::<Choice>().unwrap().to_string(), row.name);
        }
        assert_eq!("2q:out=50%".parse::<Choice>().unwrap().to_string(), "2q:out=0.5");
        assert_eq!("OPT:bypass=1".parse::<Choice>().unwrap().to_string(), "opt:bypass");
        for text in [
            "v1:busy=0",
            "v1:busy=3",
            "v1:busy=4294967295",
            "opt:bypass",
            "opt:bypass=0",
            "lhd:samples=64:every=1000",
            "s3-fifo:small=0.25:promote=1",
            "2q:in=0.123456",
            "w-tinylfu:window=0.2:climb",
        ] {
            assert_eq!(text.parse::<Choice>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn other_spellings_and_names_are_known() {
        for (text, name) in [
            ("LRU", "lru"),
            ("s3fifo", "s3-fifo"),
            ("S3_FIFO", "s3-fifo"),
            ("WTinyLFU", "w-tinylfu"),
            ("TinyLFU", "w-tinylfu"),
            ("LRU2", "lru-2"),
            ("2-Q", "2q"),
            ("second-chance", "clock"),
            ("Belady", "opt"),
            ("two-lists", "active-inactive"),
            ("V1:busy=2", "v1:busy=2"),
        ] {
            assert_eq!(text.parse::<Choice>().unwrap().to_string(), name);
        }
        for (alias, name) in super::super::ALIASES {
            assert_eq!(find(alias).unwrap().name, *name);
            assert!(POLICIES.iter().all(|row| row.name.replace('-', "") != *alias), "{alias}");
        }
        assert!(["", "-", "_", "lr", "lruu"].iter().all(|text| text.parse::<Choice>().is_err()));
    }

    #[test]
    fn a_parameter_that_is_none_is_told_in_one_line() {
        for text in ["lirs:busy=1", "v1:", "v1:busy", "v1:busy=", "v1:busy=+1", "v1:busy=-1"] {
            let error = text.parse::<Choice>().unwrap_err().to_string();
            assert!(!error.contains('\n') && error.contains("write "), "{error}");
        }
        let wrong = |text: &str| text.parse::<Choice>().is_err();
        assert!(
            [
                "opt:bypass=2",
                "lhd:samples=1:",
                "lhd:samples=1:k=2",
                "v1:k=1",
                "v1:busy=4294967296",
                "v2:busy=1",
                "",
                ":busy=1"
            ]
            .iter()
            .all(|t| wrong(t))
        );
    }
}
