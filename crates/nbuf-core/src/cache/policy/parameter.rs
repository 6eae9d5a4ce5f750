//! What can be set of a policy.
//!
//! Invariant: the text of a value is read as the same value again.

use super::{AnyPolicy, Policy, Simple};
use crate::cache::engine::{self, Engine};
use crate::cache::objects::{self, Layers, ObjectEngine};

/// Caches of objects of several sizes, with what is around the policy and the values of its parameters.
pub(super) type MakeObjects =
    fn(sizes_bytes: &[u64], layers: &Layers, values: &[u32]) -> Box<dyn ObjectEngine>;

/// Caches of several sizes with the values of parameters.
pub(super) type MakeEngine = fn(sizes_pages: &[u64], seed: u64, values: &[u32]) -> Box<dyn Engine>;

/// A share of 1, in millionths.
pub(super) const WHOLE: u32 = 1_000_000;

/// How a parameter is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterUnit {
    /// A whole number.
    Number,
    /// A share, as 0.1 or 10%. Its value is in millionths.
    Share,
}

/// What can be set of a policy.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// As it is written before the `=`.
    pub name: &'static str,
    /// What it is, in a few words.
    pub summary: &'static str,
    /// What it is by default.
    pub default: u32,
    /// Its largest value.
    pub most: u32,
    /// What it is where its name stands alone, if it may.
    pub alone: Option<u32>,
    /// How it is written.
    pub unit: ParameterUnit,
}

impl Parameter {
    /// A whole number.
    pub(super) const fn number(
        name: &'static str,
        summary: &'static str,
        default: u32,
        most: u32,
    ) -> Self {
        Self { name, summary, default, most, alone: None, unit: ParameterUnit::Number }
    }

    /// A share of at most `most` wholes, in thousandths by default.
    pub(super) const fn share(
        name: &'static str,
        summary: &'static str,
        default_thousandths: u32,
        most: u32,
    ) -> Self {
        let (default, most) = (default_thousandths * (WHOLE / 1000), most * WHOLE);
        Self { name, summary, default, most, alone: None, unit: ParameterUnit::Share }
    }

    /// Something that is off by default, and on where its name stands alone.
    pub(super) const fn switch(name: &'static str, summary: &'static str) -> Self {
        Self { alone: Some(1), ..Self::number(name, summary, 0, 1) }
    }

    /// The value that a text asks for; none where it is no value, or too large.
    pub(super) fn read(&self, text: &str) -> Option<u32> {
        // The parsers of the library would take a sign, too.
        let is_plain = |also: &str| text.chars().all(|c| c.is_ascii_digit() || also.contains(c));
        let value = match self.unit {
            ParameterUnit::Number => text.parse().ok().filter(|_| is_plain("")),
            ParameterUnit::Share => {
                let (digits, wholes) = match text.strip_suffix('%') {
                    Some(digits) => (digits, 100.0),
                    None => (text, 1.0),
                };
                let share: Option<f64> = digits.parse().ok().filter(|_| is_plain(".%"));
                let millionths = share.map(|share| share / wholes * f64::from(WHOLE));
                millionths.and_then(|it| u32::try_from(crate::units::whole(it)).ok())
            }
        };
        value.filter(|&value| value <= self.most)
    }

    /// A value as it is written.
    pub fn text(&self, value: u32) -> String {
        match self.unit {
            ParameterUnit::Number => value.to_string(),
            ParameterUnit::Share => (f64::from(value) / f64::from(WHOLE)).to_string(),
        }
    }
}

/// How many of these pages a share in millionths is, rounded down.
pub(super) fn share_of(pages: u32, millionths: u32) -> u32 {
    let share = u64::from(pages) * u64::from(millionths) / u64::from(WHOLE);
    u32::try_from(share).unwrap_or(u32::MAX)
}

/// The share as a number.
pub(super) fn as_share(millionths: u32) -> f64 {
    f64::from(millionths) / f64::from(WHOLE)
}

/// A policy with parameters.
pub(super) trait Tuned: Policy + Send + Sized + 'static {
    /// The parameters, in the order of their values.
    const PARAMETERS: &'static [Parameter];

    /// What the row of the policy says of them.
    const SETTABLE: Settable = Settable::of::<Self>();

    /// An empty cache of this many pages, at least one, with a value for each parameter.
    fn tuned(capacity: u32, seed: u64, values: &[u32]) -> Self;

    /// The same with the usual values.
    fn usual(capacity: u32, seed: u64) -> Self {
        let values: Vec<u32> = Self::PARAMETERS.iter().map(|it| it.default).collect();
        Self::tuned(capacity, seed, &values)
    }
}

/// The parameters of a policy, and what is made with their values.
#[derive(Clone, Copy, Debug)]
pub struct Settable {
    /// In the order of their values.
    pub parameters: &'static [Parameter],
    /// Memory that a cache of any size takes, whatever comes.
    pub(super) least_bytes: fn(values: &[u32]) -> u64,
    /// One cache with these values.
    pub(super) build: fn(capacity: u32, seed: u64, values: &[u32]) -> Box<dyn AnyPolicy>,
    /// Caches of several sizes with these values.
    pub(super) engine: MakeEngine,
    /// The same over objects with sizes, where the policy has that.
    pub(super) objects: Option<MakeObjects>,
}

impl Settable {
    /// Those of a policy over pages.
    pub(super) const fn of<P: Tuned>() -> Self {
        Self {
            parameters: P::PARAMETERS,
            least_bytes: |_| 0,
            build: |capacity, seed, values| Box::new(P::tuned(capacity, seed, values)),
            engine: |sizes_pages, seed, values| {
                engine::plain_of(sizes_pages, |capacity| P::tuned(capacity, seed, values))
            },
            objects: None,
        }
    }

    /// Those of a policy over pages and over objects with sizes.
    pub(super) const fn with_objects<P: Tuned + Simple>() -> Self {
        let objects: MakeObjects = |sizes_bytes, layers, values| {
            objects::objects_of(sizes_bytes, layers, || P::tuned(u32::MAX, layers.seed, values))
        };
        Self { objects: Some(objects), ..Self::of::<P>() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_read_as_people_write_them() {
        let share = Parameter::share("small", "a share", 100, 2);
        for (text, want) in
            [("0.1", 100_000), ("10%", 100_000), (".5", 500_000), ("2", 2_000_000), ("0", 0)]
        {
            assert_eq!(share.read(text), Some(want), "{text}");
            assert_eq!(share.read(&share.text(want)), Some(want), "{text}");
        }
        for text in ["", "%", ".", "-0.1", "+0.1", "1e-1", "2.1", "nan", "inf", "10%%", "0.1 "] {
            assert_eq!(share.read(text), None, "{text}");
        }
        assert_eq!((share.text(share.default), share.text(share.most)), ("0.1".into(), "2".into()));
        assert_eq!(share_of(99, 100_000), 9);
        assert_eq!(share_of(u32::MAX, 10_000_000), u32::MAX);
    }
}
