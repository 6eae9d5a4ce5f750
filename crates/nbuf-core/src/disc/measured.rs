//! A disc as slow as a real one was during a measurement.
//!
//! The times are in a small JSON document: quantiles by operation, size and depth. A
//! [`Latency`](super::latency::Latency) disc draws from them by its seed. The document can be kept,
//! so that a replay repeats on any machine. [`sample`] measures a file of this machine, one request
//! at a time. Without measured writes, a write costs as much as a read. If only one request was in
//! flight at a time, the disc serves one at a time.

use serde::{Deserialize, Serialize};

use super::latency::{Cell, Latencies};
use crate::meter::service::Sample;
use crate::trace::request::Op;
use crate::units::{Nanos, PAGE_BYTES};

/// The schema that every document names.
pub const SCHEMA: &str = "nbuf.latencies.v1";

/// The measured quantiles of a disc.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// A description of the measurement.
    pub what: String,
    /// The size of the disc.
    pub size_bytes: u64,
    /// The results, one entry for each operation, size and depth.
    pub cells: Vec<Quantiles>,
}

/// Requests of one operation and size, at one depth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quantiles {
    /// `read`, `write` or `flush`.
    pub operation: Name,
    /// The length of each request; 0 for a flush.
    pub length_bytes: u32,
    /// The number of requests in flight.
    pub depth: u32,
    /// The number of measured requests.
    pub samples: u64,
    /// Shares of the requests from 0 to 1, and the longest time among them in nanoseconds; both
    /// ascending.
    pub latency_ns: Vec<(f64, u64)>,
}

/// The name of an operation in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Name {
    /// Reads bytes of the disc.
    Read,
    /// Writes bytes to the disc.
    Write,
    /// Makes earlier writes durable.
    Flush,
}

/// The reason why a document is not usable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MeasuredError {
    /// The text is no such document.
    #[error("not a document of latencies ({what}); `schema` must be \"{SCHEMA}\"")]
    Document {
        /// The parser's error.
        what: String,
    },
    /// The document has no times of reads or writes.
    #[error(
        "no reads and no writes were measured: choose a file of 16 MiB or more that is not in memory"
    )]
    Empty,
    /// The quantiles of a cell do not ascend.
    #[error("cell {cell}: parts from 0 to 1 and times must ascend")]
    Order {
        /// The index of the cell, from 0.
        cell: usize,
    },
}

impl Measured {
    /// Parses and checks a document.
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

    /// Makes the document of reads that were measured one at a time.
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

    /// The table for a [`Latency`](super::latency::Latency) disc.
    pub fn latencies(&self) -> Latencies {
        Latencies::new(self.cells.iter().map(|cell| Cell {
            op: match cell.operation {
                Name::Read => Op::Read,
                Name::Write => Op::Write,
                Name::Flush => Op::Flush,
            },
            length_bytes: cell.length_bytes,
            depth: cell.depth,
            quantiles: cell.latency_ns.iter().map(|&(part, ns)| (part, Nanos(ns))).collect(),
        }))
    }
}

/// Measures reads of pages of a file that are not in memory, for a third of a second.
#[cfg(feature = "system")]
pub fn sample(path: &str) -> Result<Measured, MeasuredError> {
    let samples = crate::meter::probe::service::measure(std::iter::once(path));
    let size_bytes = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    let what = format!("reads of {path}, one at a time");
    Measured::of_reads(what, size_bytes, &samples)
}

/// Up to twenty quantiles of the measurement, including the first and the last.
fn quantiles(ascending: &[u64]) -> Vec<(f64, u64)> {
    const STEPS: usize = 20;
    let last = ascending.len().saturating_sub(1);
    let mut found: Vec<(f64, u64)> = Vec::new();
    for step in 0..=STEPS {
        let at = last * step / STEPS;
        let part = if last == 0 { 0.5 } else { at as f64 / last as f64 };
        // Four digits are enough, and they survive writing and reading.
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
    use super::super::wait_for;
    use super::*;
    use crate::clock::Random;
    use crate::trace::request::Request;

    fn samples(random: &mut Random) -> Vec<Sample> {
        (0..4_000)
            .map(|at| {
                let pages = [1, 32][at % 2];
                let ns = 80_000 + u64::from(pages) * 1_000 + random.below(100_000);
                Sample { pages, ns }
            })
            .collect()
    }

    /// A measurement of the disc gives the times that it was made of.
    #[test]
    fn a_measured_disc_measures_the_same() {
        let mut samples = samples(&mut Random::new(4));
        let measured = Measured::of_reads("a test".into(), 1 << 30, &samples).unwrap();
        let kept = Measured::parse(&serde_json::to_string(&measured).unwrap()).unwrap();
        assert_eq!(kept, measured);
        let mut disc = Latency::new(kept.size_bytes, kept.latencies(), 9);
        let mut now = Nanos::ZERO;
        let mut again: Vec<u64> = (0..2_000)
            .map(|page| {
                let request = Request::new(Op::Read, page << 12, 4_096);
                let done = wait_for(&mut disc, now, request, Vec::new()).unwrap();
                now = done.at;
                done.breakdown.total().0
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
