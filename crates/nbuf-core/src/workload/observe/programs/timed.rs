//! What the programs of system calls do: they time each call, and count it in the bin of its time.
//!
//! A call is written as a record only where its place among other events matters: those that make processes or
//! execute, those of the dynamic linker, and those that touch a file for the first time. The words of a mark behind
//! the first say what its thread is in. Registers are as in [`program`](super::program); 9 points to the mark.

use super::kernel::Timed;
use super::program::{GET_PROCESSOR, KTIME_GET_NS, Writer};
use super::record::{CALL_BYTES, FILE_BYTES, Kind, SHORT_BYTES};
use crate::meter::bins::BINS;
use crate::sys::architecture::registers;
use crate::sys::bpf::Instruction;
use crate::sys::bpf::assembly::{Assembly, STACK};
use crate::sys::bpf::code::{
    ADD, ADD_NUMBER, ADD_SHARED, AND_NUMBER, DIFFER, JUMP_IF_ABOVE, JUMP_IF_BELOW, JUMP_IF_EQUAL,
    JUMP_IF_LESS, JUMP_IF_MORE, JUMP_UNLESS, MULTIPLY_NUMBER, SHIFT_LEFT, SHIFT_RIGHT, SUBTRACT,
    address,
};
use crate::workload::observe::calls::{CREATE, EXECUTE};

const LOOK_UP: i32 = 1;
const UPDATE: i32 = 2;
/// An element that there is not yet.
const NEW: i32 = 1;

/// Calls by number, with room for new ones. A call with a higher number is written.
pub(super) const CALLS: usize = 1 << CALLS_SHIFT;
const CALLS_SHIFT: i32 = 9;
/// What a processor has of each call: the sum of times, the longest, and the inverse of the shortest.
pub(super) const SUMS_WORDS: usize = 1 << (SUMS_SHIFT - 3);
const SUMS_SHIFT: i32 = 5;

/// Words of a mark: when its call began, 0 outside of calls; the number of the call; whether that is written; and where
/// its linker begins, 0 without one.
const BEGAN: i16 = 8;
const NUMBER: i16 = 16;
const WRITTEN: i16 = 24;
const LINKER: i16 = 32;

/// The code of a linker is nearer to its first instruction. The calls of the C library are farther away.
const NEAR_BYTES: i32 = 512 << 10;

/// What these programs name in addition.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimedNumbers {
    pub(super) bins: i32,
    pub(super) sums: i32,
    pub(super) files: i32,
}

/// Writes these programs.
#[derive(Clone, Copy, Debug)]
pub(super) struct TimedWriter<'a> {
    pub(super) writer: Writer<'a>,
    pub(super) kernel: Timed,
    pub(super) numbers: TimedNumbers,
}

