//! The arguments of a command, each between quotation marks and with the escapes of Redis' `sdscatrepr`.

use super::super::batch::Fault;
use super::super::fields::quotation_end;

const BROKEN: Fault = Fault::malformed("arguments between \" and \", with a blank between two");

/// What follows the client in a line.
#[derive(Clone)]
pub(super) struct Arguments<'a> {
    rest: &'a [u8],
    is_broken: bool,
}

/// An argument with its escapes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Argument<'a>(&'a [u8]);

impl<'a> Arguments<'a> {
    /// Each begins with a blank.
    pub(super) fn new(rest: &'a [u8]) -> Self {
        Self { rest, is_broken: false }
    }
}

impl<'a> Iterator for Arguments<'a> {
    type Item = Result<Argument<'a>, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_broken || self.rest.is_empty() {
            return None;
        }
        let argument = self.rest.strip_prefix(b" \"").and_then(|inner| {
            let length = quotation_end(inner)?;
            self.rest = &inner[length + 1..];
            Some(Argument(&inner[..length]))
        });
        self.is_broken = argument.is_none();
        Some(argument.ok_or(BROKEN))
    }
}

impl Argument<'_> {
    /// The bytes that it stands for, to the end of `out`.
    pub(super) fn append_to(&self, out: &mut Vec<u8>) {
        let mut rest = self.0;
        while let Some(at) = memchr::memchr(b'\\', rest) {
            out.extend_from_slice(&rest[..at]);
            let (byte, length) = escape(&rest[at..]);
            out.push(byte);
            rest = &rest[at + length..];
        }
        out.extend_from_slice(rest);
    }

    /// How many bytes it stands for.
    pub(super) fn bytes(&self) -> u64 {
        let (mut rest, mut saved) = (self.0, 0);
        while let Some(at) = memchr::memchr(b'\\', rest) {
            let (_, length) = escape(&rest[at..]);
            saved += length - 1;
            rest = &rest[at + length..];
        }
        (self.0.len() - saved) as u64
    }

    /// The whole number that it is.
    pub(super) fn number(&self) -> Option<i64> {
        let digits = self.0.strip_prefix(b"-");
        let number = super::super::fields::number(digits.unwrap_or(self.0))?;
        let number = i64::try_from(number).ok()?;
        Some(if digits.is_some() { -number } else { number })
    }

    /// It in small letters, if it is no longer than a command.
    pub(super) fn small<const N: usize>(&self, buffer: &mut [u8; N]) -> Option<usize> {
        buffer.get_mut(..self.0.len())?.copy_from_slice(self.0);
        buffer[..self.0.len()].make_ascii_lowercase();
        Some(self.0.len())
    }

    /// Whether it is this word, whatever its capitals.
    pub(super) fn is(&self, word: &str) -> bool {
        self.0.eq_ignore_ascii_case(word.as_bytes())
    }
}

/// The byte that an escape stands for, and the length of the escape. One that Redis does not write is its letter.
fn escape(text: &[u8]) -> (u8, usize) {
    let digit = |at: usize| text.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    match text.get(1) {
        Some(b'n') => (b'\n', 2),
        Some(b'r') => (b'\r', 2),
        Some(b't') => (b'\t', 2),
        Some(b'a') => (7, 2),
        Some(b'b') => (8, 2),
        Some(b'x') => match (digit(2), digit(3)) {
            (Some(high), Some(low)) => (u8::try_from(high * 16 + low).unwrap_or(b'x'), 4),
            _ => (b'x', 2),
        },
        Some(&other) => (other, 2),
        None => (b'\\', 1),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// As Redis writes an argument (`sdscatrepr`).
    fn represent(bytes: &[u8]) -> Vec<u8> {
        let mut text = b" \"".to_vec();
        for &byte in bytes {
            match byte {
                b'\\' | b'"' => text.extend([b'\\', byte]),
                b'\n' => text.extend(b"\\n"),
                b'\r' => text.extend(b"\\r"),
                b'\t' => text.extend(b"\\t"),
                7 => text.extend(b"\\a"),
                8 => text.extend(b"\\b"),
                32..127 => text.push(byte),
                _ => text.extend(format!("\\x{byte:02x}").bytes()),
            }
        }
        text.push(b'"');
        text
    }

    proptest! {
        #[test]
        fn what_redis_writes_is_read_back(
            all in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..5)
        ) {
            let text: Vec<u8> = all.iter().flat_map(|bytes| represent(bytes)).collect();
            let mut read = Vec::new();
            for argument in Arguments::new(&text) {
                let mut bytes = Vec::new();
                argument.unwrap().append_to(&mut bytes);
                prop_assert_eq!(bytes.len() as u64, argument.unwrap().bytes());
                read.push(bytes);
            }
            prop_assert_eq!(read, all);
        }

        #[test]
        fn any_bytes_have_the_length_that_is_counted(text in proptest::collection::vec(any::<u8>(), 0..60)) {
            let argument = Argument(&text);
            let mut bytes = Vec::new();
            argument.append_to(&mut bytes);
            prop_assert_eq!(bytes.len() as u64, argument.bytes());
            for found in Arguments::new(&text).flatten() {
                found.append_to(&mut bytes);
            }
        }
    }

    #[test]
    fn a_cut_argument_is_a_fault_and_the_last() {
        for text in [" \"a", " \"a\\\"", "\"a\"", " a", " \"a\"x", " \"a\" "] {
            let found: Vec<_> = Arguments::new(text.as_bytes()).collect();
            assert!(found.last().unwrap().is_err(), "{text}");
            assert!(found.len() <= 2);
        }
        assert_eq!(Argument(b"-12").number(), Some(-12));
        for text in ["", "-", "+1", "1.5", "9223372036854775808"] {
            assert_eq!(Argument(text.as_bytes()).number(), None, "{text}");
        }
    }
}
