//! Control instructions: branches, jumps, traps, and the processor's own.

use super::{Abort, PC, SP, Traps};
use crate::machine::Pdp11;

type Done = Result<(), Abort>;

impl Pdp11 {
    /// Moves the program counter by the words in the low byte, if the branch is taken.
    #[inline]
    pub(super) fn branch(&mut self, ir: u16, is_taken: bool) {
        if is_taken {
            let words = i16::from(ir.to_le_bytes()[0].cast_signed());
            self.cpu.registers[PC] = self.cpu.registers[PC].wrapping_add_signed(words * 2);
            self.now += self.branch_taken_ticks;
        }
    }

    /// The target of a jump. With `(R)+`, the register counts after its increment.
    fn jump_target(&mut self, specifier: u16) -> Result<u16, Abort> {
        let address = self.word_address(specifier)?;
        let is_autoincrement = specifier & 0o70 == 0o20;
        let register = self.cpu.registers[usize::from(specifier & 7)];
        Ok(if is_autoincrement { register } else { address })
    }

    pub(super) fn jmp(&mut self, ir: u16) -> Done {
        let specifier = ir & 0o77;
        if specifier < 8 {
            self.raise(Traps::JUMP);
            return Ok(());
        }
        self.cpu.registers[PC] = self.jump_target(specifier)?;
        Ok(())
    }

    pub(super) fn jsr(&mut self, ir: u16) -> Done {
        let (specifier, link) = (ir & 0o77, usize::from((ir >> 6) & 7));
        if specifier < 8 {
            self.raise(Traps::JUMP);
            return Ok(());
        }
        let target = self.jump_target(specifier)?;
        let stack = self.cpu.registers[SP].wrapping_sub(2);
        self.cpu.registers[SP] = stack;
        self.write_word(stack, self.cpu.registers[link])?;
        self.watch_stack(SP, stack);
        self.cpu.registers[link] = self.cpu.registers[PC];
        self.cpu.registers[PC] = target;
        Ok(())
    }

    pub(super) fn rts(&mut self, ir: u16) -> Done {
        let link = usize::from(ir & 7);
        self.cpu.registers[PC] = self.cpu.registers[link];
        let stack = self.cpu.registers[SP];
        self.cpu.registers[link] = self.read_word(stack)?;
        if link != SP {
            self.cpu.registers[SP] = self.cpu.registers[SP].wrapping_add(2);
        }
        Ok(())
    }

    pub(super) fn rti(&mut self) -> Done {
        let stack = self.cpu.registers[SP];
        let counter = self.read_word(stack)?;
        let status = self.read_word(stack.wrapping_add(2))?;
        self.cpu.registers[SP] = stack.wrapping_add(4);
        self.cpu.registers[PC] = counter;
        self.write_status(status);
        Ok(())
    }

    /// Sets or clears condition codes.
    pub(super) fn codes(&mut self, ir: u16) {
        let value = ir & 0o20 != 0;
        if ir & 0o10 != 0 {
            self.cpu.negative = value;
        }
        if ir & 4 != 0 {
            self.cpu.zero = value;
        }
        if ir & 2 != 0 {
            self.cpu.overflow = value;
        }
        if ir & 1 != 0 {
            self.cpu.carry = value;
        }
    }

    pub(super) fn wait(&mut self) {
        self.cpu.waits = true;
        self.attend_at = 0;
    }

    pub(super) fn reset(&mut self) {
        self.bus.reset(self.now);
        self.look_for_requests();
    }
}
