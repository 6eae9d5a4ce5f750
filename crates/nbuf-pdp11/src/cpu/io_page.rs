//! Addresses without core: the registers of the devices, the status word, and absent ones.

use super::Abort;
use crate::bus::STATUS;
use crate::device::Write;
use crate::machine::Pdp11;
use crate::memory::IO_PAGE;

impl Pdp11 {
    #[cold]
    pub(crate) fn read_word_elsewhere(&mut self, address: u16) -> Result<u16, Abort> {
        if address & 1 != 0 {
            return Err(Abort::Odd);
        }
        self.read_register(address)
    }

    fn read_register(&mut self, address: u16) -> Result<u16, Abort> {
        if address < IO_PAGE {
            return Err(Abort::Absent);
        }
        self.attend_at = 0;
        if address == STATUS {
            return Ok(self.cpu.status());
        }
        self.bus.read(self.now, address).map_err(|_| Abort::Absent)
    }

    #[cold]
    pub(crate) fn read_byte_elsewhere(&mut self, address: u16) -> Result<u8, Abort> {
        let word = self.read_register(address & !1)?;
        Ok(word.to_le_bytes()[usize::from(address & 1)])
    }

    #[cold]
    pub(crate) fn write_word_elsewhere(&mut self, address: u16, value: u16) -> Result<(), Abort> {
        if address & 1 != 0 {
            return Err(Abort::Odd);
        }
        self.write_register(address, Write::Word(value))
    }

    #[cold]
    pub(crate) fn write_byte_elsewhere(&mut self, address: u16, value: u8) -> Result<(), Abort> {
        let write = if address & 1 == 0 { Write::Low(value) } else { Write::High(value) };
        self.write_register(address & !1, write)
    }

    fn write_register(&mut self, address: u16, write: Write) -> Result<(), Abort> {
        if address < IO_PAGE {
            return Err(Abort::Absent);
        }
        self.attend_at = 0;
        if address == STATUS {
            self.write_status(write.over(self.cpu.status()));
            return Ok(());
        }
        self.bus.write(self.now, address, write, &self.memory).map_err(|_| Abort::Absent)
    }
}
