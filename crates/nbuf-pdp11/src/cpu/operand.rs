//! The eight addressing modes, and access to memory and registers.
//!
//! Steps follow the order of the hardware. A register may change before its use, and an abort
//! leaves it changed.

use super::{Abort, PC, SP, STACK_LIMIT, Traps};
use crate::machine::Pdp11;

/// The destination of a result.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    Register(usize),
    Address(u16),
}

impl Pdp11 {
    #[inline]
    pub(crate) fn read_word(&mut self, address: u16) -> Result<u16, Abort> {
        match self.memory.word(address) {
            Some(word) => Ok(word),
            None => self.read_word_elsewhere(address),
        }
    }

    #[inline]
    pub(crate) fn write_word(&mut self, address: u16, value: u16) -> Result<(), Abort> {
        if self.memory.set_word(address, value) {
            return Ok(());
        }
        self.write_word_elsewhere(address, value)
    }

    #[inline]
    pub(super) fn read_byte(&mut self, address: u16) -> Result<u8, Abort> {
        // A byte at an odd address takes a little longer, because it must be shifted.
        self.now += u64::from(address & 1) * self.odd_byte_ticks;
        match self.memory.byte(address) {
            Some(byte) => Ok(byte),
            None => self.read_byte_elsewhere(address),
        }
    }

    #[inline]
    pub(super) fn write_byte(&mut self, address: u16, value: u8) -> Result<(), Abort> {
        self.now += u64::from(address & 1) * self.odd_byte_ticks;
        if self.memory.set_byte(address, value) {
            return Ok(());
        }
        self.write_byte_elsewhere(address, value)
    }

    /// Reads the word at the program counter and advances it.
    #[inline]
    pub(super) fn next_word(&mut self) -> Result<u16, Abort> {
        let at = self.cpu.registers[PC];
        let word = self.read_word(at)?;
        self.cpu.registers[PC] = at.wrapping_add(2);
        Ok(word)
    }

    /// The address for a specifier of six bits, never for a plain register. Modes 2 and 4 move the
    /// register by `step`.
    #[inline]
    fn address(&mut self, specifier: u16, step: u16) -> Result<u16, Abort> {
        let number = usize::from(specifier & 7);
        let register = self.cpu.registers[number];
        match (specifier >> 3) & 7 {
            2 => {
                self.cpu.registers[number] = register.wrapping_add(step);
                Ok(register)
            }
            3 => {
                self.cpu.registers[number] = register.wrapping_add(2);
                self.read_word(register)
            }
            4 => {
                let address = register.wrapping_sub(step);
                self.cpu.registers[number] = address;
                self.watch_stack(number, address);
                Ok(address)
            }
            5 => {
                let address = register.wrapping_sub(2);
                self.cpu.registers[number] = address;
                self.watch_stack(number, address);
                self.read_word(address)
            }
            6 => {
                let offset = self.next_word()?;
                Ok(self.cpu.registers[number].wrapping_add(offset))
            }
            7 => {
                let offset = self.next_word()?;
                let address = self.cpu.registers[number].wrapping_add(offset);
                self.read_word(address)
            }
            _ => Ok(register),
        }
    }

    /// The address of a word operand.
    #[inline]
    pub(super) fn word_address(&mut self, specifier: u16) -> Result<u16, Abort> {
        self.address(specifier, 2)
    }

    /// The address of a byte operand. The stack pointer and the program counter still move by
    /// words.
    #[inline]
    pub(super) fn byte_address(&mut self, specifier: u16) -> Result<u16, Abort> {
        self.address(specifier, if specifier & 6 == 6 { 2 } else { 1 })
    }

    /// Checks a move of the stack to `address`. Below the limit it traps after the instruction.
    #[inline]
    pub(super) fn watch_stack(&mut self, register: usize, address: u16) {
        if register == SP && address < STACK_LIMIT {
            self.raise(Traps::STACK);
        }
    }

    /// The word operand of a specifier, and its place.
    #[inline]
    pub(super) fn word_at(&mut self, specifier: u16) -> Result<(u16, Place), Abort> {
        let specifier = specifier & 0o77;
        if specifier < 8 {
            let number = usize::from(specifier);
            return Ok((self.cpu.registers[number], Place::Register(number)));
        }
        let address = self.word_address(specifier)?;
        Ok((self.read_word(address)?, Place::Address(address)))
    }

    /// The byte operand of a specifier, and its place.
    #[inline]
    pub(super) fn byte_at(&mut self, specifier: u16) -> Result<(u8, Place), Abort> {
        let specifier = specifier & 0o77;
        if specifier < 8 {
            let number = usize::from(specifier);
            return Ok((self.cpu.registers[number].to_le_bytes()[0], Place::Register(number)));
        }
        let address = self.byte_address(specifier)?;
        Ok((self.read_byte(address)?, Place::Address(address)))
    }

    #[inline]
    pub(super) fn put_word(&mut self, place: Place, value: u16) -> Result<(), Abort> {
        match place {
            Place::Register(number) => {
                self.cpu.registers[number & 7] = value;
                Ok(())
            }
            Place::Address(address) => self.write_word(address, value),
        }
    }

    /// Writes a byte; in a register only the low byte changes.
    #[inline]
    pub(super) fn put_byte(&mut self, place: Place, value: u8) -> Result<(), Abort> {
        match place {
            Place::Register(number) => {
                let register = &mut self.cpu.registers[number & 7];
                *register = (*register & 0xff00) | u16::from(value);
                Ok(())
            }
            Place::Address(address) => self.write_byte(address, value),
        }
    }

    /// The source and destination of a word instruction that reads both. A source in a register is
    /// read after the destination's address, which may have changed the register.
    #[inline]
    pub(super) fn words(&mut self, instruction: u16) -> Result<(u16, u16, Place), Abort> {
        let source = (instruction >> 6) & 0o77;
        if source < 8 {
            let (destination, place) = self.word_at(instruction)?;
            return Ok((self.cpu.registers[usize::from(source)], destination, place));
        }
        let (source, _) = self.word_at(source)?;
        let (destination, place) = self.word_at(instruction)?;
        Ok((source, destination, place))
    }

    /// The same for bytes.
    #[inline]
    pub(super) fn bytes(&mut self, instruction: u16) -> Result<(u8, u8, Place), Abort> {
        let source = (instruction >> 6) & 0o77;
        if source < 8 {
            let (destination, place) = self.byte_at(instruction)?;
            let source = self.cpu.registers[usize::from(source)].to_le_bytes()[0];
            return Ok((source, destination, place));
        }
        let (source, _) = self.byte_at(source)?;
        let (destination, place) = self.byte_at(instruction)?;
        Ok((source, destination, place))
    }
}
