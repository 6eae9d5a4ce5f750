//! Which pages of open files are in the cache when a recording begins: their folios, whether these are on the active
//! list, and which group is charged for them.
//!
//! Read from the kernel's own page index of each file, an xarray (`lib/xarray.c`), and from its folios. So nothing is
//! mapped or touched, and the lists stay as they are. The index changes meanwhile: an entry that was read too late is
//! one of a page that has left, and a wrong answer for a few pages does no harm. Files without a descriptor are not
//! seen. Cost: four bytes in a thousand of the cache are read, 257 addresses at a time.

use std::collections::{BTreeSet, HashSet};
use std::io;

use super::super::btf::Btf;
use super::super::names::Key;
use super::memory::KernelMemory;
use super::opened::{self, small, word};
use super::tables::Memory;
use crate::trace::{CachedFile, FolioRun, Snapshot};

/// Structures and enumerations whose members are read.
pub(super) const STRUCTURES: [&str; 8] = [
    "address_space",
    "xarray",
    "xa_node",
    "folio",
    "css_set",
    "mem_cgroup",
    "pageflags",
    "cgroup_subsys_id",
];
/// More folios are not looked at: a third of a second.
const FOLIOS_MAX: usize = 1 << 18;
/// Entries of a node.
const SLOTS: usize = 64;
/// Smaller entries that are not pointers belong to the folio before them.
const NODES_FROM: u64 = 4096;
/// Bits that the kernel keeps in the pointer to a group.
const GROUP_BITS: u64 = 7;

/// Where members are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Offsets {
    mapping: u64,
    head: u64,
    shift: u64,
    slots: u64,
    flags: u64,
    group: u64,
    active_bit: u32,
    groups: u64,
    group_of_memory: u64,
}

impl Offsets {
    pub(super) fn of(btf: &Btf<'_>) -> Option<Self> {
        let number = u64::from(btf.value("cgroup_subsys_id", "memory_cgrp_id")?);
        // A group begins with what tasks point to.
        if btf.offset("mem_cgroup", "css")? != 0 {
            return None;
        }
        Some(Self {
            mapping: btf.offset("inode", "i_mapping")?,
            head: btf.offset("address_space", "i_pages")? + btf.offset("xarray", "xa_head")?,
            shift: btf.offset("xa_node", "shift")?,
            slots: btf.offset("xa_node", "slots")?,
            flags: btf.offset("folio", "flags")?,
            group: btf.offset("folio", "memcg_data")?,
            active_bit: btf.value("pageflags", "PG_active")?,
            groups: btf.offset("task_struct", "cgroups")?,
            group_of_memory: btf.offset("css_set", "subsys")? + number * 8,
        })
    }
}

/// A folio as the index has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Found {
    first: u64,
    order: u8,
    address: u64,
}

/// Folios of processes, with the groups that these are charged to.
#[derive(Debug, Default)]
pub(super) struct Resident {
    files: Vec<(Key, Vec<(FolioRun, u64)>)>,
    seen: HashSet<Key>,
    groups: BTreeSet<u64>,
    folios: usize,
    left_out: bool,
}

impl Resident {
    /// Adds the open files of a process.
    pub(super) fn add(&mut self, memory: &mut KernelMemory, process: u32) -> io::Result<()> {
        let Some(offsets) = memory.resident() else { return Ok(()) };
        let Some(task) = memory.task(process)? else { return Ok(()) };
        let [set] = memory.words([task + offsets.groups])?;
        let [group] = memory.words([set + offsets.group_of_memory])?;
        self.groups.insert(group);
        let mut inodes = opened::inodes(memory, process)?;
        inodes.retain(|(key, _)| self.seen.insert(*key));
        for (key, inode) in inodes {
            if self.folios >= FOLIOS_MAX {
                self.left_out = true;
                break;
            }
            let [mapping] = memory.words([inode + offsets.mapping])?;
            let [head] = memory.words([mapping + offsets.head])?;
            let mut found = Vec::new();
            let left = FOLIOS_MAX - self.folios;
            self.left_out |= !walk(memory, &offsets, head, left, &mut found)?;
            self.folios += found.len();
            let folios = judged(memory, &offsets, &found)?;
            if !folios.is_empty() {
                self.files.push((key, folios));
            }
        }
        Ok(())
    }

