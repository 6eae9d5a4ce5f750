//! A disc as slow as a real one was when somebody measured it.
//!
//! The times are in a small JSON document: quantiles by operation, size and depth, of which a
//! [`Latency`](super::latency::Latency) disc draws by its seed. The document keeps, so that a replay can be repeated
//! anywhere; [`sample`] measures a file of this machine, with one request at a time. What was not
//! measured is not known: where there are no writes in it, they cost what reads do, and where only one request was
//! under way at a time, the disc serves one at a time.

use serde::{Deserialize, Serialize};

use super::Operation;
use super::latency::{Cell, Latencies};
use crate::meter::service::Sample;
use crate::units::{Nanos, PAGE_BYTES};

/// What the document says it is.
pub const SCHEMA: &str = "nbuf.latencies.v1";

/// The document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// [`SCHEMA`].
    pub schema: String,
    /// What was measured, in words.
    pub what: String,
    /// Where the disc ends.
    pub size_bytes: u64,
    /// What was found.
    pub cells: Vec<Quantiles>,
}

/// Requests of one operation and size, at one depth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quantiles {
    /// `read`, `write` or `flush`.
    pub operation: Name,
    /// How much was asked for; 0 for a flush.
    pub length_bytes: u32,
    /// How many were under way at once.
    pub depth: u32,
    /// How many were measured.
    pub samples: u64,
    /// Parts of the requests from 0 to 1, and how many nanoseconds those took at most; both ascending.
    pub latency_ns: Vec<(f64, u64)>,
}

/// An operation in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Name {
    /// Bytes of the disc.
    Read,
    /// Bytes put onto it.
    Write,
    /// What was written is kept.
    Flush,
}

/// A document that says nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MeasuredError {
    /// It is no such document.
    #[error("not a document of latencies ({what}); `schema` must be \"{SCHEMA}\"")]
    Document {
        /// What is wrong with it.
        what: String,
    },
    /// It has no times.
    #[error(
        "no reads and no writes were measured: choose a file of 16 MiB or more that is not in memory"
    )]
    Empty,
    /// A distribution that is none.
    #[error("cell {cell}: parts from 0 to 1 and times must ascend")]
    Order {
        /// Which one, from 0.
        cell: usize,
    },
}

impl Measured {
    /// Reads a document.
    pub fn parse(text: &str) -> Result<Self, MeasuredError> {
        let document: Self = serde_json::from_str(text)
            .map_err(|error| MeasuredError::Document { what: error.to_string() })?;
        if document.schema != SCHEMA {
            let what = format!("`schema` is \"{}\"", document.schema);
            return Err(MeasuredError::Document { what });
        }
        document.check()
    }

    fn check(self) -> Result<Self, MeasuredError> {
        for (cell, quantiles) in self.cells.iter().enumerate() {
            let times = &quantiles.latency_ns;
            let inside = times.iter().all(|(part, _)| (0.0..=1.0).contains(part));
            let rises = times.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 <= two[1].1);
            if !inside || !rises || times.is_empty() {
                return Err(MeasuredError::Order { cell });
            }
        }
        let moves = |quantiles: &Quantiles| quantiles.operation != Name::Flush;
        if self.size_bytes == 0 || !self.cells.iter().any(moves) {
            return Err(MeasuredError::Empty);
        }
        Ok(self)
    }

    /// Of reads that were measured one at a time.
    pub fn of_reads(
        what: String,
        size_bytes: u64,
        samples: &[Sample],
    ) -> Result<Self, MeasuredError> {
        let mut sizes: Vec<u32> = samples.iter().map(|sample| sample.pages).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let cells = sizes.into_iter().map(|pages| {
            let of_size = samples.iter().filter(|sample| sample.pages == pages);
            let mut times: Vec<u64> = of_size.map(|sample| sample.ns).collect();
            times.sort_unstable();
            let length_bytes = u64::from(pages) * PAGE_BYTES;
            Quantiles {
                operation: Name::Read,
                length_bytes: u32::try_from(length_bytes).unwrap_or(u32::MAX),
                depth: 1,
                samples: times.len() as u64,
                latency_ns: quantiles(&times),
            }
        });
        let cells = cells.collect();
        Self { schema: SCHEMA.to_owned(), what, size_bytes, cells }.check()
    }

    /// The table that the disc is made of.
    pub fn latencies(&self) -> Latencies {
        Latencies::new(self.cells.iter().map(|cell| Cell {
            operation: match cell.operation {
                Name::Read => Operation::Read,
                Name::Write => Operation::Write,
                Name::Flush => Operation::Flush,
            },
            length_bytes: cell.length_bytes,
            depth: cell.depth,
            quantiles: cell.latency_ns.iter().map(|&(part, ns)| (part, Nanos(ns))).collect(),
        }))
    }
}

