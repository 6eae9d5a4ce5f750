//! A line in the columns of blkparse's default form, read by position.
//!
//! `  8,0    3        1     0.000000000   697  Q   W 223490 + 8 [kjournald]`: every column has a place, so that no field
//! waits for the end of the one before it. A processor of three digits and a process of up to seven move the columns
//! behind them. Other lines are read field by field.

use super::super::words::{leading_blanks, leading_number, padded_number};

/// The fields in front of an action, and the action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Columns<'a> {
    /// The device and blanks around it.
    pub(super) device: [u8; 8],
    pub(super) time_ns: i64,
    pub(super) task: u32,
    /// A letter.
    pub(super) action: u8,
    /// What follows the blank behind the action, to the end of the input.
    pub(super) rest: &'a [u8],
}

/// What was asked for, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asked<'a> {
    pub(super) kind: &'a [u8],
    pub(super) sector: u64,
    pub(super) sectors: u64,
    /// What follows the number of sectors, to the end of the input.
    pub(super) rest: &'a [u8],
}

/// Bytes from the blank behind the processor to the one behind a process of five digits.
const MIDDLE_BYTES: usize = 32;

impl<'a> Columns<'a> {
    /// The columns of a line that the bytes begin with. The device is not looked at.
    #[inline]
    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let [device @ .., first, second, third, fourth] = bytes.first_chunk::<12>()?;
        let processor_end = match (first, second, third, fourth) {
            (b' ' | b'0'..=b'9', b'0'..=b'9', b' ', _) => 10,
            (b'0'..=b'9', b'0'..=b'9', b'0'..=b'9', b' ') => 11,
            _ => return None,
        };
        let line = &bytes[processor_end..];
        let middle = line.first_chunk::<MIDDLE_BYTES>()?;
        if (middle[9], middle[15], middle[25]) != (b' ', b'.', b' ') {
            return None;
        }
        padded_number(*middle[1..].first_chunk()?)?;
        let seconds = five(*middle[10..].first_chunk()?)?;
        let decimals = padded_number(*middle[16..].first_chunk()?)?;
        let last = middle[24].wrapping_sub(b'0');
        // Blanks are no decimals.
        if middle[16] == b' ' || last > 9 {
            return None;
        }
        let process_end = 31 + line[31..].iter().take(3).position(|byte| *byte == b' ')?;
        let process = match process_end {
            31 => five(*middle[26..].first_chunk()?)?,
            _ => whole_number(&line[26..process_end])?,
        };
        let [b' ', action, b' ', rest @ ..] = &line[process_end + 1..] else {
            return None;
        };
        let nanoseconds = seconds * 1_000_000_000 + decimals * 10 + u64::from(last);
        Some(Self {
            device: *device,
            time_ns: i64::try_from(nanoseconds).ok()?,
            task: u32::try_from(process).ok()?,
            action: Some(*action).filter(u8::is_ascii_alphabetic)?,
            rest,
        })
    }
}

impl<'a> Asked<'a> {
    /// What stands behind an action: a kind, `sector + count`, and the end of the line or a blank.
    #[inline]
    pub(super) fn parse(rest: &'a [u8]) -> Option<Self> {
        let rest = &rest[leading_blanks(rest)..];
        let length = rest.iter().position(|byte| !byte.is_ascii_uppercase())?;
        let (kind, rest) = rest.split_at(length);
        let rest = rest.strip_prefix(b" ")?;
        let (sector, digits) = leading_number(rest)?;
        let rest = rest[digits..].strip_prefix(b" + ")?;
        let (sectors, digits) = leading_number(rest)?;
        let rest = &rest[digits..];
        matches!(rest, [b' ' | b'\n', ..]).then_some(Self { kind, sector, sectors, rest })
    }
}

/// The device in its column, if there is one.
pub(super) fn device(column: &[u8; 8]) -> Option<&[u8]> {
    let padded = column.strip_suffix(b" ")?;
    let end = padded.iter().rposition(|byte| *byte != b' ')? + 1;
    let device = &padded[leading_blanks(padded)..end];
    let (_, digits) = leading_number(device)?;
    let minor = device[digits..].strip_prefix(b",")?;
    whole_number(minor).map(|_| device)
}

/// The number in five bytes: blanks, and then digits to the end.
#[inline]
fn five(bytes: [u8; 5]) -> Option<u64> {
    let mut padded = [b' '; 8];
    padded[3..].copy_from_slice(&bytes);
    padded_number(padded)
}

fn whole_number(text: &[u8]) -> Option<u64> {
    leading_number(text).filter(|(_, digits)| *digits == text.len()).map(|(number, _)| number)
}
