//! The calls that most traces are full of, in one pass: a read or write of one buffer, with its result.
//!
//! `pread64(3</path>, "\177ELF"..., 4096, 8192) = 4096`. Other calls, and these when they are written unusually, are
//! parsed as calls of any kind.

use super::super::fields::quotation_end;
use super::super::words::{leading_blanks, leading_number};
use super::UNFINISHED;
use super::call::Descriptor;
use crate::trace::request::Op;

/// A read or write that has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Transfer<'a> {
    pub(super) op: Op,
    pub(super) descriptor: Descriptor<'a>,
    /// Where, if the call says so.
    pub(super) offset: Option<u64>,
    /// What it returned, unless it failed.
    pub(super) result: Option<u64>,
}

impl<'a> Transfer<'a> {
    /// The call that is the whole text, if it is such a call.
    #[inline]
    pub(super) fn parse(text: &'a [u8]) -> Option<Self> {
        let (op, is_placed, rest) = name(text)?;
        let (descriptor, rest) = descriptor(rest)?;
        let rest = rest.strip_prefix(b", \"")?;
        let rest = &rest[quotation_end(rest)? + 1..];
        let rest = rest.strip_prefix(b"...").unwrap_or(rest).strip_prefix(b", ")?;
        let (_, digits) = leading_number(rest)?;
        let (mut offset, mut rest) = (None, &rest[digits..]);
        if is_placed {
            rest = rest.strip_prefix(b", ")?;
            let (number, digits) = leading_number(rest)?;
            (offset, rest) = (Some(number), &rest[digits..]);
        }
        let rest = rest.strip_prefix(b")")?;
        let rest = rest[leading_blanks(rest)..].strip_prefix(b"= ")?;
        let (result, rest) = match rest.first()? {
            b'-' => (None, rest),
            _ => leading_number(rest).map(|(number, digits)| (Some(number), &rest[digits..]))?,
        };
        // The duration of a call or its error may follow. What is unfinished ends with a mark of its own.
        let is_ended = match rest {
            [] => true,
            [b' ' | b'-', ..] => !text.trim_ascii_end().ends_with(UNFINISHED),
            _ => false,
        };
        is_ended.then_some(Self { op, descriptor, offset, result })
    }
}

/// Which way the bytes go, whether an offset is given, and what follows the parenthesis.
#[inline]
fn name(text: &[u8]) -> Option<(Op, bool, &[u8])> {
    match text {
        [b'r', ..] => Some((Op::Read, false, text.strip_prefix(b"read(")?)),
        [b'w', ..] => Some((Op::Write, false, text.strip_prefix(b"write(")?)),
        [b'p', b'r', ..] => Some((Op::Read, true, text.strip_prefix(b"pread64(")?)),
        [b'p', b'w', ..] => Some((Op::Write, true, text.strip_prefix(b"pwrite64(")?)),
        _ => None,
    }
}

/// A descriptor and, with `-y`, its path; and what follows.
#[inline]
fn descriptor(text: &[u8]) -> Option<(Descriptor<'_>, &[u8])> {
    let (number, digits) = leading_number(text)?;
    let rest = &text[digits..];
    let Some(path) = rest.strip_prefix(b"<") else {
        return Some((Descriptor { number, path: None }, rest));
    };
    let end = memchr::memchr2(b'<', b'>', path)?;
    let (path, rest) = path.split_at(end);
    Some((Descriptor { number, path: Some(path) }, rest.strip_prefix(b">")?))
}

#[cfg(test)]
mod tests {
    use super::super::call::Call;
    use super::*;

    #[test]
    fn common_calls_are_what_any_call_is() {
        let calls = [
            "read(3</a, b (c)>, \"x\\\"), \"..., 4096) = 4096",
            "write(1, \"\", 0)           = 0",
            "pread64(3</var/db>, \"\\177ELF\\0\"..., 832, 18446744073709551) = 832 <0.000012>",
            "pwrite64(12</a>, \"x\", 1, 0) = -1 ENOSPC (No space left on device)",
        ];
        for text in calls {
            let call = Call::parse(text.as_bytes()).unwrap();
            let Transfer { op, descriptor, offset, result } =
                Transfer::parse(text.as_bytes()).unwrap();
            assert_eq!(op == Op::Read, call.name.ends_with(b"read") || call.name == b"pread64");
            assert_eq!(Some(descriptor), call.descriptor(0), "{text}");
            assert_eq!((offset, result), (call.number(3), call.result()), "{text}");
        }
        for text in [
            "readv(3</a>, [{iov_base=\"x\", iov_len=1}], 1) = 1",
            "read(3</dev/sda<block 8:0>>, \"x\", 1) = 1",
            "read(3</a>, \"x\", 1) = 1 <unfinished ...>",
            "read(3</a>, \"x\", 1) = 0x1",
            "read(3</a>, \"x\", 1 = 1",
            "pread64(3</a>, \"x\", 1) = 1",
        ] {
            assert_eq!(Transfer::parse(text.as_bytes()), None, "{text}");
        }
    }
}
