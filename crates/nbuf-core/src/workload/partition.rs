//! Requests of many volumes, made into a native trace for each.
//!
//! Block traces of clouds come as hourly files with all volumes in each; a curve of a volume then reads
//! them all. Times of all parts are counted from the first request, so that parts can be merged again.
//! Cost: the whole trace in memory, 4 to 7 bytes a request, and some 200 a volume.

use super::convert::{Dropped, ToNative, names};
use super::within::Growing;
use crate::trace::Trace;
use crate::trace::request::Request;

/// A native trace of each object, by its number.
#[derive(Debug, Default)]
pub(crate) struct Partitioned {
    first_ns: Option<i64>,
    parts: Vec<ToNative>,
}

impl Partitioned {
    /// What no part has.
    pub(crate) fn dropped(&self) -> Dropped {
        self.parts.iter().fold(Dropped::default(), |sum, part| sum.and(part.dropped))
    }

    /// The name of each object with its trace; of those that have requests. `objects`, `format` and
    /// `warnings` are of the source.
    pub(crate) fn finish(
        self,
        objects: &[String],
        format: &str,
        warnings: &[String],
    ) -> impl Iterator<Item = (String, Trace)> {
        let named = names(objects).into_iter().zip(self.parts);
        let made = named.map(move |(name, part)| {
            let trace = part.finish(std::slice::from_ref(&name), format, warnings);
            (name, trace)
        });
        made.filter(|(_, trace)| !trace.records.is_empty())
    }
}

impl Growing for Partitioned {
    fn most(&self, requests: &[Request]) -> u64 {
        // All may go to the part that then has to be sorted.
        let new = ToNative::default().most(requests);
        self.parts.iter().fold(new, |sum, part| sum.saturating_add(part.most(&[])))
    }

    fn least(&self, requests: &[Request]) -> u64 {
        let new = ToNative::default().least(requests);
        self.parts.iter().fold(new, |sum, part| sum.saturating_add(part.least(&[])))
    }

    fn take(&mut self, requests: &[Request]) {
        for request in requests {
            let first_ns = *self.first_ns.get_or_insert(request.time_ns);
            let object = request.object as usize;
            if object >= self.parts.len() {
                self.parts.resize_with(object + 1, || ToNative::since(first_ns));
            }
            self.parts[object].push(&[Request { object: 0, ..*request }]);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::trace::Record;
    use crate::trace::request::Op;

    proptest! {
        #[test]
        fn parts_together_are_the_trace(
            rows in prop::collection::vec((0..5_u32, 0..100_i64, 0..9_u64, 0..3_u64), 1..200),
        ) {
            let request = |&(object, time_ns, offset, length)| Request {
                time_ns,
                object,
                ..Request::new(Op::Read, offset, length)
            };
            let requests: Vec<Request> = rows.iter().map(request).collect();
            let objects: Vec<String> = (0..5).map(|object| format!("v{object}")).collect();
            let (mut whole, mut parts) = (ToNative::default(), Partitioned::default());
            whole.push(&requests);
            for some in requests.chunks(7) {
                parts.take(some);
            }
            prop_assert_eq!(parts.dropped(), whole.dropped);
            let shown = |name: &str, record: Record| {
                (record.time_ns, name.to_owned(), record.offset_bytes, record.length_bytes)
            };
            let mut apart: Vec<_> = Vec::new();
            for (name, trace) in parts.finish(&objects, "test", &[]) {
                prop_assert_eq!(&trace.files[..], std::slice::from_ref(&name));
                apart.extend(trace.records.iter().map(|record| shown(&name, record)));
            }
            let trace = whole.finish(&objects, "test", &[]);
            let named = |record: Record| shown(&trace.files[record.file.0 as usize], record);
            let mut together: Vec<_> = trace.records.iter().map(named).collect();
            // Both are in order of time, and within a volume in the order of the source.
            apart.sort_by_key(|row| (row.0, row.1.clone()));
            together.sort_by_key(|row| (row.0, row.1.clone()));
            prop_assert_eq!(apart, together);
        }
    }
}
