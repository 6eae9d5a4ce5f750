//! A set of moments in which the last one up to a given one is found quickly.
//!
//! A bit for each moment, a bit for each word of those, and so on up to one word. Invariant: a bit
//! above is set exactly when its word below has any. Cost: little more than a bit a moment; a word or
//! two a level and change, four levels for ten million moments.

/// Bits in a word.
const WORD: usize = 64;

#[derive(Clone, Debug)]
pub(super) struct Moments(Vec<Vec<u64>>);

/// How many moments of a set are before any other.
pub(super) struct Ranks {
    words: Vec<u64>,
    /// Moments before each word.
    before: Vec<u32>,
}

impl Ranks {
    /// The moments of the set that are before this one.
    #[inline]
    pub(super) fn of(&self, moment: u32) -> u32 {
        let at = moment as usize;
        let before_it = (1 << (at % WORD)) - 1;
        self.before[at / WORD] + (self.words[at / WORD] & before_it).count_ones()
    }
}

impl Moments {
    /// An empty set, with room for `moments` moments.
    pub(super) fn new(moments: usize) -> Self {
        let mut levels = Vec::new();
        let mut words = moments.div_ceil(WORD).max(1);
        loop {
            levels.push(vec![0; words]);
            if words == 1 {
                return Self(levels);
            }
            words = words.div_ceil(WORD);
        }
    }

    #[inline]
    pub(super) fn insert(&mut self, moment: u32) {
        let mut at = moment as usize;
        for level in &mut self.0 {
            let word = &mut level[at / WORD];
            let was_empty = *word == 0;
            *word |= 1 << (at % WORD);
            if !was_empty {
                return;
            }
            at /= WORD;
        }
    }

    #[inline]
    pub(super) fn remove(&mut self, moment: u32) {
        let mut at = moment as usize;
        for level in &mut self.0 {
            let word = &mut level[at / WORD];
            *word &= !(1 << (at % WORD));
            if *word != 0 {
                return;
            }
            at /= WORD;
        }
    }

    /// The last moment that is not after `moment`.
    #[inline]
    pub(super) fn last_until(&self, moment: u32) -> Option<u32> {
        let mut at = moment as usize;
        // Up to here, with the moment itself; on the levels above without its word.
        let mut mask = u64::MAX >> (WORD - 1 - at % WORD);
        for (height, level) in self.0.iter().enumerate() {
            if let Some(bit) = (level[at / WORD] & mask).checked_ilog2() {
                return Some(self.descend(height, at / WORD * WORD + bit as usize));
            }
            at /= WORD;
            mask = (1 << (at % WORD)) - 1;
        }
        None
    }

    /// Every moment, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..).zip(&self.0[0]).filter(|&(_, &word)| word != 0).flat_map(|(index, &word)| {
            (0..64).filter(move |bit| word >> bit & 1 != 0).map(move |bit| index * 64 + bit)
        })
    }

    /// The order of its moments.
    pub(super) fn ranks(mut self) -> Ranks {
        let words = self.0.swap_remove(0);
        let mut sum = 0;
        let count = |word: &u64| {
            sum += word.count_ones();
            sum - word.count_ones()
        };
        let before = words.iter().map(count).collect();
        Ranks { words, before }
    }

    /// The last moment below a bit that is set, on a level.
    #[inline]
    fn descend(&self, height: usize, mut at: usize) -> u32 {
        for level in self.0[..height].iter().rev() {
            at = at * WORD + level[at].ilog2() as usize;
        }
        u32::try_from(at).expect("moments are numbered in 32 bits")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn equals_a_sorted_set(
            moments in 1..5000_u32,
            steps in prop::collection::vec((any::<bool>(), any::<u32>(), any::<u32>()), 0..200),
        ) {
            let mut set = Moments::new(moments as usize);
            let mut model = BTreeSet::new();
            for (inserts, moment, until) in steps {
                let moment = moment % moments.min(1 + until % moments);
                if inserts {
                    set.insert(moment);
                    model.insert(moment);
                } else {
                    set.remove(moment);
                    model.remove(&moment);
                }
                let until = until % moments;
                prop_assert_eq!(set.last_until(until), model.range(..=until).last().copied());
            }
            prop_assert!(set.iter().eq(model.iter().copied()));
            let ranks = set.ranks();
            for moment in 0..moments {
                prop_assert_eq!(ranks.of(moment) as usize, model.range(..moment).count());
            }
        }
    }
}
