//! Text eight bytes at a time: numbers and blanks without a branch for each byte.
//!
//! A branch that depends on the length of a number is mispredicted about once a number, and costs as much as the whole
//! number does here. Source: D. Lemire, "Quickly parsing eight digits", 2018.

const BLANKS: u64 = 0x2020_2020_2020_2020;
const ZEROS: u64 = 0x3030_3030_3030_3030;
const LOW_BITS: u64 = 0x7f7f_7f7f_7f7f_7f7f;
const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
/// Lifts what is above 9 to the high bit of its byte.
const ABOVE_NINE: u64 = 0x7676_7676_7676_7676;

/// The most digits with which every number fits into 64 bits.
pub(super) const DIGITS_MAX: usize = 19;

/// Powers of ten.
pub(super) const TENS: [u64; 10] =
    [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];

/// The high bit of every byte that is no number from 0 to 9.
#[inline]
fn above_nine(digits: u64) -> u64 {
    (((digits & LOW_BITS) + ABOVE_NINE) | digits) & HIGH_BITS
}

/// Whole bytes before the lowest bit that is set; 8 if there is none.
#[inline]
fn bytes_before(bits: u64) -> usize {
    bits.trailing_zeros() as usize / 8
}

/// The number of eight digits, one in each byte, the first in the lowest.
#[inline]
fn number_of(digits: u64) -> u64 {
    const PAIR: u64 = 0x0000_00ff_0000_00ff;
    // Pairs of digits, in every other byte; then four pairs at once, by their places: 100 and 10^6, 1 and 10^4.
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let first = (pairs & PAIR).wrapping_mul(100 + (1_000_000 << 32));
    let second = ((pairs >> 16) & PAIR).wrapping_mul(1 + (10_000 << 32));
    first.wrapping_add(second) >> 32
}

/// The number at the front of a text and its digits. None without digits, or with more than 19.
#[inline]
pub(super) fn leading_number(text: &[u8]) -> Option<(u64, usize)> {
    let (mut number, mut count) = (0_u64, 0);
    while let Some(bytes) = text[count..].first_chunk::<8>() {
        let digits = u64::from_le_bytes(*bytes) ^ ZEROS;
        let found = bytes_before(above_nine(digits));
        if found > 0 {
            // Wraps from the twentieth digit on, when the result is not used.
            let more = number_of(digits << (64 - 8 * found));
            number = number.wrapping_mul(TENS[found]).wrapping_add(more);
            count += found;
        }
        if found < 8 || count > DIGITS_MAX {
            return (1..=DIGITS_MAX).contains(&count).then_some((number, count));
        }
    }
    for byte in &text[count..] {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
        count += 1;
    }
    (1..=DIGITS_MAX).contains(&count).then_some((number, count))
}

/// The number in eight bytes: blanks, and then digits to the end.
#[inline]
pub(super) fn padded_number(bytes: [u8; 8]) -> Option<u64> {
    let word = u64::from_le_bytes(bytes);
    let blanks = bytes_before(word ^ BLANKS);
    if blanks == 8 {
        return None;
    }
    let digits = (word ^ ZEROS) & (u64::MAX << (8 * blanks));
    (above_nine(digits) == 0).then(|| number_of(digits))
}

/// Blanks at the front of a text.
#[inline]
pub(super) fn leading_blanks(text: &[u8]) -> usize {
    let mut count = 0;
    while let Some(bytes) = text[count..].first_chunk::<8>() {
        let found = bytes_before(u64::from_le_bytes(*bytes) ^ BLANKS);
        count += found;
        if found < 8 {
            return count;
        }
    }
    count + text[count..].iter().take_while(|byte| **byte == b' ').count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::fields::number;
    use super::*;

    /// What [`leading_number`] is, byte by byte.
    fn leading_number_by_bytes(text: &[u8]) -> Option<(u64, usize)> {
        let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        (count <= DIGITS_MAX).then(|| Some((number(&text[..count])?, count)))?
    }

    proptest! {
        #[test]
        fn numbers_are_those_of_a_loop(text in "[ ]{0,12}[0-9]{0,24}[0-9 ,:./a]{0,12}", any in any::<u8>(), at in any::<prop::sample::Index>()) {
            let mut text = text.into_bytes();
            text.push(b'\n');
            let last = at.index(text.len());
            text[last] = any;
            for start in 0..text.len() {
                let text = &text[start..];
                prop_assert_eq!(leading_number(text), leading_number_by_bytes(text));
                let blanks = text.iter().take_while(|byte| **byte == b' ').count();
                prop_assert_eq!(leading_blanks(text), blanks);
                if let Some(bytes) = text.first_chunk::<8>() {
                    let digits = bytes.iter().position(|byte| *byte != b' ').unwrap_or(8);
                    prop_assert_eq!(padded_number(*bytes), number(&bytes[digits..]));
                }
            }
        }
    }

    #[test]
    fn numbers_of_every_length_are_read() {
        let digits = b"1234567890123456789";
        for count in 1..=DIGITS_MAX {
            let text = [&digits[..count], b" 99999999"].concat();
            assert_eq!(leading_number(&text), Some((number(&digits[..count]).unwrap(), count)));
        }
        assert_eq!(leading_number(b"12345678901234567890 "), None);
        assert_eq!(leading_number(b"123456789012345678901234567890"), None);
        assert_eq!((leading_number(b""), leading_number(b" 1")), (None, None));
    }
}
