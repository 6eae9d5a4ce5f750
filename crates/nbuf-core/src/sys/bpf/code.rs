//! The words of which programs are written: `include/uapi/linux/bpf_common.h` and `bpf.h`.

use super::Instruction;

/// A register gets the value of another.
pub(crate) const MOVE: u8 = 0xbf;
/// A register gets a constant.
pub(crate) const MOVE_NUMBER: u8 = 0xb7;
/// Adds a register.
pub(crate) const ADD: u8 = 0x0f;
/// Adds a constant.
pub(crate) const ADD_NUMBER: u8 = 0x07;
/// Subtracts a register.
pub(crate) const SUBTRACT: u8 = 0x1f;
/// Multiplies by a register.
pub(crate) const MULTIPLY: u8 = 0x2f;
/// Bits in which two registers differ.
pub(crate) const DIFFER: u8 = 0xaf;
/// Jumps if two registers are the same.
pub(crate) const JUMP_IF_SAME: u8 = 0x1d;
/// Jumps if a register is above another.
pub(crate) const JUMP_IF_ABOVE: u8 = 0x2d;
/// Jumps if a register is below another.
pub(crate) const JUMP_IF_BELOW: u8 = 0xad;
/// Bits that a register and a constant have in common.
pub(crate) const AND_NUMBER: u8 = 0x57;
/// Bits that two registers have in common.
pub(crate) const AND: u8 = 0x5f;
/// Shifts by a constant.
pub(crate) const SHIFT_LEFT: u8 = 0x67;
/// Shifts by a register.
pub(crate) const SHIFT_LEFT_BY: u8 = 0x6f;
/// Shifts to the right by a constant, with zeroes behind.
pub(crate) const SHIFT_RIGHT: u8 = 0x77;
/// Loads four bytes.
pub(crate) const LOAD_HALF: u8 = 0x61;
/// Loads a byte.
pub(crate) const LOAD_BYTE: u8 = 0x71;
/// Stores four bytes.
pub(crate) const STORE_HALF: u8 = 0x63;
/// Adds a register to eight bytes in memory, whatever other processors do.
pub(crate) const ADD_SHARED: u8 = 0xdb;
/// Jumps.
pub(crate) const JUMP: u8 = 0x05;
/// Jumps unless a register has this value.
pub(crate) const JUMP_UNLESS: u8 = 0x55;
/// Jumps unless two registers are the same.
pub(crate) const JUMP_UNLESS_SAME: u8 = 0x5d;
/// Loads eight bytes.
pub(crate) const LOAD: u8 = 0x79;
/// Stores eight bytes.
pub(crate) const STORE: u8 = 0x7b;
/// Jumps if a register has this value.
pub(crate) const JUMP_IF_EQUAL: u8 = 0x15;
/// Jumps if a register is below this value.
pub(crate) const JUMP_IF_LESS: u8 = 0xa5;
/// Jumps if a register is above this value.
pub(crate) const JUMP_IF_MORE: u8 = 0x25;
/// Multiplies by a constant.
pub(crate) const MULTIPLY_NUMBER: u8 = 0x27;
/// Calls one of the kernel's helpers.
pub(crate) const CALL: u8 = 0x85;
/// Ends.
pub(crate) const EXIT: u8 = 0x95;

const LOAD_ADDRESS: u8 = 0x18;
const OF_MAP: u8 = 1;
const OF_MAP_VALUE: u8 = 2;

/// One instruction.
pub(crate) fn instruction(code: u8, to: u8, from: u8, offset: i16, immediate: i32) -> Instruction {
    Instruction { code, registers: to | from << 4, offset, immediate }
}

/// Runs `body` for each address at the beginning of the memory with this number, up to the first 0 or to `count` of them.
/// Register 9 points to the address then, and register 1 to its place: places have `1 << shift` bytes, and begin at
/// `places`. Registers 6 to 8 are the loop's own.
pub(crate) fn for_each(
    number: i32,
    count: i32,
    (places, shift): (i32, u8),
    body: &[Instruction],
) -> Vec<Instruction> {
    let [all, behind] = address(7, number);
    let beyond = i16::try_from(body.len()).unwrap_or(i16::MAX);
    let mut code = vec![
        instruction(MOVE_NUMBER, 6, 0, 0, 0),
        all,
        behind,
        instruction(MOVE, 8, 6, 0, 0),
        instruction(SHIFT_LEFT, 8, 0, 0, 3),
        instruction(MOVE, 9, 7, 0, 0),
        instruction(ADD, 9, 8, 0, 0),
        instruction(LOAD, 1, 9, 0, 0),
        instruction(JUMP_IF_EQUAL, 1, 0, beyond + 7, 0),
        instruction(MOVE, 8, 6, 0, 0),
        instruction(SHIFT_LEFT, 8, 0, 0, shift.into()),
        instruction(MOVE, 1, 7, 0, 0),
        instruction(ADD, 1, 8, 0, 0),
        instruction(ADD_NUMBER, 1, 0, 0, places),
    ];
    code.extend_from_slice(body);
    code.extend([
        instruction(ADD_NUMBER, 6, 0, 0, 1),
        instruction(JUMP_IF_LESS, 6, 0, -(beyond + 15), count),
        instruction(MOVE_NUMBER, 0, 0, 0, 0),
        instruction(EXIT, 0, 0, 0, 0),
    ]);
    code
}

/// The address of memory with this number: two instructions long.
pub(crate) fn address(to: u8, number: i32) -> [Instruction; 2] {
    [instruction(LOAD_ADDRESS, to, OF_MAP_VALUE, 0, number), instruction(0, 0, 0, 0, 0)]
}

/// The map with this number, for a helper: two instructions long.
pub(crate) fn map(to: u8, number: i32) -> [Instruction; 2] {
    [instruction(LOAD_ADDRESS, to, OF_MAP, 0, number), instruction(0, 0, 0, 0, 0)]
}

/// A constant of eight bytes: two instructions long.
pub(crate) fn constant(to: u8, value: u64) -> [Instruction; 2] {
    let half = |value: u64| u32::try_from(value & 0xffff_ffff).unwrap_or(0).cast_signed();
    let (low, high) = (half(value), half(value >> 32));
    [instruction(LOAD_ADDRESS, to, 0, 0, low), instruction(0, 0, 0, 0, high)]
}
