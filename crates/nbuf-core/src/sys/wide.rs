//! Comparisons of sixteen numbers at once, into a bit for each.
//!
//! Invariant: every processor gets the same bits. Compilers make dozens of instructions of the plain
//! loops, so x86-64 has its own.

/// A bit for each number that is above `bound`.
#[inline]
pub(crate) fn above(numbers: &[i32; 16], bound: i32) -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: SSE2 is part of the x86-64 baseline.
        unsafe { sse2::above(numbers, bound) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    plain::above(numbers, bound)
}

/// A bit for each number that has any of these bits.
#[inline]
pub(crate) fn having(numbers: &[u16; 16], bits: u16) -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: SSE2 is part of the x86-64 baseline.
        unsafe { sse2::having(numbers, bits) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    plain::having(numbers, bits)
}

#[cfg(target_arch = "x86_64")]
mod sse2 {
    use core::arch::x86_64::{
        __m128i, _mm_and_si128, _mm_cmpeq_epi16, _mm_cmpgt_epi32, _mm_movemask_epi8,
        _mm_packs_epi16, _mm_packs_epi32, _mm_set_epi16, _mm_set_epi32, _mm_set1_epi16,
        _mm_set1_epi32, _mm_setzero_si128,
    };

    #[inline]
    #[target_feature(enable = "sse2")]
    pub(super) fn above(n: &[i32; 16], bound: i32) -> u32 {
        let bound = _mm_set1_epi32(bound);
        let low = _mm_packs_epi32(quarter(n, 0, bound), quarter(n, 4, bound));
        let high = _mm_packs_epi32(quarter(n, 8, bound), quarter(n, 12, bound));
        _mm_movemask_epi8(_mm_packs_epi16(low, high)).cast_unsigned()
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn quarter(n: &[i32; 16], at: usize, bound: __m128i) -> __m128i {
        _mm_cmpgt_epi32(_mm_set_epi32(n[at + 3], n[at + 2], n[at + 1], n[at]), bound)
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    pub(super) fn having(numbers: &[u16; 16], bits: u16) -> u32 {
        let wanted = _mm_set1_epi16(bits.cast_signed());
        let without = _mm_packs_epi16(half(numbers, 0, wanted), half(numbers, 8, wanted));
        _mm_movemask_epi8(without).cast_unsigned() ^ 0xFFFF
    }

    /// All ones for each number without these bits.
    #[inline]
    #[target_feature(enable = "sse2")]
    fn half(n: &[u16; 16], at: usize, wanted: __m128i) -> __m128i {
        let n = |nth: usize| n[at + nth].cast_signed();
        let half = _mm_set_epi16(n(7), n(6), n(5), n(4), n(3), n(2), n(1), n(0));
        _mm_cmpeq_epi16(_mm_and_si128(half, wanted), _mm_setzero_si128())
    }
}

#[cfg(any(test, not(target_arch = "x86_64")))]
mod plain {
    pub(super) fn above(numbers: &[i32; 16], bound: i32) -> u32 {
        (0..16).map(|at| u32::from(numbers[at] > bound) << at).sum()
    }

    pub(super) fn having(numbers: &[u16; 16], bits: u16) -> u32 {
        (0..16).map(|at| u32::from(numbers[at] & bits != 0) << at).sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{above, having, plain};

    proptest! {
        #[test]
        fn bits_are_those_of_the_numbers_one_by_one(
            numbers in prop::array::uniform16(prop_oneof![any::<i32>(), -2..3_i32]),
            bound in prop_oneof![any::<i32>(), -2..3_i32],
            words in prop::array::uniform16(any::<u16>()),
            bits in any::<u16>(),
            lane in 0..16_u32,
        ) {
            prop_assert_eq!(above(&numbers, bound), plain::above(&numbers, bound));
            for bits in [bits, 1 << lane] {
                prop_assert_eq!(having(&words, bits), plain::having(&words, bits));
            }
        }
    }
}
