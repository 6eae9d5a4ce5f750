//! A trace that is in memory already, such as a table of another program.

use std::fmt;
use std::sync::Arc;

use super::progress::Counter;
use super::{Detected, Packing};
use crate::trace::request::{Request, Unit};
use crate::workload::format::{Batch, Format, Head, Likeness, Reading};

/// The row of what has no file: it is in no table, because no input looks like it.
static FORMAT: Format = Format {
    name: "table",
    summary: "rows in memory",
    unit: Unit::Bytes,
    source: "docs/python.md",
    suffixes: &[],
    parameters: "",
    looks: |_: Head| Likeness::No,
    reading: Reading::Native,
    is_merged: false,
};

/// Rows that become requests. The same rows give the same requests each time they are read.
pub trait Rows: Send + Sync {
    /// What the offsets count.
    fn unit(&self) -> Unit;

    /// Whether the requests have lengths, or the keys sizes.
    fn has_sizes(&self) -> bool;

    /// Whether the rows say what misses cost.
    fn has_costs(&self) -> bool {
        false
    }

    /// How many rows there are.
    fn count(&self) -> u64;

    /// Appends the requests of the rows from this one on, about a batch of them. The row that follows.
    fn read(&self, from: u64, out: &mut Batch) -> u64;
}

/// Rows in place of the files of a trace.
#[derive(Clone)]
pub struct Given(pub Arc<dyn Rows>);

impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Given({} rows)", self.0.count())
    }
}

impl Given {
    /// What such a trace is.
    pub(super) fn detected(&self) -> Detected {
        Detected {
            format: &FORMAT,
            packing: Packing::None,
            unit: self.0.unit(),
            has_sizes: self.0.has_sizes(),
            likeness: None,
            also: Vec::new(),
        }
    }

    /// Its rows from the first on.
    pub(super) fn stream(&self, counter: &mut Counter) -> GivenStream {
        counter.add_bytes(self.0.count() * REQUEST_BYTES);
        GivenStream { rows: Arc::clone(&self.0), next: 0, counter: counter.clone() }
    }
}

/// A row counts as the request that it becomes.
const REQUEST_BYTES: u64 = size_of::<Request>() as u64;

/// Rows on their way to requests.
pub(super) struct GivenStream {
    rows: Arc<dyn Rows>,
    next: u64,
    counter: Counter,
}

impl GivenStream {
    pub(super) fn fill(&mut self, out: &mut Batch) -> bool {
        if self.next < self.rows.count() {
            let next = self.rows.read(self.next, out);
            self.counter.done(next.saturating_sub(self.next) * REQUEST_BYTES);
            self.next = next;
        }
        self.next < self.rows.count()
    }
}
