//! The two programs that read the kernel's memory: fifteen instructions each at most, written here.
//!
//! The first copies pages: addresses stand at the beginning of the shared memory, up to the first 0, and
//! the page at each goes to its place behind them. What cannot be read becomes zeroes
//! (`bpf_probe_read_kernel` in `kernel/trace/bpf_trace.c`). The second tells which task runs it.

use crate::sys::bpf::Instruction;

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

// `include/uapi/linux/bpf_common.h` and `bpf.h`.
const MOVE: u8 = 0xbf;
const MOVE_NUMBER: u8 = 0xb7;
const ADD: u8 = 0x0f;
const ADD_NUMBER: u8 = 0x07;
const SHIFT_LEFT: u8 = 0x67;
const LOAD: u8 = 0x79;
const STORE: u8 = 0x7b;
const LOAD_ADDRESS: u8 = 0x18;
const OF_MAP_VALUE: u8 = 2;
const JUMP_IF_EQUAL: u8 = 0x15;
const JUMP_IF_LESS: u8 = 0xa5;
const CALL: u8 = 0x85;
const EXIT: u8 = 0x95;

fn instruction(code: u8, to: u8, from: u8, offset: i16, immediate: i32) -> Instruction {
    Instruction { code, registers: to | from << 4, offset, immediate }
}

/// The address of shared memory at this offset: two instructions long.
fn shared(to: u8, number: i32, offset: i32) -> [Instruction; 2] {
    [instruction(LOAD_ADDRESS, to, OF_MAP_VALUE, 0, number), instruction(0, 0, 0, 0, offset)]
}

/// Copies pages. The shared memory has this number.
pub(super) fn copy_pages(number: i32) -> Vec<Instruction> {
    let [all, behind] = shared(7, number, 0);
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
    let [all, behind] = shared(1, number, 0);
    vec![
        instruction(CALL, 0, 0, 0, CURRENT_TASK),
        all,
        behind,
        instruction(STORE, 1, 0, 0, 0),
        instruction(MOVE_NUMBER, 0, 0, 0, 0),
        instruction(EXIT, 0, 0, 0, 0),
    ]
}
