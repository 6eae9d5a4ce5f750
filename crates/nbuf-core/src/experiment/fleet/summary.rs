//! The result of a task as a file: what each of its volumes leaves to be merged.
//!
//! Numbers are of variable length, seven bits a byte; lists of pages and depths are differences. The file ends
//! with a checksum. Invariant: what is written is read again, and no other bytes are read without an error.
//! Cost: 2 to 5 bytes a page or depth.

use crate::experiment::result::FleetPolicyMisses;
use crate::meter::segment::Segment;
use crate::meter::steps::Hits;

/// What a file of this version begins with.
const MAGIC: &[u8] = b"nbuf.fleet-summary/2\n";
/// Bytes of the checksum.
const SUM_BYTES: usize = 4;

/// A volume in a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Its name.
    pub(super) name: String,
    /// Distinct pages.
    pub(super) distinct: u64,
    /// Whether pages left the caches, so that it cannot be merged by time.
    pub(super) has_holes: bool,
    /// Times of its first and last request; both 0 where the trace has none.
    pub(super) times_ns: (i64, i64),
    /// Its accesses, hits and pages.
    pub(super) segment: Segment,
    /// What came before a time that was asked for: before `segment`, or a part of its hits where nothing is merged.
    pub(super) early: Option<Segment>,
    /// Misses by policy.
    pub(super) policies: Vec<FleetPolicyMisses>,
    /// Names of the objects that its pages belong to, by their numbers in this input; none where pages are the
    /// same in every input.
    pub(super) objects: Vec<String>,
}

/// Writes a summary.
pub(super) fn write(entries: &[Entry]) -> Vec<u8> {
    let mut out = MAGIC.to_vec();
    number(&mut out, entries.len() as u64);
    for Entry { name, distinct, has_holes, times_ns, segment, early, policies, objects } in entries
    {
        text(&mut out, name);
        number(&mut out, *distinct);
        number(&mut out, (*has_holes).into());
        number(&mut out, zigzag(times_ns.0));
        number(&mut out, zigzag(times_ns.1));
        write_segment(&mut out, segment);
        number(&mut out, early.is_some().into());
        if let Some(early) = early {
            write_segment(&mut out, early);
        }
        number(&mut out, policies.len() as u64);
        for FleetPolicyMisses { policy, pages, misses } in policies {
            text(&mut out, policy);
            number(&mut out, *pages);
            number(&mut out, *misses);
        }
        number(&mut out, objects.len() as u64);
        for object in objects {
            text(&mut out, object);
        }
    }
    let sum = crc32fast::hash(&out);
    out.extend(sum.to_le_bytes());
    out
}

/// Reads a summary; nothing where it is none, or is damaged.
pub(super) fn read(bytes: &[u8]) -> Option<Vec<Entry>> {
    let (body, sum) = bytes.split_at_checked(bytes.len().checked_sub(SUM_BYTES)?)?;
    if crc32fast::hash(body).to_le_bytes() != sum {
        return None;
    }
    let mut rest = body.strip_prefix(MAGIC)?;
    let from = &mut rest;
    let count = take(from)?;
    let mut entries = Vec::new();
    for _ in 0..count {
        entries.push(Entry {
            name: take_text(from)?,
            distinct: take(from)?,
            has_holes: take(from)? != 0,
            times_ns: (unzigzag(take(from)?), unzigzag(take(from)?)),
            segment: take_segment(from)?,
            early: if take(from)? == 0 { None } else { Some(take_segment(from)?) },
            policies: {
                let count = take(from)?;
                (0..count).map(|_| take_policy(from)).collect::<Option<_>>()?
            },
            objects: {
                let count = take(from)?;
                (0..count).map(|_| take_text(from)).collect::<Option<_>>()?
            },
        });
    }
    from.is_empty().then_some(entries)
}

fn write_segment(out: &mut Vec<u8>, segment: &Segment) {
    number(out, segment.accesses);
    number(out, segment.limit.into());
    hits(out, &segment.hits);
    pages(out, &segment.first);
    pages(out, &segment.last);
}

