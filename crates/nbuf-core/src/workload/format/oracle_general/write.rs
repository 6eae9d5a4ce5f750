//! Writing oracleGeneral, with the number of the next request in every record.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::{self, Write};

use super::super::hash::Hashes;

/// Requests on their way into a file: they wait until all are known, because a record names the next
/// request with its key. 24 bytes a request, and some 20 a key.
#[derive(Debug, Default)]
pub struct OracleGeneral {
    requests: Vec<Waiting>,
    /// By key, its last request.
    last: HashMap<u64, usize, Hashes>,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    key: u64,
    next: i64,
    seconds: u32,
    size_bytes: u32,
}

impl OracleGeneral {
    /// Adds a request.
    pub fn push(&mut self, seconds: u32, key: u64, size_bytes: u32) {
        let at = self.requests.len();
        self.requests.push(Waiting { key, next: -1, seconds, size_bytes });
        match self.last.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert(at);
            }
            Entry::Occupied(mut entry) => {
                let before = entry.insert(at);
                // Counted from 1.
                self.requests[before].next = i64::try_from(at + 1).unwrap_or(i64::MAX);
            }
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.requests.len()
    }

    /// How many keys they have.
    pub fn keys(&self) -> u64 {
        self.last.len() as u64
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Writes all.
    pub fn write(&self, out: impl Write) -> io::Result<()> {
        let mut out = io::BufWriter::with_capacity(1 << 18, out);
        for Waiting { key, next, seconds, size_bytes } in &self.requests {
            let mut record = [0; super::RECORD_BYTES];
            record[..4].copy_from_slice(&seconds.to_le_bytes());
            record[4..12].copy_from_slice(&key.to_le_bytes());
            record[12..16].copy_from_slice(&size_bytes.to_le_bytes());
            record[16..].copy_from_slice(&next.to_le_bytes());
            out.write_all(&record)?;
        }
        out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_names_the_next_request_counted_from_one() {
        let mut oracle = OracleGeneral::default();
        for key in [7, 8, 7, 7] {
            oracle.push(5, key, 9);
        }
        let mut bytes = Vec::new();
        oracle.write(&mut bytes).unwrap();
        assert_eq!((oracle.len(), bytes.len()), (4, 96));
        assert_eq!(
            bytes[..24],
            [5, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]
        );
        let (records, _) = bytes.as_chunks::<24>();
        let next = records.iter().map(|record| i64::from_le_bytes(*record.last_chunk().unwrap()));
        assert_eq!(next.collect::<Vec<_>>(), [3, -1, 4, -1]);
    }
}
