//! Which bytes a journal has that the disc behind it does not have, and which bytes these are.
//!
//! Invariant: extents do not meet. Where records have the same bytes, the extent of the newest one is there.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::trace::request::{Op, Request};

/// The most bytes of a write to the disc.
const WRITE_BYTES_MAX: u64 = 1 << 20;

/// Bytes that are a part of others.
#[derive(Clone, Debug)]
pub(super) struct Slice {
    all: Arc<[u8]>,
    from: usize,
}

/// What is written.
#[derive(Clone, Debug)]
pub(super) enum Content {
    /// These bytes. More may follow behind the end of the extent.
    Data(Slice),
    /// Zeros.
    Zeros,
    /// Any bytes: those that are there are of no use. They read as zeros until the disc has the trim.
    Trimmed,
}

impl Content {
    /// These bytes.
    pub(super) fn data(all: Arc<[u8]>) -> Self {
        Self::Data(Slice { all, from: 0 })
    }

    /// The same without its first bytes.
    pub(super) fn skip(&self, bytes: u64) -> Self {
        match self {
            Self::Data(slice) => {
                let from = slice.from + usize::try_from(bytes).unwrap_or(usize::MAX);
                Self::Data(Slice { all: slice.all.clone(), from })
            }
            other => other.clone(),
        }
    }
}

/// Adjacent bytes of a disc that one record has.
#[derive(Clone, Debug)]
pub(super) struct Extent {
    pub(super) begins: u64,
    pub(super) ends: u64,
    /// The number of the record.
    pub(super) seq: u64,
    pub(super) content: Content,
}

impl Extent {
    /// How many bytes it has.
    pub(super) fn length(&self) -> u64 {
        self.ends - self.begins
    }

    /// Its bytes; none if they are zeros or of no use.
    pub(super) fn data(&self) -> &[u8] {
        let Content::Data(Slice { all, from }) = &self.content else { return &[] };
        let length = usize::try_from(self.length()).unwrap_or(usize::MAX);
        all.get(*from..from.saturating_add(length)).unwrap_or_default()
    }

    /// What it has of a range that meets it.
    fn within(&self, from: u64, to: u64) -> Self {
        let begins = self.begins.max(from);
        let content = self.content.skip(begins - self.begins);
        Self { begins, ends: self.ends.min(to), seq: self.seq, content }
    }

    /// Bytes that the disc lacks.
    fn owed_bytes(&self) -> u64 {
        if matches!(self.content, Content::Trimmed) { 0 } else { self.length() }
    }
}

/// The bytes that are owed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Owed {
    /// By where they begin.
    extents: BTreeMap<u64, Extent>,
    bytes: u64,
}

impl Owed {
    /// How many bytes the disc lacks.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether nothing is owed, and no trim either.
    pub(crate) fn is_empty(&self) -> bool {
        self.extents.is_empty()
    }

    /// Where the last extent begins, and how long it is.
    pub(super) fn last(&self) -> Option<(u64, u64)> {
        self.extents.last_key_value().map(|(&begins, extent)| (begins, extent.length()))
    }

    /// Takes in what a record has. It is newer than all that is there.
    pub(super) fn put(&mut self, extent: Extent) {
        if extent.begins < extent.ends {
            self.cut(extent.begins, extent.ends);
            self.add(extent);
        }
    }

    fn add(&mut self, extent: Extent) {
        self.bytes += extent.owed_bytes();
        self.extents.insert(extent.begins, extent);
    }

    /// Takes a range out; what is before and behind it stays.
    fn cut(&mut self, from: u64, to: u64) {
        let before = self.extents.range(..from).next_back();
        let before = before.filter(|(_, extent)| extent.ends > from).map(|(&begins, _)| begins);
        let inside = self.extents.range(from..to).map(|(&begins, _)| begins);
        let met: Vec<u64> = before.into_iter().chain(inside).collect();
        for begins in met {
            let Some(extent) = self.extents.remove(&begins) else { continue };
            self.bytes -= extent.owed_bytes();
            if extent.begins < from {
                self.add(extent.within(0, from));
            }
            if extent.ends > to {
                self.add(extent.within(to, u64::MAX));
            }
        }
    }

    /// What is owed of a range, in order.
    pub(super) fn within(&self, from: u64, to: u64) -> Vec<Extent> {
        if from >= to {
            return Vec::new();
        }
        let before = self.extents.range(..from).next_back().map(|(_, extent)| extent);
        let before = before.filter(|extent| extent.ends > from);
        let inside = self.extents.range(from..to).map(|(_, extent)| extent);
        before.into_iter().chain(inside).map(|extent| extent.within(from, to)).collect()
    }