/// Reads pages of a file that are not in memory, for a third of a second, and says how long that took.
pub fn sample(path: &str) -> Result<Measured, MeasuredError> {
    let samples = crate::meter::probe::service::measure(std::iter::once(path));
    let size_bytes = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    let what = format!("reads of {path}, one at a time");
    Measured::of_reads(what, size_bytes, &samples)
}

/// Up to twenty parts of what was measured, the first and the last among them.
fn quantiles(ascending: &[u64]) -> Vec<(f64, u64)> {
    const STEPS: usize = 20;
    let last = ascending.len().saturating_sub(1);
    let mut found: Vec<(f64, u64)> = Vec::new();
    for step in 0..=STEPS {
        let at = last * step / STEPS;
        let part = if last == 0 { 0.5 } else { at as f64 / last as f64 };
        // Four digits are enough, and read back as they were written.
        let part = (part * 1e4).round() / 1e4;
        if let Some(&ns) = ascending.get(at)
            && found.last().is_none_or(|(before, _)| *before < part)
        {
            found.push((part, ns));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::latency::Latency;
    use super::super::{Request, wait_for};
    use super::*;
    use crate::clock::Random;

    fn samples(random: &mut Random) -> Vec<Sample> {
        (0..4_000)
            .map(|at| {
                let pages = [1, 32][at % 2];
                let ns = 80_000 + u64::from(pages) * 1_000 + random.below(100_000);
                Sample { pages, ns }
            })
            .collect()
    }

    /// What is measured of the disc is what it was made of.
    #[test]
    fn a_measured_disc_measures_the_same() {
        let mut samples = samples(&mut Random::new(4));
        let measured = Measured::of_reads("a test".into(), 1 << 30, &samples).unwrap();
        let kept = Measured::parse(&serde_json::to_string(&measured).unwrap()).unwrap();
        assert_eq!(kept, measured);
        let mut disc = Latency::new(kept.size_bytes, kept.latencies(), 9);
        let mut now = Nanos::ZERO;
        let mut again: Vec<u64> = (0..2_000)
            .map(|tag| {
                let (operation, offset_bytes, data) = (Operation::Read, tag << 12, Vec::new());
                let request = Request { tag, operation, offset_bytes, length_bytes: 4_096, data };
                let done = wait_for(&mut disc, now, request).unwrap();
                now = done.at;
                done.spent.total().0
            })
            .collect();
        samples.retain(|sample| sample.pages == 1);
        samples.sort_unstable_by_key(|sample| sample.ns);
        again.sort_unstable();
        for (drawn, sample) in again.iter().zip(&samples) {
            assert!(drawn.abs_diff(sample.ns) < 10_000, "{drawn} and {}", sample.ns);
        }
    }

    #[test]
    fn a_document_that_says_nothing_says_why() {
        let good = "{\"schema\":\"nbuf.latencies.v1\",\"what\":\"w\",\"size_bytes\":9,\"cells\":[{\"operation\":\
                    \"read\",\"length_bytes\":4096,\"depth\":1,\"samples\":2,\"latency_ns\":[[0.0,5],[1.0,7]]}]}";
        assert!(Measured::parse(good).is_ok());
        let check = |from: &str, to: &str, want: &str| {
            let said = Measured::parse(&good.replace(from, to)).unwrap_err().to_string();
            assert!(said.contains(want) && !said.contains('\n'), "{said}");
        };
        check("v1", "v9", "`schema` is \"nbuf.latencies.v9\"");
        check("[1.0,7]", "[1.0,4]", "cell 0");
        check("[1.0,7]", "[1.5,7]", "cell 0");
        check("[[0.0,5],[1.0,7]]", "[]", "cell 0");
        check("read", "flush", "no reads and no writes");
        check("read", "erase", "unknown variant");
        check("\"cells\"", "\"calls\"", "missing field");
        assert!(Measured::of_reads(String::new(), 1, &[]).is_err());
    }
}
