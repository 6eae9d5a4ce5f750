//! One step of a trace, and the plain reads that most of it is made of.

use super::{KeyRange, OBJECTS_MAX, PAGE_BITS, Pages, STEP_KEYS, Whole};
use crate::trace::request::{Op, Request, Unit};

/// Accesses, then keys that leave: one step of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Keys in the order of their accesses.
    pub keys: Vec<u64>,
    /// For each request where its keys end; empty when every request has one key.
    pub ends: Vec<u32>,
    /// For each request that has keys, its place in the slice that was given.
    pub from: Vec<u32>,
    /// What leaves after these accesses.
    pub gone: Vec<KeyRange>,
}

impl Step {
    pub(super) fn clear(&mut self) {
        self.keys.clear();
        self.ends.clear();
        self.from.clear();
        self.gone.clear();
    }
}

impl Pages {
    /// Takes reads of one key each from the front of these requests, which have `before` others before
    /// them in the step. Most traces have little else, and these need no look at what else there is.
    pub(super) fn reads(&mut self, requests: &[Request], before: usize, step: &mut Step) -> usize {
        let known = step.keys.len();
        let room = STEP_KEYS.saturating_sub(known);
        let requests = requests.iter().take(room);
        let mut bytes = self.tally.read_bytes;
        let mut read = |request: &Request, key| {
            bytes = bytes.saturating_add(request.length_bytes);
            key
        };
        match (self.unit, self.whole, self.shift) {
            (Unit::Keys, ..) => {
                let reads = requests.take_while(|request| request.op == Op::Read);
                step.keys.extend(reads.map(|request| read(request, request.offset)));
            }
            (Unit::Bytes, Whole::No, Some(shift)) => {
                let key = |request| page_read(request, shift).map(|key| read(request, key));
                step.keys.extend(requests.map_while(key));
            }
            (Unit::Bytes, ..) => return 0,
        }
        let taken = step.keys.len() - known;
        step.from.extend(number(before)..number(before + taken));
        step.ends.extend((number(known)..number(known + taken)).map(|key| key + 1));
        self.tally.read_bytes = bytes;
        self.tally.reads += taken as u64;
        taken
    }
}

/// The key of a read of one page that has a place.
#[inline]
fn page_read(request: &Request, shift: u32) -> Option<u64> {
    let &Request { offset, length_bytes, object, op, .. } = request;
    let last = offset.checked_add(length_bytes.checked_sub(1)?)?;
    let page = offset >> shift;
    let is_one = op == Op::Read && last >> shift == page;
    let has_place = object < OBJECTS_MAX && page >> PAGE_BITS == 0;
    (is_one && has_place).then(|| u64::from(object) << PAGE_BITS | page)
}

/// A place in a step.
pub(super) fn number(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::workload::pages::Writes;
    use crate::workload::pages::tests::{pages, read, request, steps};

    fn any_requests() -> impl Strategy<Value = Vec<Request>> {
        let op = prop_oneof![
            20 => Just(Op::Read),
            2 => Just(Op::Write),
            1 => Just(Op::Discard),
            1 => Just(Op::Flush),
        ];
        let object = prop_oneof![9 => 0..3_u32, 1 => Just(OBJECTS_MAX)];
        let offset = prop_oneof![9 => 0..40_000_u64, 1 => any::<u64>()];
        let length = prop_oneof![5 => 0..3000_u64, 1 => 0..9000_u64, 1 => Just(1 << 60)];
        let fields = (op, object, offset, length);
        let one =
            fields.prop_map(|(op, object, offset, length)| request(op, object, offset, length));
        prop::collection::vec(one, 0..80)
    }

    proptest! {
        #[test]
        fn reads_of_one_page_are_taken_as_all_others_are(requests in any_requests()) {
            for writes in [Writes::Allocate, Writes::Around, Writes::Ignore] {
                let fast = pages(writes, Whole::No);
                let mut slow = pages(writes, Whole::No);
                slow.shift = None;
                prop_assert_eq!(steps(fast, &requests), steps(slow, &requests));
            }
        }

        #[test]
        fn keys_are_taken_in_their_order_with_what_leaves_between(requests in any_requests()) {
            let mut keys = Pages::new(Unit::Keys, 4096, Writes::Allocate, Whole::No);
            let (mut rest, mut step, mut all) = (&requests[..], Step::default(), Vec::new());
            while !rest.is_empty() {
                let taken = keys.step(rest, &mut step);
                for (&at, &key) in step.from.iter().zip(&step.keys) {
                    prop_assert_eq!(rest[at as usize].offset, key);
                }
                prop_assert_eq!(step.from.len(), step.keys.len());
                all.extend(step.keys.iter().copied());
                all.extend(step.gone.iter().map(|gone| !gone.first));
                rest = &rest[taken..];
            }
            let want = requests.iter().filter_map(|request| match request.op {
                Op::Read | Op::Write => Some(request.offset),
                Op::Discard => Some(!request.offset),
                Op::Flush => None,
            });
            prop_assert_eq!(all, want.collect::<Vec<_>>());
            let reads = requests.iter().filter(|request| request.op == Op::Read);
            let bytes = reads.clone().fold(0_u64, |sum, read| sum.saturating_add(read.length_bytes));
            prop_assert_eq!(keys.tally().reads, reads.count() as u64);
            prop_assert_eq!(keys.tally().read_bytes, bytes);
        }
    }

    #[test]
    fn a_step_of_reads_ends_where_it_is_long_enough() {
        let requests = vec![read(4096, 1); STEP_KEYS + 3];
        let mut step = Step::default();
        let mut pages = pages(Writes::Allocate, Whole::No);
        assert_eq!(pages.step(&requests, &mut step), STEP_KEYS);
        assert_eq!(pages.step(&requests[STEP_KEYS..], &mut step), 3);
        assert_eq!((step.keys.as_slice(), step.from.as_slice()), (&[1, 1, 1][..], &[0, 1, 2][..]));
        assert!(step.ends.is_empty());
    }
}