    /// All of it; nothing where nothing could be read.
    pub(super) fn finish(self, is_wanted: impl Fn(Key) -> bool) -> Option<Snapshot> {
        let Self { files, groups, left_out, .. } = self;
        if groups.is_empty() {
            return None;
        }
        let wanted = files.into_iter().filter(|(key, _)| is_wanted(*key));
        let files = wanted.map(|((device, inode), folios)| {
            let mut runs: Vec<FolioRun> = Vec::new();
            for (folio, group) in folios {
                let next = FolioRun { is_foreign: !groups.contains(&group), ..folio };
                if !runs.last_mut().is_some_and(|run| run.takes(&next)) {
                    runs.push(next);
                }
            }
            CachedFile { device, inode, file: None, runs }
        });
        Some(Snapshot { files: files.collect(), is_whole: !left_out })
    }
}

/// What the folios themselves say: their lists and their groups.
fn judged(
    memory: &mut dyn Memory,
    offsets: &Offsets,
    found: &[Found],
) -> io::Result<Vec<(FolioRun, u64)>> {
    let addresses: Vec<u64> = found.iter().map(|folio| folio.address).collect();
    let mut folios = Vec::with_capacity(found.len());
    memory.tables(&addresses, &mut |at, folio| {
        let Found { first, order, .. } = found[at];
        let is_active = word(folio, offsets.flags) >> offsets.active_bit & 1 == 1;
        let run = FolioRun { first, count: 1, order, is_active, is_foreign: false };
        folios.push((run, word(folio, offsets.group) & !GROUP_BITS));
    })?;
    folios.sort_unstable_by_key(|(run, _)| run.first);
    Ok(folios)
}

/// Whether an entry is the address of a folio: the others have marks in its two lowest bits.
const fn is_folio(entry: u64) -> bool {
    entry.is_multiple_of(4)
}

