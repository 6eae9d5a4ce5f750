//! How deep accesses were, and how deep the requests that they belong to.
//!
//! A request is as deep as the deepest of its accesses: the smallest cache that has all it wants. As
//! long as every request has one access, both are counted by the same number; the first request of
//! several accesses parts them.
//!
//! Invariant: apart from [`Depths`], nothing is kept, and it does not matter which thread counts which
//! batch. Cost: a place in a table an access, and another one only after requests were parted.

use super::depths::{Depths, Misses};

/// Counts accesses and requests by depth.
#[derive(Clone, Debug, Default)]
pub(crate) struct DepthCounts {
    accesses: Depths,
    requests: Requests,
}

/// Requests by the depth of their deepest access.
#[derive(Clone, Debug, Default)]
enum Requests {
    /// They are not asked for.
    #[default]
    Uncounted,
    /// They are those of the accesses, so far.
    AsAccesses,
    Apart(Depths),
}

impl DepthCounts {
    /// `requests`: whether they are counted, too.
    pub(crate) fn new(requests: bool) -> Self {
        let requests = if requests { Requests::AsAccesses } else { Requests::Uncounted };
        Self { accesses: Depths::default(), requests }
    }

    /// A batch of accesses: a depth or [`COLD`](super::distance::COLD) for each, and where the requests end, if
    /// any has several accesses.
    pub(crate) fn add(&mut self, depths: &[u32], ends: Option<&[u32]>) {
        if ends.is_some() && matches!(self.requests, Requests::AsAccesses) {
            self.requests = Requests::Apart(self.accesses.clone());
        }
        self.accesses.add_all(depths);
        let Requests::Apart(requests) = &mut self.requests else { return };
        let Some(ends) = ends else { return requests.add_all(depths) };
        let mut from = 0;
        for &end in ends {
            let end = end as usize;
            // What misses everywhere is deeper than any.
            requests.add_one(depths[from..end].iter().copied().max().unwrap_or(0));
            from = end;
        }
    }

    /// Forgets what was counted.
    pub(crate) fn start_counting(&mut self) {
        *self = Self::new(!matches!(self.requests, Requests::Uncounted));
    }

    /// Accesses, and requests if they were counted. `distinct` is the most pages that were there at
    /// one time.
    pub(crate) fn finish(self, distinct: u64) -> (Misses, Option<Misses>) {
        let accesses = self.accesses.finish(distinct);
        let requests = match self.requests {
            Requests::Uncounted => None,
            Requests::AsAccesses => Some(accesses.clone()),
            Requests::Apart(requests) => Some(requests.finish(distinct)),
        };
        (accesses, requests)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::meter::distance::COLD;

    /// Requests as lists of depths, in batches; whether a batch of single accesses has ends.
    fn batches() -> impl Strategy<Value = Vec<(Vec<Vec<u32>>, bool)>> {
        let depth = prop_oneof![5 => 1..40_u32, 1 => Just(COLD)];
        let single = prop::collection::vec(depth.clone(), 1);
        let request = prop_oneof![4 => single.clone(), 1 => prop::collection::vec(depth, 1..5)];
        let batch = prop_oneof![
            prop::collection::vec(single, 0..30),
            prop::collection::vec(request, 0..30),
        ];
        prop::collection::vec((batch, any::<bool>()), 0..12)
    }

    proptest! {
        #[test]
        fn requests_are_counted_as_if_apart_from_the_beginning(
            batches in batches(),
            warm in 0..12_usize,
        ) {
            let mut counts = DepthCounts::new(true);
            let mut only = DepthCounts::new(false);
            let (mut accesses, mut requests) = (Depths::default(), Depths::default());
            for (at, (batch, has_ends)) in batches.iter().enumerate() {
                if at == warm {
                    counts.start_counting();
                    only.start_counting();
                    (accesses, requests) = (Depths::default(), Depths::default());
                }
                let depths = batch.concat();
                let ends = batch.iter().scan(0_u32, |end, request| {
                    *end += u32::try_from(request.len()).unwrap();
                    Some(*end)
                });
                let ends: Vec<u32> = ends.collect();
                let several = depths.len() > batch.len();
                let ends = (several || *has_ends).then_some(&ends[..]);
                counts.add(&depths, ends);
                only.add(&depths, ends);
                let known = |depth: u32| (depth != COLD).then_some(depth);
                for &depth in &depths {
                    accesses.add(known(depth));
                }
                for request in batch {
                    requests.add(known(request.iter().copied().max().unwrap()));
                }
            }
            let (accesses, requests) = (accesses.finish(40), requests.finish(40));
            prop_assert_eq!(only.finish(40), (accesses.clone(), None));
            prop_assert_eq!(counts.finish(40), (accesses, Some(requests)));
        }
    }
}
