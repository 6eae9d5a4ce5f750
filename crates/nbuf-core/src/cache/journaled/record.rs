//! What a journal has, as bytes: checkpoints, and records of writes. A function of bytes opens no file and believes no length.
//!
//! A record is a page that says which bytes are written where, and these bytes behind it, in whole pages. Its sums tell a
//! whole record from a torn one. Its number, its place and its generation tell it from an older one.

use super::owed::{Content, Extent};

/// The unit of a journal: no write of a record changes a page that another record has.
pub(crate) const PAGE_BYTES: u64 = 4096;
const PAGE: usize = 4096;
/// Where records begin: the first page is the owner's, checkpoints have the next two, and a note has the last one.
pub(crate) const RING_BYTE: u64 = 4 * PAGE_BYTES;
/// The most bytes that name an owner.
pub(crate) const OWNER_BYTES_MAX: usize = 2048;

const CHECKPOINT: &[u8; 8] = b"nbufjchk";
const RECORD: &[u8; 8] = b"nbufjrec";
/// Bytes of a record before its entries, and of an entry.
const HEAD_BYTES: usize = 8 + 5 * 8 + 4 + 4 + 8;
const ENTRY_BYTES: usize = 8 + 8 + 4;
/// The most entries of a record.
pub(super) const ENTRIES_MAX: usize = (PAGE - 4 - HEAD_BYTES) / ENTRY_BYTES;

/// Where the oldest record is that may be owed, and whose journal this is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Checkpoint {
    /// Counts checkpoints. The one with the highest number counts.
    pub(crate) number: u64,
    /// Counts the runs that used the journal. Records of other generations are old.
    pub(crate) generation: u64,
    /// The number of the oldest record that may be owed.
    pub(crate) seq: u64,
    /// Where it is or will be: at this byte of the ring, or at the first one.
    pub(crate) place: u64,
    /// Bytes for records.
    pub(crate) ring_bytes: u64,
    /// A random number of the journal: no other journal has it.
    pub(crate) id: u64,
    /// What tells the disc from others.
    pub(crate) owner: Vec<u8>,
}

impl Checkpoint {
    /// Where it is in the journal: each one leaves the one before it as it is.
    pub(crate) fn byte(&self) -> u64 {
        PAGE_BYTES * (1 + self.number % 2)
    }

    /// As a journal has it.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut out = CHECKPOINT.to_vec();
        let Self { number, generation, seq, place, ring_bytes, id, .. } = *self;
        for number in [number, generation, seq, place, ring_bytes, id] {
            out.extend(number.to_le_bytes());
        }
        let owner = &self.owner[..self.owner.len().min(OWNER_BYTES_MAX)];
        out.extend((owner.len() as u64).to_le_bytes());
        out.extend(owner);
        sealed(out)
    }

    /// Reads it again; nothing if it is torn.
    pub(crate) fn of_bytes(page: &[u8]) -> Option<Self> {
        let mut rest = opened(page, *CHECKPOINT)?;
        let mut next = || Some(u64::from_le_bytes(first(&mut rest)?));
        let (number, generation, seq) = (next()?, next()?, next()?);
        let (place, ring_bytes, id, length) = (next()?, next()?, next()?, next()?);
        let owner = rest.get(..usize::try_from(length).ok()?)?.to_vec();
        Some(Self { number, generation, seq, place, ring_bytes, id, owner })
    }

    /// What tells records of this journal and this disc from all others, also from bytes of the disc that look like one.
    pub(super) fn owner_sum(&self) -> u64 {
        self.id ^ u64::from(crc32fast::hash(&self.owner))
    }

    /// Whether a record with this sum is one of this journal, perhaps of another disc.
    pub(super) fn is_of_journal(&self, owner_sum: u64) -> bool {
        (owner_sum ^ self.id) >> 32 == 0
    }
}

/// What an entry of a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Data,
    Zeros,
    Trimmed,
}

/// An entry of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) offset: u64,
    pub(super) length: u64,
    pub(super) kind: Kind,
}

