//! What the programs do: whose event it is, which pages of which file, a count, and a record in the ring.
//!
//! Registers: 6 has the arguments of the tracepoint, 7 the inode, 8 and 9 index and extent as in [`Event`].
//!
//! [`Event`]: super::super::log::Event

use super::super::events::Source;
use super::super::log::Kind;
use super::filter::only;
use super::kernel::Kernel;
use super::whom::Whom;
use super::{reclaimers, sample};
use crate::sys::bpf::Instruction;
use crate::sys::bpf::assembly::{Assembly, STACK};
use crate::sys::bpf::code::{
    ADD, ADD_SHARED, AND_NUMBER, JUMP_IF_EQUAL, LOAD_BYTE, SHIFT_LEFT, SHIFT_RIGHT, STORE_HALF,
    address,
};

/// Bytes of a record.
pub(super) const RECORD_BYTES: u8 = 48;
/// Bytes of the counters of a processor.
pub(super) const LINE_BYTES: usize = 1 << LINE_SHIFT;
const LINE_SHIFT: u8 = 7;

const KTIME_GET_NS: i32 = 5;
const GET_PROCESSOR: i32 = 8;
pub(super) const GET_PROCESS_AND_TASK: i32 = 14;
const RESERVE: i32 = 131;
const SUBMIT: i32 = 132;
pub(super) const GET_TASK: i32 = 158;
/// Readers look at intervals.
const WAKE_NONE: i32 = 1;

/// Counters of a processor, by their place in its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// Events of those who are watched.
    Seen = 0,
    /// Those of them that were to be recorded, of a sample.
    Kept = 3,
    /// Pages that were accessed, of a sample.
    Accesses = 4,
    /// The last access: its task and file, its last page, and where it went on.
    LastTask = 5,
    LastPage = 6,
    LastFrom = 7,
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
    /// Whether they count accesses and record a sample.
    pub(super) sampled: bool,
}

impl Word {
    /// From the beginning of the line, in bytes.
    pub(super) fn offset(self) -> i16 {
        8 * self as i16
    }
}

/// The word that says how many hashes are in the sample: behind the lines.
pub(super) fn hashes_word(lines: usize) -> usize {
    lines * LINE_BYTES / 8
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
        reclaimers::count(&mut program, kernel, numbers)?;
        only(&mut program, kernel, whom)?;
    } else {
        only(&mut program, kernel, whom)?;
        arguments(&mut program, kernel, source)?;
    }
    line(&mut program, numbers)?;
    program.store(STACK, sample::LINE, 1);
    program.set(2, 1);
    add(&mut program, Word::Seen);
    if numbers.sampled {
        sample::accesses(&mut program, kernel, source.kind);
        let hashes = i32::try_from(hashes_word(numbers.lines) * 8).ok()?;
        sample::choose(&mut program, kernel, source.kind, (numbers.counters, hashes));
    }
    record(&mut program, kernel, source.kind, numbers.stream);
    program.finish()
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

/// The line of counters of this processor, in register 1.
pub(super) fn line(program: &mut Assembly, numbers: &Numbers) -> Option<()> {
    program.call(GET_PROCESSOR);
    program.with_number(AND_NUMBER, 0, i32::try_from(numbers.lines - 1).ok()?);
    program.with_number(SHIFT_LEFT, 0, LINE_SHIFT.into());
    program.extend(address(1, numbers.counters));
    program.with(ADD, 1, 0);
    Some(())
}

/// Adds register 2 to a counter of the line in register 1.
pub(super) fn add(program: &mut Assembly, word: Word) {
    program.put(ADD_SHARED, 1, 2, word.offset(), 0);
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
