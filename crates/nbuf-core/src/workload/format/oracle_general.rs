//! oracleGeneral: what libCacheSim and its collection of traces are kept in.
//!
//! Records of 24 bytes, little-endian, without padding or header: u32 seconds, u64 key, u32 size in
//! bytes, i64 number (from 1) of the next request with this key, -1 or `i64::MAX` when there is
//! none. It has no operations: all are reads. The next request is not taken over.
//! Unit: keys. Source: libCacheSim's reader, and bytes of its sample.

mod write;

pub use write::OracleGeneral;

use super::batch::Batch;
use super::fixed::{each, little, seconds_ns};
use super::parameters::{ParameterError, Parameters};
use super::table::{Format, Head, Likeness, Made, Parser, Reading};
use crate::trace::request::{Op, Request, Unit};

/// Bytes of a record.
const RECORD_BYTES: usize = 24;

pub(super) const ROW: Format = Format {
    name: "oracleGeneral",
    summary: "libCacheSim's general binary, 24 bytes a request",
    unit: Unit::Keys,
    source: "github.com/1a1a11a/libCacheSim (oracleGeneralBin.h)",
    suffixes: &[".oraclegeneral", ".oraclegeneral.bin"],
    parameters: "",
    looks,
    reading: Reading::Stream(make),
    is_merged: false,
};

struct Reader;

fn make(parameters: &Parameters, _head: Head) -> Result<Made, ParameterError> {
    parameters.only(&[])?;
    Ok(Made::keys(Reader))
}

impl Parser for Reader {
    fn parse(&mut self, bytes: &[u8], end: bool, out: &mut Batch) -> usize {
        each::<RECORD_BYTES>(bytes, end, out, |record| Request {
            time_ns: seconds_ns(little!(u32, record, 0)),
            ..Request::new(Op::Read, little!(u64, record, 4), u64::from(little!(u32, record, 12)))
        })
    }
}

/// No trace has as many requests; a text that is taken for numbers seems to.
const REQUESTS_MAX: u64 = 1 << 48;

/// The last number of a record names the next request with the same key, which can be checked.
fn looks(head: Head) -> Likeness {
    let (records, rest) = head.bytes.as_chunks::<RECORD_BYTES>();
    if records.is_empty() || (head.is_whole && !rest.is_empty()) {
        return Likeness::No;
    }
    let mut confirmed = 0_u32;
    for (number, record) in (1_u64..).zip(records) {
        let next = little!(i64, record, 16);
        if next == -1 || next == i64::MAX {
            continue;
        }
        let is_number = |next: &u64| (number + 1..REQUESTS_MAX).contains(next);
        let Some(next) = u64::try_from(next).ok().filter(is_number) else {
            return Likeness::No;
        };
        if let Some(other) = usize::try_from(next - 1).ok().and_then(|at| records.get(at)) {
            if little!(u64, other, 4) != little!(u64, record, 4) {
                return Likeness::No;
            }
            confirmed += 1;
        }
    }
    let is_in_order = records.is_sorted_by_key(|record| little!(u32, record, 0));
    match (confirmed, is_in_order) {
        (8.., _) => Likeness::Certain,
        (1.., _) => Likeness::Likely,
        (0, true) => Likeness::Possible,
        (0, false) => Likeness::No,
    }
}
