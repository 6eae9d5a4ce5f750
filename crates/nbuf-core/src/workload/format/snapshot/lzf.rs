//! LZF, with which Redis packs strings: runs of bytes, and pieces that stood before.
//!
//! Invariant: memory grows with the packed bytes, by 88 times at the most. Source: `lzf_d.c` of `LibLZF` 3.5.

/// What a packed byte gives at the most: three bytes are a piece of 264.
pub(super) const GROWTH_MAX: u64 = 88;

/// Unpacks to the end of `out`, if that gives `length` bytes.
pub(super) fn unpack(packed: &[u8], length: u64, out: &mut Vec<u8>) -> Option<()> {
    let begin = out.len();
    let length = usize::try_from(length).ok()?;
    let mut rest = packed;
    while let Some((&control, behind)) = rest.split_first() {
        rest = behind;
        let high = usize::from(control & 0x1f);
        let mut count = usize::from(control >> 5);
        if count == 0 {
            let (run, behind) = rest.split_at_checked(high + 1)?;
            out.extend_from_slice(run);
            rest = behind;
        } else {
            if count == 7 {
                let (&more, behind) = rest.split_first()?;
                count += usize::from(more);
                rest = behind;
            }
            let (&low, behind) = rest.split_first()?;
            rest = behind;
            let back = (high << 8 | usize::from(low)) + 1;
            let from = out.len().checked_sub(back).filter(|&from| from >= begin)?;
            // The piece may overlap what it makes.
            for at in from..from + count + 2 {
                let byte = *out.get(at)?;
                out.push(byte);
            }
        }
        if out.len() - begin > length {
            return None;
        }
    }
    (out.len() - begin == length).then_some(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The oracle: packs without a search, by runs, and by pieces of equal bytes.
    fn pack(text: &[u8]) -> Vec<u8> {
        let mut packed = Vec::new();
        for part in text.chunk_by(|a, b| a == b) {
            let (&byte, length) = (&part[0], part.len());
            packed.extend([0, byte]);
            let mut left = length - 1;
            while left >= 3 {
                let count = left.min(264);
                let code = count - 2;
                if code < 7 {
                    packed.push(u8::try_from(code << 5).unwrap());
                } else {
                    packed.extend([7 << 5, u8::try_from(code - 7).unwrap()]);
                }
                packed.push(0);
                left -= count;
            }
            for _ in 0..left {
                packed.extend([0, byte]);
            }
        }
        packed
    }

    proptest! {
        #[test]
        fn what_was_packed_is_the_text(
            runs in prop::collection::vec((any::<u8>(), 1..600_usize), 0..6),
        ) {
            let text: Vec<u8> = runs.iter().flat_map(|&(byte, n)| vec![byte; n]).collect();
            let mut out = b"before".to_vec();
            prop_assert_eq!(unpack(&pack(&text), text.len() as u64, &mut out), Some(()));
            prop_assert_eq!(&out[6..], &text[..]);
        }

        #[test]
        fn any_bytes_are_taken_or_refused(
            packed in prop::collection::vec(any::<u8>(), 0..200),
            length in 0..400_u64,
        ) {
            let mut out = Vec::new();
            if unpack(&packed, length, &mut out).is_some() {
                prop_assert_eq!(out.len() as u64, length);
            }
            prop_assert!(out.len() <= 400 + 264);
        }
    }

    #[test]
    fn a_key_that_redis_packed_is_the_key() {
        // Redis 7.0.15 wrote `key:` twenty times so.
        let packed = [0x04, b'k', b'e', b'y', b':', b'k', 0xe0, 0x40, 0x03, 0x01, b'y', b':'];
        let mut out = Vec::new();
        assert_eq!(unpack(&packed, 80, &mut out), Some(()));
        assert_eq!(out, "key:".repeat(20).into_bytes());
        for length in [0, 79, 81, u64::MAX] {
            assert_eq!(unpack(&packed, length, &mut Vec::new()), None, "{length}");
        }
    }
}
