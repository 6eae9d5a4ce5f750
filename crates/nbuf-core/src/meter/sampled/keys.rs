//! The followed keys, numbered as they come, behind a table that most accesses only look into.

/// A key and its number.
#[derive(Clone, Copy, Debug)]
struct Slot {
    key: u64,
    /// One more than the number; 0 where the slot is free.
    number: u32,
}

const FREE: Slot = Slot { key: 0, number: 0 };

/// An open-addressed table: linear probing, at most half full, because most lookups find nothing.
#[derive(Clone, Debug)]
pub(super) struct Keys {
    seed: u64,
    slots: Vec<Slot>,
    used: usize,
}

impl Keys {
    /// An empty table; keys are hashed with this seed.
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, slots: vec![FREE; 1024], used: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.used
    }

    /// Returns the hash that the other calls take in addition to the key.
    pub(super) fn hash(&self, key: u64) -> u64 {
        mix(key, self.seed)
    }

    /// The number of this key.
    pub(super) fn find(&self, key: u64, hash: u64) -> Option<u32> {
        self.slots[self.place(key, hash)].number.checked_sub(1)
    }

    /// The number of this key, which is new when it was not there.
    pub(super) fn insert(&mut self, key: u64, hash: u64) -> u32 {
        if self.used * 2 >= self.slots.len() {
            self.grow();
        }
        let place = self.place(key, hash);
        if self.slots[place].number == 0 {
            self.used += 1;
            let number = u32::try_from(self.used).expect("fewer than 2^32 keys");
            self.slots[place] = Slot { key, number };
        }
        self.slots[place].number - 1
    }

    /// The numbers of the keys in this range.
    pub(super) fn within(&self, range: std::ops::RangeInclusive<u64>) -> Vec<u32> {
        let used = self.slots.iter().filter(|slot| slot.number != 0);
        used.filter(|slot| range.contains(&slot.key)).map(|slot| slot.number - 1).collect()
    }

    /// Where the key is, or would be. The low bits decide: the high ones chose the sample.
    fn place(&self, key: u64, hash: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = usize::try_from(hash & mask as u64).unwrap_or(0);
        loop {
            let slot = self.slots[at];
            if slot.number == 0 || slot.key == key {
                return at;
            }
            at = (at + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let twice = vec![FREE; self.slots.len() * 2];
        let slots = std::mem::replace(&mut self.slots, twice);
        for slot in slots.into_iter().filter(|slot| slot.number != 0) {
            let place = self.place(slot.key, self.hash(slot.key));
            self.slots[place] = slot;
        }
    }
}

/// A hash of the key that depends on the seed (the finalizer of splitmix64, S. Vigna).
fn mix(key: u64, seed: u64) -> u64 {
    let mut hash = key ^ seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ (hash >> 31)
}
