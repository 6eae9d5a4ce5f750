//! What the broker is asked and what it answers, as bytes. Pure; any bytes give a request or none.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use rustix::fs::{Mode, OFlags};

/// Longest request: two paths and what stands before them.
pub(super) const REQUEST_BYTES_MAX: usize = 2 * 4096 + HEAD_BYTES;
const HEAD_BYTES: usize = 14;

/// One of the calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Open,
    Regular,
    Reopen,
    Link,
    Rename,
    Unlink,
    MakeDirectory,
    Rule,
    Copy,
}

const KINDS: [Kind; 9] = [
    Kind::Open,
    Kind::Regular,
    Kind::Reopen,
    Kind::Link,
    Kind::Rename,
    Kind::Unlink,
    Kind::MakeDirectory,
    Kind::Rule,
    Kind::Copy,
];

/// A call, without its descriptors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) kind: Kind,
    /// A path, or a name.
    pub(super) first: OsString,
    /// The new name of a file.
    pub(super) second: OsString,
    pub(super) flags: OFlags,
    pub(super) mode: Mode,
    pub(super) flag: bool,
}

impl Request {
    pub(super) fn new(kind: Kind, first: &OsStr) -> Self {
        let (first, second) = (first.to_owned(), OsString::new());
        Self { kind, first, second, flags: OFlags::empty(), mode: Mode::empty(), flag: false }
    }

    pub(super) fn second(self, second: &OsStr) -> Self {
        Self { second: second.to_owned(), ..self }
    }

    pub(super) fn flags(self, flags: OFlags) -> Self {
        Self { flags, ..self }
    }

    pub(super) fn mode(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    pub(super) fn flag(self, flag: bool) -> Self {
        Self { flag, ..self }
    }

    /// As bytes: kind, flag, flags, mode, length of the first text, both texts.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let kind = KINDS.iter().position(|kind| *kind == self.kind).unwrap_or(0);
        let length = u32::try_from(self.first.len()).unwrap_or(u32::MAX);
        let mut bytes = vec![u8::try_from(kind).unwrap_or(0), self.flag.into()];
        bytes.extend(self.flags.bits().to_le_bytes());
        bytes.extend(self.mode.bits().to_le_bytes());
        bytes.extend(length.to_le_bytes());
        bytes.extend(self.first.as_bytes());
        bytes.extend(self.second.as_bytes());
        bytes
    }

    /// From bytes; nothing if they are none.
    pub(super) fn of_bytes(bytes: &[u8]) -> Option<Self> {
        let (head, texts) = bytes.split_at_checked(HEAD_BYTES)?;
        let number = |at: usize| Some(u32::from_le_bytes(head.get(at..at + 4)?.try_into().ok()?));
        let length = usize::try_from(number(10)?).ok()?;
        let (first, second) = texts.split_at_checked(length)?;
        Some(Self {
            kind: *KINDS.get(usize::from(head[0]))?,
            flag: head[1] != 0,
            flags: OFlags::from_bits_retain(number(2)?),
            mode: Mode::from_bits_retain(number(6)?),
            first: OsString::from_vec(first.to_vec()),
            second: OsString::from_vec(second.to_vec()),
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_request_comes_back(
            kind in 0..KINDS.len(), flags: u32, mode in 0u32..0o7777, flag: bool,
            first: Vec<u8>, second: Vec<u8>,
        ) {
            let first = OsString::from_vec(first);
            let request = Request::new(KINDS[kind], &first)
                .second(&OsString::from_vec(second))
                .flags(OFlags::from_bits_retain(flags))
                .mode(Mode::from_bits_retain(mode))
                .flag(flag);
            prop_assert_eq!(Request::of_bytes(&request.to_bytes()), Some(request));
        }

        #[test]
        fn any_bytes_are_a_request_or_none(bytes: Vec<u8>) {
            let _ = Request::of_bytes(&bytes);
        }
    }
}
