//! Which objects that missed a cache takes in: a layer in front of any policy.
//!
//! The names are those of `nbuf curve --admit`. Each has parameters behind colons: `tinylfu:sample=10`.
//! Invariant: what is displayed is read as the same again. Cost: see [`objects`](super::objects).

use std::fmt;
use std::str::FromStr;

use crate::units::{Bytes, Size, as_text};

/// How a cache admits objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Objects up to this number of bytes.
    Threshold {
        /// The largest.
        bytes: u64,
    },
    /// Any object with the same probability.
    Probability {
        /// In millionths.
        millionths: u32,
    },
    /// An object that was asked for more often lately than the one that would go for it.
    TinyLfu {
        /// Counts are halved after this number of requests for each object that the cache held.
        sample: u32,
    },
    /// Small objects more likely than large ones; how much more is tuned for the most hits.
    AdaptSize(Tuning),
}

/// How the admission by size is tuned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuning {
    /// Requests between tunings.
    pub every: u32,
    /// How much of a count the next tuning keeps, in percent.
    pub decay: u32,
}

impl Tuning {
    /// As in the simulator of the paper's authors.
    pub(crate) const USUAL: Self = Self { every: 500_000, decay: 30 };
}

/// An admission as help lists it.
#[derive(Clone, Copy, Debug)]
pub struct AdmissionRow {
    /// As it is written, with its parameters at their usual values.
    pub text: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// Where it comes from.
    pub citation: &'static str,
}

/// Every admission. Help and documents go through this table.
pub const ADMISSIONS: &[AdmissionRow] = &[
    AdmissionRow {
        text: "threshold:bytes=64KiB",
        summary: "objects up to this number of bytes",
        citation: "Abrams et al. 1995",
    },
    AdmissionRow {
        text: "probability:p=0.5",
        summary: "any object with the same probability",
        citation: "folklore",
    },
    AdmissionRow {
        text: "tinylfu:sample=10",
        summary: "objects asked for more often than the one that would go; counts are halved after sample requests an object",
        citation: "Einziger et al. 2017",
    },
    AdmissionRow {
        text: "adaptsize:every=500000:decay=30",
        summary: "small objects more likely than large ones, tuned after this number of requests; decay % of a count stay",
        citation: "Berger et al. 2017",
    },
];

/// Why a text names no admission.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no admission: write threshold:bytes=64KiB, probability:p=0.5, tinylfu or adaptsize; \
     `nbuf curve --help-policies` lists their parameters"
)]
pub struct AdmissionError(String);

/// One million: a probability of 1.
pub(crate) const MILLION: u32 = 1_000_000;

impl FromStr for Admission {
    type Err = AdmissionError;

    fn from_str(text: &str) -> Result<Self, AdmissionError> {
        let wrong = || AdmissionError(text.to_owned());
        let mut parts = text.split(':');
        let name = parts.next().unwrap_or_default();
        let mut pairs = Vec::new();
        for part in parts {
            pairs.push(part.split_once('=').ok_or_else(wrong)?);
        }
        let mut take = |name: &str| {
            let at = pairs.iter().position(|(found, _)| *found == name);
            at.map(|at| pairs.remove(at).1)
        };
        let admission = match name {
            "threshold" => take("bytes").and_then(bytes).map(|bytes| Self::Threshold { bytes }),
            "probability" => {
                take("p").and_then(millionths).map(|millionths| Self::Probability { millionths })
            }
            "tinylfu" => number(take("sample"), 10).map(|sample| Self::TinyLfu { sample }),
            "adaptsize" => {
                let every = number(take("every"), Tuning::USUAL.every);
                let decay = number(take("decay"), Tuning::USUAL.decay);
                let decay = decay.filter(|&percent| percent < 100);
                every.zip(decay).map(|(every, decay)| Self::AdaptSize(Tuning { every, decay }))
            }
            _ => None,
        };
        admission.filter(|_| pairs.is_empty()).ok_or_else(wrong)
    }
}

/// A number of at least 1; the usual one where none is given.
fn number(text: Option<&str>, usual: u32) -> Option<u32> {
    let Some(text) = text else { return Some(usual) };
    // The parser of the library would take a sign.
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|&number| digits && number > 0)
}

fn bytes(text: &str) -> Option<u64> {
    match text.parse() {
        Ok(Size::Absolute(Bytes(bytes))) => Some(bytes),
        _ => None,
    }
}

fn millionths(text: &str) -> Option<u32> {
    let share = text.parse().ok().filter(|share: &f64| (0.0..=1.0).contains(share))?;
    u32::try_from(crate::units::whole(share * f64::from(MILLION))).ok()
}

impl fmt::Display for Admission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Threshold { bytes } => write!(f, "threshold:bytes={bytes}"),
            Self::Probability { millionths } => {
                write!(f, "probability:p={}", f64::from(*millionths) / f64::from(MILLION))
            }
            Self::TinyLfu { sample } => write!(f, "tinylfu:sample={sample}"),
            Self::AdaptSize(Tuning { every, decay }) => {
                write!(f, "adaptsize:every={every}:decay={decay}")
            }
        }
    }
}

as_text!(Admission);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_displayed_is_read_again_and_help_names_what_is_read() {
        for text in
            ["threshold:bytes=70000", "probability:p=0.25", "probability:p=1", "tinylfu:sample=7"]
        {
            assert_eq!(text.parse::<Admission>().unwrap().to_string(), text);
        }
        for row in ADMISSIONS {
            let admission: Admission = row.text.parse().unwrap();
            assert_eq!(admission.to_string().parse::<Admission>().unwrap(), admission);
        }
        let usual = ["tinylfu", "adaptsize", "adaptsize:decay=30"].map(str::parse::<Admission>);
        assert_eq!(usual[1], usual[2]);
        assert_eq!(usual[0], Ok(Admission::TinyLfu { sample: 10 }));
    }

    #[test]
    fn what_is_none_says_what_to_write() {
        for text in [
            "",
            "lru",
            "threshold",
            "threshold:bytes=",
            "threshold:bytes=10%",
            "threshold:bytes=1:more=2",
            "probability:p=1.5",
            "probability:p=-1",
            "probability:p=nan",
            "tinylfu:sample=0",
            "tinylfu:sample=+1",
            "tinylfu:p",
            "adaptsize:decay=100",
            "threshold:bytes=1:bytes=2",
        ] {
            let error = text.parse::<Admission>().unwrap_err().to_string();
            assert!(error.contains("write threshold:bytes=64KiB"), "{text}: {error}");
        }
    }
}
