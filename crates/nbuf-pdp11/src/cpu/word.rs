//! Word instructions. They set the condition codes before they write the result, so that a result
//! written to the status word stays there.

use super::Abort;
use super::operand::Place;
use crate::machine::Pdp11;

type Done = Result<(), Abort>;

impl Pdp11 {
    pub(super) fn mov(&mut self, ir: u16) -> Done {
        let (from, to) = ((ir >> 6) & 0o77, ir & 0o77);
        let (value, place);
        if to < 8 {
            value = self.word_at(from)?.0;
            place = Place::Register(usize::from(to));
        } else if from < 8 {
            // The address comes first, because it may change the register that is the source.
            place = Place::Address(self.word_address(to)?);
            value = self.cpu.registers[usize::from(from)];
        } else {
            value = self.word_at(from)?.0;
            place = Place::Address(self.word_address(to)?);
        }
        self.cpu.set_nz(value);
        self.cpu.overflow = false;
        self.put_word(place, value)
    }

    pub(super) fn cmp(&mut self, ir: u16) -> Done {
        let (source, destination, _) = self.words(ir)?;
        let result = source.wrapping_sub(destination);
        self.cpu.set_nz(result);
        self.cpu.overflow = (source ^ destination) & (!destination ^ result) & 0x8000 != 0;
        self.cpu.carry = source < destination;
        Ok(())
    }

    pub(super) fn bit(&mut self, ir: u16) -> Done {
        let (source, destination, _) = self.words(ir)?;
        self.cpu.set_nz(source & destination);
        self.cpu.overflow = false;
        Ok(())
    }

    pub(super) fn bic(&mut self, ir: u16) -> Done {
        let (source, destination, place) = self.words(ir)?;
        self.logical(destination & !source, place)
    }

    pub(super) fn bis(&mut self, ir: u16) -> Done {
        let (source, destination, place) = self.words(ir)?;
        self.logical(destination | source, place)
    }

    fn logical(&mut self, result: u16, place: Place) -> Done {
        self.cpu.set_nz(result);
        self.cpu.overflow = false;
        self.put_word(place, result)
    }

    pub(super) fn add(&mut self, ir: u16) -> Done {
        let (source, destination, place) = self.words(ir)?;
        let (result, carry) = destination.overflowing_add(source);
        self.cpu.set_nz(result);
        self.cpu.overflow = (!source ^ destination) & (source ^ result) & 0x8000 != 0;
        self.cpu.carry = carry;
        self.put_word(place, result)
    }

    pub(super) fn sub(&mut self, ir: u16) -> Done {
        let (source, destination, place) = self.words(ir)?;
        let (result, borrow) = destination.overflowing_sub(source);
        self.cpu.set_nz(result);
        self.cpu.overflow = (source ^ destination) & (!source ^ result) & 0x8000 != 0;
        self.cpu.carry = borrow;
        self.put_word(place, result)
    }

    pub(super) fn clr(&mut self, ir: u16) -> Done {
        self.cpu.set_nz(0);
        self.cpu.overflow = false;
        self.cpu.carry = false;
        let to = ir & 0o77;
        let place = if to < 8 {
            Place::Register(usize::from(to))
        } else {
            Place::Address(self.word_address(to)?)
        };
        self.put_word(place, 0)
    }

    pub(super) fn tst(&mut self, ir: u16) -> Done {
        let (value, _) = self.word_at(ir)?;
        self.cpu.set_nz(value);
        self.cpu.overflow = false;
        self.cpu.carry = false;
        Ok(())
    }

    /// Reads a word, applies `work` with the carry, and writes it. `work` returns the result, V and
    /// C.
    #[inline]
    fn change(&mut self, ir: u16, work: impl Fn(u16, bool) -> (u16, bool, bool)) -> Done {
        let (value, place) = self.word_at(ir)?;
        let (result, overflow, carry) = work(value, self.cpu.carry);
        self.cpu.set_nz(result);
        self.cpu.overflow = overflow;
        self.cpu.carry = carry;
        self.put_word(place, result)
    }

    pub(super) fn com(&mut self, ir: u16) -> Done {
        self.change(ir, |value, _| (!value, false, true))
    }

    pub(super) fn inc(&mut self, ir: u16) -> Done {
        self.change(ir, |value, carry| (value.wrapping_add(1), value == 0x7fff, carry))
    }

    pub(super) fn dec(&mut self, ir: u16) -> Done {
        self.change(ir, |value, carry| (value.wrapping_sub(1), value == 0x8000, carry))
    }

    pub(super) fn neg(&mut self, ir: u16) -> Done {
        self.change(ir, |value, _| (value.wrapping_neg(), value == 0x8000, value != 0))
    }

    pub(super) fn adc(&mut self, ir: u16) -> Done {
        self.change(ir, |value, carry| {
            let result = value.wrapping_add(u16::from(carry));
            (result, carry && result == 0x8000, carry && result == 0)
        })
    }

    pub(super) fn sbc(&mut self, ir: u16) -> Done {
        self.change(ir, |value, carry| {
            let result = value.wrapping_sub(u16::from(carry));
            (result, carry && result == 0x7fff, carry && result == 0xffff)
        })
    }

    pub(super) fn ror(&mut self, ir: u16) -> Done {
        self.change(ir, |value, carry| shifted(value >> 1 | u16::from(carry) << 15, value & 1 != 0))
    }

    pub(super) fn rol(&mut self, ir: u16) -> Done {
        self.change(ir, |value, carry| shifted(value << 1 | u16::from(carry), value & 0x8000 != 0))
    }

    pub(super) fn asr(&mut self, ir: u16) -> Done {
        self.change(ir, |value, _| shifted(value >> 1 | value & 0x8000, value & 1 != 0))
    }

    pub(super) fn asl(&mut self, ir: u16) -> Done {
        self.change(ir, |value, _| shifted(value << 1, value & 0x8000 != 0))
    }

    /// Swaps the bytes and sets the codes from the new low byte. It leaves V alone; later models
    /// clear it.
    pub(super) fn swab(&mut self, ir: u16) -> Done {
        let (value, place) = self.word_at(ir)?;
        let result = value.swap_bytes();
        self.cpu.set_nz_byte(result.to_le_bytes()[0]);
        self.cpu.carry = false;
        self.put_word(place, result)
    }
}

/// After a shift, V is set if N and C differ.
#[inline]
fn shifted(result: u16, carry: bool) -> (u16, bool, bool) {
    (result, (result & 0x8000 != 0) != carry, carry)
}
