//! The records of a trace, packed: a hundred million of them have to fit into memory, with room.
//!
//! Chunks of records that are coded one after the other, each chunk without reference to the one
//! before it. Invariant: what was pushed comes out, in that order. Cost: 4 to 7 bytes a record in
//! place of 48; no access by number, and no change in place.

use super::Record;
use super::code::{State, decode, encode};

/// Records in a chunk: enough that a new beginning costs nothing, few enough that the memory of a
/// freed chunk is reused at once.
const CHUNK_RECORDS: u32 = 1 << 16;

/// Memory of a chunk besides its bytes, in a vector that has just grown.
const CHUNK_BYTES: usize = 2 * size_of::<Chunk>();

/// Records in the order they were pushed.
#[derive(Clone, Default)]
pub struct Records {
    whole: Vec<Chunk>,
    /// What is still pushed to, and what its coder remembers.
    open: Vec<u8>,
    open_count: u32,
    state: Box<State>,
}

/// Coded records.
#[derive(Clone, Debug, Default)]
struct Chunk {
    bytes: Box<[u8]>,
    count: u32,
}

impl Records {
    /// Adds a record at the end.
    pub fn push(&mut self, record: Record) {
        encode(&mut self.state, &record, &mut self.open);
        self.open_count += 1;
        if self.open_count == CHUNK_RECORDS {
            self.whole.push(Chunk { bytes: self.open[..].into(), count: self.open_count });
            self.open.clear();
            self.open_count = 0;
            *self.state = State::default();
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.whole.len() * CHUNK_RECORDS as usize + self.open_count as usize
    }

    /// Memory in use.
    pub fn bytes(&self) -> u64 {
        let whole: usize = self.whole.iter().map(|chunk| chunk.bytes.len() + CHUNK_BYTES).sum();
        (whole + self.open.capacity()) as u64
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All records in order.
    pub fn iter(&self) -> Iter<'_> {
        Iter { records: self, chunk: 0, place: Place::default() }
    }

    /// Changes every record, one after the other.
    pub fn change(&mut self, mut each: impl FnMut(&mut Record)) {
        let old = std::mem::take(self);
        self.extend(old.into_iter().map(|mut record| {
            each(&mut record);
            record
        }));
    }
}

/// How far a chunk has been read.
#[derive(Clone, Debug, Default)]
struct Place {
    at: usize,
    count: u32,
    state: Box<State>,
}

impl Place {
    /// Returns the next record of a chunk of `count` records.
    fn next(&mut self, bytes: &[u8], count: u32) -> Option<Record> {
        if self.count == count {
            return None;
        }
        let mut rest = &bytes[self.at..];
        let record = decode(&mut self.state, &mut rest).expect("what was coded is decoded");
        self.at = bytes.len() - rest.len();
        self.count += 1;
        Some(record)
    }

    fn restart(&mut self) {
        (self.at, self.count) = (0, 0);
        *self.state = State::default();
    }
}

/// Goes through records.
#[derive(Clone, Debug)]
pub struct Iter<'a> {
    records: &'a Records,
    chunk: usize,
    place: Place,
}

impl Iterator for Iter<'_> {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        while let Some(chunk) = self.records.whole.get(self.chunk) {
            if let Some(record) = self.place.next(&chunk.bytes, chunk.count) {
                return Some(record);
            }
            self.chunk += 1;
            self.place.restart();
        }
        self.place.next(&self.records.open, self.records.open_count)
    }
}

/// Goes through records and gives the memory of each chunk back as soon as it was read.
#[derive(Debug)]
pub struct IntoIter {
    whole: std::vec::IntoIter<Chunk>,
    /// The last chunk, until its turn comes.
    open: Option<Chunk>,
    chunk: Chunk,
    place: Place,
}

impl Iterator for IntoIter {
    type Item = Record;

