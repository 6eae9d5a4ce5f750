//! The first page of the file of a tier, as bytes: whose blocks the file has, and whether the last run ended in order.
//!
//! A function of bytes: it opens no file, believes no length before the bytes are there, and ends with a sum over all.

use super::super::state::{Identity, ListError};

/// The beginning of every such file, of any version.
pub(super) const MAGIC: &[u8; 16] = b"nbuf-serve-tier\0";
/// The version that is written, and the only one that is read.
const VERSION: u32 = 1;
/// Bytes of the page.
pub(super) const HEADER_BYTES: usize = 4096;
/// Bytes of an address. No real one is longer.
const ADDRESS_BYTES_MAX: usize = 2048;

/// What the first page has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Header {
    /// How many runs used the file.
    pub(super) generation: u64,
    /// Whether the last run ended in order. Else the index is not believed.
    pub(super) is_clean: bool,
    /// Bytes of a part of a block.
    pub(super) part_bytes: u32,
    /// Blocks that the file has room for.
    pub(super) slots: u32,
    /// Bytes of the index.
    pub(super) index_bytes: u64,
    /// The sum of the index.
    pub(super) index_sum: u32,
    /// The disc.
    pub(super) disc: Identity,
}

impl Header {
    /// As a file has it; none if the address of the disc is too long.
    pub(super) fn to_bytes(&self) -> Option<Vec<u8>> {
        let address = Some(self.disc.address.as_bytes());
        let address = address.filter(|address| address.len() <= ADDRESS_BYTES_MAX)?;
        let mut out = MAGIC.to_vec();
        out.extend(VERSION.to_le_bytes());
        out.extend(self.generation.to_le_bytes());
        out.extend(u32::from(self.is_clean).to_le_bytes());
        out.extend(self.part_bytes.to_le_bytes());
        out.extend(self.slots.to_le_bytes());
        out.extend(self.index_bytes.to_le_bytes());
        out.extend(self.index_sum.to_le_bytes());
        out.extend(self.disc.size_bytes.to_le_bytes());
        out.extend(self.disc.number.to_le_bytes());
        self.disc.times.iter().for_each(|time| out.extend(time.to_le_bytes()));
        out.extend(u32::try_from(address.len()).ok()?.to_le_bytes());
        out.extend(address);
        out.resize(HEADER_BYTES - 4, 0);
        out.extend(crc32fast::hash(&out).to_le_bytes());
        Some(out)
    }

    /// Reads the first page of a file.
    pub(super) fn of_bytes(bytes: &[u8]) -> Result<Self, ListError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(ListError::Foreign)?;
        let (version, _) = rest.split_first_chunk().ok_or(ListError::Damaged)?;
        let version = u32::from_le_bytes(*version);
        if version != VERSION {
            return Err(ListError::Version(version));
        }
        let page = bytes.get(..HEADER_BYTES).ok_or(ListError::Damaged)?;
        let (body, sum) = page.split_last_chunk().ok_or(ListError::Damaged)?;
        if crc32fast::hash(body) != u32::from_le_bytes(*sum) {
            return Err(ListError::Damaged);
        }
        fields(&body[MAGIC.len() + 4..]).ok_or(ListError::Damaged)
    }
}

fn fields(mut rest: &[u8]) -> Option<Header> {
    let u32 = |rest: &mut &[u8]| Some(u32::from_le_bytes(first(rest)?));
    let u64 = |rest: &mut &[u8]| Some(u64::from_le_bytes(first(rest)?));
    let rest = &mut rest;
    let (generation, is_clean) = (u64(rest)?, u32(rest)? == 1);
    let (part_bytes, slots) = (u32(rest)?, u32(rest)?);
    let (index_bytes, index_sum) = (u64(rest)?, u32(rest)?);
    let (size_bytes, number) = (u64(rest)?, u64(rest)?);
    let mut times = [0; 4];
    for time in &mut times {
        *time = i64::from_le_bytes(first(rest)?);
    }
    let length = usize::try_from(u32(rest)?).ok()?;
    let address = String::from_utf8(rest.get(..length)?.to_vec()).ok()?;
    let disc = Identity { address, size_bytes, number, times };
    Some(Header { generation, is_clean, part_bytes, slots, index_bytes, index_sum, disc })
}

/// Takes some bytes from the front.
fn first<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, behind) = rest.split_first_chunk()?;
    *rest = behind;
    Some(*first)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn headers() -> impl Strategy<Value = Header> {
        let numbers = any::<(u64, bool, u32, u32, u64, u32)>();
        let disc = (".{0,40}", any::<(u64, u64, [i64; 4])>());
        (numbers, disc).prop_map(|(numbers, (address, (size_bytes, number, times)))| {
            let (generation, is_clean, part_bytes, slots, index_bytes, index_sum) = numbers;
            let disc = Identity { address, size_bytes, number, times };
            Header { generation, is_clean, part_bytes, slots, index_bytes, index_sum, disc }
        })
    }

    proptest! {
        #[test]
        fn a_header_is_read_as_it_was_written(header in headers()) {
            let bytes = header.to_bytes().unwrap();
            prop_assert_eq!(bytes.len(), HEADER_BYTES);
            prop_assert_eq!(Header::of_bytes(&bytes), Ok(header));
        }

        #[test]
        fn one_that_is_cut_or_changed_is_refused(
            header in headers(),
            at in 0..HEADER_BYTES,
            change in 1_u8..,
        ) {
            let mut bytes = header.to_bytes().unwrap();
            prop_assert!(Header::of_bytes(&bytes[..at]).is_err());
            bytes[at] ^= change;
            let error = Header::of_bytes(&bytes).unwrap_err();
            prop_assert_eq!(error == ListError::Foreign, at < MAGIC.len());
        }

        /// Also where the sum is right.
        #[test]
        fn no_bytes_panic(body in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut bytes = Header::default().to_bytes().unwrap();
            bytes.truncate(MAGIC.len() + 4);
            bytes.extend(body);
            bytes.resize(HEADER_BYTES - 4, 255);
            bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
            if let Ok(header) = Header::of_bytes(&bytes) {
                prop_assert!(header.to_bytes().is_none_or(|bytes| bytes.len() == HEADER_BYTES));
            }
        }
    }

    #[test]
    fn an_address_that_is_too_long_is_not_kept() {
        let disc = Identity { address: "a".repeat(3000), ..Identity::default() };
        assert_eq!(Header { disc, ..Header::default() }.to_bytes(), None);
    }
}
