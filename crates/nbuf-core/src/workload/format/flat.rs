//! Flat: an array of numbers, 4 or 8 bytes each, of either byte order.
//!
//! Nothing but keys: LIRS2's and `CloudPhysics`' `w106` (u32, little-endian), cache2k's (i32,
//! big-endian), Corda's and Scarab's (i64, big-endian). A negative number is a key like others; its
//! sign is extended to 64 bits. Nothing in such a file tells what it is: it has to be named.
//! Unit: keys. Source: the readers of Caffeine's simulator, and the steps between the keys of w106.

use super::batch::Batch;
use super::fixed::each;
use super::parameters::{ParameterError, Parameters};
use super::table::{Format, Head, Likeness, Made, Parser, Reading};
use crate::trace::request::{Op, Request, Unit};

const fn row(
    name: &'static str,
    summary: &'static str,
    make: fn(&Parameters, Head) -> Result<Made, ParameterError>,
) -> Format {
    Format {
        name,
        summary,
        unit: Unit::Keys,
        source: "github.com/ben-manes/caffeine (simulator)",
        suffixes: &[],
        parameters: "",
        looks,
        reading: Reading::Stream(make),
        is_merged: false,
    }
}

pub(super) const ROWS: [Format; 6] = [
    row("u32le", "an array of keys of 32 bits, little-endian", make::<4, U32_LITTLE>),
    row("u32be", "an array of keys of 32 bits, big-endian", make::<4, U32_BIG>),
    row("i32le", "an array of signed keys of 32 bits, little-endian", make::<4, I32_LITTLE>),
    row("i32be", "an array of signed keys of 32 bits, big-endian", make::<4, I32_BIG>),
    row("i64le", "an array of keys of 64 bits, little-endian", make::<8, I64_LITTLE>),
    row("i64be", "an array of keys of 64 bits, big-endian", make::<8, I64_BIG>),
];

const U32_LITTLE: u8 = 0;
const U32_BIG: u8 = 1;
const I32_LITTLE: u8 = 2;
const I32_BIG: u8 = 3;
const I64_LITTLE: u8 = 4;
const I64_BIG: u8 = 5;

/// Records of `SIZE` bytes, of one of the kinds above.
struct Flat<const SIZE: usize, const KIND: u8>;

fn make<const SIZE: usize, const KIND: u8>(
    parameters: &Parameters,
    _head: Head,
) -> Result<Made, ParameterError> {
    parameters.only(&[])?;
    Ok(Made::bare_keys(Flat::<SIZE, KIND>))
}

#[inline]
fn key<const SIZE: usize, const KIND: u8>(record: &[u8; SIZE]) -> u64 {
    let mut bytes = [0; 8];
    bytes[..SIZE].copy_from_slice(record);
    let four = [bytes[0], bytes[1], bytes[2], bytes[3]];
    match KIND {
        U32_LITTLE => u64::from(u32::from_le_bytes(four)),
        U32_BIG => u64::from(u32::from_be_bytes(four)),
        I32_LITTLE => i64::from(i32::from_le_bytes(four)).cast_unsigned(),
        I32_BIG => i64::from(i32::from_be_bytes(four)).cast_unsigned(),
        I64_LITTLE => u64::from_le_bytes(bytes),
        _ => u64::from_be_bytes(bytes),
    }
}

impl<const SIZE: usize, const KIND: u8> Parser for Flat<SIZE, KIND> {
    fn parse(&mut self, bytes: &[u8], end: bool, out: &mut Batch) -> usize {
        each::<SIZE>(bytes, end, out, |record| Request::new(Op::Read, key::<SIZE, KIND>(record), 0))
    }
}

fn looks(_: Head) -> Likeness {
    Likeness::No
}
