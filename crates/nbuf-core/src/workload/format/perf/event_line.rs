//! The common lines of perf, in one pass from the left: an event whose values are `dev=`, `ino=` and `ofs=` and no others.
//!
//! Lines of other events and unusual lines are read by searching.

use super::super::fields::hexadecimal;
use super::super::words::{leading_blanks, leading_number};
use super::{EVENT, PAGE_BYTES};

/// A line of an event that reads, up to its values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event<'a> {
    /// The command to the time, and the colon behind that.
    pub(super) before: &'a [u8],
    /// Whether its offset is of a first byte and a last.
    pub(super) is_window: bool,
    /// What follows, to the end of the input.
    pub(super) values: &'a [u8],
}

impl<'a> Event<'a> {
    /// The event of a line that the bytes begin with.
    #[inline]
    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let mut colon = 0;
        loop {
            colon += memchr::memchr2(b':', b'\n', &bytes[colon..])?;
            match &bytes[colon..] {
                [b':', b' ', ..] => break,
                // A name with an event in it would come first.
                [b':', b'm', ..] | [b'\n', ..] => return None,
                // Commands have colons, too.
                _ => colon += 1,
            }
        }
        let (before, rest) = bytes.split_at(colon + 1);
        let event = rest[leading_blanks(rest)..].strip_prefix(EVENT)?;
        let get = event.strip_prefix(b"get_pages: ");
        let (is_window, values) = match get.or_else(|| event.strip_prefix(b"map_pages: ")) {
            Some(values) => (true, values),
            None => (false, event.strip_prefix(b"fault: ")?),
        };
        Some(Self { before, is_window, values })
    }
}

/// The beginning of the values: `dev=254:0 ino=4f8cb ofs=`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inode<'a> {
    pub(super) device: &'a [u8],
    pub(super) number: u64,
    /// Bytes of the text.
    pub(super) bytes: usize,
}

impl<'a> Inode<'a> {
    pub(super) fn parse(values: &'a [u8]) -> Option<Self> {
        let rest = values.strip_prefix(b"dev=")?;
        let end = rest.iter().position(|byte| !(byte.is_ascii_digit() || *byte == b':'))?;
        let (device, rest) = rest.split_at(end);
        let rest = rest.strip_prefix(b" ino=")?;
        let end = rest.iter().position(|byte| !byte.is_ascii_hexdigit())?;
        let number = hexadecimal(&rest[..end])?;
        let rest = rest[end..].strip_prefix(b" ofs=")?;
        Some(Self { device, number, bytes: values.len() - rest.len() })
    }
}

/// The first byte that is meant, the number of bytes, and the length of the text with the end of its line.
#[inline]
pub(super) fn places(text: &[u8], is_window: bool) -> Option<(u64, u64, usize)> {
    let (first, mut end) = leading_number(text)?;
    let mut length_bytes = PAGE_BYTES;
    if is_window {
        let rest = text[end..].strip_prefix(b"-")?;
        let (last, digits) = leading_number(rest)?;
        length_bytes = last.checked_sub(first)?.checked_add(1)?;
        end += 1 + digits;
    }
    (text.get(end) == Some(&b'\n')).then_some((first, length_bytes, end + 1))
}