impl TimedWriter<'_> {
    /// The task that runs enters a call.
    pub(super) fn enter(&self) -> Option<Vec<Instruction>> {
        let [.., instruction] = registers::KEPT?;
        let mut program = Assembly::default();
        program.copy(6, 1);
        self.writer.only_running(&mut program);
        program.copy(9, 0);
        program.load(8, 6, 8);
        program.store(9, NUMBER, 8);
        program.set(1, 0);
        program.store(9, WRITTEN, 1);
        program.call(KTIME_GET_NS);
        program.store(9, BEGAN, 0);
        for &call in CREATE.iter().chain(EXECUTE) {
            program.jump_if(JUMP_IF_EQUAL, 8, i32::try_from(call).ok()?, "write");
        }
        program.jump_if(JUMP_IF_MORE, 8, i32::try_from(CALLS).ok()? - 1, "write");
        program.load(1, 9, LINKER);
        program.jump_if(JUMP_IF_EQUAL, 1, 0, "out");
        program.load(2, 6, 0);
        program.load(2, 2, instruction);
        program.with(SUBTRACT, 2, 1);
        program.with_number(ADD_NUMBER, 2, NEAR_BYTES);
        program.jump_if(JUMP_IF_LESS, 2, 2 * NEAR_BYTES, "write");
        // The first call from elsewhere ends the linker's time, and is written, too.
        program.set(1, 0);
        program.store(9, LINKER, 1);
        program.place("write");
        self.writer.begin(&mut program, Kind::Enters, CALL_BYTES, "lost");
        program.load(1, 9, NUMBER);
        program.store(8, 16, 1);
        program.load(2, 6, 0);
        program.load(2, 2, instruction);
        program.store(8, 24, 2);
        program.set(1, 1);
        program.store(9, WRITTEN, 1);
        self.send(program)
    }

    /// The task that runs leaves its call.
    pub(super) fn leave(&self) -> Option<Vec<Instruction>> {
        let mut program = Assembly::default();
        program.copy(6, 1);
        self.writer.only_running(&mut program);
        program.copy(9, 0);
        program.load(8, 9, BEGAN);
        program.jump_if(JUMP_IF_EQUAL, 8, 0, "out");
        program.set(1, 0);
        program.store(9, BEGAN, 1);
        program.load(1, 9, WRITTEN);
        program.jump_if(JUMP_UNLESS, 1, 0, "written");
        self.writer.counts(&mut program, "out");
        program.call(KTIME_GET_NS);
        program.jump_by(JUMP_IF_ABOVE, 8, 0, "out");
        program.with(SUBTRACT, 0, 8);
        program.copy(8, 0);
        program.load(7, 9, NUMBER);
        program.with_number(AND_NUMBER, 7, i32::try_from(CALLS).ok()? - 1);
        self.sum(&mut program);
        bin(&mut program, self.numbers.bins)?;
        program.jump("out");
        program.place("written");
        program.set(1, 0);
        program.store(9, WRITTEN, 1);
        self.links(&mut program)?;
        self.writer.begin(&mut program, Kind::Leaves, SHORT_BYTES, "lost");
        program.load(1, 6, 8);
        program.store(8, 16, 1);
        self.send(program)
    }

    /// The task that runs looks for a page of a file: a record of the first time alone.
    pub(super) fn look(&self) -> Option<Vec<Instruction>> {
        let Timed { host, inode, block, device, .. } = self.kernel;
        let mut program = Assembly::default();
        program.copy(6, 1);
        self.writer.only_running(&mut program);
        program.copy(9, 0);
        self.writer.counts(&mut program, "before");
        program.jump("looks");
        // What a call looks for that executes is the command's, too.
        program.place("before");
        program.load(1, 9, WRITTEN);
        program.jump_if(JUMP_IF_EQUAL, 1, 0, "out");
        program.place("looks");
        program.load(1, 6, 0);
        program.load(1, 1, host);
        program.load(2, 1, inode);
        program.store(STACK, -8, 2);
        program.load(1, 1, block);
        program.load_half(2, 1, device);
        program.store(STACK, -16, 2);
        program.map(1, self.numbers.files);
        program.on_stack(2, -16);
        program.call(LOOK_UP);
        program.jump_if(JUMP_UNLESS, 0, 0, "out");
        program.store(STACK, -24, 0);
        program.map(1, self.numbers.files);
        program.on_stack(2, -16);
        program.on_stack(3, -24);
        program.set(4, NEW);
        program.call(UPDATE);
        // If the set is full, each look is written: the reader knows the files.
        program.jump_if(JUMP_IF_EQUAL, 0, -libc::EEXIST, "out");
        self.writer.begin(&mut program, Kind::Looks, FILE_BYTES, "lost");
        program.load(1, STACK, -16);
        program.store(8, 16, 1);
        program.load(1, STACK, -8);
        program.store(8, 24, 1);
        program.load(2, 9, NUMBER);
        program.store(8, 40, 2);
        program.load(1, 9, BEGAN);
        program.load(2, 9, WRITTEN);
        program.jump_if(JUMP_IF_EQUAL, 2, 0, "new");
        program.set(1, 0);
        program.place("new");
        program.store(8, 32, 1);
        program.set(1, 1);
        program.store(9, WRITTEN, 1);
        self.send(program)
    }

    /// Ends a program by its record.
    fn send(&self, mut program: Assembly) -> Option<Vec<Instruction>> {
        self.writer.submit(&mut program, "sent");
        program.jump("out");
        program.place("lost");
        self.writer.count_lost(&mut program);
        program.finish()
    }

    /// After a call that executed a program: the linker's first instruction is what the task goes on with, unless that
    /// is the program's own.
    fn links(&self, program: &mut Assembly) -> Option<()> {
        let [.., instruction] = registers::KEPT?;
        let Timed { memory, start, end, .. } = self.kernel;
        program.load(1, 9, NUMBER);
        for &call in EXECUTE {
            program.jump_if(JUMP_IF_EQUAL, 1, i32::try_from(call).ok()?, "executes");
        }
        program.jump("leaves");
        program.place("executes");
        program.load(1, 6, 8);
        program.jump_if(JUMP_UNLESS, 1, 0, "leaves");
        program.load(2, 6, 0);
        program.load(2, 2, instruction);
        program.load(1, 7, memory);
        program.load(3, 1, start);
        program.load(4, 1, end);
        program.jump_by(JUMP_IF_BELOW, 2, 3, "links");
        program.jump_by(JUMP_IF_ABOVE, 2, 4, "links");
        program.set(2, 0);
        program.place("links");
        program.store(9, LINKER, 2);
        program.place("leaves");
        Some(())
    }

    /// Adds the time in register 8 to the sums of the call in register 7, on this processor. No other program runs on
    /// it meanwhile.
    fn sum(&self, program: &mut Assembly) {
        program.call(GET_PROCESSOR);
        program.with_number(AND_NUMBER, 0, self.writer.numbers.lines - 1);
        program.with_number(SHIFT_LEFT, 0, CALLS_SHIFT + SUMS_SHIFT);
        program.copy(2, 7);
        program.with_number(SHIFT_LEFT, 2, SUMS_SHIFT);
        program.with(ADD, 0, 2);
        program.extend(address(1, self.numbers.sums));
        program.with(ADD, 1, 0);
        program.load(2, 1, 0);
        program.with(ADD, 2, 8);
        program.store(1, 0, 2);
        program.load(2, 1, 8);
        program.jump_by(JUMP_IF_ABOVE, 2, 8, "no longest");
        program.store(1, 8, 8);
        program.place("no longest");
        program.set(3, -1);
        program.with(DIFFER, 3, 8);
        program.load(2, 1, 16);
        program.jump_by(JUMP_IF_ABOVE, 2, 3, "no shortest");
        program.store(1, 16, 3);
        program.place("no shortest");
    }
}

