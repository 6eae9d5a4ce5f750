//! The part of a program that counts page accesses and chooses a sample of them, as [`Sampled`] has it.
//!
//! A long read comes as several events, each of which names all that is left: what goes on with a range that the event
//! before on this processor had is not counted again. So a count is wrong where tasks take turns within a read.
//!
//! [`Sampled`]: crate::trace::Sampled

use super::super::log::Kind;
use super::kernel::Kernel;
use super::program::{GET_PROCESS_AND_TASK, Word, add};
use crate::sys::bpf::assembly::{Assembly, STACK};
use crate::sys::bpf::code::{
    ADD, ADD_NUMBER, ADD_SHARED, DIFFER, JUMP_IF_ABOVE, JUMP_IF_BELOW, JUMP_IF_EQUAL, JUMP_IF_LESS,
    JUMP_IF_SAME, JUMP_UNLESS_SAME, MULTIPLY, SHIFT_LEFT, SHIFT_LEFT_BY, SHIFT_RIGHT, SUBTRACT,
    address,
};
use crate::trace::sampled::{ALL, CHUNK_SHIFT, FACTORS};

/// Where the line of counters is kept.
pub(super) const LINE: i16 = -8;
/// Chunks that are looked at; longer ranges are recorded, and what reads the record chooses again.
const CHUNKS_MAX: i32 = 64;
const PAGE_SHIFT: i32 = 12;

/// First and last page, in registers 2 and 3.
fn pages(program: &mut Assembly, kind: Kind) {
    program.copy(2, 8);
    match kind {
        Kind::GetPages | Kind::MapPages => program.copy(3, 9),
        Kind::Add | Kind::Delete => {
            program.set(3, 1);
            program.with(SHIFT_LEFT_BY, 3, 9);
            program.with(ADD, 3, 8);
            program.with_number(ADD_NUMBER, 3, -1);
        }
        Kind::Write => {
            program.copy(3, 8);
            program.with(ADD, 3, 9);
            program.with_number(ADD_NUMBER, 3, -1);
            program.with_number(SHIFT_RIGHT, 2, PAGE_SHIFT);
            program.with_number(SHIFT_RIGHT, 3, PAGE_SHIFT);
        }
        _ => program.copy(3, 8),
    }
}

/// Counts the pages of an access, up to the end of the file.
pub(super) fn accesses(program: &mut Assembly, kernel: &Kernel, kind: Kind) {
    if ![Kind::GetPages, Kind::Fault, Kind::Write].contains(&kind) {
        return;
    }
    program.call(GET_PROCESS_AND_TASK);
    program.with_number(SHIFT_LEFT, 0, 32);
    program.load(1, 7, kernel.inode_number);
    program.with(DIFFER, 0, 1);
    program.load(1, STACK, LINE);
    pages(program, kind);
    program.copy(5, 3);
    if kind != Kind::Write {
        program.load(4, 7, kernel.inode_size);
        program.jump_if(JUMP_IF_EQUAL, 4, 0, "counted");
        program.with_number(ADD_NUMBER, 4, -1);
        program.with_number(SHIFT_RIGHT, 4, PAGE_SHIFT);
        program.jump_by(JUMP_IF_ABOVE, 4, 5, "clipped");
        program.copy(5, 4);
        program.place("clipped");
    }
    program.jump_by(JUMP_IF_ABOVE, 2, 5, "counted");
    program.load(4, 1, Word::LastTask.offset());
    program.jump_by(JUMP_UNLESS_SAME, 4, 0, "fresh");
    program.load(4, 1, Word::LastPage.offset());
    program.jump_by(JUMP_UNLESS_SAME, 4, 3, "fresh");
    program.load(4, 1, Word::LastFrom.offset());
    program.jump_by(JUMP_IF_ABOVE, 2, 4, "same");
    program.place("fresh");
    program.with(SUBTRACT, 5, 2);
    program.with_number(ADD_NUMBER, 5, 1);
    program.put(ADD_SHARED, 1, 5, Word::Accesses.offset(), 0);
    program.store(1, Word::LastTask.offset(), 0);
    program.store(1, Word::LastPage.offset(), 3);
    program.place("same");
    program.store(1, Word::LastFrom.offset(), 2);
    program.place("counted");
}

/// Goes on for ranges with a page in the sample. The number of hashes is in this map, at this offset.
pub(super) fn choose(
    program: &mut Assembly,
    kernel: &Kernel,
    kind: Kind,
    (counters, hashes): (i32, i32),
) {
    let [all, mut behind] = address(1, counters);
    behind.immediate = hashes;
    program.extend([all, behind]);
    program.load(4, 1, 0);
    program.set_long(5, ALL);
    program.jump_by(JUMP_IF_SAME, 4, 5, "take");
    pages(program, kind);
    program.with_number(SHIFT_RIGHT, 2, CHUNK_SHIFT.into());
    program.with_number(SHIFT_RIGHT, 3, CHUNK_SHIFT.into());
    let [of_file, of_device, first, second] = FACTORS;
    program.load(5, 7, kernel.inode_number);
    program.set_long(0, of_file);
    program.with(MULTIPLY, 5, 0);
    program.load(0, 7, kernel.inode_superblock);
    program.load_half(0, 0, kernel.superblock_device);
    program.set_long(1, of_device);
    program.with(MULTIPLY, 0, 1);
    program.with(DIFFER, 5, 0);
    program.set(1, 0);
    program.place("next chunk");
    program.copy(0, 2);
    program.with(DIFFER, 0, 5);
    program.set_long(6, first);
    program.with(MULTIPLY, 0, 6);
    program.copy(6, 0);
    program.with_number(SHIFT_RIGHT, 6, 32);
    program.with(DIFFER, 0, 6);
    program.set_long(6, second);
    program.with(MULTIPLY, 0, 6);
    program.with_number(SHIFT_RIGHT, 0, 32);
    program.jump_by(JUMP_IF_BELOW, 0, 4, "take");
    program.with_number(ADD_NUMBER, 2, 1);
    program.with_number(ADD_NUMBER, 1, 1);
    program.jump_by(JUMP_IF_ABOVE, 2, 3, "out");
    program.jump_if(JUMP_IF_LESS, 1, CHUNKS_MAX, "next chunk");
    program.place("take");
    program.load(1, STACK, LINE);
    program.set(2, 1);
    add(program, Word::Kept);
}
