//! What sizing a trace will take in memory, found before anything is laid out.
//!
//! A record may be of a million pages, and a file may be touched far behind its beginning: what counts is
//! the distinct pages, once for each cache that is simulated at a time, and a bit for each page of the files.
//! Cost: two passes over the records, and the bits.

use crate::trace::{CacheEvent, Record, Trace};
use crate::units::PAGE_BYTES;
use crate::units::{Bound, TooLarge};

/// What a record takes as a touch of the stream, in vectors that have grown.
const TOUCH_BYTES: u64 = 28;
/// What a page takes in one simulated cache: its entry, and its folio in vectors that have grown.
const PAGE_STATE_BYTES: u64 = 56;
/// Who says that a file is longer must not cost us the memory.
const PAGES_MAX: u64 = 1 << 31;

/// An error where sizing this trace would take more than may be used.
pub(crate) fn must_fit(trace: &Trace, bound: Bound) -> Result<(), TooLarge> {
    let mut ends = vec![0_u64; trace.files.len()];
    for (file, (_, end)) in trace.records.iter().filter_map(|record| touched(&record)) {
        if let Some(known) = ends.get_mut(file) {
            *known = end.max(*known);
        }
    }
    let records = trace.records.bytes() + TOUCH_BYTES * trace.records.len() as u64;
    let bits: u64 = ends.iter().map(|end| end.div_ceil(64) * 8).sum();
    // Those that are counted here, and those of the survey.
    bound.allow("sizing this trace", records + 2 * bits)?;
    let words = |end: &u64| vec![0; usize::try_from(end.div_ceil(64)).unwrap_or(0)];
    let mut seen: Vec<Vec<u64>> = ends.iter().map(words).collect();
    for (file, (first, end)) in trace.records.iter().filter_map(|record| touched(&record)) {
        if let Some(seen) = seen.get_mut(file) {
            mark(seen, first, end);
        }
    }
    let ones =
        |words: &Vec<u64>| words.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
    let pages: u64 = seen.iter().map(ones).sum();
    let at_once = rayon::current_num_threads() as u64;
    let states = PAGE_STATE_BYTES.saturating_mul(pages).saturating_mul(at_once);
    bound.allow("sizing this trace", states.saturating_add(records + 2 * bits))
}

/// The file of a demand, its first page and the end of its last.
fn touched(record: &Record) -> Option<(usize, (u64, u64))> {
    if !record.op.is_demand() || record.op == CacheEvent::Map || record.length_bytes == 0 {
        return None;
    }
    let end = record.offset_bytes.checked_add(record.length_bytes.into())?.div_ceil(PAGE_BYTES);
    let first = record.offset_bytes / PAGE_BYTES;
    (end <= PAGES_MAX).then_some((record.file.0 as usize, (first, end)))
}

/// Sets the bits from `first` to before `end`, a word at a time.
fn mark(words: &mut [u64], first: u64, end: u64) {
    let mut at = first;
    while at < end {
        let stop = (at / 64 * 64 + 64).min(end);
        let bits = u64::MAX >> (64 - (stop - at));
        let word = usize::try_from(at / 64).ok().and_then(|word| words.get_mut(word));
        if let Some(word) = word {
            *word |= bits << (at % 64);
        }
        at = stop;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::FileId;
    use crate::units::Bytes;

    fn trace(ranges: &[(u64, u32)]) -> Trace {
        let record = |&(offset_bytes, length_bytes): &(u64, u32)| Record {
            time_ns: 0,
            offset_bytes,
            file_bytes: 0,
            length_bytes,
            file: FileId(0),
            task: 0,
            request: 0,
            op: CacheEvent::Read,
        };
        let records = ranges.iter().map(record).collect();
        Trace { records, files: vec!["a".into()], ..Trace::default() }
    }

    fn needed(ranges: &[(u64, u32)]) -> u64 {
        let bound = |bytes| Bound { allowed: Bytes(bytes), ..Bound::NONE };
        let trace = trace(ranges);
        let (mut low, mut high) = (0, 1 << 40);
        while low < high {
            let middle = u64::midpoint(low, high);
            match must_fit(&trace, bound(middle)) {
                Ok(()) => high = middle,
                Err(_) => low = middle + 1,
            }
        }
        low
    }

    #[test]
    fn pages_count_once_and_far_ends_a_bit() {
        let state = PAGE_STATE_BYTES * rayon::current_num_threads() as u64;
        let (once, twice) = (needed(&[(0, 1 << 30)]), needed(&[(0, 1 << 30), (0, 1 << 30)]));
        assert!(once >= (1 << 18) * state && twice - once < 4096, "{once} {twice}");
        let far = needed(&[(1 << 40, 4096)]);
        assert!((1 << 26..1 << 27).contains(&far), "{far}");
    }

    #[test]
    fn bits_are_set_a_word_at_a_time() {
        let mut words = [0; 3];
        mark(&mut words, 3, 5);
        mark(&mut words, 60, 130);
        assert_eq!(words, [0b11 << 3 | 0xf << 60, u64::MAX, 0b11]);
    }
}
