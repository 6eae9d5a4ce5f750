//! Writes whose blocks overlap, one after the other, in the order in which they came.

use std::collections::VecDeque;

/// The writes that are inside, and those that wait: numbers and ranges of whole blocks.
#[derive(Debug, Default)]
pub(super) struct Gate {
    inside: Vec<(u32, u64, u64)>,
    waiting: VecDeque<(u32, u64, u64)>,
}

fn overlap(a: &(u32, u64, u64), b: &(u32, u64, u64)) -> bool {
    a.1 < b.2 && b.1 < a.2
}

impl Gate {
    /// Whether a write may begin now; else it waits.
    pub(super) fn enter(&mut self, number: u32, from: u64, to: u64) -> bool {
        let new = (number, from, to);
        let waits = self.inside.iter().chain(&self.waiting).any(|other| overlap(other, &new));
        if waits {
            self.waiting.push_back(new);
        } else {
            self.inside.push(new);
        }
        !waits
    }

    /// A write is done: those that may begin now.
    pub(super) fn leave(&mut self, number: u32) -> Vec<u32> {
        self.inside.retain(|(other, ..)| *other != number);
        let mut next = Vec::new();
        let mut at = 0;
        while let Some(&new) = self.waiting.get(at) {
            let before = self.waiting.iter().take(at);
            if self.inside.iter().chain(before).any(|other| overlap(other, &new)) {
                at += 1;
                continue;
            }
            self.waiting.remove(at);
            self.inside.push(new);
            next.push(new.0);
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Random;

    #[test]
    fn no_two_overlap_and_none_is_forgotten() {
        let mut random = Random::new(9);
        let mut gate = Gate::default();
        let (mut ranges, mut inside, mut entered) = (Vec::new(), Vec::new(), Vec::new());
        for number in 0..3000_u32 {
            let from = random.below(60);
            let to = from + 1 + random.below(9);
            ranges.push((number, from, to));
            if gate.enter(number, from, to) {
                inside.push(number);
                entered.push(number);
            }
            while inside.len() > 4 || number == 2999 && !inside.is_empty() {
                let at = usize::try_from(random.below(inside.len() as u64)).unwrap();
                let next = gate.leave(inside.swap_remove(at));
                inside.extend(&next);
                entered.extend(next);
            }
            for (at, &a) in inside.iter().enumerate() {
                for &b in &inside[..at] {
                    assert!(!overlap(&ranges[a as usize], &ranges[b as usize]));
                }
            }
        }
        assert_eq!(entered.len(), ranges.len());
        // If two overlap, the first that came was the first that entered.
        let mut place = vec![0; ranges.len()];
        for (at, &number) in entered.iter().enumerate() {
            place[number as usize] = at;
        }
        for a in 0..ranges.len() {
            for b in a + 1..ranges.len().min(a + 200) {
                assert!(!overlap(&ranges[a], &ranges[b]) || place[a] < place[b]);
            }
        }
    }
}
