//! LIRS: the traces of the LIRS paper (Jiang and Zhang, SIGMETRICS 2002) and of its successors.
//!
//! A text with one block number a line; a line `*` is a checkpoint and asks nothing. Empty lines
//! are skipped. No times, sizes or operations: all are reads.
//! Unit: keys. Source: the authors' README and the samples in Caffeine's simulator.

use super::batch::Batch;
use super::fields::{Fields, each_line};
use super::parameters::{ParameterError, Parameters};
use super::table::{Format, Head, Likeness, Made, Parser, Reading};
use super::trial;
use crate::trace::request::{Op, Unit};

pub(super) const ROW: Format = Format {
    name: "lirs",
    summary: "one block number a line, `*` for a checkpoint",
    unit: Unit::Keys,
    source: "Jiang and Zhang, SIGMETRICS 2002; github.com/ben-manes/caffeine (simulator)",
    suffixes: &[".trc", ".trace"],
    parameters: "",
    looks,
    reading: Reading::Lines(make),
    is_merged: false,
};

struct Lirs;

fn make(parameters: &Parameters, _head: Head) -> Result<Made, ParameterError> {
    parameters.only(&[])?;
    Ok(Made::bare_keys(Lirs))
}

impl Parser for Lirs {
    fn parse(&mut self, bytes: &[u8], end: bool, out: &mut Batch) -> usize {
        each_line(bytes, end, out, |line, out| {
            if line.trim_ascii() == b"*" {
                return Ok(());
            }
            let mut fields = Fields::blank(line);
            let block = fields.number("a block number")?;
            fields.end()?;
            out.push(0, 0, block, 0, Op::Read);
            Ok(())
        })
    }
}

fn looks(head: Head) -> Likeness {
    trial::lines(head, Lirs, Likeness::Likely)
}
