//! An LRU curve from a sample of the keys, which says how far it may be off.
//!
//! The keys asked for most are *hot*: they are followed exactly, because whether one of them is in
//! a sample decides everything at small sizes. The others are the *tail*: a key of it is followed if
//! its hash is below a threshold (C. Waldspurger and others, *Efficient MRC Construction with SHARDS*, 2015).
//! The depth of an access is the hot keys above it plus the tail keys above it over the rate.
//!
//! What comes out has a band at every size, made of two errors that are both measured on the
//! sample itself, in groups of keys: which of the keys happened to be in it, and how that
//! stretches all the depths. Where the sample is too thin to tell, nothing is said.
//!
//! Cost: a hash an access, and for what is followed the cost of exact distances; some sixty bytes a
//! followed key, none for the others. Not for other policies than LRU, and not where the exact
//! curve fits into memory and time: [`super::distance`] is never wrong.

mod estimate;
mod hot;
mod keys;

pub use estimate::{Band, Estimate, SizeMisses};
pub use hot::Frequent;

use super::bins::{BINS, bin};
use super::distance::Stamp;
use super::stack::Marks;
use keys::Keys;

/// Groups that tail keys fall into by hash; the spread between them tells the error.
const GROUPS: usize = 128;
/// Stamps before the first packing.
const STAMPS_MIN: usize = 1 << 16;
/// Stamps a key, after packing.
const STAMPS_PER_KEY: usize = 4;
/// What a followed key takes at the most: while the table of keys grows, the old one is there too.
const KEY_BYTES: u64 = 160;
/// What all groups take.
const FIXED_BYTES: u64 = ((2 * GROUPS + 1) * BINS * 8) as u64;
/// The stamp of a key that is not in the stack.
const NOWHERE: Stamp = Stamp::MAX;

/// Takes keys in the order of their accesses; [`Sampled::finish`] gives the estimate.
#[derive(Clone, Debug)]
pub struct Sampled {
    /// Tail keys are followed whose hash is below this.
    below: u64,
    rate: f64,
    followed: Keys,
    /// Keys below this number are hot.
    hot: u32,
    /// By number of the followed key.
    stamp_of: Vec<Stamp>,
    group_of: Vec<u8>,
    /// Which key a stamp was given to.
    key_at: Vec<u32>,
    /// Two lines over the same stamps: a stamp is marked on one of them.
    hot_marks: Marks,
    tail_marks: Marks,
    /// Followed accesses since the keys of the stack were last counted by depth.
    since_census: usize,
    /// Accesses of a warm-up, which are not counted.
    warmup_accesses: u64,
    /// The key of the last access, unless it was removed.
    last: Option<u64>,
    counts: Counts,
}

/// What is counted on the way.
#[derive(Clone, Debug)]
struct Counts {
    accesses: u64,
    /// Accesses to the key of the access before: what a cache of one page hits.
    repeats: u64,
    hot_accesses: u64,
    /// Accesses to hot keys by depth.
    hot_hits: Vec<u64>,
    groups: Vec<Group>,
    censuses: u64,
}

/// Tail keys of one group.
#[derive(Clone, Debug)]
struct Group {
    accesses: u64,
    /// Accesses by depth.
    hits: Vec<u64>,
    /// Keys by depth, summed over all censuses.
    present: Vec<u64>,
}

impl Counts {
    fn new() -> Self {
        let group = Group { accesses: 0, hits: vec![0; BINS], present: vec![0; BINS] };
        Self {
            accesses: 0,
            repeats: 0,
            hot_accesses: 0,
            hot_hits: vec![0; BINS],
            groups: vec![group; GROUPS],
            censuses: 0,
        }
    }
}

impl Sampled {
    /// Follows the keys of `hot`, and of the others about `rate` (above 0, at most 1). Another
    /// seed is another sample.
    pub fn new(rate: f64, seed: u64, hot: &[u64]) -> Self {
        let rate = rate.clamp(f64::MIN_POSITIVE, 1.0);
        let mut followed = Keys::new(seed);
        for &key in hot {
            followed.insert(key, followed.hash(key));
        }
        let known = followed.len();
        Self {
            below: crate::units::whole(rate * 2f64.powi(64)),
            rate,
            followed,
            hot: u32::try_from(known).expect("fewer than 2^32 hot keys"),
            stamp_of: vec![NOWHERE; known],
            group_of: vec![0; known],
            key_at: Vec::new(),
            hot_marks: Marks::packed(STAMPS_MIN, 0),
            tail_marks: Marks::packed(STAMPS_MIN, 0),
            since_census: 0,
            warmup_accesses: 0,
            last: None,
            counts: Counts::new(),
        }
    }

    /// Forgets what was counted, and nothing of what is followed: the caches are warm now.
    pub fn start_counting(&mut self) {
        self.warmup_accesses += self.counts.accesses;
        self.counts = Counts::new();
    }

    /// Accesses, in order.
    pub fn access(&mut self, keys: &[u64]) {
        self.counts.accesses += keys.len() as u64;
        for &key in keys {
            self.counts.repeats += u64::from(self.last.replace(key) == Some(key));
            let hash = self.followed.hash(key);
            if let Some(number) = self.followed.find(key, hash) {
                self.follow(number);
            } else if hash <= self.below {
                let number = self.followed.insert(key, hash);
                self.stamp_of.push(NOWHERE);
                let group = usize::try_from(hash >> 8).unwrap_or(0) % GROUPS;
                self.group_of.push(u8::try_from(group).expect("fewer than 257 groups"));
                self.follow(number);
            }
        }
    }

