//! What a reading of a trace shows of its objects: how large they are, and whether they stay so.

use crate::cache::objects::Object;

/// What is known of the objects of a trace.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The bytes that each took last, and the most that it took.
    pub(super) charges: Vec<(u64, u64)>,
    /// The most that each took, added up.
    pub(super) distinct_bytes: u64,
    /// The most that any took.
    pub(super) largest_bytes: u64,
    /// Accesses to an object that had another size before.
    pub(super) size_changes: u64,
    /// Those that found a larger size.
    shrinks: u64,
    /// Objects that were removed.
    pub(super) removals: u64,
}

impl Known {
    /// An access to an object, whose numbers come in order.
    pub(super) fn access(&mut self, object: &Object) {
        let (index, charge) = (object.number as usize, object.charge);
        self.largest_bytes = self.largest_bytes.max(charge);
        let Some((last, most)) = self.charges.get_mut(index) else {
            self.charges.push((charge, charge));
            self.distinct_bytes += charge;
            return;
        };
        self.size_changes += u64::from(*last != charge);
        self.shrinks += u64::from(*last > charge);
        *last = charge;
        self.distinct_bytes += charge.saturating_sub(*most);
        *most = charge.max(*most);
    }

    /// Whether byte distances hold: no object became smaller, and none was removed.
    pub(super) fn only_grows(&self) -> bool {
        self.shrinks == 0 && self.removals == 0
    }
}
