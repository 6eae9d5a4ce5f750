//! The two programs that read the kernel's memory: fifteen instructions each at most, written here.
//!
//! The first copies pages: addresses stand at the beginning of the shared memory, up to the first 0, and
//! the page at each goes to its place behind them. What cannot be read becomes zeroes
//! (`bpf_probe_read_kernel` in `kernel/trace/bpf_trace.c`). The second tells which task runs it.

use crate::sys::bpf::Instruction;
use crate::sys::bpf::code::{
    ADD, ADD_NUMBER, CALL, EXIT, JUMP_IF_EQUAL, JUMP_IF_LESS, LOAD, MOVE, MOVE_NUMBER, SHIFT_LEFT,
    STORE, address, instruction,
};

/// Pages that are copied at once.
pub(super) const PAGES: usize = COUNT as usize;
const COUNT: u16 = 256;
/// Bytes of a page table, and of what is copied for each address.
pub(super) const PAGE: usize = BYTES as usize;
const BYTES: u16 = 4096;
/// Pages of shared memory: the addresses take less than one.
pub(super) const SHARED_PAGES: usize = PAGES + 1;

const PROBE_READ_KERNEL: i32 = 113;
const CURRENT_TASK: i32 = 35;

/// Copies pages. The shared memory has this number.
pub(super) fn copy_pages(number: i32) -> Vec<Instruction> {
    let [all, behind] = address(7, number);
    vec![
        instruction(MOVE_NUMBER, 6, 0, 0, 0),
        // Of each: its address, unless that is 0.
        all,
        behind,
        instruction(MOVE, 8, 6, 0, 0),
        instruction(SHIFT_LEFT, 8, 0, 0, 3),
        instruction(MOVE, 9, 7, 0, 0),
        instruction(ADD, 9, 8, 0, 0),
        instruction(LOAD, 3, 9, 0, 0),
        instruction(JUMP_IF_EQUAL, 3, 0, 9, 0),
        // Its place, behind the page of addresses.
        instruction(MOVE, 8, 6, 0, 0),
        instruction(SHIFT_LEFT, 8, 0, 0, 12),
        instruction(MOVE, 1, 7, 0, 0),
        instruction(ADD, 1, 8, 0, 0),
        instruction(ADD_NUMBER, 1, 0, 0, BYTES.into()),
        instruction(MOVE_NUMBER, 2, 0, 0, BYTES.into()),
        instruction(CALL, 0, 0, 0, PROBE_READ_KERNEL),
        instruction(ADD_NUMBER, 6, 0, 0, 1),
        instruction(JUMP_IF_LESS, 6, 0, -17, COUNT.into()),
        instruction(MOVE_NUMBER, 0, 0, 0, 0),
        instruction(EXIT, 0, 0, 0, 0),
    ]
}

/// Puts the address of the running task into the first word.
pub(super) fn current_task(number: i32) -> Vec<Instruction> {
    let [all, behind] = address(1, number);
    vec![
        instruction(CALL, 0, 0, 0, CURRENT_TASK),
        all,
        behind,
        instruction(STORE, 1, 0, 0, 0),
        instruction(MOVE_NUMBER, 0, 0, 0, 0),
        instruction(EXIT, 0, 0, 0, 0),
    ]
}
