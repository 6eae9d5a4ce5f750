//! The kernel's memory, read by a program of ours, and where in it the page tables of processes are.
//!
//! Offsets come from the kernel's own description. Where all memory is mapped is nowhere said: it is
//! found by a walk through our own tables to a page whose contents we know. Nothing is written, and what
//! cannot be read is zeroes: a wrong address gives wrong answers, never a crash.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;

use super::super::btf::Btf;
use super::program::{self, PAGE, PAGES, SHARED_PAGES};
use super::tables::{LARGE, Memory, PLACE, PRESENT, Space, Table};
use super::{opened, resident};
use crate::sys::bpf::description::Description;
use crate::sys::bpf::{Program, Shared};

/// Memory begins at a multiple of this (`kaslr_regions` in `arch/x86/mm/kaslr.c`).
const ALIGNMENT: u64 = 1 << 30;
/// Places that are tried.
const TRIED_MAX: u64 = 4096;
/// Tasks that are looked at for one.
const TASKS_MAX: usize = 1 << 17;

/// Where members are.
#[derive(Clone, Copy, Debug)]
struct Offsets {
    tasks: u64,
    process: u64,
    leader: u64,
    space: u64,
    root: u64,
    mappings: u64,
    pages: u64,
}

impl Offsets {
    fn of(btf: &Btf<'_>) -> Option<Self> {
        let of_task = |member| btf.offset("task_struct", member);
        let of_space = |member| btf.offset("mm_struct", member);
        Some(Self {
            tasks: of_task("tasks")?,
            process: of_task("tgid")?,
            leader: of_task("group_leader")?,
            space: of_task("mm")?,
            root: of_space("pgd")?,
            mappings: of_space("map_count")?,
            pages: of_space("total_vm")?,
        })
    }
}

/// The address space of a process, and what changes with its mappings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mapped {
    pub(super) space: Space,
    /// Changes when the mappings do, almost always.
    pub(super) stamp: (u64, u32, u64),
}

/// Reads the kernel's memory.
#[derive(Debug)]
pub(super) struct KernelMemory {
    copy: Program,
    shared: Shared,
    offsets: Offsets,
    /// The offsets of open files, if this kernel has them in the expected places.
    files: Option<opened::Offsets>,
    /// Those of the page cache, too.
    resident: Option<resident::Offsets>,
    /// The first task of this process.
    leader: u64,
    direct_map: u64,
    levels: usize,
    /// Tasks of processes, where they were last.
    tasks: BTreeMap<u32, u64>,
}

