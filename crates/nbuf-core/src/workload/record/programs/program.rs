//! What the programs do: whose event it is, which pages of which file, a count, and a record in the ring.
//!
//! Registers: 6 has the arguments of the tracepoint, 7 the inode, 8 and 9 index and extent as in [`Event`].
//!
//! [`Event`]: super::super::log::Event

use super::super::events::Source;
use super::super::log::Kind;
use super::kernel::Kernel;
use super::whom::Whom;
use crate::sys::bpf::Instruction;
use crate::sys::bpf::assembly::{Assembly, STACK};
use crate::sys::bpf::code::{
    ADD, ADD_NUMBER, ADD_SHARED, AND, AND_NUMBER, JUMP_IF_EQUAL, JUMP_IF_LESS, JUMP_UNLESS,
    JUMP_UNLESS_SAME, LOAD_BYTE, SHIFT_LEFT, SHIFT_LEFT_BY, SHIFT_RIGHT, STORE_HALF, address,
};

/// Bytes of a record.
pub(super) const RECORD_BYTES: u8 = 48;
/// Bytes of the counters of a processor.
pub(super) const LINE_BYTES: usize = 1 << LINE_SHIFT;
const LINE_SHIFT: u8 = 7;

const KTIME_GET_NS: i32 = 5;
const GET_PROCESSOR: i32 = 8;
const GET_PROCESS_AND_TASK: i32 = 14;
const GET_NAME: i32 = 16;
const IS_UNDER_GROUP: i32 = 37;
const PROBE_READ_KERNEL: i32 = 113;
const RESERVE: i32 = 131;
const SUBMIT: i32 = 132;
const STORAGE_OF_TASK: i32 = 156;
const GET_TASK: i32 = 158;
/// Makes storage where there is none.
const CREATE: i32 = 1;
/// `PF_KTHREAD`
const OF_THE_KERNEL: i32 = 0x0020_0000;
/// Readers look at intervals.
const WAKE_NONE: i32 = 1;

/// Counters of a processor, by their place in its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// Events of those who are watched.
    Seen = 0,
    /// Pages that `kswapd` took from any program.
    Kswapd = 1,
    /// Pages that `kdamond` did: proactive reclaim.
    Kdamond = 2,
}

/// What programs name: maps, and how many lines of counters there are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    pub(super) stream: i32,
    pub(super) counters: i32,
    pub(super) lines: usize,
}

/// The program for a tracepoint; nothing of one that is not known.
pub(super) fn of(
    kernel: &Kernel,
    source: &Source,
    whom: &Whom,
    numbers: &Numbers,
) -> Option<Vec<Instruction>> {
    let mut program = Assembly::default();
    program.copy(6, 1);
    if source.kind == Kind::Delete {
        arguments(&mut program, kernel, source)?;
        reclaimers(&mut program, kernel, numbers)?;
        only(&mut program, kernel, whom)?;
    } else {
        only(&mut program, kernel, whom)?;
        arguments(&mut program, kernel, source)?;
    }
    line(&mut program, numbers)?;
    program.set(2, 1);
    add(&mut program, Word::Seen);
    record(&mut program, kernel, source.kind, numbers.stream);
    program.finish()
}

/// The program that marks what a marked process starts.
pub(super) fn fork(kernel: &Kernel, marks: i32) -> Option<Vec<Instruction>> {
    let mut program = Assembly::default();
    program.copy(6, 1);
    if_marked(&mut program, kernel, marks);
    program.load(2, 6, 8);
    program.load_half(1, 2, kernel.task.number);
    program.load_half(3, 2, kernel.task.process);
    // Threads go by the first of their process.
    program.jump_by(JUMP_UNLESS_SAME, 1, 3, "out");
    program.map(1, marks);
    program.set(3, 0);
    program.set(4, CREATE);
    program.call(STORAGE_OF_TASK);
    program.finish()
}

fn if_marked(program: &mut Assembly, kernel: &Kernel, marks: i32) {
    program.call(GET_TASK);
    program.load(2, 0, kernel.task.leader);
    program.map(1, marks);
    program.set(3, 0);
    program.set(4, 0);
    program.call(STORAGE_OF_TASK);
    program.jump_if(JUMP_IF_EQUAL, 0, 0, "out");
}

/// Goes on for those who are watched.
fn only(program: &mut Assembly, kernel: &Kernel, whom: &Whom) -> Option<()> {
    match whom {
        Whom::Marked(marks) => {
            if_marked(program, kernel, marks.number());
            return Some(());
        }
        Whom::Group(groups) => {
            program.map(1, groups.number());
            program.set(2, 0);
            program.call(IS_UNDER_GROUP);
            program.jump_if(JUMP_UNLESS, 0, 1, "out");
        }
        Whom::Charged { level, number } => {
            let at = kernel.charged?;
            program.call(GET_TASK);
            program.load(1, 0, at.groups);
            program.load(1, 1, at.memory);
            program.load(3, 1, at.group);
            program.load_half(2, 3, at.level);
            program.jump_if(JUMP_IF_LESS, 2, *level, "out");
            // The kernel does not follow an array without an end: each step is a copy.
            let ancestor = i32::from(at.ancestors) + 8 * level;
            for offset in [ancestor, at.node.into(), at.number.into()] {
                program.with_number(ADD_NUMBER, 3, offset);
                program.on_stack(1, -8);
                program.set(2, 8);
                program.call(PROBE_READ_KERNEL);
                program.load(3, STACK, -8);
            }
            program.set_long(1, *number);
            program.jump_by(JUMP_UNLESS_SAME, 3, 1, "out");
        }
    }
    // A group may be the one that nbuf runs in.
    program.call(GET_PROCESS_AND_TASK);
    program.with_number(SHIFT_RIGHT, 0, 32);
    let own = i32::try_from(std::process::id()).ok()?;
    program.jump_if(JUMP_IF_EQUAL, 0, own, "out");
    Some(())
}