/// The folios of an index, up to a number. Whether these are all.
fn walk(
    memory: &mut dyn Memory,
    offsets: &Offsets,
    head: u64,
    most: usize,
    found: &mut Vec<Found>,
) -> io::Result<bool> {
    if head == 0 || head & 1 == 1 {
        return Ok(true);
    }
    if is_folio(head) {
        found.push(Found { first: 0, order: 0, address: head });
        return Ok(true);
    }
    // The first page and the address of each node, and how much its entries may stand for.
    let mut nodes = vec![(0, head & !3, u32::from(u8::MAX))];
    while !nodes.is_empty() {
        let addresses: Vec<u64> = nodes.iter().map(|&(_, address, _)| address).collect();
        let mut below = Vec::new();
        memory.tables(&addresses, &mut |at, node| {
            let (first, _, above) = nodes[at];
            let shift = small(node, offsets.shift) & 0xff;
            // A node that was given back meanwhile is none.
            if shift >= above || shift > 58 {
                return;
            }
            let entry = |slot: usize| word(node, offsets.slots + slot as u64 * 8);
            for slot in 0..SLOTS {
                let page = (slot as u64) << shift | first;
                match entry(slot) {
                    0 => {}
                    // The trace of a page that was evicted.
                    shadow if shadow & 1 == 1 => {}
                    inner if inner & 3 == 2 && inner > NODES_FROM => {
                        below.push((page, inner & !3, shift));
                    }
                    folio if is_folio(folio) && found.len() < most => {
                        let behind = (slot + 1..SLOTS).take_while(|&next| {
                            let next = entry(next);
                            next & 3 == 2 && next <= NODES_FROM
                        });
                        let slots = u32::try_from(behind.count() + 1).unwrap_or(1);
                        let order = u8::try_from(slots.ilog2() + shift).unwrap_or(0);
                        found.push(Found { first: page, order, address: folio });
                    }
                    _ => {}
                }
            }
        })?;
        nodes = below;
    }
    Ok(found.len() < most)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io::Write;
    use std::os::unix::fs::MetadataExt;

    use super::super::tables::Table;
    use super::*;

    const OFFSETS: Offsets = Offsets {
        mapping: 0,
        head: 0,
        shift: 0,
        slots: 8,
        flags: 0,
        group: 8,
        active_bit: 5,
        groups: 0,
        group_of_memory: 0,
    };

    struct Made(BTreeMap<u64, Table>);

    impl Memory for Made {
        fn tables(
            &mut self,
            addresses: &[u64],
            each: &mut dyn FnMut(usize, &Table),
        ) -> io::Result<()> {
            for (at, address) in addresses.iter().enumerate() {
                each(at, self.0.get(address).unwrap_or(&[0; 512]));
            }
            Ok(())
        }
    }

    fn walked(made: BTreeMap<u64, Table>, head: u64, most: usize) -> (bool, Vec<Found>) {
        let mut found = Vec::new();
        let is_whole = walk(&mut Made(made), &OFFSETS, head, most, &mut found).unwrap();
        (is_whole, found)
    }

    /// Two levels: a node for pages 0 to 63, a folio of 64 pages next to it, and a node that refers to itself.
    fn made() -> (BTreeMap<u64, Table>, u64) {
        let (mut top, mut low) = ([0; 512], [0; 512]);
        let (top_at, low_at) = (0x10_0000, 0x20_0000);
        top[0] = 6;
        top[1] = low_at | 2;
        top[2] = 0x30_0000;
        top[3] = top_at | 2;
        // A page, a shadow, and four pages of one folio.
        low[1] = 0x40_0000;
        low[2] = 0x77;
        low[5] = 0x50_0000;
        low[6..9].fill(4 << 2 | 2);
        (BTreeMap::from([(top_at, top), (low_at, low)]), top_at | 2)
    }

    #[test]
    fn folios_have_the_sizes_that_their_index_shows() {
        let (made, head) = made();
        let (is_whole, mut found) = walked(made, head, 100);
        found.sort_by_key(|folio| folio.first);
        let got: Vec<_> = found.iter().map(|it| (it.first, it.order, it.address)).collect();
        assert_eq!(got, [(0, 0, 0x40_0000), (4, 2, 0x50_0000), (64, 6, 0x30_0000)]);
        assert!(is_whole);
        let one = Found { first: 0, order: 0, address: 0x40_0000 };
        assert_eq!(walked(BTreeMap::new(), 0x40_0000, 100), (true, vec![one]));
        assert_eq!(walked(BTreeMap::new(), 0, 100), (true, vec![]));
    }

    #[test]
    fn more_folios_than_wanted_are_left_out() {
        let (made, head) = made();
        let (is_whole, found) = walked(made, head, 2);
        assert_eq!((is_whole, found.len()), (false, 2));
    }

    #[test]
    fn a_folio_that_another_group_is_charged_for_is_foreign() {
        let folio = |flags, group| {
            let mut folio = [0; 512];
            (folio[0], folio[1]) = (flags, group);
            folio
        };
        let mut memory =
            Made(BTreeMap::from([(64, folio(1 << 5, 0x800 | 2)), (128, folio(0, 0x900))]));
        let found = [(0, 64), (1, 128)];
        let found = found.map(|(first, address)| Found { first, order: 0, address });
        let folios = judged(&mut memory, &OFFSETS, &found).unwrap();
        let resident = Resident {
            files: vec![((8, 9), folios)],
            groups: BTreeSet::from([0x800]),
            ..Resident::default()
        };
        let snapshot = resident.finish(|key| key == (8, 9)).unwrap();
        let runs = &snapshot.files[0].runs;
        let got: Vec<_> = runs.iter().map(|run| (run.is_active, run.is_foreign)).collect();
        assert_eq!((got, snapshot.is_whole), (vec![(true, false), (false, true)], true));
    }

    #[test]
    fn pages_of_our_own_file_are_found_in_the_kernel() {
        // Without the rights there is nothing to see; `nbuf doctor` says so.
        let Ok(mut memory) = KernelMemory::open() else { return };
        if memory.resident().is_none() {
            return;
        }
        let path = std::env::temp_dir().join(format!("nbuf-resident-{}", std::process::id()));
        let mut file = std::fs::File::create_new(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        file.write_all(&vec![1; 100 * 4096]).unwrap();
        let metadata = file.metadata().unwrap();
        let mut resident = Resident::default();
        resident.add(&mut memory, std::process::id()).unwrap();
        let snapshot = resident.finish(|(_, inode)| inode == metadata.ino()).unwrap();
        let pages: u64 =
            snapshot.files.iter().flat_map(|file| &file.runs).map(FolioRun::pages).sum();
        // A file system with folios may round the last one up.
        assert!((100..=128).contains(&pages), "{snapshot:?}");
    }
}