impl KernelMemory {
    /// Loads the programs, and finds this process. An error says what is missing.
    pub(super) fn open() -> io::Result<Self> {
        if !cfg!(target_arch = "x86_64") {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "page tables of this processor are unknown",
            ));
        }
        let description = Description::open()?;
        let other =
            || io::Error::new(io::ErrorKind::Unsupported, "this kernel's structures are unknown");
        let structures: Vec<&str> =
            ["task_struct", "mm_struct"].into_iter().chain(opened::STRUCTURES).collect();
        let structures = [structures, resident::STRUCTURES.to_vec()].concat();
        let btf = Btf::parse(description.bytes(), &structures).ok_or_else(other)?;
        let offsets = Offsets::of(&btf).ok_or_else(other)?;
        let (files, resident) = (opened::Offsets::of(&btf), resident::Offsets::of(&btf));
        let mut shared = Shared::zeroes(SHARED_PAGES)?;
        let copy = Program::load(&program::copy_pages(shared.number()))?;
        Program::load(&program::current_task(shared.number()))?.run(&mut shared)?;
        let task = shared.words().first().copied().unwrap_or(0);
        let levels = if has_five_levels() { 5 } else { 4 };
        let tasks = BTreeMap::new();
        let (leader, direct_map) = (0, 0);
        let mut this =
            Self { copy, shared, offsets, files, resident, leader, direct_map, levels, tasks };
        [this.leader] = this.words([task + offsets.leader])?;
        this.find_direct_map()?;
        Ok(this)
    }

    /// The first word at each address.
    pub(super) fn words<const N: usize>(&mut self, addresses: [u64; N]) -> io::Result<[u64; N]> {
        let mut words = [0; N];
        self.tables(&addresses, &mut |at, table| words[at] = table[0])?;
        Ok(words)
    }

    fn root_of(&mut self, task: u64) -> io::Result<u64> {
        let [space] = self.words([task + self.offsets.space])?;
        if space == 0 {
            return Ok(0);
        }
        let [root] = self.words([space + self.offsets.root])?;
        Ok(root)
    }

    fn find_direct_map(&mut self) -> io::Result<()> {
        let known: Vec<u64> =
            (0..2 * PAGE as u64 / 8).map(|word| word ^ 0x6e62_7566_6361_6368).collect();
        let begin = known.as_ptr() as u64;
        let page = begin.next_multiple_of(PAGE as u64);
        let first = usize::try_from((page - begin) / 8).unwrap_or(0);
        let root = self.root_of(self.leader)?;
        let highest = root / ALIGNMENT * ALIGNMENT;
        for tried in 0..TRIED_MAX {
            let direct_map = highest.wrapping_sub(tried * ALIGNMENT);
            let space = Space { direct_map, root, levels: self.levels };
            if let Some(place) = self.place_of(space, page)? {
                let mut is_it = false;
                self.tables(&[place], &mut |_, table| {
                    is_it = table[..] == known[first..first + 512];
                })?;
                if is_it {
                    self.direct_map = direct_map;
                    return Ok(());
                }
            }
        }
        Err(io::Error::new(
            io::ErrorKind::NotFound,
            "where the kernel maps all memory was not found",
        ))
    }

    /// Where the kernel reads a page of this address space.
    fn place_of(&mut self, space: Space, page: u64) -> io::Result<Option<u64>> {
        let mut at = space.root;
        for level in (0..space.levels).rev() {
            let number = usize::try_from(page >> (12 + 9 * level) & 511).unwrap_or(0);
            let mut entry = 0;
            self.tables(&[at], &mut |_, table| entry = table[number])?;
            if entry & PRESENT == 0 {
                return Ok(None);
            }
            if level > 0 && entry & LARGE != 0 {
                let within = (1_u64 << (12 + 9 * level)) - 1;
                let begin = space.at(entry & PLACE & !within);
                return Ok(Some(begin + (page & within)));
            }
            at = space.at(entry);
        }
        Ok(Some(at))
    }

    /// Finds tasks of these processes, as far as there are any.
    fn find(&mut self, wanted: &BTreeSet<u32>) -> io::Result<()> {
        let Offsets { tasks, process, .. } = self.offsets;
        let mut left = wanted.len();
        let mut task = self.leader;
        for _ in 0..TASKS_MAX {
            let [next, number] = self.words([task + tasks, task + process])?;
            let number = half(number);
            if wanted.contains(&number) {
                self.tasks.insert(number, task);
                left -= 1;
            }
            task = next.wrapping_sub(tasks);
            if left == 0 || next == 0 || task == self.leader {
                break;
            }
        }
        Ok(())
    }

    /// Where members of open files are.
    pub(super) fn files(&self) -> Option<opened::Offsets> {
        self.files
    }

    /// Where members of the page cache are.
    pub(super) fn resident(&self) -> Option<resident::Offsets> {
        self.resident
    }

    /// A task of a process, if it runs.
    pub(super) fn task(&mut self, process: u32) -> io::Result<Option<u64>> {
        if !self.tasks.contains_key(&process) {
            self.find(&BTreeSet::from([process]))?;
        }
        let Some(&task) = self.tasks.get(&process) else { return Ok(None) };
        let [seen] = self.words([task + self.offsets.process])?;
        Ok((half(seen) == process).then_some(task))
    }

    /// Forgets a process that has ended.
    pub(super) fn forget(&mut self, process: u32) {
        self.tasks.remove(&process);
    }

    /// Where these processes have their memory; nothing of one that has none any more.
    pub(super) fn mapped(
        &mut self,
        processes: &BTreeSet<u32>,
    ) -> io::Result<BTreeMap<u32, Mapped>> {
        let is_known = |this: &Self, process: &u32| this.tasks.contains_key(process);
        let unknown: BTreeSet<u32> =
            processes.iter().copied().filter(|process| !is_known(self, process)).collect();
        if !unknown.is_empty() {
            self.find(&unknown)?;
        }
        let mut mapped = BTreeMap::new();
        for &process in processes {
            let Some(&task) = self.tasks.get(&process) else { continue };
            let Offsets { process: number, space, root, mappings, pages, .. } = self.offsets;
            let [seen, space] = self.words([task + number, task + space])?;
            if half(seen) != process {
                self.tasks.remove(&process);
                continue;
            }
            if space == 0 {
                continue;
            }
            let [root, count, pages] =
                self.words([space + root, space + mappings, space + pages])?;
            let stamp = (space, half(count), pages);
            let space = Space { direct_map: self.direct_map, root, levels: self.levels };
            mapped.insert(process, Mapped { space, stamp });
        }
        Ok(mapped)
    }
}

impl Memory for KernelMemory {
    fn tables(&mut self, addresses: &[u64], each: &mut dyn FnMut(usize, &Table)) -> io::Result<()> {
        for (group, addresses) in addresses.chunks(PAGES).enumerate() {
            let words = self.shared.words_mut();
            words[..addresses.len()].copy_from_slice(addresses);
            // The program stops there; the page of addresses has room for more than all of them.
            words[addresses.len()] = 0;
            self.copy.run(&mut self.shared)?;
            let (tables, _) = self.shared.words()[PAGE / 8..].as_chunks::<512>();
            for (at, table) in tables.iter().take(addresses.len()).enumerate() {
                each(group * PAGES + at, table);
            }
        }
        Ok(())
    }
}

/// The number of four bytes that begins a word.
pub(super) fn half(word: u64) -> u32 {
    let [a, b, c, d, ..] = word.to_ne_bytes();
    u32::from_ne_bytes([a, b, c, d])
}

/// Whether the processor walks five levels, by what the kernel says of it.
fn has_five_levels() -> bool {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let flags = text.lines().find(|line| line.starts_with("flags"));
    flags.is_some_and(|flags| flags.split(' ').any(|flag| flag == "la57"))
}

#[cfg(test)]
mod tests {
    use super::super::tables::accessed;
    use super::*;

    #[test]
    fn our_own_pages_are_seen_when_they_are_touched() {
        // Without the rights there is nothing to see; `nbuf doctor` says so.
        let Ok(mut memory) = KernelMemory::open() else { return };
        let own = std::process::id();
        let mapped = memory.mapped(&BTreeSet::from([own])).unwrap();
        let page = vec![7_u8; 3 * PAGE];
        let begin = (page.as_ptr() as u64).next_multiple_of(PAGE as u64);
        let area = begin..begin + PAGE as u64;
        let mut found = Vec::new();
        accessed(&mut memory, mapped[&own].space, std::slice::from_ref(&area), &mut |range| {
            found.push(range);
        })
        .unwrap();
        assert_eq!(found, vec![area; 1], "{}", page[PAGE]);
        assert_eq!(memory.mapped(&BTreeSet::from([u32::MAX])).unwrap().len(), 0);
    }
}
