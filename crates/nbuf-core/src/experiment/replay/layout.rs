//! Where the objects of a trace lie on a disc: one after the other, each from the beginning of a unit.
//!
//! A trace must be surveyed first, because the place of an object depends on the ends of those
//! before it. In a trace that comes only once, a single object can be placed, at the beginning.
//! Keys have no place. Each gets a slot of one unit, in the order of first appearance, whatever the
//! size of their values.
//!
//! Invariant: no two objects share a unit. Cost: 8 bytes an object, or those of an
//! [`Interner`](crate::cache::interner::Interner) for keys, in the survey and in each layout.

use crate::cache::interner::Interner;
use crate::trace::request::{Op, Request, Unit};

/// Longer requests are damage, not requests.
const REQUEST_BYTES_MAX: u64 = 1 << 30;

/// A request cannot be placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// The trace comes once, and has several files.
    #[error(
        "the trace has several files or volumes, whose ends are unknown in a pipe, which can be read \
         only once: give a file"
    )]
    Several,
}

/// What was learned of a trace on a first reading.
#[derive(Clone, Debug)]
pub struct Survey {
    unit: Unit,
    /// Where each object ends, by its number.
    ends: Vec<u64>,
    /// The keys, in the order in which they appear.
    keys: Interner,
    /// Requests that will be made.
    pub requests: u64,
    /// Those of `requests` that write.
    pub writes: u64,
    /// Requests that will not: discards, flushes, those of no bytes, and damage.
    pub left_out: u64,
    /// Whether some request says which task made it.
    pub has_tasks: bool,
    /// Whether requests come at different times.
    pub has_times: bool,
    first_ns: Option<i64>,
}

impl Survey {
    /// The survey of a trace of this unit, before its first request.
    pub fn new(unit: Unit) -> Self {
        let (ends, requests, writes, left_out) = (Vec::new(), 0, 0, 0);
        Self {
            unit,
            ends,
            keys: Interner::new(),
            requests,
            writes,
            left_out,
            has_tasks: false,
            has_times: false,
            first_ns: None,
        }
    }

    /// Takes requests, in order.
    pub fn take(&mut self, requests: &[Request]) {
        let mut keys = Vec::new();
        for request in requests {
            let first = *self.first_ns.get_or_insert(request.time_ns);
            self.has_times |= request.time_ns != first;
            self.has_tasks |= request.task != 0;
            let Some(end) = end(request, self.unit) else {
                self.left_out += 1;
                continue;
            };
            self.requests += 1;
            self.writes += u64::from(request.op == Op::Write);
            if self.unit == Unit::Keys {
                keys.push(request.offset);
                continue;
            }
            let object = request.object as usize;
            if self.ends.len() <= object {
                self.ends.resize(object + 1, 0);
            }
            self.ends[object] = self.ends[object].max(end);
        }
        self.keys.intern(&keys, &mut Vec::new());
    }

    /// Returns the bytes of a disc that all objects or keys take, in whole units of `unit_bytes`.
    pub fn bytes(&self, unit_bytes: u64) -> u64 {
        match self.unit {
            Unit::Keys => u64::from(self.keys.pages()).saturating_mul(unit_bytes.max(1)),
            Unit::Bytes => {
                let whole = |&end: &u64| whole(end, unit_bytes.max(1));
                self.ends.iter().map(whole).fold(0, u64::saturating_add)
            }
        }
    }

    /// Memory that it takes, and a layout that is made of it.
    pub fn memory_bytes(&self) -> u64 {
        2 * (self.ends.capacity() as u64 * 8 + self.keys.bytes() as u64 * 2)
    }

    /// When the trace begins.
    pub fn first_ns(&self) -> i64 {
        self.first_ns.unwrap_or(0)
    }
}

/// Maps the files and volumes of a trace to places on one disc.
#[derive(Clone, Debug)]
pub struct Layout {
    unit: Unit,
    unit_bytes: u64,
    /// Where each object begins; nothing where the trace was not surveyed.
    begins: Option<Vec<u64>>,
    keys: Interner,
    numbers: Vec<u32>,
}

impl Layout {
    /// The layout of a trace that was surveyed.
    pub fn of(survey: &Survey, unit_bytes: u64) -> Self {
        let unit_bytes = unit_bytes.max(1);
        let mut bytes = 0_u64;
        let begin = |&end: &u64| {
            let begin = bytes;
            bytes = bytes.saturating_add(whole(end, unit_bytes));
            begin
        };
        let begins = survey.ends.iter().map(begin).collect();
        let keys = survey.keys.clone();
        Self { begins: Some(begins), keys, ..Self::blind(survey.unit, unit_bytes) }
    }

    /// Creates a layout for a trace that was not surveyed.
    pub fn blind(unit: Unit, unit_bytes: u64) -> Self {
        let unit_bytes = unit_bytes.max(1);
        let (keys, numbers) = (Interner::new(), Vec::new());
        Self { unit, unit_bytes, begins: None, keys, numbers }
    }

