//! memcached: every class of sizes has lists of its own, over the slabs that it got.
//!
//! A class takes a slab of a mebibyte when it has no free chunk, while the memory has one. The first slab it gets in
//! any case. After that it evicts its own items, however old those of the other classes are: a class that came late
//! stays small. Which item goes is a matter of its [`Segments`].
//!
//! Not modelled: the thread that moves slabs between classes, after minutes, and items larger than half a slab, which
//! here take chunks of the largest class. An item above one slab is not stored. Invariant: a class never has more items
//! than chunks. Cost: some moves between lists an access at each size, and a search among the classes fit. memcached 1.6,
//! `slabs.c` (`do_slabs_newslab`); B. Fitzpatrick, *Distributed Caching with Memcached*, 2004.

use std::sync::LazyLock;

use super::segments::{CLASSES, Segments};
use super::store::Store;
use super::{Layers, Object, ObjectEngine, caches};
use crate::cache::allocator::{SLAB_BYTES, chunk, chunks};
use crate::cache::table::Table;

/// Counts memcached at these sizes.
pub(in crate::cache) fn slabs(sizes_bytes: &[u64], layers: &Layers) -> Box<dyn ObjectEngine> {
    caches(sizes_bytes, layers, Memory::new)
}

/// The sizes of the chunks of each class.
static CHUNKS: LazyLock<Vec<u64>> = LazyLock::new(|| chunks().collect());

/// Where an item is: the class, and how many of its chunks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    class: u8,
    chunks: u8,
}

/// memcached with one limit.
struct Memory {
    slabs_max: u64,
    slabs: u64,
    /// Chunks of each class that are free, and chunks of a slab.
    free: [u64; CLASSES],
    per_slab: [u64; CLASSES],
    has_slabs: [bool; CLASSES],
    items: Segments,
}

impl Store for Memory {
    /// Its place; none for an item that is not stored.
    type Kept = Option<Place>;

    fn kept(object: &Object) -> Option<Place> {
        let bytes = chunk(object.charge);
        let class = CHUNKS.iter().position(|&size| bytes <= size).unwrap_or(CLASSES - 1);
        let chunks = u8::try_from(bytes.div_ceil(CHUNKS[class])).unwrap_or(u8::MAX);
        let class = u8::try_from(class).expect("the classes fit");
        (bytes <= SLAB_BYTES).then_some(Place { class, chunks })
    }

    fn contains(&self, number: u32) -> bool {
        self.items.contains(number)
    }

    fn touch(
        &mut self,
        object: &Object,
        before: Option<Place>,
        places: &Table<Option<Place>>,
    ) -> bool {
        let number = object.number;
        if !self.items.contains(number) {
            return false;
        }
        match (before, places.get(number)) {
            (Some(before), now) if now == Some(before) => self.items.hit(before.class, number),
            _ => {
                self.leave(number, before);
                self.insert(object, places);
            }
        }
        true
    }

    fn rival(&mut self, object: &Object, places: &Table<Option<Place>>) -> Option<u32> {
        let Place { class, chunks } = places.get(object.number)?;
        let at = usize::from(class);
        let may_grow = self.slabs < self.slabs_max || !self.has_slabs[at];
        let is_full = self.free[at] < u64::from(chunks) && !may_grow;
        is_full.then(|| self.items.victim(class)).flatten()
    }

    fn len(&self) -> u32 {
        self.items.len()
    }

    fn insert(&mut self, object: &Object, places: &Table<Option<Place>>) {
        if let Some(now) = places.get(object.number)
            && self.make_room(now, places)
        {
            self.free[usize::from(now.class)] -= u64::from(now.chunks);
            self.items.insert(now.class, object.number);
        }
    }

    /// An item leaves its chunks.
    fn leave(&mut self, number: u32, place: Option<Place>) {
        let Place { class, chunks } = place.expect("a stored item has a place");
        self.items.leave(class, number);
        self.free[usize::from(class)] += u64::from(chunks);
    }

    fn forget(&mut self, _number: u32) {}

    fn prefetch(&self, _number: u32) {}
}

impl Memory {
    fn new(cache_bytes: u64) -> Self {
        let mut per_slab = [1; CLASSES];
        for (some, chunk) in per_slab.iter_mut().zip(CHUNKS.iter()) {
            *some = SLAB_BYTES / chunk;
        }
        Self {
            slabs_max: cache_bytes / SLAB_BYTES,
            slabs: 0,
            free: [0; CLASSES],
            per_slab,
            has_slabs: [false; CLASSES],
            items: Segments::default(),
        }
    }

    /// Finds free chunks for an item: in its class, of a new slab, or of items that go.
    fn make_room(&mut self, Place { class, chunks }: Place, places: &Table<Option<Place>>) -> bool {
        let at = usize::from(class);
        while self.free[at] < u64::from(chunks) {
            if self.slabs < self.slabs_max || !self.has_slabs[at] {
                self.slabs += 1;
                self.has_slabs[at] = true;
                self.free[at] += self.per_slab[at];
            } else if let Some(victim) = self.items.victim(class) {
                self.leave(victim, places.get(victim));
            } else {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn there_are_as_many_classes_as_chunks() {
        assert_eq!(chunks().count(), CLASSES);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        /// Items of which none is used again go in the order in which they came, in each class: the oracle is a list.
        #[test]
        fn classes_keep_to_their_slabs(
            charges in prop::collection::vec(
                prop_oneof![Just(300_000_u64), Just(100_000), Just(60_000)], 0..200),
            mebibytes in 0..9_u64,
        ) {
            let mut memories = slabs(&[mebibytes << 20], &Layers::default());
            let mut kept = std::collections::BTreeMap::<u64, (u64, Vec<u32>)>::new();
            let mut used = 0;
            for (number, &charge) in (0..).zip(&charges) {
                memories.access(&[super::super::tests::object(number, charge, charge)]);
                let (own, list) = kept.entry(chunk(charge)).or_default();
                if list.len() as u64 == *own * (SLAB_BYTES / chunk(charge)) {
                    if *own == 0 || used < mebibytes {
                        (*own, used) = (*own + 1, used + 1);
                    } else {
                        list.remove(0);
                    }
                }
                list.push(number);
            }
            memories.start_counting();
            let all: Vec<u32> = kept.into_values().flat_map(|(_, list)| list).collect();
            for &number in &all {
                let charge = charges[number as usize];
                memories.access(&[super::super::tests::object(number, charge, charge)]);
            }
            prop_assert_eq!(memories.finish()[0].misses, 0);
        }
    }

    #[test]
    fn an_item_above_a_slab_is_not_stored() {
        let mut engine = slabs(&[8 << 20], &Layers::default());
        let object = |number, charge| super::super::tests::object(number, charge, charge);
        let large = object(1, SLAB_BYTES + 1);
        let two = object(2, SLAB_BYTES - 9);
        engine.access(&[large, large, two, two]);
        engine.remove(&[2, 1]);
        engine.access(&[two]);
        assert_eq!(engine.finish()[0].misses, 4);
    }
}