fn take_segment(from: &mut &[u8]) -> Option<Segment> {
    let (accesses, limit) = (take(from)?, u32::try_from(take(from)?).ok()?);
    let hits = take_hits(from)?;
    Some(Segment { accesses, hits, first: take_pages(from)?, last: take_pages(from)?, limit })
}

fn take_policy(from: &mut &[u8]) -> Option<FleetPolicyMisses> {
    let policy = take_text(from)?;
    Some(FleetPolicyMisses { policy, pages: take(from)?, misses: take(from)? })
}

/// Hits in few bytes.
pub(super) fn hits(out: &mut Vec<u8>, hits: &Hits) {
    number(out, hits.pairs().len() as u64);
    let mut before = 0;
    for &(depth, hits) in hits.pairs() {
        number(out, depth - before);
        number(out, hits);
        before = depth;
    }
}

/// Hits that were written.
pub(super) fn take_hits(from: &mut &[u8]) -> Option<Hits> {
    let count = take(from)?;
    let (mut pairs, mut depth) = (Vec::new(), 0_u64);
    for _ in 0..count {
        depth = depth.checked_add(take(from)?)?;
        pairs.push((depth, take(from)?));
    }
    Hits::from_pairs(pairs)
}

fn text(out: &mut Vec<u8>, text: &str) {
    number(out, text.len() as u64);
    out.extend(text.as_bytes());
}

fn take_text(from: &mut &[u8]) -> Option<String> {
    let length = usize::try_from(take(from)?).ok()?;
    let (text, after) = from.split_at_checked(length)?;
    *from = after;
    String::from_utf8(text.to_vec()).ok()
}

fn pages(out: &mut Vec<u8>, pages: &[u64]) {
    number(out, pages.len() as u64);
    let mut before = 0_u64;
    for &page in pages {
        number(out, zigzag(page.wrapping_sub(before).cast_signed()));
        before = page;
    }
}

fn take_pages(from: &mut &[u8]) -> Option<Vec<u64>> {
    let count = take(from)?;
    let (mut pages, mut before) = (Vec::new(), 0_u64);
    for _ in 0..count {
        before = before.wrapping_add(unzigzag(take(from)?).cast_unsigned());
        pages.push(before);
    }
    Some(pages)
}

fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)).cast_unsigned()
}

fn unzigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

fn number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

fn take(from: &mut &[u8]) -> Option<u64> {
    let (mut number, mut shift) = (0_u64, 0);
    loop {
        let (&byte, rest) = from.split_first()?;
        *from = rest;
        number |= u64::from(byte & 0x7f).checked_shl(shift)?;
        if byte & 0x80 == 0 {
            return Some(number);
        }
        shift += 7;
        if shift > 63 {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_is_read_again_and_damage_is_not(
            name in ".*",
            depths in prop::collection::vec(any::<u64>(), 0..9),
            first in prop::collection::vec(any::<u64>(), 0..9),
            times_ns in any::<(i64, i64)>(),
            limit in any::<u32>(),
            at in any::<prop::sample::Index>(),
        ) {
            let mut last = first.clone();
            last.reverse();
            let hits = Hits::from_depths(depths);
            let segment = Segment { accesses: u64::MAX, hits, first, last, limit };
            let objects = vec![name.clone(), String::new()];
            let (early, policy) = ((limit % 2 == 0).then(|| segment.clone()), name.clone());
            let policies = vec![FleetPolicyMisses { policy, pages: 1 << 50, misses: 7 }];
            let (distinct, has_holes) = (1 << 40, true);
            let entry =
                Entry { name, distinct, has_holes, times_ns, segment, early, policies, objects };
            let mut bytes = write(&[entry.clone(), entry.clone()]);
            prop_assert_eq!(read(&bytes), Some(vec![entry.clone(), entry]));
            let at = at.index(bytes.len());
            prop_assert_eq!(read(&bytes[..at]), None);
            bytes[at] ^= 1;
            prop_assert_eq!(read(&bytes), None);
        }
    }
}
