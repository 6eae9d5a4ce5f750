//! Wikimedia: requests to its content delivery network, 2019.
//!
//! A text of fields with tabs between: seconds since the start, hash of path and query, type of the
//! image (in traces of uploads only), size of the response, time to the first byte. A line that
//! names the columns is left out. That the separator is a tab is unconfirmed.
//! Unit: keys. Source: README of cacheMon's collection.

use super::batch::{Batch, Fault};
use super::fields::{Fields, each_line};
use super::hash::key;
use super::parameters::{ParameterError, Parameters};
use super::table::{Format, Head, Likeness, Made, Parser, Reading};
use super::trial;
use crate::trace::request::{Op, Unit};

pub(super) const ROW: Format = Format {
    name: "wikimedia",
    summary: "Wikimedia CDN traces of 2019, tabs between fields",
    unit: Unit::Keys,
    source: "README of github.com/cacheMon/cache_dataset",
    suffixes: &[".tsv"],
    parameters: "",
    looks,
    reading: Reading::Lines(make),
    is_merged: false,
};

struct Wikimedia;

fn make(parameters: &Parameters, _head: Head) -> Result<Made, ParameterError> {
    parameters.only(&[])?;
    Ok(Made::keys(Wikimedia))
}

impl Parser for Wikimedia {
    fn parse(&mut self, bytes: &[u8], end: bool, out: &mut Batch) -> usize {
        each_line(bytes, end, out, |line, out| {
            if line.starts_with(b"relative_unix") {
                return Ok(());
            }
            let mut fields = Fields::new(line, b'\t');
            let columns = fields.clone().count();
            if !(4..=5).contains(&columns) {
                return Err(Fault::malformed("four or five fields with tabs between"));
            }
            let time_ns = fields.time_ns(1_000_000_000, "a time in seconds")?;
            let key = key(fields.text("the hash of a path")?);
            if columns == 5 {
                fields.skip("the type of an image")?;
            }
            let length_bytes = fields.number("the size of a response")?;
            fields.seconds_ns("a time to the first byte")?;
            out.push(time_ns, 0, key, length_bytes, Op::Read);
            Ok(())
        })
    }
}

fn looks(head: Head) -> Likeness {
    trial::lines(head, Wikimedia, Likeness::Likely)
}