/// The first page of a record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) generation: u64,
    pub(super) seq: u64,
    /// The number of the last record that was safe when this one was written.
    pub(super) synced: u64,
    /// Where it is in the ring.
    pub(super) place: u64,
    pub(super) owner_sum: u64,
    pub(super) entries: Vec<Entry>,
    /// Bytes behind the page, and their sum.
    pub(super) data_bytes: u64,
    pub(super) data_sum: u32,
}

impl Head {
    /// Bytes that the record takes.
    pub(super) fn size(&self) -> u64 {
        PAGE_BYTES + self.data_bytes.next_multiple_of(PAGE_BYTES)
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut out = RECORD.to_vec();
        for number in [self.generation, self.seq, self.synced, self.place, self.owner_sum] {
            out.extend(number.to_le_bytes());
        }
        out.extend(u32::try_from(self.entries.len()).unwrap_or(u32::MAX).to_le_bytes());
        out.extend(self.data_sum.to_le_bytes());
        out.extend(self.data_bytes.to_le_bytes());
        for entry in &self.entries {
            out.extend(entry.offset.to_le_bytes());
            out.extend(entry.length.to_le_bytes());
            out.extend((entry.kind as u32).to_le_bytes());
        }
        sealed(out)
    }

    /// Reads it again; nothing if it is torn.
    pub(super) fn of_bytes(page: &[u8]) -> Option<Self> {
        let mut rest = opened(page, *RECORD)?;
        let rest = &mut rest;
        let u64 = |rest: &mut &[u8]| Some(u64::from_le_bytes(first(rest)?));
        let u32 = |rest: &mut &[u8]| Some(u32::from_le_bytes(first(rest)?));
        let (generation, seq, synced) = (u64(rest)?, u64(rest)?, u64(rest)?);
        let (place, owner_sum) = (u64(rest)?, u64(rest)?);
        let (count, data_sum, data_bytes) = (u32(rest)?, u32(rest)?, u64(rest)?);
        if count as usize > ENTRIES_MAX {
            return None;
        }
        let (mut entries, mut bytes) = (Vec::new(), 0_u64);
        for _ in 0..count {
            let (offset, length) = (u64(rest)?, u64(rest)?);
            let kind = match u32(rest)? {
                0 => Kind::Data,
                1 => Kind::Zeros,
                2 => Kind::Trimmed,
                _ => return None,
            };
            offset.checked_add(length).filter(|_| length > 0)?;
            bytes = bytes.checked_add(if kind == Kind::Data { length } else { 0 })?;
            entries.push(Entry { offset, length, kind });
        }
        if bytes != data_bytes || data_bytes > u64::MAX / 2 {
            return None;
        }
        Some(Self { generation, seq, synced, place, owner_sum, entries, data_bytes, data_sum })
    }

    /// What the record writes, if these bytes are the ones behind its page.
    pub(super) fn extents(&self, data: &[u8]) -> Option<Vec<Extent>> {
        if data.len() as u64 != self.data_bytes || crc32fast::hash(data) != self.data_sum {
            return None;
        }
        let (mut at, mut extents) = (0, Vec::new());
        for &Entry { offset, length, kind } in &self.entries {
            let content = match kind {
                Kind::Zeros => Content::Zeros,
                Kind::Trimmed => Content::Trimmed,
                Kind::Data => {
                    let end = at + usize::try_from(length).ok()?;
                    let bytes = data.get(at..end)?;
                    at = end;
                    Content::data(bytes.into())
                }
            };
            let ends = offset.checked_add(length)?;
            extents.push(Extent { begins: offset, ends, seq: self.seq, content });
        }
        Some(extents)
    }
}

/// A record of these extents, as a journal has it. The head has no entries yet.
pub(super) fn record_of(head: &Head, extents: &[Extent]) -> Vec<u8> {
    let (mut data, mut entries) = (Vec::new(), Vec::new());
    for extent in extents {
        let kind = match extent.content {
            Content::Data(_) => Kind::Data,
            Content::Zeros => Kind::Zeros,
            Content::Trimmed => Kind::Trimmed,
        };
        data.extend_from_slice(extent.data());
        entries.push(Entry { offset: extent.begins, length: extent.length(), kind });
    }
    let (data_bytes, data_sum) = (data.len() as u64, crc32fast::hash(&data));
    let head = Head { entries, data_bytes, data_sum, ..*head };
    let mut out = head.to_bytes();
    out.extend(data);
    out.resize(out.len().next_multiple_of(PAGE), 0);
    out
}

