//! What a server keeps for its next start, as bytes: of each disc who it was, and which pages its cache held.
//!
//! A function of bytes: it opens no file, believes no length before the bytes are there, and ends with a sum over all. Only
//! numbers of pages are in it, and no byte of a disc.

/// The beginning of every such file, of any version.
pub(super) const MAGIC: &[u8; 16] = b"nbuf-serve-state";
/// The version that is written, and the only one that is read.
const VERSION: u32 = 1;
/// Bytes of a page number at the most.
const NUMBER_BYTES_MAX: u32 = 10;

/// Why bytes are no list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ListError {
    /// Another program wrote them.
    #[error("it does not begin as a file of nbuf serve does")]
    Foreign,
    /// Another version did.
    #[error("it is of version {0}, and this nbuf reads version {VERSION}")]
    Version(u32),
    /// They are cut or changed.
    #[error("its end is missing or its sum is wrong")]
    Damaged,
}

/// Who a disc is, as far as that can be seen without reading it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// The address of a backend server; empty for files and devices.
    pub address: String,
    /// The size in bytes.
    pub size_bytes: u64,
    /// The inode of a file, or the number of a device.
    pub number: u64,
    /// When it was changed, and its inode, in seconds and nanoseconds; of a file alone.
    pub times: [i64; 4],
}

/// What is kept of the cache of a disc.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// The name of the export.
    pub name: String,
    /// The disc.
    pub disc: Identity,
    /// Bytes of a page.
    pub page_bytes: u32,
    /// Pages, the first one to be evicted first.
    pub pages: Vec<u64>,
}

/// What a server keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct List {
    /// How many runs wrote the file.
    pub generation: u64,
    /// Whether the run ended in order. While one is at work this is false, and there are no pages.
    pub is_clean: bool,
    /// The caches.
    pub held: Vec<Held>,
}

impl List {
    /// As a file has it.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend(VERSION.to_le_bytes());
        out.extend(self.generation.to_le_bytes());
        out.push(u8::from(self.is_clean));
        number(&mut out, self.held.len() as u64);
        for held in &self.held {
            text(&mut out, &held.name);
            text(&mut out, &held.disc.address);
            out.extend(held.disc.size_bytes.to_le_bytes());
            out.extend(held.disc.number.to_le_bytes());
            held.disc.times.iter().for_each(|time| out.extend(time.to_le_bytes()));
            out.extend(held.page_bytes.to_le_bytes());
            number(&mut out, held.pages.len() as u64);
            held.pages.iter().for_each(|&page| number(&mut out, page));
        }
        out.extend(crc32fast::hash(&out).to_le_bytes());
        out
    }

    /// Reads the bytes of a file.
    pub fn of_bytes(bytes: &[u8]) -> Result<Self, ListError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(ListError::Foreign)?;
        let (version, _) = rest.split_first_chunk().ok_or(ListError::Damaged)?;
        let version = u32::from_le_bytes(*version);
        if version != VERSION {
            return Err(ListError::Version(version));
        }
        let (body, sum) = bytes.split_last_chunk().ok_or(ListError::Damaged)?;
        if crc32fast::hash(body) != u32::from_le_bytes(*sum) {
            return Err(ListError::Damaged);
        }
        let mut bytes = Bytes(body.get(MAGIC.len() + 4..).ok_or(ListError::Damaged)?);
        let list = bytes.list().filter(|_| bytes.0.is_empty());
        list.ok_or(ListError::Damaged)
    }
}

/// A number by seven bits a byte, the low ones first.
fn number(out: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        out.push(0x80 | u8::try_from(number & 0x7f).unwrap_or_default());
        number >>= 7;
    }
    out.push(u8::try_from(number).unwrap_or_default());
}

fn text(out: &mut Vec<u8>, text: &str) {
    number(out, text.len() as u64);
    out.extend(text.as_bytes());
}

/// Reads from the front of some bytes.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*first)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for at in 0..NUMBER_BYTES_MAX {
            let [byte] = self.array()?;
            let part = u64::from(byte & 0x7f);
            if part.leading_zeros() < 7 * at {
                return None;
            }
            number |= part << (7 * at);
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// How many things follow, each of which takes a byte at least.
    fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        (count <= self.0.len()).then_some(count)
    }

    fn text(&mut self) -> Option<String> {
        let length = self.count()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        String::from_utf8(text.to_vec()).ok()
    }

    fn list(&mut self) -> Option<List> {
        let generation = self.u64()?;
        let is_clean = self.array()? == [1];
        let count = self.count()?;
        let held = (0..count).map(|_| self.held()).collect::<Option<_>>()?;
        Some(List { generation, is_clean, held })
    }

    fn held(&mut self) -> Option<Held> {
        let name = self.text()?;
        let (address, size_bytes, number) = (self.text()?, self.u64()?, self.u64()?);
        let mut times = [0; 4];
        for time in &mut times {
            *time = self.array().map(i64::from_le_bytes)?;
        }
        let page_bytes = self.array().map(u32::from_le_bytes)?;
        let count = self.count()?;
        let pages = (0..count).map(|_| self.number()).collect::<Option<_>>()?;
        let disc = Identity { address, size_bytes, number, times };
        Some(Held { name, disc, page_bytes, pages })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn identities() -> impl Strategy<Value = Identity> {
        let (address, numbers, times) = (".{0,9}", any::<(u64, u64)>(), any::<[i64; 4]>());
        (address, numbers, times).prop_map(|(address, (size_bytes, number), times)| Identity {
            address,
            size_bytes,
            number,
            times,
        })
    }

    fn lists() -> impl Strategy<Value = List> {
        let held =
            (".{0,9}", identities(), any::<u32>(), prop::collection::vec(any::<u64>(), 0..40));
        let held =
            held.prop_map(|(name, disc, page_bytes, pages)| Held { name, disc, page_bytes, pages });
        (any::<u64>(), any::<bool>(), prop::collection::vec(held, 0..4))
            .prop_map(|(generation, is_clean, held)| List { generation, is_clean, held })
    }

    proptest! {
        #[test]
        fn a_list_is_read_as_it_was_written(list in lists()) {
            prop_assert_eq!(List::of_bytes(&list.to_bytes()), Ok(list));
        }

        #[test]
        fn one_that_is_cut_or_changed_is_refused(
            list in lists(),
            at: prop::sample::Index,
            change in 1_u8..,
            more in prop::collection::vec(any::<u8>(), 1..9),
        ) {
            let bytes = list.to_bytes();
            let at = at.index(bytes.len());
            prop_assert!(List::of_bytes(&bytes[..at]).is_err());
            prop_assert!(List::of_bytes(&[&bytes[..], &more].concat()).is_err());
            let mut changed = bytes;
            changed[at] ^= change;
            let error = List::of_bytes(&changed).unwrap_err();
            prop_assert_eq!(error == ListError::Foreign, at < MAGIC.len());
        }

        /// Also where the sum is right.
        #[test]
        fn no_bytes_panic(mut body in prop::collection::vec(any::<u8>(), 0..200), generation: u64) {
            let mut bytes = List { generation, ..List::default() }.to_bytes();
            bytes.truncate(MAGIC.len() + 4);
            bytes.append(&mut body);
            bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
            if let Ok(list) = List::of_bytes(&bytes) {
                prop_assert_eq!(List::of_bytes(&list.to_bytes()), Ok(list));
            }
        }
    }
}
