//! The shape of a tier: a disc in blocks, blocks in parts.
//!
//! A block has its place in the tier as a whole, and each of its parts is there or not, with a sum of its own. So the
//! index is small, as for large blocks, and a read of a page moves a page, as for small ones.

/// Parts of a block, one bit each.
pub(crate) const PARTS: u32 = 16;

/// The shape of a tier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Geometry {
    /// The size of the backing.
    pub(crate) size_bytes: u64,
    /// Bytes of a part.
    pub(crate) part_bytes: u32,
    /// Blocks that the tier has room for, at least one.
    pub(crate) slots: u32,
    /// Where the first one begins in the tier.
    pub(crate) first_byte: u64,
}

impl Geometry {
    /// Bytes of a block.
    pub(crate) fn block_bytes(&self) -> u64 {
        u64::from(self.part_bytes) * u64::from(PARTS)
    }

    /// The block that has a byte.
    pub(super) fn block_of(&self, byte: u64) -> u64 {
        byte / self.block_bytes()
    }

    /// The blocks that have some bytes, which are at least one.
    pub(super) fn blocks_of(&self, from: u64, to: u64) -> std::ops::RangeInclusive<u64> {
        self.block_of(from)..=self.block_of(to.max(from + 1) - 1)
    }

    /// The bytes of a block that are in a range, which touches the block.
    pub(super) fn within(&self, block: u64, from: u64, to: u64) -> (u64, u64) {
        let base = block * self.block_bytes();
        (from.max(base), to.min(base + self.block_bytes()))
    }

    /// The parts of a block that some bytes touch.
    pub(super) fn touched(&self, block: u64, from: u64, to: u64) -> u16 {
        let (from, to) = self.within(block, from, to);
        if from >= to {
            return 0;
        }
        let (base, part) = (block * self.block_bytes(), u64::from(self.part_bytes));
        bits((from - base) / part, (to - base).div_ceil(part))
    }

    /// The parts of a block that some bytes cover. The last part of the disc may be short.
    pub(super) fn covered(&self, block: u64, from: u64, to: u64) -> u16 {
        let is_to_end = to >= self.size_bytes;
        let (from, to) = self.within(block, from, to);
        if from >= to {
            return 0;
        }
        let (base, part) = (block * self.block_bytes(), u64::from(self.part_bytes));
        let end = if is_to_end { (to - base).div_ceil(part) } else { (to - base) / part };
        bits((from - base).div_ceil(part), end)
    }

    /// Where parts of a block, from one to before another, begin and end on the disc.
    pub(super) fn bytes_of(&self, block: u64, (first, end): (u32, u32)) -> (u64, u64) {
        let base = block * self.block_bytes();
        let at = |part: u32| base + u64::from(part) * u64::from(self.part_bytes);
        (at(first), at(end).min(self.size_bytes))
    }

    /// Where a part begins in the tier.
    pub(super) fn place(&self, slot: u32, part: u32) -> u64 {
        let parts = u64::from(slot) * u64::from(PARTS) + u64::from(part);
        self.first_byte + parts * u64::from(self.part_bytes)
    }
}

/// The bits from one to before another.
fn bits(from: u64, to: u64) -> u16 {
    let below = |bit: u64| (1_u32 << bit.min(u64::from(PARTS))) - 1;
    u16::try_from(below(to) & !below(from)).unwrap_or(u16::MAX)
}

/// The first and the last part of some, the last one excluded.
pub(super) fn span(parts: u16) -> (u32, u32) {
    (parts.trailing_zeros().min(PARTS), PARTS - parts.leading_zeros())
}

/// Adjacent parts, as runs.
pub(super) fn runs(mut parts: u16) -> impl Iterator<Item = (u32, u32)> {
    std::iter::from_fn(move || {
        let first = parts.trailing_zeros();
        if first >= PARTS {
            return None;
        }
        let end = first + (parts >> first).trailing_ones();
        parts &= !mask((first, end));
        Some((first, end))
    })
}

/// The parts of a run.
pub(super) fn mask((first, end): (u32, u32)) -> u16 {
    bits(first.into(), end.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Random;

    /// Against a look at each byte.
    #[test]
    fn parts_are_touched_and_covered_byte_by_byte() {
        let mut random = Random::new(3);
        for _ in 0..3000 {
            let size_bytes = 1 + random.below(200);
            let geometry = Geometry { size_bytes, part_bytes: 4, slots: 1, first_byte: 0 };
            let from = random.below(size_bytes);
            let to = from + 1 + random.below(size_bytes - from);
            for block in geometry.blocks_of(from, to) {
                let (mut touched, mut covered) = (0, 0);
                for part in 0..PARTS {
                    let (begins, ends) = geometry.bytes_of(block, (part, part + 1));
                    let inside = (begins..ends).filter(|byte| (from..to).contains(byte)).count();
                    touched |= u16::from(inside > 0) << part;
                    let is_all = begins < ends && inside as u64 == ends - begins;
                    covered |= u16::from(is_all) << part;
                }
                assert_eq!(geometry.touched(block, from, to), touched);
                assert_eq!(geometry.covered(block, from, to), covered, "{from} {to} {size_bytes}");
            }
        }
    }

    #[test]
    fn runs_are_the_bits_again() {
        for parts in 0..=u16::MAX {
            let all: Vec<_> = runs(parts).collect();
            assert_eq!(all.iter().fold(0, |sum, &run| sum | mask(run)), parts);
            assert!(all.windows(2).all(|pair| pair[0].1 < pair[1].0), "{parts:b}");
            if parts != 0 {
                assert_eq!(span(parts), (all[0].0, all[all.len() - 1].1));
            }
        }
    }
}
