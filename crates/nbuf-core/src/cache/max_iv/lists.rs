//! The two lists that every entry is on: one of those with the same hash, and the one in order of use.
//!
//! Invariant: every entry is on one hash list and on the list by age, always. One that holds nothing has
//! an impossible address and is on hash list 0, as all are to begin with. Cost: 24 bytes an entry; a
//! search looks at every entry before the one it finds.

/// No entry.
const NONE: u32 = u32::MAX;

/// What no disc has: the paper's -1.
const IMPOSSIBLE: u32 = u32::MAX;

/// Neighbours on a list.
#[derive(Clone, Copy, Debug)]
struct Links {
    next: u32,
    previous: u32,
}

const LOOSE: Links = Links { next: NONE, previous: NONE };

#[derive(Clone, Copy, Debug)]
struct Entry {
    address: u32,
    /// On its hash list.
    hash: Links,
    /// Next is older, previous is younger.
    age: Links,
}

#[derive(Clone, Debug)]
pub(super) struct Lists {
    entries: Vec<Entry>,
    heads: Vec<u32>,
    youngest: u32,
    oldest: u32,
}

impl Lists {
    pub(super) fn new(count: u32, lists: u32) -> Self {
        let entry = Entry { address: IMPOSSIBLE, hash: LOOSE, age: LOOSE };
        let mut made = Self {
            entries: vec![entry; count as usize],
            heads: vec![NONE; lists as usize],
            youngest: NONE,
            oldest: NONE,
        };
        for entry in 0..count {
            made.push_hash(entry);
            made.push_young(entry);
        }
        made
    }

    /// By division, as the paper has it.
    fn list_of(&self, address: u32) -> usize {
        if address == IMPOSSIBLE { 0 } else { address as usize % self.heads.len() }
    }

    /// The entry with this address, and how many were compared.
    pub(super) fn find(&self, address: u32) -> (Option<u32>, u32) {
        let mut at = self.heads[self.list_of(address)];
        let mut compared = 0;
        while let Some(entry) = self.entries.get(at as usize) {
            compared += 1;
            if entry.address == address {
                return (Some(at), compared);
            }
            at = entry.hash.next;
        }
        (None, compared)
    }

    /// Makes an entry the youngest.
    pub(super) fn rejuvenate(&mut self, entry: u32) {
        if entry != self.youngest {
            self.unlink_age(entry);
            self.push_young(entry);
        }
    }

    /// Gives the oldest entry to another address.
    pub(super) fn take_oldest(&mut self, address: u32) -> u32 {
        let entry = self.oldest;
        self.rename(entry, address);
        entry
    }

    /// Makes an entry hold nothing, and the next to be taken.
    pub(super) fn forget(&mut self, entry: u32) {
        self.rename(entry, IMPOSSIBLE);
        self.unlink_age(entry);
        self.push_old(entry);
    }

    fn rename(&mut self, entry: u32, address: u32) {
        let Links { next, previous } = self.entries[entry as usize].hash;
        if let Some(before) = self.entries.get_mut(previous as usize) {
            before.hash.next = next;
        } else {
            let list = self.list_of(self.entries[entry as usize].address);
            self.heads[list] = next;
        }
        if let Some(behind) = self.entries.get_mut(next as usize) {
            behind.hash.previous = previous;
        }
        self.entries[entry as usize].address = address;
        self.push_hash(entry);
    }

    fn push_hash(&mut self, entry: u32) {
        let list = self.list_of(self.entries[entry as usize].address);
        let next = self.heads[list];
        if let Some(behind) = self.entries.get_mut(next as usize) {
            behind.hash.previous = entry;
        }
        self.entries[entry as usize].hash = Links { next, previous: NONE };
        self.heads[list] = entry;
    }

    fn push_young(&mut self, entry: u32) {
        let next = self.youngest;
        match self.entries.get_mut(next as usize) {
            Some(older) => older.age.previous = entry,
            None => self.oldest = entry,
        }
        self.entries[entry as usize].age = Links { next, previous: NONE };
        self.youngest = entry;
    }

    fn push_old(&mut self, entry: u32) {
        let previous = self.oldest;
        match self.entries.get_mut(previous as usize) {
            Some(younger) => younger.age.next = entry,
            None => self.youngest = entry,
        }
        self.entries[entry as usize].age = Links { next: NONE, previous };
        self.oldest = entry;
    }

    fn unlink_age(&mut self, entry: u32) {
        let Links { next, previous } = self.entries[entry as usize].age;
        match self.entries.get_mut(previous as usize) {
            Some(younger) => younger.age.next = next,
            None => self.youngest = next,
        }
        match self.entries.get_mut(next as usize) {
            Some(older) => older.age.previous = previous,
            None => self.oldest = previous,
        }
    }

    pub(super) fn addresses(&self) -> impl Iterator<Item = u32> + '_ {
        self.entries.iter().map(|entry| entry.address).filter(|&address| address != IMPOSSIBLE)
    }

    /// The entries of a list, from its head.
    fn walk(&self, head: u32, links: fn(&Entry) -> Links) -> impl Iterator<Item = u32> + '_ {
        let known = |at: u32| (at != NONE).then_some(at);
        let next = move |&at: &u32| known(links(&self.entries[at as usize]).next);
        // One more than there are entries shows a ring without walking it for ever.
        std::iter::successors(known(head), next).take(self.entries.len() + 1)
    }

    pub(super) fn lengths(&self) -> Vec<u32> {
        let length = |&head: &u32| (0..).zip(self.walk(head, |entry| entry.hash)).count();
        self.heads.iter().map(length).map(|length| u32::try_from(length).unwrap_or(0)).collect()
    }

    /// Verifies the invariant.
    pub(super) fn check(&self) -> Result<(), String> {
        let mut seen = vec![0_u8; self.entries.len()];
        for (list, &head) in self.heads.iter().enumerate() {
            let mut before = NONE;
            for entry in self.walk(head, |entry| entry.hash) {
                let Entry { address, hash, .. } = self.entries[entry as usize];
                if self.list_of(address) != list || hash.previous != before {
                    return Err(format!("entry {entry} is on hash list {list} by mistake"));
                }
                seen[entry as usize] += 1;
                before = entry;
            }
        }
        let mut before = NONE;
        for entry in self.walk(self.youngest, |entry| entry.age) {
            if self.entries[entry as usize].age.previous != before {
                return Err(format!("entry {entry} does not know who is younger"));
            }
            seen[entry as usize] += 2;
            before = entry;
        }
        if before != self.oldest {
            return Err("the oldest is not the last".to_owned());
        }
        let lost = seen.iter().position(|&seen| seen != 3);
        lost.map_or(Ok(()), |entry| Err(format!("entry {entry} is not on both lists once")))
    }
}
