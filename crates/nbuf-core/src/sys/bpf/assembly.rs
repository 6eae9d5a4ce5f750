//! A program as it is written: instructions, and jumps to places that have names.

use std::collections::HashMap;

use super::Instruction;
use super::code::{
    ADD_NUMBER, CALL, EXIT, JUMP, LOAD, LOAD_HALF, MOVE, MOVE_NUMBER, STORE, constant, instruction,
    map,
};

/// The registers that calls leave alone, and the end of the stack.
pub(crate) const STACK: u8 = 10;

/// A program under way.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    code: Vec<Instruction>,
    places: HashMap<&'static str, usize>,
    jumps: Vec<(usize, &'static str)>,
}

impl Assembly {
    /// Any instruction.
    pub(crate) fn put(&mut self, code: u8, to: u8, from: u8, offset: i16, immediate: i32) {
        self.code.push(instruction(code, to, from, offset, immediate));
    }

    /// Several.
    pub(crate) fn extend(&mut self, code: impl IntoIterator<Item = Instruction>) {
        self.code.extend(code);
    }

    /// A register gets the value of another.
    pub(crate) fn copy(&mut self, to: u8, from: u8) {
        self.put(MOVE, to, from, 0, 0);
    }

    /// A register gets a number.
    pub(crate) fn set(&mut self, to: u8, value: i32) {
        self.put(MOVE_NUMBER, to, 0, 0, value);
    }

    /// A register gets a number of eight bytes.
    pub(crate) fn set_long(&mut self, to: u8, value: u64) {
        self.extend(constant(to, value));
    }

    /// A register and a number: one of the codes that take both.
    pub(crate) fn with_number(&mut self, code: u8, to: u8, value: i32) {
        self.put(code, to, 0, 0, value);
    }

    /// Two registers: one of the codes that take both.
    pub(crate) fn with(&mut self, code: u8, to: u8, from: u8) {
        self.put(code, to, from, 0, 0);
    }

    /// Loads eight bytes.
    pub(crate) fn load(&mut self, to: u8, from: u8, offset: i16) {
        self.put(LOAD, to, from, offset, 0);
    }

    /// Loads four bytes.
    pub(crate) fn load_half(&mut self, to: u8, from: u8, offset: i16) {
        self.put(LOAD_HALF, to, from, offset, 0);
    }

    /// Stores eight bytes.
    pub(crate) fn store(&mut self, to: u8, offset: i16, from: u8) {
        self.put(STORE, to, from, offset, 0);
    }

    /// The address of a place on the stack.
    pub(crate) fn on_stack(&mut self, to: u8, offset: i16) {
        self.copy(to, STACK);
        self.with_number(ADD_NUMBER, to, offset.into());
    }

    /// The map with this number.
    pub(crate) fn map(&mut self, to: u8, number: i32) {
        self.extend(map(to, number));
    }

    /// Calls one of the kernel's helpers. It leaves registers 6 to 9 alone, and answers in 0.
    pub(crate) fn call(&mut self, helper: i32) {
        self.put(CALL, 0, 0, 0, helper);
    }

    /// Jumps by one of the codes that compare a register with a number.
    pub(crate) fn jump_if(&mut self, code: u8, register: u8, value: i32, to: &'static str) {
        self.jumps.push((self.code.len(), to));
        self.put(code, register, 0, 0, value);
    }

    /// Jumps by one of the codes that compare two registers.
    pub(crate) fn jump_by(&mut self, code: u8, register: u8, other: u8, to: &'static str) {
        self.jumps.push((self.code.len(), to));
        self.put(code, register, other, 0, 0);
    }

    /// Jumps.
    pub(crate) fn jump(&mut self, to: &'static str) {
        self.jump_if(JUMP, 0, 0, to);
    }

    /// Names the next instruction.
    pub(crate) fn place(&mut self, name: &'static str) {
        self.places.insert(name, self.code.len());
    }

    /// Ends the program at the place `out`; nothing of one that jumps too far, or nowhere.
    pub(crate) fn finish(mut self) -> Option<Vec<Instruction>> {
        self.place("out");
        self.set(0, 0);
        self.put(EXIT, 0, 0, 0, 0);
        for &(at, to) in &self.jumps {
            let to = i16::try_from(*self.places.get(to)?).ok()?;
            self.code[at].offset = to.checked_sub(i16::try_from(at + 1).ok()?)?;
        }
        Some(self.code)
    }
}

#[cfg(test)]
mod tests {
    use super::super::code::JUMP_IF_EQUAL;
    use super::*;

    #[test]
    fn jumps_lead_to_their_places() {
        let mut program = Assembly::default();
        program.place("again");
        program.set(0, 1);
        program.jump_if(JUMP_IF_EQUAL, 0, 2, "out");
        program.jump("again");
        let offsets: Vec<i16> =
            program.finish().unwrap().iter().map(|instruction| instruction.offset).collect();
        assert_eq!(offsets, [0, 1, -3, 0, 0]);
        let mut program = Assembly::default();
        program.jump("nowhere");
        assert!(program.finish().is_none());
    }
}
