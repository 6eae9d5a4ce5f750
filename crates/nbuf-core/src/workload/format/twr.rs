//! twr, twrNS and oracleSysTwrNS: libCacheSim's binaries of Twitter's traces.
//!
//! All three are little-endian and have no header. The length of a request is key and value
//! together.
//! twr, 20 bytes: u32 seconds, u64 key, u32 sizes, u32 operation and time to live. In the sizes,
//! the high 10 bits are the size of the key and the rest the size of the value. In the last u32,
//! the high 8 bits are the operation and the rest the time to live.
//! twrNS, 22 bytes: the same and u16 name space.
//! oracleSysTwrNS, 34 bytes: u32 seconds, u64 key, u16 size of the key, u32 size of the value. Then
//! u16 operation, u16 name space, i32 time to live, i64 next request.
//! Unit: keys; the object is the name space. Source: libCacheSim's readers.

use super::batch::{Batch, Fault};
use super::fixed::{each_checked, little, seconds_ns};
use super::parameters::{ParameterError, Parameters};
use super::table::{Format, Head, Likeness, Made, Parser, Reading};
use super::trial::is_binary;
use crate::trace::Lifetime;
use crate::trace::request::{Op, Request, Unit};

/// Records that a beginning must have to be taken for one of these.
const RECORDS_LIKELY: usize = 16;

const fn row(
    name: &'static str,
    summary: &'static str,
    suffixes: &'static [&'static str],
    looks: fn(Head) -> Likeness,
    make: fn(&Parameters, Head) -> Result<Made, ParameterError>,
) -> Format {
    Format {
        name,
        summary,
        unit: Unit::Keys,
        source: "github.com/1a1a11a/libCacheSim (twrBin.h, twrNSBin.h, oracleTwrNSBin.h)",
        suffixes,
        parameters: "",
        looks,
        reading: Reading::Stream(make),
        is_merged: false,
    }
}

pub(super) const TWR: Format = row(
    "twr",
    "libCacheSim's Twitter binary, 20 bytes a request",
    &[".twr"],
    looks::<20>,
    make::<20>,
);
pub(super) const TWR_NS: Format = row(
    "twrNS",
    "the same with name spaces, 22 bytes a request",
    &[".twrns"],
    looks::<22>,
    make::<22>,
);
pub(super) const ORACLE_SYS_TWR_NS: Format = row(
    "oracleSysTwrNS",
    "the same with the next request, 34 bytes a request",
    &[".oraclesystwrns"],
    looks::<34>,
    make::<34>,
);

/// A parser of one of the three formats. `SIZE`, the size of its records, distinguishes them.
struct Twr<const SIZE: usize> {
    /// The last name space, and its number.
    space: Option<(u16, u32)>,
}

fn make<const SIZE: usize>(parameters: &Parameters, _: Head) -> Result<Made, ParameterError> {
    parameters.only(&[])?;
    Ok(Made::keys(Twr::<SIZE> { space: None }))
}

/// What an operation of these files asks; 0 is what converters write where the origin has none.
pub(super) fn op(operation: u32) -> Result<Op, Fault> {
    match operation {
        // nothing, get, gets, read
        0..=2 | 12 => Ok(Op::Read),
        // set, add, cas, replace, append, prepend; incr, decr; write, update
        3..=8 | 10 | 11 | 13 | 14 => Ok(Op::Write),
        9 => Ok(Op::Discard),
        _ => Err(Fault::operation("an operation from 0 to 14")),
    }
}

/// What the three have in different places.
struct Parts {
    /// The length of key and value.
    length_bytes: u64,
    operation: u32,
    space: Option<u16>,
    /// Time to live in seconds; 0 or less is none.
    lives_seconds: i32,
}

fn parts<const SIZE: usize>(record: &[u8; SIZE]) -> Parts {
    if SIZE == 34 {
        let length_bytes =
            u64::from(little!(u16, record, 12)) + u64::from(little!(u32, record, 14));
        let operation = u32::from(little!(u16, record, 18));
        let space = Some(little!(u16, record, 20));
        return Parts { length_bytes, operation, space, lives_seconds: little!(i32, record, 22) };
    }
    let (sizes, word) = (little!(u32, record, 12), little!(u32, record, 16));
    let length_bytes = u64::from(sizes >> 22) + u64::from(sizes & 0x3f_ffff);
    let space = (SIZE == 22).then(|| little!(u16, record, 20));
    let lives_seconds = (word & 0xff_ffff).cast_signed();
    Parts { length_bytes, operation: word >> 24, space, lives_seconds }
}

impl<const SIZE: usize> Parser for Twr<SIZE> {
    fn parse(&mut self, bytes: &[u8], end: bool, out: &mut Batch) -> usize {
        each_checked::<SIZE>(bytes, end, out, |record, out| {
            let Parts { length_bytes, operation, space, lives_seconds } = parts(record);
            let op = op(operation)?;
            let object = match (space, self.space) {
                (None, _) => 0,
                (Some(space), Some((last, number))) if space == last => number,
                (Some(space), _) => {
                    let number = out.objects.number(format!("name space {space}").as_bytes());
                    self.space = Some((space, number));
                    number
                }
            };
            let time_ns = seconds_ns(little!(u32, record, 0));
            let lifetime = Lifetime::from_seconds(u64::try_from(lives_seconds).unwrap_or(0));
            let request = Request::new(op, little!(u64, record, 4), length_bytes);
            out.requests.push(Request { time_ns, object, lifetime, ..request });
            Ok(())
        })
    }
}

/// Times that do not go back, and operations that exist. A text that says the same again and again
/// has both: an end of line is an operation too.
fn looks<const SIZE: usize>(head: Head) -> Likeness {
    if !is_binary(head.bytes) {
        return Likeness::No;
    }
    let (records, rest) = head.bytes.as_chunks::<SIZE>();
    let is_right = |record: &[u8; SIZE]| {
        let Parts { length_bytes, operation, .. } = parts(record);
        (1..=11).contains(&operation) && length_bytes > 0
    };
    let is_cut = head.is_whole && !rest.is_empty();
    let is_in_order = records.is_sorted_by_key(|record| little!(u32, record, 0));
    if records.len() < RECORDS_LIKELY || is_cut || !is_in_order || !records.iter().all(is_right) {
        return Likeness::No;
    }
    Likeness::Likely
}

#[cfg(test)]
mod tests {
    use super::super::FORMATS;
    use super::super::table::guess;
    use super::*;

    #[test]
    fn a_text_of_one_key_is_none_of_these() {
        for line in ["7\n", "1234\n", "17\r\n", "123456789\n"] {
            let bytes = line.repeat(20_000);
            for bytes in [&bytes[..], &bytes[..20 * 22 * 34]] {
                let head = Head { bytes: bytes.as_bytes(), is_whole: true };
                let found = guess(FORMATS, head, "").map(|guess| guess.format.name);
                assert_eq!(found, Some("lirs"), "{line:?}");
            }
        }
    }
}
