//! What a tier holds, as bytes: a function of bytes that opens no file and believes no length.

use super::PARTS;

/// A block in its slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// The slot.
    pub(crate) slot: u32,
    /// The number of the block on the disc.
    pub(crate) block: u64,
    /// The parts that are there.
    pub(crate) valid: u16,
    /// Their sums.
    pub(crate) sums: [u32; PARTS as usize],
}

/// Bytes of an entry.
pub(crate) const ENTRY_BYTES: usize = 4 + 8 + 2 + 4 * PARTS as usize;

/// As a file has them.
pub(crate) fn to_bytes(entries: &[Entry]) -> Vec<u8> {
    let mut out = Vec::with_capacity(entries.len() * ENTRY_BYTES);
    for entry in entries {
        out.extend(entry.slot.to_le_bytes());
        out.extend(entry.block.to_le_bytes());
        out.extend(entry.valid.to_le_bytes());
        entry.sums.iter().for_each(|sum| out.extend(sum.to_le_bytes()));
    }
    out
}

/// Reads them again; none if the bytes are no whole entries.
pub(crate) fn entries_of(bytes: &[u8]) -> Option<Vec<Entry>> {
    let (entries, rest) = bytes.as_chunks::<ENTRY_BYTES>();
    rest.is_empty().then(|| entries.iter().filter_map(entry).collect())
}

fn entry(bytes: &[u8; ENTRY_BYTES]) -> Option<Entry> {
    let (slot, rest) = bytes.split_first_chunk()?;
    let (block, rest) = rest.split_first_chunk()?;
    let (valid, rest) = rest.split_first_chunk()?;
    let mut sums = [0; PARTS as usize];
    for (sum, bytes) in sums.iter_mut().zip(rest.as_chunks().0) {
        *sum = u32::from_le_bytes(*bytes);
    }
    let (slot, block) = (u32::from_le_bytes(*slot), u64::from_le_bytes(*block));
    Some(Entry { slot, block, valid: u16::from_le_bytes(*valid), sums })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn entries_are_read_as_they_were_written(
            all in prop::collection::vec(any::<(u32, u64, u16, [u32; PARTS as usize])>(), 0..9),
            cut in 1..ENTRY_BYTES,
        ) {
            let of = |(slot, block, valid, sums)| Entry { slot, block, valid, sums };
            let entries: Vec<Entry> = all.into_iter().map(of).collect();
            let mut bytes = to_bytes(&entries);
            prop_assert_eq!(entries_of(&bytes), Some(entries.clone()));
            bytes.extend(vec![7; cut]);
            prop_assert_eq!(entries_of(&bytes), None);
        }
    }
}
