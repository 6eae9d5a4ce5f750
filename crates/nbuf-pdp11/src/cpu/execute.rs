//! Executes one instruction.

use super::decode::Operation as O;
use super::{Abort, Cpu, Traps};
use crate::machine::{Pdp11, Stop};

impl Pdp11 {
    /// Executes an operation. Returns a value only if the machine stops.
    #[inline]
    pub(crate) fn execute(&mut self, operation: O, ir: u16) -> Result<Option<Stop>, Abort> {
        match operation {
            O::Halt => return Ok(Some(Stop::Halt)),
            O::Rti => self.rti(),
            O::Jmp => self.jmp(ir),
            O::Rts => self.rts(ir),
            O::Swab => self.swab(ir),
            O::Jsr => self.jsr(ir),
            O::Clr => self.clr(ir),
            O::Com => self.com(ir),
            O::Inc => self.inc(ir),
            O::Dec => self.dec(ir),
            O::Neg => self.neg(ir),
            O::Adc => self.adc(ir),
            O::Sbc => self.sbc(ir),
            O::Tst => self.tst(ir),
            O::Ror => self.ror(ir),
            O::Rol => self.rol(ir),
            O::Asr => self.asr(ir),
            O::Asl => self.asl(ir),
            O::Clrb => self.clrb(ir),
            O::Comb => self.comb(ir),
            O::Incb => self.incb(ir),
            O::Decb => self.decb(ir),
            O::Negb => self.negb(ir),
            O::Adcb => self.adcb(ir),
            O::Sbcb => self.sbcb(ir),
            O::Tstb => self.tstb(ir),
            O::Rorb => self.rorb(ir),
            O::Rolb => self.rolb(ir),
            O::Asrb => self.asrb(ir),
            O::Aslb => self.aslb(ir),
            O::Mov => self.mov(ir),
            O::Cmp => self.cmp(ir),
            O::Bit => self.bit(ir),
            O::Bic => self.bic(ir),
            O::Bis => self.bis(ir),
            O::Add => self.add(ir),
            O::Sub => self.sub(ir),
            O::Movb => self.movb(ir),
            O::Cmpb => self.cmpb(ir),
            O::Bitb => self.bitb(ir),
            O::Bicb => self.bicb(ir),
            O::Bisb => self.bisb(ir),
            _ => {
                self.control(operation, ir);
                Ok(())
            }
        }?;
        Ok(None)
    }

    /// Executes operations that need no memory and cannot fail.
    #[inline]
    fn control(&mut self, operation: O, ir: u16) {
        match operation {
            O::Bpt => self.raise(Traps::BREAKPOINT),
            O::Iot => self.raise(Traps::IOT),
            O::Emt => self.raise(Traps::EMT),
            O::Trap => self.raise(Traps::TRAP),
            O::Reserved => self.raise(Traps::RESERVED),
            O::Codes => self.codes(ir),
            O::Wait => self.wait(),
            O::Reset => self.reset(),
            _ => self.branch(ir, is_taken(&self.cpu, operation)),
        }
    }
}

/// Whether a branch is taken.
#[inline]
fn is_taken(c: &Cpu, operation: O) -> bool {
    match operation {
        O::Br => true,
        O::Bne => !c.zero,
        O::Beq => c.zero,
        O::Bge => c.negative == c.overflow,
        O::Blt => c.negative != c.overflow,
        O::Bgt => !c.zero && c.negative == c.overflow,
        O::Ble => c.zero || c.negative != c.overflow,
        O::Bpl => !c.negative,
        O::Bmi => c.negative,
        O::Bhi => !c.carry && !c.zero,
        O::Blos => c.carry || c.zero,
        O::Bvc => !c.overflow,
        O::Bvs => c.overflow,
        O::Bcc => !c.carry,
        O::Bcs => c.carry,
        _ => false,
    }
}