    /// Keys from `first` to `last` leave every cache; their next accesses miss. Frames that they
    /// leave empty are not followed: sizes are over-estimated by as many frames as stand empty.
    pub fn remove(&mut self, first: u64, last: u64) {
        self.last = self.last.filter(|key| !(first..=last).contains(key));
        if last.saturating_sub(first) < self.followed.len() as u64 {
            for key in first..=last {
                if let Some(number) = self.followed.find(key, self.followed.hash(key)) {
                    self.forget(number);
                }
            }
            return;
        }
        for number in self.followed.within(first..=last) {
            self.forget(number);
        }
    }

    fn forget(&mut self, number: u32) {
        let stamp = std::mem::replace(&mut self.stamp_of[number as usize], NOWHERE);
        if stamp != NOWHERE {
            self.line(number).clear(stamp);
        }
    }

    /// Returns the memory in use after this many more keys, some of which will be followed.
    pub fn bytes(&self, keys: u64) -> u64 {
        let followed = self.rate * keys as f64;
        // Which of them are followed is chance: few keys may be more than their share.
        let more = crate::units::whole(followed + 4.0 * followed.sqrt()).min(keys);
        FIXED_BYTES + KEY_BYTES.saturating_mul(self.followed() as u64 + more)
    }

    /// Returns the least memory for this many distinct keys: only their share is followed, in
    /// tables that have not grown.
    pub fn bytes_for(&self, distinct: u64) -> u64 {
        let share = crate::units::whole(self.rate * distinct as f64);
        FIXED_BYTES + (KEY_BYTES / 4).saturating_mul(share)
    }

    /// Keys that are followed.
    pub fn followed(&self) -> usize {
        self.followed.len()
    }

    /// The curve.
    pub fn finish(mut self) -> Estimate {
        self.census();
        let hot = self.hot as usize;
        Estimate::new(
            &self.counts,
            self.rate,
            (hot, self.followed.len() - hot),
            self.warmup_accesses,
        )
    }

    fn follow(&mut self, number: u32) {
        if self.hot_marks.full() {
            self.pack();
        }
        let stamp = self.stamp_of[number as usize];
        let hot = number < self.hot;
        let depth = (stamp != NOWHERE).then(|| {
            let (hot, tail) = (self.hot_marks.above(stamp), self.tail_marks.above(stamp));
            1.0 + f64::from(hot) + f64::from(tail) / self.rate
        });
        if stamp != NOWHERE {
            self.line(number).clear(stamp);
        }
        let (accesses, hits) = if hot {
            (&mut self.counts.hot_accesses, &mut self.counts.hot_hits)
        } else {
            let group = &mut self.counts.groups[usize::from(self.group_of[number as usize])];
            (&mut group.accesses, &mut group.hits)
        };
        *accesses += 1;
        if let Some(depth) = depth {
            hits[bin(depth)] += 1;
        }
        let next = self.hot_marks.next();
        self.stamp_of[number as usize] = Stamp::try_from(next).expect("stamps fit");
        self.key_at.push(number);
        let (one, other) = if hot {
            (&mut self.hot_marks, &mut self.tail_marks)
        } else {
            (&mut self.tail_marks, &mut self.hot_marks)
        };
        one.push();
        other.skip();
        self.since_census += 1;
        if self.since_census >= self.followed.len().max(STAMPS_MIN / 8) {
            self.census();
        }
    }

    fn line(&mut self, number: u32) -> &mut Marks {
        if number < self.hot { &mut self.hot_marks } else { &mut self.tail_marks }
    }

    /// Counts the tail keys of the stack by group and depth: who is in the cache of which size.
    fn census(&mut self) {
        self.since_census = 0;
        self.counts.censuses += 1;
        let (mut hot, mut tail) = (0.0, 0.0);
        for &number in self.stack().iter().rev() {
            if number < self.hot {
                hot += 1.0;
            } else {
                let group = &mut self.counts.groups[usize::from(self.group_of[number as usize])];
                group.present[bin(1.0 + hot + tail / self.rate)] += 1;
                tail += 1.0;
            }
        }
    }

    /// The followed keys of the stack, oldest use first.
    fn stack(&self) -> Vec<u32> {
        let live = |&(at, number): &(usize, u32)| self.stamp_of[number as usize] as usize == at;
        let given = self.key_at.iter().copied().enumerate();
        given.filter(live).map(|(_, number)| number).collect()
    }

    /// Gives the keys of the stack new stamps without gaps, in the same order.
    fn pack(&mut self) {
        let stack = self.stack();
        let stamps = (stack.len() * STAMPS_PER_KEY).max(STAMPS_MIN);
        self.hot_marks = Marks::packed(stamps, 0);
        self.tail_marks = Marks::packed(stamps, 0);
        for (stamp, &number) in (0..).zip(&stack) {
            self.stamp_of[number as usize] = stamp;
            let hot = number < self.hot;
            let (one, other) = if hot {
                (&mut self.hot_marks, &mut self.tail_marks)
            } else {
                (&mut self.tail_marks, &mut self.hot_marks)
            };
            one.push();
            other.skip();
        }
        self.key_at = stack;
    }
}

#[cfg(test)]
mod tests;
