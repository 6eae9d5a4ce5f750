//! Byte instructions. They work like word instructions, except that MOVB into a register extends
//! the sign.

use super::Abort;
use super::operand::Place;
use crate::machine::Pdp11;

type Done = Result<(), Abort>;

impl Pdp11 {
    pub(super) fn movb(&mut self, ir: u16) -> Done {
        let (from, to) = ((ir >> 6) & 0o77, ir & 0o77);
        if to < 8 {
            let (value, _) = self.byte_at(from)?;
            self.byte_moved(value);
            self.cpu.registers[usize::from(to)] = i16::from(value.cast_signed()).cast_unsigned();
            return Ok(());
        }
        let (value, address);
        if from < 8 {
            address = self.byte_address(to)?;
            value = self.cpu.registers[usize::from(from)].to_le_bytes()[0];
        } else {
            value = self.byte_at(from)?.0;
            address = self.byte_address(to)?;
        }
        self.byte_moved(value);
        self.write_byte(address, value)
    }

    fn byte_moved(&mut self, value: u8) {
        self.cpu.set_nz_byte(value);
        self.cpu.overflow = false;
    }

    pub(super) fn cmpb(&mut self, ir: u16) -> Done {
        let (source, destination, _) = self.bytes(ir)?;
        let result = source.wrapping_sub(destination);
        self.cpu.set_nz_byte(result);
        self.cpu.overflow = (source ^ destination) & (!destination ^ result) & 0x80 != 0;
        self.cpu.carry = source < destination;
        Ok(())
    }

    pub(super) fn bitb(&mut self, ir: u16) -> Done {
        let (source, destination, _) = self.bytes(ir)?;
        self.byte_moved(source & destination);
        Ok(())
    }

    pub(super) fn bicb(&mut self, ir: u16) -> Done {
        let (source, destination, place) = self.bytes(ir)?;
        self.byte_moved(destination & !source);
        self.put_byte(place, destination & !source)
    }

    pub(super) fn bisb(&mut self, ir: u16) -> Done {
        let (source, destination, place) = self.bytes(ir)?;
        self.byte_moved(destination | source);
        self.put_byte(place, destination | source)
    }

    pub(super) fn clrb(&mut self, ir: u16) -> Done {
        self.byte_moved(0);
        self.cpu.carry = false;
        let to = ir & 0o77;
        let place = if to < 8 {
            Place::Register(usize::from(to))
        } else {
            Place::Address(self.byte_address(to)?)
        };
        self.put_byte(place, 0)
    }

    pub(super) fn tstb(&mut self, ir: u16) -> Done {
        let (value, _) = self.byte_at(ir)?;
        self.byte_moved(value);
        self.cpu.carry = false;
        Ok(())
    }

    /// Reads a byte, applies `work` with the carry, and writes it. `work` returns the result, V and
    /// C.
    #[inline]
    fn change_byte(&mut self, ir: u16, work: impl Fn(u8, bool) -> (u8, bool, bool)) -> Done {
        let (value, place) = self.byte_at(ir)?;
        let (result, overflow, carry) = work(value, self.cpu.carry);
        self.cpu.set_nz_byte(result);
        self.cpu.overflow = overflow;
        self.cpu.carry = carry;
        self.put_byte(place, result)
    }

    pub(super) fn comb(&mut self, ir: u16) -> Done {
        self.change_byte(ir, |value, _| (!value, false, true))
    }

    pub(super) fn incb(&mut self, ir: u16) -> Done {
        self.change_byte(ir, |value, carry| (value.wrapping_add(1), value == 0x7f, carry))
    }

    pub(super) fn decb(&mut self, ir: u16) -> Done {
        self.change_byte(ir, |value, carry| (value.wrapping_sub(1), value == 0x80, carry))
    }

    pub(super) fn negb(&mut self, ir: u16) -> Done {
        self.change_byte(ir, |value, _| (value.wrapping_neg(), value == 0x80, value != 0))
    }

    pub(super) fn adcb(&mut self, ir: u16) -> Done {
        self.change_byte(ir, |value, carry| {
            let result = value.wrapping_add(u8::from(carry));
            (result, carry && result == 0x80, carry && result == 0)
        })
    }

    pub(super) fn sbcb(&mut self, ir: u16) -> Done {
        self.change_byte(ir, |value, carry| {
            let result = value.wrapping_sub(u8::from(carry));
            (result, carry && result == 0x7f, carry && result == 0xff)
        })
    }

    pub(super) fn rorb(&mut self, ir: u16) -> Done {
        self.change_byte(ir, |value, c| shifted(value >> 1 | u8::from(c) << 7, value & 1 != 0))
    }

    pub(super) fn rolb(&mut self, ir: u16) -> Done {
        self.change_byte(ir, |value, c| shifted(value << 1 | u8::from(c), value & 0x80 != 0))
    }

    pub(super) fn asrb(&mut self, ir: u16) -> Done {
        self.change_byte(ir, |value, _| shifted(value >> 1 | value & 0x80, value & 1 != 0))
    }

    pub(super) fn aslb(&mut self, ir: u16) -> Done {
        self.change_byte(ir, |value, _| shifted(value << 1, value & 0x80 != 0))
    }
}

/// After a shift, V is set if N and C differ.
#[inline]
fn shifted(result: u8, carry: bool) -> (u8, bool, bool) {
    (result, (result & 0x80 != 0) != carry, carry)
}
