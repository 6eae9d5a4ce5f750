//! Snapshots of stores: what memcached or Redis holds, with sizes and times to live, to be joined to a trace.
//!
//! A snapshot has no accesses, so it is no trace. [`Snapshot::read`] takes what `lru_crawler metadump all` of memcached
//! prints, or an RDB file of Redis. [`Join`] gives the requests of a trace the sizes and times to live that the trace does
//! not state, and counts the keys that the snapshot does not have.
//!
//! Invariant: no bytes make it panic, or take more memory than they justify. Invariant: what a trace states stays.
//! Cost: 50 to 100 bytes a key.
//!
//! ```
//! use nbuf::trace::request::{Op, Request};
//! use nbuf::workload::format::key_of_text;
//! use nbuf::workload::format::snapshot::{Join, Lengths, Snapshot};
//!
//! let dump = b"key=a exp=-1 la=7 cas=1 fetch=no cls=1 size=70\nEND\r\n";
//! let snapshot = Snapshot::read(&dump[..], &mut |_| true)?;
//! let mut join = Join::new(snapshot, Lengths::Values);
//! let mut requests = [Request::new(Op::Read, key_of_text(b"a"), 0)];
//! join.join(&mut requests, false);
//! assert_eq!(requests[0].length_bytes, 10);
//! # Ok::<(), nbuf::workload::format::snapshot::SnapshotError>(())
//! ```

mod bytes;
mod join;
mod lzf;
mod metadump;
mod rdb;
mod value;

use std::collections::HashMap;
use std::io::{self, BufRead};

use self::bytes::{Bytes, Stop};
pub use self::join::{Join, Joined, Lengths};
use super::hash::Hashes;
use crate::trace::Lifetime;
use crate::units::table_bytes;

/// New keys between two looks at the memory.
const LOOK_KEYS: usize = 4096;

/// Why nothing of a snapshot can be read.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// It begins as no snapshot does.
    #[error(
        "expected what `lru_crawler metadump all` of memcached prints, or an RDB file of Redis"
    )]
    Unknown,
    /// It breaks off with an error.
    #[error(transparent)]
    Read(#[from] io::Error),
}

/// Where a snapshot cannot be read any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The bytes before that place, unpacked.
    pub at_bytes: u64,
    /// What should stand there.
    pub wanted: &'static str,
}

/// What a store holds of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Item {
    value_bytes: u64,
    key_bytes: u32,
    /// The time that was left when the store was looked at, or used the key last.
    lifetime: Lifetime,
    /// Whether the trace has the key.
    is_used: bool,
    /// Whether the trace has stated a lifetime of its own.
    is_stated: bool,
}

impl Item {
    fn new(key: &[u8], value_bytes: u64, lifetime: Lifetime) -> Self {
        let key_bytes = u32::try_from(key.len()).unwrap_or(u32::MAX);
        Self { value_bytes, key_bytes, lifetime, is_used: false, is_stated: false }
    }
}

type Items = HashMap<u64, Item, Hashes>;

fn bytes_of(items: &Items) -> u64 {
    table_bytes(items.len() as u64, size_of::<(u64, Item)>() as u64)
}

/// The keys that were read so far, and who decides whether more are.
struct Found<'a> {
    items: Items,
    go_on: &'a mut dyn FnMut(u64) -> bool,
}

impl Found<'_> {
    fn add(&mut self, key: u64, item: Item) -> Result<(), Stop> {
        self.items.insert(key, item);
        let is_look = self.items.len().is_multiple_of(LOOK_KEYS);
        if is_look && !(self.go_on)(bytes_of(&self.items)) { Err(Stop::Ended) } else { Ok(()) }
    }
}

/// What a store held at some moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    items: Items,
    broken: Option<Broken>,
}

impl Snapshot {
    /// Reads a snapshot of either store. `go_on` gets the memory in use now and then, and ends the reading by `false`. A
    /// snapshot that breaks off has the keys before that place.
    pub fn read(
        mut from: impl BufRead,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Self, SnapshotError> {
        let first = first(&mut from)?;
        let mut bytes = Bytes::new(from);
        let mut found = Found { items: Items::default(), go_on };
        let ended = match first {
            Some(b'R' | b'V') => rdb::read(&mut bytes, &mut found),
            Some(b'k' | b'E') => metadump::read(&mut bytes, &mut found),
            _ => Err(Stop::Unknown),
        };
        let broken = match ended {
            Ok(()) | Err(Stop::Ended) => None,
            Err(Stop::Wrong(wanted)) => Some(Broken { at_bytes: bytes.at(), wanted }),
            Err(Stop::Unknown) => return Err(SnapshotError::Unknown),
            Err(Stop::Read(error)) => return Err(error.into()),
        };
        Ok(Self { items: found.items, broken })
    }

    /// The keys that it has.
    pub fn keys(&self) -> u64 {
        self.items.len() as u64
    }

    /// Where it cannot be read any further.
    pub fn broken(&self) -> Option<Broken> {
        self.broken
    }
}

/// The first byte, which stays where it is.
fn first(from: &mut impl BufRead) -> io::Result<Option<u8>> {
    loop {
        match from.fill_buf() {
            Ok(bytes) => return Ok(bytes.first().copied()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests;
