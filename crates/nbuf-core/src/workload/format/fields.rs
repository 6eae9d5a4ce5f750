//! Lines and their fields: what formats that are text have in common.

use super::batch::{Batch, Fault, Place};
use super::words::{DIGITS_MAX, TENS, leading_number};

/// Where a text ends that began behind a quotation mark. A backslash takes the next byte with it: Apache, Redis and strace
/// write `\"`, and nginx `\x22`.
pub(super) fn quotation_end(text: &[u8]) -> Option<usize> {
    /// Bytes that are looked at one by one: a search takes as long to start.
    const NEAR_BYTES: usize = 16;
    let mut at = 0;
    loop {
        let near = at + NEAR_BYTES;
        while at < near {
            match text.get(at)? {
                b'"' => return Some(at),
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
        at += memchr::memchr2(b'"', b'\\', text.get(at..)?)?;
    }
}

/// Takes whole lines from the front and says how many bytes they are. Empty lines are skipped; a
/// line may end in `\r`, and the last one in nothing.
#[inline]
pub(super) fn each_line(
    bytes: &[u8],
    end: bool,
    out: &mut Batch,
    mut line: impl FnMut(&[u8], &mut Batch) -> Result<(), Fault>,
) -> usize {
    each_line_or(bytes, end, out, &mut (), |(), _, _| None, |(), text, out| line(text, out))
}

/// [`each_line`] with a quick way to take the common lines. `quick` gets all bytes from the beginning of a line on. It
/// takes the line with its end and returns its length; or it changes nothing, and `line` gets the line.
#[inline]
pub(super) fn each_line_or<State>(
    bytes: &[u8],
    end: bool,
    out: &mut Batch,
    state: &mut State,
    mut quick: impl FnMut(&mut State, &[u8], &mut Batch) -> Option<usize>,
    mut line: impl FnMut(&mut State, &[u8], &mut Batch) -> Result<(), Fault>,
) -> usize {
    let mut at = 0;
    while at < bytes.len() && !out.is_full() {
        let rest = &bytes[at..];
        if let Some(taken) = quick(state, rest, out) {
            at += taken;
            out.lines += 1;
            continue;
        }
        let (length, taken) = match memchr::memchr(b'\n', rest) {
            Some(length) => (length, length + 1),
            None if end => (rest.len(), rest.len()),
            None => break,
        };
        at += taken;
        out.lines += 1;
        let mut text = &rest[..length];
        if let [before @ .., b'\r'] = text {
            text = before;
        }
        if !text.is_empty()
            && let Err(fault) = line(state, text, out)
        {
            let place = Place::Line(out.lines);
            fault.tell(&mut out.problems, place, text);
        }
    }
    out.bytes += at as u64;
    at
}

/// The fields of a line, from the left.
#[derive(Clone, Debug)]
pub(super) struct Fields<'a> {
    /// What has not been taken; `None` behind the last field.
    rest: Option<&'a [u8]>,
    /// Between two fields; a blank is any number of blanks and tabs.
    separator: u8,
}

impl<'a> Fields<'a> {
    /// Fields with one `separator` between two; blanks around a field are none of it.
    #[inline]
    pub(super) fn new(line: &'a [u8], separator: u8) -> Self {
        let line = if separator == b' ' { line.trim_ascii() } else { line };
        Self { rest: Some(line), separator }
    }

    /// Fields with any number of blanks between two.
    #[inline]
    pub(super) fn blank(line: &'a [u8]) -> Self {
        Self::new(line, b' ')
    }

    /// The next field; `wanted` says what it should be.
    #[inline]
    pub(super) fn text(&mut self, wanted: &'static str) -> Result<&'a [u8], Fault> {
        let rest = self.rest.ok_or(Fault::malformed(wanted))?;
        let is_separator = |byte: &u8| match self.separator {
            b' ' => matches!(byte, b' ' | b'\t'),
            separator => *byte == separator,
        };
        // Fields are short: a plain loop finds their end sooner than a search with wide registers.
        let Some(length) = rest.iter().position(is_separator) else {
            self.rest = None;
            return Ok(rest.trim_ascii());
        };
        let next = &rest[length + 1..];
        self.rest = Some(if self.separator == b' ' { next.trim_ascii_start() } else { next });
        Ok(rest[..length].trim_ascii())
    }

    /// The next field as a number.
    #[inline]
    pub(super) fn number(&mut self, wanted: &'static str) -> Result<u64, Fault> {
        if let Some(number) = self.plain_number() {
            return Ok(number);
        }
        number(self.text(wanted)?).ok_or(Fault::malformed(wanted))
    }

    /// The next field, if it is a number of up to 19 digits with nothing around it: the common
    /// case in one pass.
    #[inline]
    pub(super) fn plain_number(&mut self) -> Option<u64> {
        let rest = self.rest?;
        let mut number = 0_u64;
        let mut at = 0;
        while let Some(&byte) = rest.get(at) {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            // Wraps from the twentieth digit on, when the result is not used.
            number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
            at += 1;
        }
        if at == 0 || at > 19 {
            return None;
        }
        match rest.get(at) {
            None => self.rest = None,
            Some(&byte) if byte == self.separator && byte != b' ' => {
                self.rest = Some(&rest[at + 1..]);
            }
            Some(b' ') if self.separator == b' ' => {
                self.rest = Some(rest[at + 1..].trim_ascii_start());
            }
            Some(_) => return None,
        }
        Some(number)
    }

    /// The next field as a hexadecimal number, with or without `0x`.
    pub(super) fn hexadecimal(&mut self, wanted: &'static str) -> Result<u64, Fault> {
        hexadecimal(self.text(wanted)?).ok_or(Fault::malformed(wanted))
    }

    /// The next field as seconds with decimals, in nanoseconds.
    #[inline]
    pub(super) fn seconds_ns(&mut self, wanted: &'static str) -> Result<i64, Fault> {
        seconds_ns(self.text(wanted)?).ok_or(Fault::malformed(wanted))
    }

    /// Reads the next field as a time in units of `unit_ns` nanoseconds.
    #[inline]
    pub(super) fn time_ns(&mut self, unit_ns: u64, wanted: &'static str) -> Result<i64, Fault> {
        let time = self.number(wanted)?.checked_mul(unit_ns);
        time.and_then(|time| i64::try_from(time).ok()).ok_or(Fault::malformed(wanted))
    }

    /// Leaves out the next field, which must be there.
    #[inline]
    pub(super) fn skip(&mut self, wanted: &'static str) -> Result<(), Fault> {
        self.text(wanted).map(drop)
    }

    /// Refuses a line that goes on.
    #[inline]
    pub(super) fn end(&self) -> Result<(), Fault> {
        if self.rest.is_none_or(<[u8]>::is_empty) {
            Ok(())
        } else {
            Err(Fault::malformed("the end of the line"))
        }
    }

    /// Everything that was not taken, separators and all.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest.unwrap_or_default()
    }

    /// How many fields are left.
    pub(super) fn count(mut self) -> usize {
        let mut count = 0;
        while self.text("").is_ok() {
            count += 1;
        }
        count
    }
}

/// A number in decimal digits and nothing else.
#[inline]
pub(super) fn number(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    // What fits whatever its digits is added without a look at each step.
    let (short, rest) = text.split_at(text.len().min(DIGITS_MAX));
    let mut number = 0_u64;
    for byte in short {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
    }
    for byte in rest {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(number)
}

/// A number in hexadecimal digits, with or without `0x`.
#[inline]
pub(super) fn hexadecimal(text: &[u8]) -> Option<u64> {
    let digits = text.strip_prefix(b"0x").unwrap_or(text);
    if digits.is_empty() {
        return None;
    }
    let mut number = 0_u64;
    for &byte in digits {
        let digit = match byte {
            b'0'..=b'9' => byte - b'0',
            b'a'..=b'f' => byte - b'a' + 10,
            b'A'..=b'F' => byte - b'A' + 10,
            _ => return None,
        };
        if number >> 60 != 0 {
            return None;
        }
        number = number << 4 | u64::from(digit);
    }
    Some(number)
}

/// Seconds with or without decimals, in nanoseconds; decimals past the ninth are cut off.
#[inline]
pub(super) fn seconds_ns(text: &[u8]) -> Option<i64> {
    let (seconds, rest) = if let Some((seconds, digits)) = leading_number(text) {
        (seconds, &text[digits..])
    } else {
        // Too many digits, unless the first are zeros.
        let end = memchr::memchr(b'.', text).unwrap_or(text.len());
        (number(&text[..end])?, &text[end..])
    };
    let fraction_ns = match rest {
        [] | [b'.'] => 0,
        [b'.', decimals @ ..] => {
            let decimals = &decimals[..decimals.len().min(9)];
            number(decimals)? * TENS[9 - decimals.len()]
        }
        _ => return None,
    };
    i64::try_from(seconds.checked_mul(1_000_000_000)?.checked_add(fraction_ns)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotations_end_at_a_bare_mark() {
        for length in 0..40 {
            let plain = "x".repeat(length);
            let ends = |text: String| quotation_end(text.as_bytes());
            assert_eq!(ends(format!("{plain}\", \"")), Some(length), "{length}");
            assert_eq!(ends(format!("{plain}\\\"x\\\\\"")), Some(length + 5), "{length}");
            assert_eq!(ends(format!("{plain}\\\"")), None, "{length}");
            assert_eq!(ends(format!("{plain}\\")), None, "{length}");
        }
    }

    #[test]
    fn fields_come_one_after_the_other() {
        let mut fields = Fields::new(b"1, 22 ,,x y,18446744073709551615", b',');
        assert_eq!(fields.clone().count(), 5);
        assert_eq!(fields.number("n"), Ok(1));
        assert_eq!(fields.number("n"), Ok(22));
        assert_eq!(fields.clone().number("a number"), Err(Fault::malformed("a number")));
        assert_eq!(fields.text(""), Ok(&b""[..]));
        assert_eq!(fields.text(""), Ok(&b"x y"[..]));
        assert_eq!(fields.number("n"), Ok(u64::MAX));
        assert_eq!(fields.text("more"), Err(Fault::malformed("more")));
        let mut fields = Fields::blank(b"  7 \t 8  x ");
        assert_eq!((fields.number("n"), fields.number("n")), (Ok(7), Ok(8)));
        assert_eq!((fields.text(""), fields.text("n").is_err()), (Ok(&b"x"[..]), true));
    }

    #[test]
    fn numbers_that_do_not_fit_are_none() {
        for text in ["", "-1", "1x", "18446744073709551616", "99999999999999999999", " 1"] {
            assert_eq!(number(text.as_bytes()), None, "{text}");
        }
        assert_eq!(hexadecimal(b"0x1F"), Some(31));
        for text in ["", "0x", "g", "+1", "10000000000000000"] {
            assert_eq!(hexadecimal(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn seconds_have_any_number_of_decimals() {
        let cases = [
            ("1", 1_000_000_000),
            ("0.5", 500_000_000),
            ("1.0000000019", 1_000_000_001),
            ("2.", 2_000_000_000),
        ];
        for (text, want) in cases {
            assert_eq!(seconds_ns(text.as_bytes()), Some(want), "{text}");
            let padded = format!("00000000000000000000{text}");
            assert_eq!(seconds_ns(padded.as_bytes()), Some(want), "{padded}");
        }
        for text in ["", ".", ".5x", "1.x", "9223372037", "-1.0"] {
            assert_eq!(seconds_ns(text.as_bytes()), None, "{text}");
        }
    }
}