/// A page of these bytes, with a sum at its end.
pub(super) fn sealed(mut body: Vec<u8>) -> Vec<u8> {
    body.resize(PAGE - 4, 0);
    let sum = crc32fast::hash(&body);
    body.extend(sum.to_le_bytes());
    body
}

/// The bytes behind the first ones of a page, if its sum is right.
pub(super) fn opened(page: &[u8], begins: [u8; 8]) -> Option<&[u8]> {
    let (body, sum) = page.get(..PAGE)?.split_last_chunk()?;
    if crc32fast::hash(body) != u32::from_le_bytes(*sum) {
        return None;
    }
    body.strip_prefix(&begins)
}

/// Takes some bytes from the front.
pub(super) fn first<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, behind) = rest.split_first_chunk()?;
    *rest = behind;
    Some(*first)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn extents() -> impl Strategy<Value = Vec<Extent>> {
        let one = (0..u64::MAX / 2, 1..3000_usize, 0..3_u8, any::<u8>());
        prop::collection::vec(one, 0..9).prop_map(|all| {
            let extent = |(begins, length, kind, byte)| {
                let content = match kind {
                    0 => Content::data(vec![byte; length].into()),
                    1 => Content::Zeros,
                    _ => Content::Trimmed,
                };
                Extent { begins, ends: begins + length as u64, seq: 7, content }
            };
            all.into_iter().map(extent).collect()
        })
    }

    fn head() -> Head {
        Head { generation: 3, seq: 7, synced: 5, place: 8192, owner_sum: 11, ..Head::default() }
    }

    proptest! {
        #[test]
        fn a_record_is_read_as_it_was_written(extents in extents()) {
            let bytes = record_of(&head(), &extents);
            let read = Head::of_bytes(&bytes).unwrap();
            prop_assert_eq!(bytes.len() as u64, read.size());
            let data = &bytes[PAGE..PAGE + usize::try_from(read.data_bytes).unwrap()];
            let again = read.extents(data).unwrap();
            prop_assert_eq!(again.len(), extents.len());
            for (one, other) in again.iter().zip(&extents) {
                prop_assert_eq!((one.begins, one.ends, one.seq), (other.begins, other.ends, 7));
                prop_assert_eq!(one.data(), other.data());
            }
        }

        #[test]
        fn a_change_of_a_page_is_seen(extents in extents(), at in 0..PAGE, change in 1_u8..) {
            let mut bytes = record_of(&head(), &extents);
            bytes[at] ^= change;
            prop_assert_eq!(Head::of_bytes(&bytes), None);
            prop_assert_eq!(Head::of_bytes(&bytes[..at]), None);
        }

        #[test]
        fn a_checkpoint_is_read_as_it_was_written(
            numbers in any::<[u64; 6]>(),
            owner in prop::collection::vec(any::<u8>(), 0..OWNER_BYTES_MAX),
            at in 0..PAGE,
            change in 1_u8..,
        ) {
            let [number, generation, seq, place, ring_bytes, id] = numbers;
            let checkpoint = Checkpoint { number, generation, seq, place, ring_bytes, id, owner };
            let mut bytes = checkpoint.to_bytes();
            prop_assert_eq!(bytes.len(), PAGE);
            prop_assert_eq!(Checkpoint::of_bytes(&bytes), Some(checkpoint));
            bytes[at] ^= change;
            prop_assert_eq!(Checkpoint::of_bytes(&bytes), None);
        }

        /// Also where the sum is right.
        #[test]
        fn no_bytes_panic(body in prop::collection::vec(any::<u8>(), 0..300)) {
            for magic in [RECORD, CHECKPOINT] {
                let page = sealed([&magic[..], &body].concat());
                if let Some(head) = Head::of_bytes(&page) {
                    prop_assert!(head.extents(&[]).is_none_or(|all| all.len() < ENTRIES_MAX));
                }
                let _ = Checkpoint::of_bytes(&page);
            }
        }
    }
}
