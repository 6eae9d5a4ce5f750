//! Loops: the same keys in the same order, again and again.
//!
//! In a loop over `n` keys, each access has the stack distance `n`. A loop is found where accesses in a row
//! have equal distances, within a sixteenth, for a whole round more. Up to a quarter of the accesses may be
//! others, as long as no more than sixteen of them follow each other. Cost: a comparison an access.

/// Shorter loops are not looked for: every small cache holds them.
const KEYS_MIN: u64 = 16;
/// Distances may differ by this part.
const PART: u64 = 16;
/// Other accesses in a row that end a loop.
const OTHERS_IN_A_ROW: u64 = 16;
/// Accesses of which one may be another.
const OTHERS_PART: u64 = 4;
/// Accesses at one distance after which the next one counts as one of a loop, before its round is over.
const SEEN_MIN: u64 = 64;
/// Loops of different lengths that are kept.
const KEPT: usize = 64;

/// Loops of about one length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Loop {
    /// Keys of a round, on average.
    pub(crate) keys: u64,
    /// Accesses after the first round.
    pub(crate) accesses: u64,
    /// How often such a loop began.
    pub(crate) runs: u64,
}

/// Accesses at one distance.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    keys: u64,
    matched: u64,
    sum: u64,
    others: u64,
    others_in_a_row: u64,
}

/// Looks for loops.
#[derive(Clone, Debug, Default)]
pub(crate) struct Loops {
    open: Option<Open>,
    found: Vec<Loop>,
}

impl Loops {
    /// An access at this stack distance, none for a first use. Whether it is one of a loop.
    pub(crate) fn push(&mut self, distance: Option<u64>) -> bool {
        let distance = distance.unwrap_or(0);
        let Some(open) = &mut self.open else {
            self.begin(distance);
            return false;
        };
        if distance.abs_diff(open.keys) <= open.keys / PART {
            open.matched += 1;
            open.sum += distance;
            open.others_in_a_row = 0;
            return open.matched > SEEN_MIN.min(open.keys);
        }
        open.others += 1;
        open.others_in_a_row += 1;
        let too_many = open.others * (OTHERS_PART - 1) > open.matched + OTHERS_IN_A_ROW;
        if too_many || open.others_in_a_row > OTHERS_IN_A_ROW {
            self.end();
            self.begin(distance);
        }
        false
    }

    /// The loops, those with the most accesses first.
    pub(crate) fn finish(mut self) -> Vec<Loop> {
        self.end();
        self.found.sort_by_key(|found| std::cmp::Reverse(found.accesses));
        self.found
    }

    fn begin(&mut self, distance: u64) {
        let open = Open { keys: distance, matched: 1, sum: distance, ..Open::default() };
        self.open = (distance >= KEYS_MIN).then_some(open);
    }

    fn end(&mut self) {
        let Some(open) = self.open.take().filter(|open| open.matched >= open.keys) else { return };
        let keys = open.sum / open.matched;
        let alike = |found: &&mut Loop| found.keys.abs_diff(keys) <= keys / PART;
        match self.found.iter_mut().find(alike) {
            Some(found) => {
                let all = found.accesses + open.matched;
                let sum = found.keys * found.accesses + open.sum;
                *found = Loop { keys: sum / all, accesses: all, runs: found.runs + 1 };
            }
            None => self.found.push(Loop { keys, accesses: open.matched, runs: 1 }),
        }
        if self.found.len() > KEPT {
            let least = (0..self.found.len()).min_by_key(|&at| self.found[at].accesses);
            least.map(|at| self.found.swap_remove(at));
        }
    }
}