/// Counts the time in register 8 in its bin of the call in register 7, in the memory with this number, as
/// [`bin`](crate::meter::bins::bin) does.
fn bin(program: &mut Assembly, number: i32) -> Option<()> {
    const HALVES: [(i32, &str); 6] =
        [(32, "32"), (16, "16"), (8, "8"), (4, "4"), (2, "2"), (1, "1")];
    let bins = i32::try_from(BINS).ok()?;
    program.copy(2, 8);
    program.jump_if(JUMP_IF_EQUAL, 2, 0, "nothing");
    program.with_number(ADD_NUMBER, 2, -1);
    program.place("nothing");
    program.set(3, 0);
    for (bits, below) in HALVES {
        program.copy(4, 2);
        program.with_number(SHIFT_RIGHT, 4, bits + 5);
        program.jump_if(JUMP_IF_EQUAL, 4, 0, below);
        program.with_number(SHIFT_RIGHT, 2, bits);
        program.with_number(ADD_NUMBER, 3, bits);
        program.place(below);
    }
    program.with_number(SHIFT_LEFT, 3, 5);
    program.with(ADD, 3, 2);
    program.jump_if(JUMP_IF_LESS, 3, bins, "bin");
    program.set(3, bins - 1);
    program.place("bin");
    program.copy(1, 7);
    program.with_number(MULTIPLY_NUMBER, 1, bins);
    program.with(ADD, 1, 3);
    program.with_number(SHIFT_LEFT, 1, 3);
    program.extend(address(2, number));
    program.with(ADD, 2, 1);
    program.set(1, 1);
    program.put(ADD_SHARED, 2, 1, 0, 0);
    Some(())
}

#[cfg(test)]
mod tests;