/// Inode, index and extent.
fn arguments(program: &mut Assembly, kernel: &Kernel, source: &Source) -> Option<()> {
    let host = |program: &mut Assembly| program.load(7, 1, kernel.mapping_host);
    match source.path.split_once('/')?.1 {
        "mm_filemap_get_pages" | "mm_filemap_map_pages" => {
            program.load(1, 6, 0);
            host(program);
            program.load(8, 6, 8);
            program.load(9, 6, 16);
        }
        "mm_filemap_fault" => {
            program.load(1, 6, 0);
            host(program);
            program.load(8, 6, 8);
            program.set(9, 0);
        }
        "mm_filemap_add_to_page_cache" | "mm_filemap_delete_from_page_cache" => {
            let folio = kernel.folio;
            program.load(1, 6, 0);
            program.load(8, 1, folio.index);
            program.set(9, 0);
            program.load(2, 1, folio.flags);
            program.with_number(SHIFT_RIGHT, 2, folio.head);
            program.with_number(AND_NUMBER, 2, 1);
            program.jump_if(JUMP_IF_EQUAL, 2, 0, "single");
            program.put(LOAD_BYTE, 9, 1, folio.order, 0);
            program.place("single");
            program.load(1, 1, folio.mapping);
            host(program);
        }
        "ext4_da_write_begin" | "ext4_write_begin" => {
            program.load(7, 6, 0);
            program.load(8, 6, 8);
            program.load(9, 6, 16);
        }
        "xfs_file_buffered_write" => {
            let call = kernel.call?;
            program.load(1, 6, 0);
            program.load(8, 1, call.position);
            program.load(1, 1, call.file);
            program.load(7, 1, call.file_inode);
            program.load(1, 6, 8);
            program.load(9, 1, call.count);
        }
        _ => return None,
    }
    Some(())
}

/// Counts pages that threads of the kernel take from any program, by the names of those that reclaim.
fn reclaimers(program: &mut Assembly, kernel: &Kernel, numbers: &Numbers) -> Option<()> {
    program.call(GET_TASK);
    program.load_half(1, 0, kernel.task.flags);
    program.with_number(AND_NUMBER, 1, OF_THE_KERNEL);
    program.jump_if(JUMP_IF_EQUAL, 1, 0, "program");
    program.on_stack(1, -32);
    program.set(2, 16);
    program.call(GET_NAME);
    line(program, numbers)?;
    program.set(2, 1);
    program.with(SHIFT_LEFT_BY, 2, 9);
    for (name, word, other) in
        [("kswapd", Word::Kswapd, "no kswapd"), ("kdamond", Word::Kdamond, "program")]
    {
        let mut bytes = [0_u8; 8];
        bytes[..name.len()].copy_from_slice(name.as_bytes());
        program.load(3, STACK, -32);
        // The number of the node or of the thread follows.
        program.set_long(4, u64::from_ne_bytes(bytes.map(|byte| if byte == 0 { 0 } else { 0xff })));
        program.with(AND, 3, 4);
        program.set_long(4, u64::from_ne_bytes(bytes));
        program.jump_by(JUMP_UNLESS_SAME, 3, 4, other);
        add(program, word);
        program.jump("out");
        if other != "program" {
            program.place(other);
        }
    }
    program.place("program");
    Some(())
}

/// The line of counters of this processor, in register 1.
fn line(program: &mut Assembly, numbers: &Numbers) -> Option<()> {
    program.call(GET_PROCESSOR);
    program.with_number(AND_NUMBER, 0, i32::try_from(numbers.lines - 1).ok()?);
    program.with_number(SHIFT_LEFT, 0, LINE_SHIFT.into());
    program.extend(address(1, numbers.counters));
    program.with(ADD, 1, 0);
    Some(())
}

/// Adds register 2 to a counter of the line in register 1.
fn add(program: &mut Assembly, word: Word) {
    program.put(ADD_SHARED, 1, 2, 8 * word as i16, 0);
}

/// Writes the record, if the ring has room.
fn record(program: &mut Assembly, kernel: &Kernel, kind: Kind, stream: i32) {
    program.map(1, stream);
    program.set(2, RECORD_BYTES.into());
    program.set(3, 0);
    program.call(RESERVE);
    program.jump_if(JUMP_IF_EQUAL, 0, 0, "out");
    program.store(0, 16, 8);
    program.store(0, 24, 9);
    program.load(1, 7, kernel.inode_number);
    program.store(0, 8, 1);
    program.load(1, 7, kernel.inode_superblock);
    program.load_half(1, 1, kernel.superblock_device);
    program.put(STORE_HALF, 0, 1, 32, 0);
    program.set(1, i32::from(kind as u8));
    program.store(0, 40, 1);
    program.copy(9, 0);
    program.call(KTIME_GET_NS);
    program.store(9, 0, 0);
    program.call(GET_PROCESS_AND_TASK);
    program.put(STORE_HALF, 9, 0, 36, 0);
    program.copy(1, 9);
    program.set(2, WAKE_NONE);
    program.call(SUBMIT);
}
