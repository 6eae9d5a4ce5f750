//! The lists of memcached: hot, warm and cold items of each class.
//!
//! An item comes in hot. Its second use makes it active. At the end of the hot list an active item goes to the warm one,
//! where each further round needs another use; the others go to the cold list once the hot list has more than a fifth of
//! the class, or its end is older than a fifth of the age of the cold end; for the warm list these are two fifths and
//! twice the age. A use of a cold item that was used before makes it warm. Cold items go.
//!
//! memcached keeps this order by a thread that works every millisecond or so. Here it is kept after each access, and
//! time is the number of the access. Invariant: an item is in one list. Cost: some moves an access. memcached 1.6,
//! `items.c` (`do_item_bump`, `lru_pull_tail`, `lru_maintainer_juggle`); A. Kelly, *Replacing the cache replacement
//! algorithm in memcached*, 2018.

use crate::cache::queue::Queues;
use crate::cache::table::Table;

/// Classes: as many as memcached makes.
pub(super) const CLASSES: usize = 39;

const HOT: u8 = 0;
const WARM: u8 = 1;
const COLD: u8 = 2;
const LISTS: usize = 3;

/// Shares of a class in percent that may be hot and warm, and their ages by the age of the cold end: `hot_lru_pct`,
/// `warm_lru_pct`, `hot_max_factor`, `warm_max_factor`.
const HOT_PERCENT: u64 = 20;
const WARM_PERCENT: u64 = 40;
const HOT_AGE: f64 = 0.2;
const WARM_AGE: f64 = 2.0;
/// Moves after an access at the most: `lru_maintainer_juggle`.
const MOVES_MAX: u32 = 500;

/// What is known of an item.
#[derive(Clone, Copy, Debug, Default)]
struct Item {
    /// When it was used last, as the lists take note of it.
    time: u32,
    list: u8,
    was_used: bool,
    is_active: bool,
}

/// All classes of one memory.
#[derive(Debug, Default)]
pub(super) struct Segments {
    queues: Queues<{ CLASSES * LISTS }>,
    items: Table<Item>,
    time: u32,
}

/// The queue of a class and a list.
fn queue(class: u8, list: u8) -> u32 {
    u32::from(class) * 3 + u32::from(list)
}

impl Segments {
    pub(super) fn contains(&self, number: u32) -> bool {
        self.queues.contains(number)
    }

    /// Items that are there.
    pub(super) fn len(&self) -> u32 {
        self.queues.len_of_all()
    }

    /// A use of an item that is there.
    pub(super) fn hit(&mut self, class: u8, number: u32) {
        self.time = self.time.wrapping_add(1);
        let time = self.time;
        let item = self.items.at(number);
        if !item.is_active && !item.was_used {
            item.was_used = true;
        } else if !item.is_active {
            (item.is_active, item.time) = (true, time);
            if item.list == COLD {
                self.items.at(number).is_active = false;
                self.move_to(class, number, WARM);
            }
        }
        self.juggle(class);
    }

    /// An item comes in.
    pub(super) fn insert(&mut self, class: u8, number: u32) {
        self.time = self.time.wrapping_add(1);
        *self.items.at(number) = Item { time: self.time, list: HOT, ..Item::default() };
        self.queues.push_front(queue(class, HOT), number);
        self.juggle(class);
    }

    /// An item leaves.
    pub(super) fn leave(&mut self, class: u8, number: u32) {
        let list = self.items.get(number).list;
        self.queues.unlink(queue(class, list), number);
    }

    /// The item that goes next: the end of the cold list, or of the hot one where that has none.
    pub(super) fn victim(&self, class: u8) -> Option<u32> {
        let lists = [COLD, HOT, WARM];
        lists.into_iter().find_map(|list| self.queues.last(queue(class, list)))
    }

    fn move_to(&mut self, class: u8, number: u32, list: u8) {
        let from = std::mem::replace(&mut self.items.at(number).list, list);
        self.queues.unlink(queue(class, from), number);
        self.queues.push_front(queue(class, list), number);
    }

    /// Keeps the lists within their shares and ages.
    fn juggle(&mut self, class: u8) {
        let lists = [HOT, WARM, COLD].map(|list| u64::from(self.queues.len(queue(class, list))));
        let all: u64 = lists.iter().sum();
        let cold = self.queues.last(queue(class, COLD));
        let age = cold.map_or(0, |number| self.age(number));
        for _ in 0..MOVES_MAX {
            let hot = self.pull(class, HOT, all * HOT_PERCENT / 100, HOT_AGE * f64::from(age));
            let moved =
                hot || self.pull(class, WARM, all * WARM_PERCENT / 100, WARM_AGE * f64::from(age));
            if !moved {
                return;
            }
        }
    }

    fn age(&self, number: u32) -> u32 {
        self.time.wrapping_sub(self.items.get(number).time)
    }

    /// Moves the end of the hot or the warm list where it has to. Whether it had to.
    fn pull(&mut self, class: u8, list: u8, most: u64, age_max: f64) -> bool {
        let queue = queue(class, list);
        let Some(number) = self.queues.last(queue) else { return false };
        if self.items.get(number).is_active {
            self.items.at(number).is_active = false;
            self.move_to(class, number, WARM);
            return true;
        }
        let is_over = u64::from(self.queues.len(queue)) > most;
        let is_old = f64::from(self.age(number)) > age_max;
        if is_over || is_old {
            self.move_to(class, number, COLD);
        }
        is_over || is_old
    }
}
