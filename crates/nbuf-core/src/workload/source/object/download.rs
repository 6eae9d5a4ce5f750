//! The bytes of an object, a few ranges at a time.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::Arc;

use bytes::{Buf as _, Bytes};
use object_store::path::Path as Key;

use super::store::Store;
use super::{CancellationToken, Object, ObjectError};

/// The first range is all that recognising needs; the later ones are of this size.
const FIRST_BYTES: u64 = 1 << 18;
const RANGE_BYTES: u64 = 1 << 20;
/// Ranges that are asked for at once.
const RANGES: u64 = 4;
/// Objects that may be read at the same time with such ranges: what is fetched of more of them would be much memory.
const MERGED_MAX: usize = 8;

/// Reads an object from its beginning.
pub(super) struct Download {
    store: Arc<Store>,
    key: Key,
    object: Object,
    token: CancellationToken,
    /// The first byte that was not asked for.
    at: u64,
    ready: VecDeque<Bytes>,
    /// Whether many others are read at the same time.
    is_small: bool,
}

impl Download {
    pub(super) fn new(
        store: Arc<Store>,
        key: Key,
        object: Object,
        token: CancellationToken,
    ) -> Self {
        Self { store, key, object, token, at: 0, ready: VecDeque::new(), is_small: false }
    }

    /// Begins here instead. To be called before bytes are read.
    pub(super) fn skip_to(&mut self, at: u64) {
        self.at = at;
    }

    /// Says how many objects are read at the same time.
    pub(super) fn is_one_of(&mut self, merged: usize) {
        self.is_small = merged > MERGED_MAX;
    }

    /// The next bytes, nothing at the end.
    pub(super) fn chunk(&mut self) -> Result<Option<Bytes>, ObjectError> {
        if self.ready.is_empty() {
            self.ask()?;
        }
        Ok(self.ready.pop_front())
    }

    fn ask(&mut self) -> Result<(), ObjectError> {
        let ranges: Vec<_> = ranges(self.at, self.object.bytes, self.is_small).collect();
        let Some(last) = ranges.last() else { return Ok(()) };
        let end = last.end;
        let wanted: u64 = end - self.at;
        let (tag, ranges) = (self.object.tag.as_deref(), ranges.into_iter());
        let got = self.store.ranges(&self.key, tag, ranges, &self.token);
        let got = got.map_err(|unanswered| unanswered.of(&self.object.name))?;
        if got.iter().map(|bytes| bytes.len() as u64).sum::<u64>() != wanted {
            return Err(ObjectError::Replaced(self.object.name.clone()));
        }
        self.ready.extend(got);
        self.at = end;
        Ok(())
    }
}

/// The ranges that are asked for next.
fn ranges(at: u64, bytes: u64, is_small: bool) -> impl Iterator<Item = std::ops::Range<u64>> {
    let (length, count) =
        if at == 0 || is_small { (FIRST_BYTES, 1) } else { (RANGE_BYTES, RANGES) };
    let starts = (0..count).map(move |range| at + range * length);
    starts
        .take_while(move |&start| start < bytes)
        .map(move |start| start..bytes.min(start + length))
}

impl Read for Download {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        if self.ready.is_empty() {
            self.ask()?;
        }
        let Some(front) = self.ready.front_mut() else { return Ok(0) };
        let count = front.len().min(buffer.len());
        front.copy_to_slice(&mut buffer[..count]);
        if front.is_empty() {
            self.ready.pop_front();
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_follow_each_other_to_the_end() {
        let lengths = [0, 1, FIRST_BYTES, FIRST_BYTES + 1, 5 * RANGE_BYTES + 7];
        for (bytes, is_small) in lengths.iter().flat_map(|&bytes| [(bytes, false), (bytes, true)]) {
            let (mut at, mut turns) = (0, 0);
            loop {
                let next: Vec<_> = ranges(at, bytes, is_small).collect();
                let Some(last) = next.last() else { break };
                assert!(next.iter().all(|range| range.end - range.start <= RANGE_BYTES));
                assert!(next.windows(2).all(|pair| pair[0].end == pair[1].start));
                assert_eq!(next[0].start, at);
                (at, turns) = (last.end, turns + 1);
            }
            assert_eq!(at, bytes);
            assert!(is_small || turns <= 3, "{turns}");
        }
    }
}