    /// The request as the disc is asked for it; nothing where it is not to be made.
    pub fn place(&mut self, request: &Request) -> Result<Option<Request>, LayoutError> {
        if end(request, self.unit).is_none() {
            return Ok(None);
        }
        if self.unit == Unit::Keys {
            let (offset, length_bytes) = (self.slot(request.offset), self.unit_bytes);
            return Ok(Some(Request { offset, length_bytes, object: 0, ..*request }));
        }
        let begin = match &self.begins {
            Some(begins) => begins.get(request.object as usize).copied(),
            None if request.object == 0 => Some(0),
            None => return Err(LayoutError::Several),
        };
        let offset = begin.and_then(|begin| begin.checked_add(request.offset));
        Ok(offset.map(|offset| Request { offset, object: 0, ..*request }))
    }

    fn slot(&mut self, key: u64) -> u64 {
        self.numbers.clear();
        self.keys.intern(&[key], &mut self.numbers);
        u64::from(self.numbers[0]).saturating_mul(self.unit_bytes)
    }
}

/// Rounds `bytes` up to whole units.
fn whole(bytes: u64, unit_bytes: u64) -> u64 {
    bytes.div_ceil(unit_bytes).saturating_mul(unit_bytes)
}

/// Where a request ends in its object; nothing where it is not to be made.
fn end(request: &Request, unit: Unit) -> Option<u64> {
    if !matches!(request.op, Op::Read | Op::Write) {
        return None;
    }
    match unit {
        // The size of a value says nothing of the slot of its key.
        Unit::Keys => Some(0),
        Unit::Bytes if !(1..=REQUEST_BYTES_MAX).contains(&request.length_bytes) => None,
        Unit::Bytes => request.offset.checked_add(request.length_bytes),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn request(object: u32, offset: u64, length_bytes: u64, op: Op) -> Request {
        Request { time_ns: 5, object, ..Request::new(op, offset, length_bytes) }
    }

    proptest! {
        #[test]
        fn no_byte_has_two_owners(
            requests in proptest::collection::vec((0..5_u32, 0..10_000_u64, 0..5_000_u64), 1..60),
            unit_bytes in 1..3_000_u64,
        ) {
            let read = |(object, offset, length)| request(object, offset, length, Op::Read);
            let requests: Vec<Request> = requests.into_iter().map(read).collect();
            let mut survey = Survey::new(Unit::Bytes);
            survey.take(&requests);
            let mut layout = Layout::of(&survey, unit_bytes);
            let mut owners = std::collections::HashMap::new();
            let mut count = 0;
            for request in &requests {
                let Some(placed) = layout.place(request).unwrap() else {
                    prop_assert_eq!(request.length_bytes, 0);
                    continue;
                };
                count += 1;
                let span = placed.span();
                prop_assert!(span.end() <= survey.bytes(unit_bytes));
                for unit in span.offset_bytes / unit_bytes..=(span.end() - 1) / unit_bytes {
                    let owner = owners.entry(unit).or_insert(request.object);
                    prop_assert_eq!(*owner, request.object, "unit {}", unit);
                }
                let whole = layout.place(&Request { offset: 0, ..*request }).unwrap().unwrap();
                prop_assert_eq!(placed.offset - whole.offset, request.offset);
            }
            prop_assert_eq!(count, survey.requests);
        }
    }

    #[test]
    fn keys_get_slots_as_they_appear() {
        let keys = [u64::MAX, 7, u64::MAX, 0];
        let mut survey = Survey::new(Unit::Keys);
        // A flush has no key.
        survey.take(&[request(0, 99, 0, Op::Flush), request(3, keys[0], 0, Op::Write)]);
        survey.take(&[7, u64::MAX, 0].map(|key| request(3, key, 0, Op::Read)));
        let blind = Layout::blind(Unit::Keys, 4096);
        for mut layout in [blind, Layout::of(&survey, 4096)] {
            let offsets = keys.map(|key| {
                let placed = layout.place(&request(3, key, 0, Op::Read)).unwrap();
                placed.map(|placed| (placed.offset, placed.length_bytes))
            });
            assert_eq!(
                offsets,
                [Some((0, 4096)), Some((4096, 4096)), Some((0, 4096)), Some((8192, 4096))]
            );
        }
        assert_eq!(survey.bytes(4096), 3 * 4096);
        assert_eq!((survey.requests, survey.writes, survey.left_out), (4, 1, 1));
    }

    #[test]
    fn what_comes_once_has_one_object() {
        let mut layout = Layout::blind(Unit::Bytes, 512);
        let write = request(0, 100, 5, Op::Write);
        assert_eq!(layout.place(&write), Ok(Some(write)));
        let told = layout.place(&request(1, 100, 5, Op::Write)).unwrap_err().to_string();
        assert!(told.contains("give a file"), "{told}");
        assert_eq!(layout.place(&request(0, 0, 5, Op::Discard)), Ok(None));
        assert_eq!(layout.place(&request(0, u64::MAX, 5, Op::Read)), Ok(None));
    }
}
