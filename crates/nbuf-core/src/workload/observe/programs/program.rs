//! What the programs do: they look whether a task is the command's, and write a record of what happened to it.
//!
//! Registers: 6 has the arguments of the tracepoint, 7 a task, 8 a record, 9 what has to survive a call. Marks are numbers
//! of 8 bytes: [`IS_COMMAND`] of all tasks of the command, and [`COUNTS`] too of those that executed.

use super::kernel::Kernel;
use super::record::{Kind, LONG_BYTES, SHORT_BYTES};
use crate::sys::architecture::registers;
use crate::sys::bpf::Instruction;
use crate::sys::bpf::assembly::Assembly;
use crate::sys::bpf::code::{
    ADD, ADD_SHARED, AND_NUMBER, JUMP_IF_EQUAL, JUMP_IF_LESS, JUMP_UNLESS, LOAD_BYTE, MOVE_NUMBER,
    SHIFT_LEFT, SHIFT_LEFT_BY, SHIFT_RIGHT, STORE_HALF, address,
};

pub(super) const KTIME_GET_NS: i32 = 5;
pub(super) const GET_PROCESSOR: i32 = 8;
const RESERVE: i32 = 131;
const SUBMIT: i32 = 132;
const QUERY: i32 = 134;
const STORAGE_OF_TASK: i32 = 156;
const GET_TASK: i32 = 158;
const REGISTERS_OF_TASK: i32 = 175;

/// Makes storage where there is none.
const CREATE: i32 = 1;
const WAKE_NONE: i32 = 1;
const WAKE: i32 = 2;

/// `PF_FORKNOEXEC`: a task has it from its birth until it executes.
const NOT_EXECUTED: i32 = 0x40;

const IS_COMMAND: i32 = 1;
const COUNTS: i32 = 2;

/// Bytes of the counters of a processor.
pub(super) const LINE_BYTES: usize = 1 << LINE_SHIFT;
const LINE_SHIFT: i32 = 7;

/// Counters of a processor, by their place in its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// Pages put into the page cache.
    Fills = 0,
    /// Look-ups in it.
    Lookups = 1,
    /// Those of the reads that found a page missing.
    Misses = 2,
    /// Records that found no room, and tasks that could not be marked.
    Lost = 3,
}

/// What programs name: maps, how many lines of counters there are, and how full the ring is when they wake its reader.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    pub(super) marks: i32,
    pub(super) stream: i32,
    pub(super) counters: i32,
    pub(super) lines: i32,
    pub(super) wake_bytes: i32,
}

/// Writes programs for a kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Writer<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) numbers: Numbers,
}

