//! Least frequently used: the page with the fewest uses since it was filled goes; of equal pages
//! the one used longest ago.
//!
//! Two rows of the table: `lfu` is just that. `lfu-da` has dynamic ageing: a page's priority is its
//! uses plus the age of the cache when it was last used, and the age is the priority of the last
//! page that went, so that what was popular once does not stay for ever. Invariant: the age never
//! falls. Cost: O(log n) an access. M. Arlitt and others, *Evaluating Content Management Techniques
//! for Web Proxy Caches*, 2000. Not where popularity moves quickly, least of all without ageing.

use super::super::heap::Heap;
use super::super::table::Table;
use super::{Access, Cause, Outcome, Policy, at_least_one, holds};

/// Bits of a heap key that tell the time of the last use; the priority is above.
const TIME_BITS: u32 = 40;

/// Without ageing.
pub type Lfu = Frequency<false>;
/// With dynamic ageing.
pub type LfuDa = Frequency<true>;

/// See the module.
#[derive(Clone, Debug)]
pub struct Frequency<const AGES: bool> {
    capacity: u32,
    pages: Heap,
    uses: Table<u32>,
    /// Priority of the page that went last.
    age: u64,
    /// Uses of any page so far.
    time: u64,
}

impl<const AGES: bool> Frequency<AGES> {
    /// Notes the uses of a page, and gives it the priority that follows.
    fn set(&mut self, page: u32, uses: u32) {
        *self.uses.at(page) = uses;
        self.time += 1;
        let priority = self.age + u64::from(uses);
        self.pages.set(page, priority << TIME_BITS | self.time & ((1 << TIME_BITS) - 1));
    }
}

impl<const AGES: bool> Policy for Frequency<AGES> {
    fn new(capacity: u32, _seed: u64) -> Self {
        let capacity = at_least_one(capacity);
        Self { capacity, pages: Heap::default(), uses: Table::default(), age: 0, time: 0 }
    }

    fn touch(&mut self, access: Access) -> bool {
        let there = self.pages.contains(access.page);
        if there {
            self.set(access.page, self.uses.get(access.page).saturating_add(1));
        }
        there
    }

    fn fill(&mut self, access: Access, cause: Cause, may_go: impl FnMut(u32) -> bool) -> Outcome {
        if self.pages.contains(access.page) {
            return Outcome::Hit;
        }
        let mut evicted = None;
        if self.len() == self.capacity {
            let Some((victim, key)) = self.pages.take_first(may_go) else {
                return Outcome::Bypassed;
            };
            if AGES {
                self.age = self.age.max(key >> TIME_BITS);
            }
            *self.uses.at(victim) = 0;
            evicted = Some(victim);
        }
        self.set(access.page, u32::from(cause == Cause::Demand));
        Outcome::Filled { evicted }
    }

    fn remove(&mut self, page: u32) -> bool {
        let there = self.pages.remove(page);
        if there {
            *self.uses.at(page) = 0;
        }
        there
    }

    fn contains(&self, page: u32) -> bool {
        self.pages.contains(page)
    }

    fn len(&self) -> u32 {
        self.pages.len()
    }

    fn check(&self) -> Result<(), String> {
        holds(self.len() <= self.capacity, || format!("{} pages", self.len()))?;
        let mut used = self.uses.iter().map(|(page, _)| page);
        holds(used.all(|page| self.contains(page)), || "uses of an absent page".to_owned())?;
        self.pages.check()
    }

    fn bring_close(&self, page: u32) {
        self.pages.bring_close(page);
    }
}
