//! Which blocks a tier holds, in which slots, and which of them go.
//!
//! Invariants: a block has a slot if and only if the policy holds it. A part is in one fill at a time at most, and in none
//! while it is valid or read. A block with a request under way in its slot is not evicted.

use super::super::cached::ids::{Absence, Ids, NONE};
use super::super::cached::warm::order;
use super::super::policy::{Access, AnyPolicy, Cause, Outcome, Policy, S3Fifo};
use super::geometry::mask;
use super::{Entry, Geometry, PARTS};

/// A block and its slot.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// Its number among known blocks, and on the disc.
    id: u32,
    pub(super) number: u64,
    /// Parts that the tier has.
    pub(super) valid: u16,
    /// Parts that a fill under way brings.
    writing: u16,
    /// Parts of these whose bytes are old already.
    doomed: u16,
    /// Reads under way, and the parts that they read.
    reads: u32,
    reading: u16,
    pub(super) sums: [u32; PARTS as usize],
}

impl Block {
    fn new(id: u32, number: u64) -> Self {
        let (sums, valid, writing, doomed) = ([0; PARTS as usize], 0, 0, 0);
        Self { id, number, valid, writing, doomed, reads: 0, reading: 0, sums }
    }

    fn is_idle(&self) -> bool {
        self.writing == 0 && self.reads == 0
    }
}

/// The blocks of a tier.
pub(super) struct Blocks {
    geometry: Geometry,
    ids: Ids,
    policy: Box<dyn AnyPolicy>,
    /// By slot. Slots that were never used are behind the end.
    slots: Vec<Block>,
    free: Vec<u32>,
    /// The sum over all blocks.
    valid_parts: u64,
}

impl Blocks {
    pub(super) fn new(geometry: Geometry) -> Self {
        let known = geometry.slots.saturating_mul(2);
        Self {
            geometry,
            ids: Ids::new(known, geometry.size_bytes.div_ceil(geometry.block_bytes())),
            policy: Box::new(<S3Fifo as Policy>::new(geometry.slots, 0)),
            slots: Vec::new(),
            free: Vec::new(),
            valid_parts: 0,
        }
    }

    /// The slot of a block, if it has one.
    pub(super) fn find(&self, number: u64) -> Option<u32> {
        let id = self.ids.find(number)?;
        Some(self.ids.slot(id).frame).filter(|&slot| slot != NONE)
    }

    /// The block in a slot.
    pub(super) fn get(&self, slot: u32) -> &Block {
        &self.slots[slot as usize]
    }

    /// Records that a read wants a block.
    pub(super) fn touch(&mut self, number: u64) {
        let id = self.id(number);
        self.policy.touch(Access::to(id));
    }

    /// The number of a block. If another block lost it, the policy forgets that one.
    fn id(&mut self, number: u64) -> u32 {
        let (id, is_taken) = self.ids.number(number);
        if is_taken {
            self.policy.remove(id);
        }
        id
    }

    /// Gives a block a slot, where the policy takes it in. The slot, and whether another block left it.
    pub(super) fn take_in(&mut self, number: u64) -> Option<(u32, bool)> {
        if let Some(slot) = self.find(number) {
            return Some((slot, false));
        }
        let id = self.id(number);
        let (ids, slots) = (&self.ids, &self.slots);
        let mut may_go = |victim: u32| slots[ids.slot(victim).frame as usize].is_idle();
        match self.policy.fill(Access::to(id), Cause::Demand, &mut may_go) {
            Outcome::Filled { evicted: Some(victim) } => {
                let slot = self.ids.slot(victim).frame;
                self.ids.set_frame(victim, Err(Absence::Evicted));
                self.put(slot, id, number);
                Some((slot, true))
            }
            Outcome::Filled { evicted: None } => {
                let unused = u32::try_from(self.slots.len()).unwrap_or(u32::MAX);
                let slot = self.free.pop().unwrap_or(unused);
                self.put(slot, id, number);
                Some((slot, false))
            }
            Outcome::Hit | Outcome::Bypassed => None,
        }
    }

    fn put(&mut self, slot: u32, id: u32, number: u64) {
        let block = Block::new(id, number);
        self.ids.set_frame(id, Ok(slot));
        match self.slots.get_mut(slot as usize) {
            Some(place) => {
                self.valid_parts -= u64::from(place.valid.count_ones());
                *place = block;
            }
            None => self.slots.push(block),
        }
    }

    /// Begins a read of valid parts.
    pub(super) fn begin_read(&mut self, slot: u32, parts: u16) {
        let block = &mut self.slots[slot as usize];
        block.reads += 1;
        block.reading |= parts;
    }

    /// Ends a read.
    pub(super) fn end_read(&mut self, slot: u32) {
        let block = &mut self.slots[slot as usize];
        block.reads -= 1;
        if block.reads == 0 {
            block.reading = 0;
        }
        self.drop_if_empty(slot);
    }

    /// Parts of these that a fill may bring now.
    pub(super) fn fillable(&self, slot: u32, parts: u16) -> u16 {
        let block = self.get(slot);
        parts & !(block.valid | block.writing | block.reading)
    }

    /// Begins to fill parts, which are fillable, with these sums.
    pub(super) fn begin_fill(&mut self, slot: u32, run: (u32, u32), sums: &[u32]) {
        let block = &mut self.slots[slot as usize];
        block.writing |= mask(run);
        let places = block.sums.iter_mut().skip(run.0 as usize);
        places.zip(sums).for_each(|(place, sum)| *place = *sum);
    }