    /// Ranges of a range that are owed as data, in order and apart.
    pub(crate) fn data_within(&self, from: u64, to: u64) -> Vec<(u64, u64)> {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for extent in self.within(from, to) {
            if !matches!(extent.content, Content::Data(_)) {
                continue;
            }
            match ranges.last_mut() {
                Some((_, ends)) if *ends == extent.begins => *ends = extent.ends,
                _ => ranges.push((extent.begins, extent.ends)),
            }
        }
        ranges
    }

    /// All that is owed, in the order of the disc.
    pub(super) fn extents(&self) -> VecDeque<Extent> {
        self.extents.values().cloned().collect()
    }

    /// The disc has all that records up to this one have, and no newer one has too.
    pub(super) fn forget(&mut self, seq: u64) {
        self.extents.retain(|_, extent| extent.seq > seq);
        self.bytes = self.extents.values().map(Extent::owed_bytes).sum();
    }

    /// The same, except that the disc lacks what those records have of these ranges, which are apart.
    pub(super) fn forget_except(&mut self, seq: u64, ranges: &[(u64, u64)]) {
        let mut kept = self.of_ranges(ranges);
        kept.retain(|extent| extent.seq <= seq);
        self.forget(seq);
        for extent in kept {
            self.add(extent);
        }
    }

    /// The number of the oldest record whose bytes are owed within these ranges.
    pub(super) fn oldest(&self, ranges: &[(u64, u64)]) -> Option<u64> {
        self.of_ranges(ranges).iter().map(|extent| extent.seq).min()
    }

    /// Bytes that the disc lacks of records up to this one.
    pub(super) fn bytes_up_to(&self, seq: u64) -> u64 {
        let old = self.extents.values().filter(|extent| extent.seq <= seq);
        old.map(Extent::owed_bytes).sum()
    }

    fn of_ranges(&self, ranges: &[(u64, u64)]) -> Vec<Extent> {
        ranges.iter().flat_map(|&(from, to)| self.within(from, to)).collect()
    }
}

/// Whether extents in order have all bytes of a range.
pub(super) fn is_covered(extents: &[Extent], from: u64, to: u64) -> bool {
    let mut at = from;
    for extent in extents {
        if extent.begins > at {
            return false;
        }
        at = extent.ends;
    }
    at >= to
}

/// Puts extents over bytes that begin at this byte of the disc.
pub(super) fn lay_over(data: &mut [u8], from: u64, extents: &[Extent]) {
    for extent in extents {
        let place = |byte: u64| usize::try_from(byte - from).unwrap_or(usize::MAX);
        let Some(room) = data.get_mut(place(extent.begins)..place(extent.ends)) else { continue };
        match extent.content {
            Content::Data(_) => room.copy_from_slice(extent.data()),
            Content::Zeros | Content::Trimmed => room.fill(0),
        }
    }
}

/// The next request for the disc that writes the first of these extents, and adjacent ones with it.
pub(super) fn gather(left: &mut VecDeque<Extent>) -> Option<(Request, Vec<u8>)> {
    let first = left.pop_front()?;
    if !matches!(first.content, Content::Data(_)) {
        let zeros = matches!(first.content, Content::Zeros);
        let request = Request::new(Op::Discard, first.begins, first.length());
        return Some((Request { zeros, ..request }, Vec::new()));
    }
    let (begins, mut ends, mut data) = (first.begins, first.ends, first.data().to_vec());
    while let Some(next) = left.pop_front_if(|next| continues(begins, ends, next)) {
        ends = next.ends;
        data.extend_from_slice(next.data());
    }
    Some((Request::new(Op::Write, begins, ends - begins), data))
}

