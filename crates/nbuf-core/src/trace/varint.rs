//! Numbers in as many bytes as they need: seven bits a byte, low bits first (LEB128).
//!
//! Invariant: [`take`] of what [`put`] wrote gives the number back; on any other bytes it gives a
//! number or nothing, and never reads past the end.

/// Bytes that the largest number needs.
const BYTES_MAX: usize = 10;

/// Appends `number`.
pub(crate) fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(low_byte(number) | 0x80);
        number >>= 7;
    }
    out.push(low_byte(number));
}

/// Takes a number off the front; `None` when it is cut off or larger than a `u64`.
pub(crate) fn take(bytes: &mut &[u8]) -> Option<u64> {
    if let [byte @ 0..0x80, rest @ ..] = *bytes {
        *bytes = rest;
        return Some(u64::from(*byte));
    }
    let mut number = 0_u64;
    for place in 0..BYTES_MAX {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let part = u64::from(byte & 0x7f);
        if place == BYTES_MAX - 1 && part > 1 {
            return None;
        }
        number |= part << (7 * place);
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

/// Appends the difference between two numbers; small differences either way are short.
pub(crate) fn put_difference(out: &mut Vec<u8>, from: u64, to: u64) {
    let difference = to.wrapping_sub(from);
    let sign = (difference >> 63).wrapping_neg();
    put(out, (difference << 1) ^ sign);
}

/// Takes a difference off the front and applies it to `from`.
pub(crate) fn take_difference(bytes: &mut &[u8], from: u64) -> Option<u64> {
    let folded = take(bytes)?;
    let difference = (folded >> 1) ^ (folded & 1).wrapping_neg();
    Some(from.wrapping_add(difference))
}

/// The low eight bits, of which the caller uses seven.
fn low_byte(number: u64) -> u8 {
    number.to_le_bytes()[0] & 0x7f
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_number_too_large_or_cut_off_is_nothing() {
        assert_eq!(take(&mut &[0xff; 10][..]), None);
        assert_eq!(take(&mut &[0x80, 0x80][..]), None);
        assert_eq!(take(&mut &[][..]), None);
    }

    #[test]
    fn steps_of_one_take_one_byte() {
        for (from, to) in [(5, 6), (6, 5), (0, u64::MAX), (u64::MAX, 0), (9, 9)] {
            let mut out = Vec::new();
            put_difference(&mut out, from, to);
            assert_eq!(out.len(), 1, "{from} to {to}");
        }
    }

    proptest! {
        #[test]
        fn numbers_come_back(number: u64, from: u64) {
            let mut out = Vec::new();
            put(&mut out, number);
            put_difference(&mut out, from, number);
            let mut bytes = &out[..];
            prop_assert_eq!(take(&mut bytes), Some(number));
            prop_assert_eq!(take_difference(&mut bytes, from), Some(number));
            prop_assert!(bytes.is_empty());
        }

        #[test]
        fn any_bytes_are_survived(bytes: Vec<u8>) {
            let mut rest = &bytes[..];
            while take(&mut rest).is_some() {}
        }
    }
}