    /// Ends a fill: the parts are there, unless it failed or their bytes have become old.
    pub(super) fn end_fill(&mut self, slot: u32, parts: u16, is_good: bool) {
        let block = &mut self.slots[slot as usize];
        if is_good {
            // None of them was valid while they were filled.
            self.valid_parts += u64::from((parts & !block.doomed).count_ones());
            block.valid |= parts & !block.doomed;
        }
        block.writing &= !parts;
        block.doomed &= !parts;
        self.drop_if_empty(slot);
    }

    /// The bytes of a range change: no part that they touch is valid any more. With `drops`, blocks without a valid part
    /// leave; else they keep their slots for what comes.
    pub(super) fn invalidate(&mut self, from: u64, to: u64, drops: bool) {
        let blocks = self.geometry.blocks_of(from, to);
        for id in self.ids.within(*blocks.start(), *blocks.end()) {
            let known = self.ids.slot(id);
            let (slot, number) = (known.frame, known.page);
            if slot == NONE {
                continue;
            }
            let touched = self.geometry.touched(number, from, to);
            let block = &mut self.slots[slot as usize];
            self.valid_parts -= u64::from((block.valid & touched).count_ones());
            block.valid &= !touched;
            block.doomed |= touched & block.writing;
            if drops {
                self.drop_if_empty(slot);
            }
        }
    }

    /// No part is valid any more.
    pub(super) fn invalidate_all(&mut self) {
        for block in &mut self.slots {
            block.valid = 0;
            block.doomed = block.writing;
        }
        self.valid_parts = 0;
    }

    /// Gives the slot of a block without a valid part back.
    fn drop_if_empty(&mut self, slot: u32) {
        let block = &self.slots[slot as usize];
        if block.valid != 0 || !block.is_idle() {
            return;
        }
        let id = block.id;
        self.policy.remove(id);
        self.ids.set_frame(id, Err(Absence::Invalidated));
        self.free.push(slot);
    }

    /// Bytes of valid parts.
    pub(super) fn valid_bytes(&self) -> u64 {
        let whole = self.valid_parts * u64::from(self.geometry.part_bytes);
        whole.min(self.geometry.size_bytes)
    }

    /// Takes in blocks that an earlier tier had in the same slots, the first one to be evicted first, where there are none
    /// yet. Their bytes; entries that do not fit are left out.
    pub(super) fn restore(&mut self, entries: &[Entry]) -> u64 {
        let parts: u64 = entries.iter().map(|entry| self.restore_one(entry)).sum();
        let all = (0..).zip(&self.slots);
        self.free = all.filter(|(_, block)| block.id == NONE).map(|(slot, _)| slot).collect();
        parts * u64::from(self.geometry.part_bytes)
    }

    /// The valid parts of a block that was taken in.
    fn restore_one(&mut self, entry: &Entry) -> u64 {
        let Geometry { size_bytes, slots, .. } = self.geometry;
        let &Entry { slot, block: number, valid, sums } = entry;
        let end = size_bytes.div_ceil(self.geometry.block_bytes());
        if slot >= slots || number >= end || self.find(number).is_some() {
            return 0;
        }
        let is_used = self.slots.get(slot as usize).is_some_and(|block| block.id != NONE);
        let is_outside = valid & !self.geometry.touched(number, 0, size_bytes) != 0;
        if valid == 0 || is_outside || is_used {
            return 0;
        }
        let id = self.id(number);
        let outcome = self.policy.fill(Access::to(id), Cause::Readahead, &mut |_| false);
        if outcome != (Outcome::Filled { evicted: None }) {
            return 0;
        }
        if self.slots.len() <= slot as usize {
            self.slots.resize(slot as usize + 1, Block::new(NONE, 0));
        }
        self.put(slot, id, number);
        let block = &mut self.slots[slot as usize];
        (block.valid, block.sums) = (valid, sums);
        self.valid_parts += u64::from(valid.count_ones());
        u64::from(valid.count_ones())
    }

    /// What is held, the first one to be evicted first; for the end.
    pub(super) fn held(&mut self) -> Vec<Entry> {
        let known = self.ids.within(0, u64::MAX);
        let is_resident = |id: u32| self.ids.slot(id).frame != NONE;
        let ids = order(&mut *self.policy, &known, is_resident, self.geometry.slots);
        let entry = |id: u32| {
            let slot = self.ids.slot(id).frame;
            let block = self.get(slot);
            let (number, valid, sums) = (block.number, block.valid, block.sums);
            (valid != 0).then_some(Entry { slot, block: number, valid, sums })
        };
        ids.into_iter().filter_map(entry).collect()
    }

    /// Verifies what always holds, slowly; for tests.
    #[cfg(test)]
    pub(super) fn check(&self) {
        self.policy.check().unwrap();
        let mut used = 0;
        for id in self.ids.within(0, u64::MAX) {
            let slot = self.ids.slot(id);
            assert_eq!(slot.frame != NONE, self.policy.contains(id), "{slot:?}");
            if slot.frame != NONE {
                let block = self.get(slot.frame);
                assert_eq!((block.id, block.number), (id, slot.page));
                assert_eq!(block.valid & block.writing, 0, "{block:?}");
                assert_eq!(block.doomed & !block.writing, 0, "{block:?}");
                used += 1;
            }
        }
        let parts = self.slots.iter().map(|block| u64::from(block.valid.count_ones()));
        assert_eq!(parts.sum::<u64>(), self.valid_parts);
        assert_eq!(used + self.free.len(), self.slots.len());
        assert!(self.slots.len() <= self.geometry.slots as usize);
    }
}
