//! The KA11 processor of the PDP-11/20: registers, condition codes, traps.
//!
//! It has no extended arithmetic and no memory management; later additions trap as reserved. Its
//! peculiarities: a jump to a register traps to 4. `(R)+` of a jump uses the register after its
//! increment. `SWAB` leaves V alone. The stack may not go below 0400. A word at an odd address
//! traps to 4 and leaves the registers partly changed. DEC, *PDP-11/20 Processor Handbook* (1971).

mod byte;
mod control;
pub mod decode;
pub mod disassemble;

mod execute;
mod io_page;
mod operand;
mod trap;
mod word;

pub use trap::{Entry, Traps};

/// The stack pointer's register number.
pub const SP: usize = 6;
/// The program counter's register number.
pub const PC: usize = 7;
/// A stack below this address has overflowed.
pub const STACK_LIMIT: u16 = 0o400;

/// The reason why an instruction was aborted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Abort {
    /// A word at an odd address.
    Odd,
    /// No memory or device answers at the address.
    Absent,
}

/// The state of the processor, without memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "the bits of a register, each with its name")]
pub struct Cpu {
    /// R0 to R5, the stack pointer, the program counter.
    pub registers: [u16; 8],
    /// The priority, 0 to 7. Only requests above it interrupt.
    pub priority: u8,
    /// T: trap after every instruction.
    pub trace: bool,
    /// N: the result was negative.
    pub negative: bool,
    /// Z: the result was zero.
    pub zero: bool,
    /// V: the result overflowed.
    pub overflow: bool,
    /// C: a carry or borrow.
    pub carry: bool,
    /// The traps to take before the next instruction.
    pub traps: Traps,
    /// Whether WAIT was executed and no interrupt has come since.
    pub waits: bool,
}

impl Cpu {
    /// The processor status word.
    pub fn status(&self) -> u16 {
        u16::from(self.priority) << 5
            | u16::from(self.trace) << 4
            | u16::from(self.negative) << 3
            | u16::from(self.zero) << 2
            | u16::from(self.overflow) << 1
            | u16::from(self.carry)
    }

    /// Sets the status from the low byte of a word; this model has no more bits.
    pub fn set_status(&mut self, word: u16) {
        self.priority = ((word >> 5) & 7).to_le_bytes()[0];
        self.trace = word & 0o20 != 0;
        self.negative = word & 0o10 != 0;
        self.zero = word & 4 != 0;
        self.overflow = word & 2 != 0;
        self.carry = word & 1 != 0;
    }

    /// Sets N and Z for a word.
    #[inline]
    pub(crate) fn set_nz(&mut self, result: u16) {
        self.negative = result & 0x8000 != 0;
        self.zero = result == 0;
    }

    /// Sets N and Z for a byte.
    #[inline]
    pub(crate) fn set_nz_byte(&mut self, result: u8) {
        self.negative = result & 0x80 != 0;
        self.zero = result == 0;
    }
}
