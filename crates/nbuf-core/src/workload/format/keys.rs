//! Keys: one a line, any text.
//!
//! A line that is a number is that key; any other becomes its hash. Blanks around it are none of it.
//! No times, sizes or operations: all are reads.
//! Unit: keys. Source: none; the `txt` of libCacheSim is this.

use super::batch::Batch;
use super::fields::each_line;
use super::hash::key;
use super::parameters::{ParameterError, Parameters};
use super::table::{Format, Head, Likeness, Made, Parser, Reading};
use super::trial;
use crate::trace::request::{Op, Unit};

pub(super) const ROW: Format = Format {
    name: "keys",
    summary: "one key a line, a number or any text",
    unit: Unit::Keys,
    source: "the txt of libCacheSim",
    suffixes: &[".txt", ".keys"],
    parameters: "",
    looks,
    reading: Reading::Lines(make),
    is_merged: false,
};

struct Keys;

fn make(parameters: &Parameters, _head: Head) -> Result<Made, ParameterError> {
    parameters.only(&[])?;
    Ok(Made::bare_keys(Keys))
}

impl Parser for Keys {
    fn parse(&mut self, bytes: &[u8], end: bool, out: &mut Batch) -> usize {
        each_line(bytes, end, out, |line, out| {
            out.push(0, 0, key(line.trim_ascii()), 0, Op::Read);
            Ok(())
        })
    }
}

/// Words without blanks or commas; sentences and tables are something else.
fn looks(head: Head) -> Likeness {
    let is_word = |line: &[u8]| {
        let line = line.trim_ascii();
        line.len() <= 250 && !line.iter().any(|byte| b" \t,;".contains(byte))
    };
    if head.bytes.split(|byte| *byte == b'\n').take(100).all(is_word) {
        trial::lines(head, Keys, Likeness::Possible)
    } else {
        Likeness::No
    }
}
