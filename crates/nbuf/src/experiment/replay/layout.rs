//! Where the objects of a trace lie on a disc: one after the other, each from the beginning of a unit.
//!
//! A trace must be surveyed first, since where an object lies depends on where those before it end; of
//! one that comes once, only a single object can be placed, at the beginning. Keys have no place: each
//! gets a slot of a unit, in the order in which they appear, whatever the size of their values.
//!
//! Invariant: no two objects share a unit. Cost: 8 bytes an object, or those of an
//! [`Interner`](crate::cache::interner::Interner) for keys, in the survey and in each layout.

use crate::cache::front::Span;
use crate::cache::interner::Interner;
use crate::workload::request::{Ask, Request, Unit};

/// Longer requests are damage, not requests.
const REQUEST_BYTES_MAX: u64 = 1 << 30;

/// A request cannot be placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// Of a trace that comes once.
    #[error(
        "the trace has several files or volumes, and a pipe is read once, so that nobody knows where \
         they end: give a file"
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
    /// Of these, those that write.
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
    /// Of a trace of this unit; nothing is known of it.
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
            self.writes += u64::from(request.ask == Ask::Write);
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

    /// How much of a disc all objects or keys take, in units of so many bytes, to the end of the last.
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

/// See the module.
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
    /// Of a trace that was surveyed.
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

    /// Of a trace that nobody has seen.
    pub fn blind(unit: Unit, unit_bytes: u64) -> Self {
        let unit_bytes = unit_bytes.max(1);
        let (keys, numbers) = (Interner::new(), Vec::new());
        Self { unit, unit_bytes, begins: None, keys, numbers }
    }

    /// Where a request lies; nothing where it is not to be made.
    pub fn place(&mut self, request: &Request) -> Result<Option<Span>, LayoutError> {
        if end(request, self.unit).is_none() {
            return Ok(None);
        }
        if self.unit == Unit::Keys {
            return Ok(Some(self.slot(request.offset)));
        }
        let begin = match &self.begins {
            Some(begins) => begins.get(request.object as usize).copied(),
            None if request.object == 0 => Some(0),
            None => return Err(LayoutError::Several),
        };
        let length_bytes = u32::try_from(request.length_bytes);
        let place = |begin: u64| {
            let offset_bytes = begin.checked_add(request.offset)?;
            Some(Span { offset_bytes, length_bytes: length_bytes.ok()? })
        };
        Ok(begin.and_then(place))
    }

    fn slot(&mut self, key: u64) -> Span {
        self.numbers.clear();
        self.keys.intern(&[key], &mut self.numbers);
        let offset_bytes = u64::from(self.numbers[0]).saturating_mul(self.unit_bytes);
        Span { offset_bytes, length_bytes: u32::try_from(self.unit_bytes).unwrap_or(u32::MAX) }
    }
}

/// So many bytes, to the end of the last unit.
fn whole(bytes: u64, unit_bytes: u64) -> u64 {
    bytes.div_ceil(unit_bytes).saturating_mul(unit_bytes)
}

/// Where a request ends in its object; nothing where it is not to be made.
fn end(request: &Request, unit: Unit) -> Option<u64> {
    if !matches!(request.ask, Ask::Read | Ask::Write) {
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

    fn request(object: u32, offset: u64, length_bytes: u64, ask: Ask) -> Request {
        Request { time_ns: 5, offset, length_bytes, object, task: 0, ask }
    }

    proptest! {
        #[test]
        fn no_byte_has_two_owners(
            requests in proptest::collection::vec((0..5_u32, 0..10_000_u64, 0..5_000_u64), 1..60),
            unit_bytes in 1..3_000_u64,
        ) {
            let read = |(object, offset, length)| request(object, offset, length, Ask::Read);
            let requests: Vec<Request> = requests.into_iter().map(read).collect();
            let mut survey = Survey::new(Unit::Bytes);
            survey.take(&requests);
            let mut layout = Layout::of(&survey, unit_bytes);
            let mut owners = std::collections::HashMap::new();
            let mut placed = 0;
            for request in &requests {
                let Some(span) = layout.place(request).unwrap() else {
                    prop_assert_eq!(request.length_bytes, 0);
                    continue;
                };
                placed += 1;
                prop_assert!(span.end() <= survey.bytes(unit_bytes));
                for unit in span.offset_bytes / unit_bytes..=(span.end() - 1) / unit_bytes {
                    let owner = owners.entry(unit).or_insert(request.object);
                    prop_assert_eq!(*owner, request.object, "unit {}", unit);
                }
                let whole = layout.place(&Request { offset: 0, ..*request }).unwrap().unwrap();
                prop_assert_eq!(span.offset_bytes - whole.offset_bytes, request.offset);
            }
            prop_assert_eq!(placed, survey.requests);
        }
    }

    #[test]
    fn keys_get_slots_as_they_appear() {
        let keys = [u64::MAX, 7, u64::MAX, 0];
        let mut survey = Survey::new(Unit::Keys);
        // A flush has no key.
        survey.take(&[request(0, 99, 0, Ask::Flush), request(3, keys[0], 0, Ask::Write)]);
        survey.take(&[7, u64::MAX, 0].map(|key| request(3, key, 0, Ask::Read)));
        let blind = Layout::blind(Unit::Keys, 4096);
        for mut layout in [blind, Layout::of(&survey, 4096)] {
            let offsets = keys.map(|key| {
                let placed = layout.place(&request(3, key, 0, Ask::Read)).unwrap();
                placed.map(|span| (span.offset_bytes, span.length_bytes))
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
        let at = layout.place(&request(0, 100, 5, Ask::Write)).unwrap();
        assert_eq!(at, Some(Span { offset_bytes: 100, length_bytes: 5 }));
        let told = layout.place(&request(1, 100, 5, Ask::Write)).unwrap_err().to_string();
        assert!(told.contains("give a file"), "{told}");
        assert_eq!(layout.place(&request(0, 0, 5, Ask::Discard)), Ok(None));
        assert_eq!(layout.place(&request(0, u64::MAX, 5, Ask::Read)), Ok(None));
    }
}
