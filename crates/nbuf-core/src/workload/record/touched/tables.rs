//! The walk through a process's page tables: which pages of its mappings the processor has marked as
//! accessed (x86-64: Intel's manual, volume 3, "4-level paging and 5-level paging").
//!
//! Pure: what reads memory is given. Tables change while they are read. A table that was taken away and
//! used for something else would give bits of no page, so what led to it is read again, and must be as it
//! was. Cost: each table is read once, all tables of a level together.

use std::io;
use std::ops::Range;

/// A page of a page table.
pub(super) type Table = [u64; 512];

/// Memory of the kernel's.
pub(super) trait Memory {
    /// Hands over the page at each of these addresses, in order, with the number of the address. What
    /// cannot be read is zeroes.
    fn tables(&mut self, addresses: &[u64], each: &mut dyn FnMut(usize, &Table)) -> io::Result<()>;
}

/// Bits of an entry.
pub(super) const PRESENT: u64 = 1;
pub(super) const ACCESSED: u64 = 1 << 5;
/// Above the lowest level: the entry is of pages, not of a table.
pub(super) const LARGE: u64 = 1 << 7;
pub(super) const PLACE: u64 = 0x000f_ffff_ffff_f000;

/// Bits of an address that an entry of the level stands for, from the lowest level up.
const SHIFTS: [u32; 5] = [12, 21, 30, 39, 48];
const PAGE_SHIFT: u32 = 12;

/// The address space of a process.
#[derive(Clone, Copy, Debug)]
pub(super) struct Space {
    /// Where all memory is mapped for the kernel.
    pub direct_map: u64,
    /// The address of the highest table.
    pub root: u64,
    /// How many levels there are: 4 or 5.
    pub levels: usize,
}

/// A table, the first address that it is for, and the entry that leads to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Node {
    from: u64,
    address: u64,
    /// Where the entry is: in which table, and its number there.
    parent: (u64, usize),
    entry: u64,
}

/// Hands over the pages of `areas` that are marked as accessed: first, behind the last, in addresses.
/// Several at once are of one large page. The areas must be in order.
pub(super) fn accessed(
    memory: &mut dyn Memory,
    space: Space,
    areas: &[Range<u64>],
    each: &mut dyn FnMut(Range<u64>),
) -> io::Result<()> {
    let root = Node { from: 0, address: space.root, parent: (0, 0), entry: 0 };
    let mut nodes = vec![root];
    let mut large = Vec::new();
    for level in (1..space.levels).rev() {
        let mut below = Vec::new();
        read(memory, &nodes, &mut |node, table| {
            for (number, range) in entries(node, SHIFTS[level], areas) {
                let entry = table[number];
                if entry & PRESENT == 0 {
                } else if entry & LARGE == 0 {
                    let (parent, address) = ((node.address, number), space.at(entry));
                    below.push(Node { from: range.start, address, parent, entry });
                } else if entry & ACCESSED != 0 {
                    large.push(range);
                }
            }
        })?;
        nodes = below;
    }
    let mut found = Vec::new();
    read(memory, &nodes, &mut |node, table| {
        let marked = |&(number, _): &(usize, Range<u64>)| {
            table[number] & (PRESENT | ACCESSED) == PRESENT | ACCESSED
        };
        let pages = entries(node, PAGE_SHIFT, areas).filter(marked).map(|(_, page)| page);
        found.extend(pages.map(|page| (node.from, page)));
    })?;
    let gone = changed(memory, &nodes)?;
    let pages = found.into_iter().filter(|(from, _)| !gone.contains(from)).map(|(_, page)| page);
    for page in large.into_iter().chain(pages) {
        clipped(&page, areas).for_each(&mut *each);
    }
    Ok(())
}

impl Space {
    /// The address at which the kernel reads what an entry leads to.
    pub(super) fn at(&self, entry: u64) -> u64 {
        self.direct_map.wrapping_add(entry & PLACE)
    }
}

/// Reads the tables of nodes.
fn read(
    memory: &mut dyn Memory,
    nodes: &[Node],
    each: &mut dyn FnMut(&Node, &Table),
) -> io::Result<()> {
    let addresses: Vec<u64> = nodes.iter().map(|node| node.address).collect();
    memory.tables(&addresses, &mut |at, table| each(&nodes[at], table))
}

/// Where those tables begin that another entry leads to by now, or none.
fn changed(memory: &mut dyn Memory, nodes: &[Node]) -> io::Result<Vec<u64>> {
    let mut parents: Vec<u64> = nodes.iter().map(|node| node.parent.0).collect();
    parents.dedup();
    let mut gone = Vec::new();
    memory.tables(&parents, &mut |at, table| {
        let of_parent = nodes.iter().filter(|node| node.parent.0 == parents[at]);
        let is_other = |node: &&Node| (table[node.parent.1] ^ node.entry) & (PLACE | PRESENT) != 0;
        gone.extend(of_parent.filter(is_other).map(|node| node.from));
    })?;
    Ok(gone)
}

/// The entries of a table that have to do with areas: number and addresses, in order, each once.
fn entries<'a>(
    node: &'a Node,
    shift: u32,
    areas: &'a [Range<u64>],
) -> impl Iterator<Item = (usize, Range<u64>)> + 'a {
    let span = 1_u64 << shift;
    let behind = node.from.saturating_add(span << 9);
    let first = areas.partition_point(|area| area.end <= node.from);
    let mut next = node.from;
    areas[first..].iter().take_while(move |area| area.start < behind).flat_map(move |area| {
        let start = (area.start & !(span - 1)).max(next);
        let end = area.end.min(behind);
        next = next.max(end.div_ceil(span).saturating_mul(span));
        let count = end.saturating_sub(start).div_ceil(span);
        (0..count).map(move |number| {
            let from = start + number * span;
            let number = usize::try_from((from - node.from) >> shift).unwrap_or(0);
            (number, from..from.saturating_add(span))
        })
    })
}

/// The parts of a range that are in areas.
fn clipped<'a>(
    range: &'a Range<u64>,
    areas: &'a [Range<u64>],
) -> impl Iterator<Item = Range<u64>> + 'a {
    let first = areas.partition_point(|area| area.end <= range.start);
    let near = areas[first..].iter().take_while(|area| area.start < range.end);
    near.map(|area| area.start.max(range.start)..area.end.min(range.end))
}

#[cfg(test)]
mod tests;