/// Whether an extent has the bytes behind those of a write, and the write has room for them.
fn continues(begins: u64, ends: u64, next: &Extent) -> bool {
    let is_data = matches!(next.content, Content::Data(_));
    is_data && next.begins == ends && next.ends - begins <= WRITE_BYTES_MAX
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Random;

    const SIZE: usize = 300;

    fn byte(at: u64, seq: u64) -> u8 {
        u8::try_from((at * 7 + seq * 13) % 251).unwrap()
    }

    /// Against a record's number and a value for each byte.
    #[test]
    fn the_newest_record_has_each_byte() {
        let mut random = Random::new(9);
        for round in 0..300 {
            let (mut owed, mut model) = (Owed::default(), vec![None; SIZE]);
            for seq in 1..=1 + random.below(30) {
                let begins = random.below(SIZE as u64);
                let ends = begins + 1 + random.below(SIZE as u64 - begins);
                let bytes: Vec<u8> = (begins..ends).map(|at| byte(at, seq)).collect();
                let place = usize::try_from(begins).unwrap()..usize::try_from(ends).unwrap();
                let content = match random.below(4) {
                    0 => Content::Zeros,
                    1 => Content::Trimmed,
                    _ => Content::data(bytes.as_slice().into()),
                };
                let is_data = matches!(content, Content::Data(_));
                let is_trim = matches!(content, Content::Trimmed);
                for (at, &byte) in place.zip(&bytes) {
                    model[at] = Some((seq, if is_data { byte } else { 0 }, is_data, is_trim));
                }
                owed.put(Extent { begins, ends, seq, content });
                if random.below(8) == 0 {
                    let gone = random.below(seq + 1);
                    let (first, second) = (random.below(99), 100 + random.below(99));
                    let ranges = [(first, first + 1), (second, second + 50)];
                    let kept = &ranges[..usize::try_from(random.below(3)).unwrap()];
                    owed.forget_except(gone, kept);
                    for (at, place) in (0..).zip(&mut model) {
                        let is_kept = kept.iter().any(|&(from, to)| (from..to).contains(&at));
                        *place = place.filter(|&(seq, ..)| seq > gone || is_kept);
                    }
                    let old = model.iter().flatten().filter(|place| place.0 <= gone && !place.3);
                    assert_eq!(owed.bytes_up_to(gone), old.count() as u64, "round {round}");
                    let within = kept.iter().flat_map(|&(from, to)| from..to);
                    let found = within.filter_map(|at| model[usize::try_from(at).unwrap()]);
                    assert_eq!(owed.oldest(kept), found.map(|place| place.0).min());
                }
            }
            let count = model.iter().flatten().filter(|(.., is_trim)| !is_trim).count();
            assert_eq!(owed.bytes(), count as u64, "round {round}");
            let mut from = usize::try_from(random.below(SIZE as u64)).unwrap();
            let to = from + usize::try_from(random.below((SIZE - from) as u64 + 1)).unwrap();
            let extents = owed.within(from as u64, to as u64);
            let mut seen = vec![0xEE; to - from];
            lay_over(&mut seen, from as u64, &extents);
            let want = model[from..to].iter().map(|place| place.map_or(0xEE, |(_, byte, ..)| byte));
            assert_eq!(seen, want.collect::<Vec<u8>>(), "round {round}");
            let is_all = model[from..to].iter().all(Option::is_some);
            assert_eq!(is_covered(&extents, from as u64, to as u64), is_all, "round {round}");
            for (begins, ends) in owed.data_within(from as u64, to as u64) {
                let (begins, ends) =
                    (usize::try_from(begins).unwrap(), usize::try_from(ends).unwrap());
                let is_data = |place: &Option<(u64, u8, bool, bool)>| {
                    place.is_some_and(|(_, _, is_data, _)| is_data)
                };
                assert!(!model[from..begins].iter().any(is_data), "round {round}");
                assert!(model[begins..ends].iter().all(is_data), "round {round}");
                from = ends;
            }
        }
    }

    #[test]
    fn adjacent_data_is_one_write() {
        let extent = |begins, ends, content| Extent { begins, ends, seq: 1, content };
        let data = |length: usize| Content::data(vec![5; length].into());
        let mut left = VecDeque::from([
            extent(0, 4, data(4)),
            extent(4, 9, data(5)),
            extent(9, 11, Content::Zeros),
            extent(11, 12, data(1)),
            extent(20, 30, Content::Trimmed),
        ]);
        let mut seen = Vec::new();
        while let Some((request, data)) = gather(&mut left) {
            seen.push((
                request.op,
                request.offset,
                request.length_bytes,
                request.zeros,
                data.len(),
            ));
        }
        let want = [
            (Op::Write, 0, 9, false, 9),
            (Op::Discard, 9, 2, true, 0),
            (Op::Write, 11, 1, false, 1),
            (Op::Discard, 20, 10, false, 0),
        ];
        assert_eq!(seen, want);
    }
}