impl Writer<'_> {
    /// A task leaves a processor, and another one receives it.
    pub(super) fn switch(&self) -> Option<Vec<Instruction>> {
        let kept = registers::KEPT?;
        let task = self.kernel.task;
        let mut program = Assembly::default();
        program.copy(6, 1);
        program.load(7, 6, 8);
        self.only_marked(&mut program, "in");
        self.begin(&mut program, Kind::Out, LONG_BYTES, "lost out");
        program.load(1, 6, 24);
        program.put(STORE_HALF, 8, 1, 16, 0);
        program.load_half(1, 7, task.flags);
        program.put(STORE_HALF, 8, 1, 20, 0);
        program.load(1, 6, 0);
        program.with_number(AND_NUMBER, 1, 1);
        program.store(8, 24, 1);
        program.copy(1, 7);
        program.call(REGISTERS_OF_TASK);
        for (from, to) in kept.into_iter().zip((32..).step_by(8)) {
            program.load(1, 0, from);
            program.store(8, to, 1);
        }
        self.submit(&mut program, "out is sent");
        program.place("in");
        program.load(7, 6, 16);
        self.only_marked(&mut program, "out");
        self.begin(&mut program, Kind::In, SHORT_BYTES, "lost in");
        self.submit(&mut program, "in is sent");
        program.jump("out");
        program.place("lost out");
        self.count_lost(&mut program);
        program.jump("in");
        program.place("lost in");
        self.count_lost(&mut program);
        program.finish()
    }

    /// A task ends.
    pub(super) fn exit(&self) -> Option<Vec<Instruction>> {
        let mut program = Assembly::default();
        program.load(7, 1, 0);
        self.only_marked(&mut program, "out");
        self.says(program, Kind::Died)
    }

    /// A task of the command made another one.
    pub(super) fn newtask(&self) -> Option<Vec<Instruction>> {
        let task = self.kernel.task;
        let mut program = Assembly::default();
        program.copy(6, 1);
        program.call(GET_TASK);
        program.copy(9, 0);
        program.copy(7, 0);
        self.only_marked(&mut program, "out");
        self.counts(&mut program, "as it is");
        program.set(8, IS_COMMAND | COUNTS);
        program.jump("mark");
        program.place("as it is");
        program.set(8, IS_COMMAND);
        program.place("mark");
        program.load(7, 6, 0);
        program.map(1, self.numbers.marks);
        program.copy(2, 7);
        program.set(3, 0);
        program.set(4, CREATE);
        program.call(STORAGE_OF_TASK);
        program.jump_if(JUMP_IF_EQUAL, 0, 0, "lost");
        program.store(0, 0, 8);
        self.begin(&mut program, Kind::Born, SHORT_BYTES, "lost");
        program.load_half(1, 9, task.number);
        program.put(STORE_HALF, 8, 1, 16, 0);
        program.load_half(1, 7, task.process);
        program.put(STORE_HALF, 8, 1, 20, 0);
        self.submit(&mut program, "sent");
        program.jump("out");
        program.place("lost");
        self.count_lost(&mut program);
        program.finish()
    }

    /// The task that runs sent a request to a disc.
    pub(super) fn request(&self) -> Option<Vec<Instruction>> {
        let mut program = Assembly::default();
        self.only_running(&mut program);
        self.says(program, Kind::Requests)
    }

    /// The task that runs put pages into the page cache.
    pub(super) fn fill(&self) -> Option<Vec<Instruction>> {
        let folio = self.kernel.folio;
        let mut program = Assembly::default();
        program.copy(6, 1);
        self.only_running(&mut program);
        program.load(1, 6, 0);
        program.set(9, 1);
        program.load(2, 1, folio.flags);
        program.with_number(SHIFT_RIGHT, 2, folio.head);
        program.with_number(AND_NUMBER, 2, 1);
        program.jump_if(JUMP_IF_EQUAL, 2, 0, "single");
        program.put(LOAD_BYTE, 2, 1, folio.order, 0);
        program.with_number(AND_NUMBER, 2, 31);
        program.with(SHIFT_LEFT_BY, 9, 2);
        program.place("single");
        self.count(&mut program, Word::Fills);
        program.finish()
    }

    /// The task that runs, and has executed, did what is counted.
    pub(super) fn counted(&self, word: Word) -> Option<Vec<Instruction>> {
        let mut program = Assembly::default();
        self.only_running(&mut program);
        self.counts(&mut program, "out");
        program.set(9, 1);
        self.count(&mut program, word);
        program.finish()
    }

    /// Ends a program by a record of the task in register 7 that says its kind alone.
    fn says(&self, mut program: Assembly, kind: Kind) -> Option<Vec<Instruction>> {
        self.begin(&mut program, kind, SHORT_BYTES, "lost");
        self.submit(&mut program, "sent");
        program.jump("out");
        program.place("lost");
        self.count_lost(&mut program);
        program.finish()
    }

    /// Goes on if the task in register 7 has a mark. Register 0 points to it.
    fn only_marked(&self, program: &mut Assembly, otherwise: &'static str) {
        program.map(1, self.numbers.marks);
        program.copy(2, 7);
        program.set(3, 0);
        program.set(4, 0);
        program.call(STORAGE_OF_TASK);
        program.jump_if(JUMP_IF_EQUAL, 0, 0, otherwise);
    }

    /// The same of the task that runs.
    pub(super) fn only_running(&self, program: &mut Assembly) {
        program.call(GET_TASK);
        program.copy(7, 0);
        self.only_marked(program, "out");
    }

    /// Goes on if the task in register 7, with the mark that register 0 points to, or one before it executed.
    pub(super) fn counts(&self, program: &mut Assembly, otherwise: &'static str) {
        program.load(1, 0, 0);
        program.jump_if(JUMP_UNLESS, 1, IS_COMMAND, "counts");
        program.load_half(1, 7, self.kernel.task.flags);
        program.with_number(AND_NUMBER, 1, NOT_EXECUTED);
        program.jump_if(JUMP_UNLESS, 1, 0, otherwise);
        program.place("counts");
    }

    /// Makes room for a record in register 8: time, kind, and the number of the task in register 7.
    pub(super) fn begin(
        &self,
        program: &mut Assembly,
        kind: Kind,
        bytes: i32,
        otherwise: &'static str,
    ) {
        program.map(1, self.numbers.stream);
        program.set(2, bytes);
        program.set(3, 0);
        program.call(RESERVE);
        program.jump_if(JUMP_IF_EQUAL, 0, 0, otherwise);
        program.copy(8, 0);
        program.call(KTIME_GET_NS);
        program.store(8, 0, 0);
        program.set(1, kind as i32);
        program.put(STORE_HALF, 8, 1, 8, 0);
        program.load_half(1, 7, self.kernel.task.number);
        program.put(STORE_HALF, 8, 1, 12, 0);
    }

    /// Hands the record in register 8 over, and wakes the reader of a ring that fills.
    pub(super) fn submit(&self, program: &mut Assembly, here: &'static str) {
        program.map(1, self.numbers.stream);
        program.set(2, 0);
        program.call(QUERY);
        program.put(MOVE_NUMBER, 2, 0, 0, WAKE_NONE);
        program.jump_if(JUMP_IF_LESS, 0, self.numbers.wake_bytes, here);
        program.set(2, WAKE);
        program.place(here);
        program.copy(1, 8);
        program.call(SUBMIT);
    }

    pub(super) fn count_lost(&self, program: &mut Assembly) {
        program.set(9, 1);
        self.count(program, Word::Lost);
    }

    /// Adds register 9 to a counter of this processor.
    fn count(&self, program: &mut Assembly, word: Word) {
        program.call(GET_PROCESSOR);
        program.with_number(AND_NUMBER, 0, self.numbers.lines - 1);
        program.with_number(SHIFT_LEFT, 0, LINE_SHIFT);
        program.extend(address(1, self.numbers.counters));
        program.with(ADD, 1, 0);
        program.put(ADD_SHARED, 1, 9, 8 * word as i16, 0);
    }
}