    fn next(&mut self) -> Option<Record> {
        loop {
            if let Some(record) = self.place.next(&self.chunk.bytes, self.chunk.count) {
                return Some(record);
            }
            self.chunk = self.whole.next().or_else(|| self.open.take())?;
            self.place.restart();
        }
    }
}

impl IntoIterator for Records {
    type Item = Record;
    type IntoIter = IntoIter;

    fn into_iter(self) -> IntoIter {
        let open = Chunk { bytes: self.open.into(), count: self.open_count };
        let (whole, place) = (self.whole.into_iter(), Place::default());
        IntoIter { whole, open: Some(open), chunk: Chunk::default(), place }
    }
}

impl<'a> IntoIterator for &'a Records {
    type Item = Record;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl Extend<Record> for Records {
    fn extend<T: IntoIterator<Item = Record>>(&mut self, records: T) {
        records.into_iter().for_each(|record| self.push(record));
    }
}

impl FromIterator<Record> for Records {
    fn from_iter<T: IntoIterator<Item = Record>>(records: T) -> Self {
        let mut packed = Self::default();
        packed.extend(records);
        packed
    }
}

impl From<Vec<Record>> for Records {
    fn from(records: Vec<Record>) -> Self {
        records.into_iter().collect()
    }
}

impl PartialEq for Records {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other)
    }
}

impl std::fmt::Debug for Records {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CacheEvent, FileId};
    use super::*;
    use proptest::prelude::*;

    fn any_record() -> impl Strategy<Value = Record> {
        let wide = || prop_oneof![0..4_u64, (0..1000_u64).prop_map(|n| n * 4096), any::<u64>()];
        let narrow = || prop_oneof![0..4_u32, any::<u32>()];
        let edges = prop_oneof![0..9_i64, any::<i64>(), Just(i64::MIN), Just(i64::MAX)];
        let places = (edges, wide(), wide(), narrow());
        (places, narrow(), narrow(), narrow(), 0..8_u8).prop_map(
            |((time_ns, offset_bytes, file_bytes, length_bytes), file, task, request, op)| Record {
                time_ns,
                offset_bytes,
                file_bytes,
                length_bytes,
                file: FileId(file),
                task,
                request,
                op: CacheEvent::from_number(op).unwrap(),
            },
        )
    }

    fn reads(count: u32) -> impl Iterator<Item = Record> {
        (0..count).map(|n| Record {
            time_ns: i64::from(n) * 1700,
            offset_bytes: u64::from(n.wrapping_mul(2_654_435_761) >> 16) * 4096,
            file_bytes: 1 << 28,
            length_bytes: 4096,
            file: FileId(3),
            task: 4711,
            request: n,
            op: CacheEvent::Read,
        })
    }

    proptest! {
        #[test]
        fn what_goes_in_comes_out(records in proptest::collection::vec(any_record(), 0..300)) {
            let packed = Records::from(records.clone());
            prop_assert_eq!(packed.len(), records.len());
            prop_assert_eq!(packed.iter().collect::<Vec<_>>(), records.clone());
            prop_assert_eq!(packed.into_iter().collect::<Vec<_>>(), records);
        }
    }

    #[test]
    fn chunks_do_not_show() {
        let count = 2 * CHUNK_RECORDS + 5;
        let packed: Records = reads(count).collect();
        assert_eq!(packed.len(), count as usize);
        assert!(packed.iter().eq(reads(count)));
        let mut changed = packed.clone();
        changed.change(|record| record.task += 1);
        assert!(changed != packed);
        assert!(changed.into_iter().eq(reads(count).map(|r| Record { task: r.task + 1, ..r })));
        assert!(packed.into_iter().eq(reads(count)));
    }

    #[test]
    fn a_read_at_random_takes_few_bytes() {
        let packed: Records = reads(CHUNK_RECORDS).collect();
        let bytes = packed.whole[0].bytes.len();
        let each = bytes as f64 / f64::from(CHUNK_RECORDS);
        assert!(each < 7.0, "{each:.2} bytes");
    }
}
