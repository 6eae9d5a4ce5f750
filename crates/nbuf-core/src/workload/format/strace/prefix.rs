//! What stands before a call: the task and the time.

use super::super::fields::number;
use super::super::words::{TENS, leading_number};
use super::call;

/// Who and when; and what follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Prefix<'a> {
    pub(super) task: u32,
    pub(super) time_ns: i64,
    pub(super) rest: &'a [u8],
}

impl<'a> Prefix<'a> {
    /// The prefix of a line.
    #[inline]
    pub(super) fn parse(line: &'a [u8]) -> Self {
        Self::parse_by(line, |prefix| prefix.common_word().or_else(|| prefix.word()))
    }

    /// The same without the quick way.
    #[cfg(test)]
    pub(super) fn parse_words(line: &'a [u8]) -> Self {
        Self::parse_by(line, Self::word)
    }

    #[inline]
    fn parse_by(line: &'a [u8], mut word: impl FnMut(&mut Self) -> Option<&'a [u8]>) -> Self {
        let mut prefix = Self { task: 0, time_ns: 0, rest: line.trim_ascii_start() };
        // A process and a time at most, and `[pid` is a word of its own.
        for _ in 0..3 {
            let Some(rest) = word(&mut prefix) else {
                break;
            };
            prefix.rest = rest.trim_ascii_start();
        }
        prefix
    }

    /// Takes a process or seconds with decimals, in one pass, and returns what follows.
    #[inline]
    fn common_word(&mut self) -> Option<&'a [u8]> {
        let (number, digits) = leading_number(self.rest)?;
        let after = &self.rest[digits..];
        match after {
            [b' ', ..] => {
                self.task = u32::try_from(number).unwrap_or(u32::MAX);
                Some(after)
            }
            [b'.', decimals @ ..] => {
                let (fraction, digits) = leading_number(decimals)?;
                let after = decimals[digits..].starts_with(b" ").then(|| &decimals[digits..])?;
                let fraction_ns = fraction * TENS.get(9_usize.checked_sub(digits)?)?;
                let time_ns = number.checked_mul(1_000_000_000)?.checked_add(fraction_ns)?;
                self.time_ns = i64::try_from(time_ns).ok()?;
                Some(after)
            }
            _ => None,
        }
    }

    /// Takes any word that belongs to a prefix, and returns what follows.
    fn word(&mut self) -> Option<&'a [u8]> {
        // A number in whatever form, or `[pid`.
        if !self.rest.first().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'[') {
            return None;
        }
        let end = self.rest.iter().position(|byte| *byte == b' ')?;
        let (word, rest) = self.rest.split_at(end);
        let bare = word.strip_suffix(b"]").unwrap_or(word);
        if word == b"[pid" {
        } else if let Some(task) = number(bare) {
            self.task = u32::try_from(task).unwrap_or(u32::MAX);
        } else {
            self.time_ns = call::time_ns(word)?;
        }
        Some(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_and_times_stand_in_front() {
        let time_ns = 1_795_260_358_566_483_000;
        let cases = [
            ("697 1795260358.566483 read(", 697, time_ns),
            ("[pid   697] 1795260358.566483 read(", 697, time_ns),
            ("  697   01:02:03 read(", 697, 3_723_000_000_000),
            ("1795260358.566483 read(", 0, time_ns),
            ("1795260358.5664830009 read(", 0, time_ns),
            ("4294967296 00000000000000000000001. read(", u32::MAX, 1_000_000_000),
            ("read(", 0, 0),
        ];
        for (line, task, time_ns) in cases {
            let rest = &b"read("[..];
            assert_eq!(Prefix::parse(line.as_bytes()), Prefix { task, time_ns, rest }, "{line}");
        }
        for line in ["697", "697]", "1.5", ".5 read(", "7x read(", "99999999999.5 read("] {
            let rest = line.as_bytes();
            assert_eq!(Prefix::parse(rest), Prefix { task: 0, time_ns: 0, rest }, "{line}");
        }
    }
}
