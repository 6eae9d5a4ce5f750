//! The two programs that read the kernel's memory: fifteen instructions each at most, written here.
//!
//! The first copies pages: addresses stand at the beginning of the shared memory, up to the first 0, and
//! the page at each goes to its place behind them. What cannot be read becomes zeroes
//! (`bpf_probe_read_kernel` in `kernel/trace/bpf_trace.c`). The second tells which task runs it.

use crate::sys::bpf::Instruction;
use crate::sys::bpf::code::{CALL, EXIT, LOAD, MOVE_NUMBER, STORE, address, for_each, instruction};

/// Pages that are copied at once.
pub(super) const PAGES: usize = COUNT as usize;
const COUNT: u16 = 256;
/// Bytes of a page table, and of what is copied for each address.
pub(super) const PAGE: usize = BYTES as usize;
const SHIFT: u8 = 12;
const BYTES: u16 = 1 << SHIFT;
/// Pages of shared memory: the addresses take less than one.
pub(super) const SHARED_PAGES: usize = PAGES + 1;

const PROBE_READ_KERNEL: i32 = 113;
const CURRENT_TASK: i32 = 35;

/// Copies pages. The shared memory has this number.
pub(super) fn copy_pages(number: i32) -> Vec<Instruction> {
    let copy = [
        instruction(LOAD, 3, 9, 0, 0),
        instruction(MOVE_NUMBER, 2, 0, 0, BYTES.into()),
        instruction(CALL, 0, 0, 0, PROBE_READ_KERNEL),
    ];
    // Behind the page of addresses.
    for_each(number, COUNT.into(), (BYTES.into(), SHIFT), &copy)
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
