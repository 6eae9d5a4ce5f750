//! Up to which record a journal is safe, as bytes. The page is written behind each flush of the journal, and is not flushed.
//!
//! It is written before the flush is answered. So after a kill it tells whether the last record is missing. After a power
//! cut it may be an older one, or torn, and then it tells less.

use super::record::{PAGE_BYTES, first, opened, sealed};

/// Where it is: behind the checkpoints, and before the records.
pub(super) const NOTE_BYTE: u64 = 3 * PAGE_BYTES;

const NOTE: &[u8; 8] = b"nbufjsyn";

/// Records up to a number are safe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Note {
    /// The run, as in its records.
    pub(super) generation: u64,
    /// The journal and its owner, as in its records.
    pub(super) owner_sum: u64,
    /// The number of the last record that is safe.
    pub(super) synced: u64,
}

impl Note {
    /// As a journal has it.
    pub(super) fn to_bytes(self) -> Vec<u8> {
        let mut out = NOTE.to_vec();
        for number in [self.generation, self.owner_sum, self.synced] {
            out.extend(number.to_le_bytes());
        }
        sealed(out)
    }

    /// Reads it again; nothing if it is torn, or if there is none.
    pub(super) fn of_bytes(page: &[u8]) -> Option<Self> {
        let mut rest = opened(page, *NOTE)?;
        let mut next = || Some(u64::from_le_bytes(first(&mut rest)?));
        let (generation, owner_sum, synced) = (next()?, next()?, next()?);
        Some(Self { generation, owner_sum, synced })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_note_is_read_as_it_was_written(
            numbers in any::<[u64; 3]>(),
            at in 0..4096_usize,
            change in 1_u8..,
        ) {
            let [generation, owner_sum, synced] = numbers;
            let note = Note { generation, owner_sum, synced };
            let mut bytes = note.to_bytes();
            prop_assert_eq!(Note::of_bytes(&bytes), Some(note));
            prop_assert_eq!(Note::of_bytes(&bytes[..at]), None);
            bytes[at] ^= change;
            prop_assert_eq!(Note::of_bytes(&bytes), None);
        }
    }
}
