//! The Unibus: which device answers at which address, and who may interrupt.
//!
//! **Invariant:** addresses, vectors and priorities stand here and nowhere else.

use crate::device::Write;
use crate::device::dc11::{self, Dc11};
use crate::device::drum::Drum;
use crate::device::ke11::Ke11;
use crate::device::kl11::Kl11;
use crate::device::kw11::Kw11;
use crate::device::pack::Pack;
use crate::device::rf11::Rf11;
use crate::device::rk11::Rk11;
use crate::memory::Memory;
use crate::timing::Timing;

const KE11: u16 = 0o177_300;
const RK11: u16 = 0o177_400;
const RF11: u16 = 0o177_460;
const KW11: u16 = 0o177_546;
const KL11: u16 = 0o177_560;
const SWITCHES: u16 = 0o177_570;
const LINES: u16 = 0o174_000;

/// Where the processor's status can be read and written.
pub const STATUS: u16 = 0o177_776;

/// Vector of the clock.
pub const CLOCK_VECTOR: u16 = 0o100;
/// Vector of the drum.
pub const DRUM_VECTOR: u16 = 0o204;
/// Vector of the pack.
pub const PACK_VECTOR: u16 = 0o220;
/// Vector of the keyboard.
pub const KEYBOARD_VECTOR: u16 = 0o60;
/// Vector of the printer.
pub const PRINTER_VECTOR: u16 = 0o64;
/// Vector of the first line's receiver; its transmitter's and those of the other lines come behind it.
pub const LINES_VECTOR: u16 = 0o300;

/// Bytes of a drum of one platter: 262,144 words.
pub const DRUM_BYTES: usize = 524_288;

/// The devices of a machine.
#[derive(Clone, Debug)]
pub struct Bus {
    /// Arithmetic.
    pub arithmetic: Ke11,
    /// The drum.
    pub drum: Rf11,
    /// The pack.
    pub pack: Rk11,
    /// The console.
    pub console: Kl11,
    /// The serial lines.
    pub lines: Dc11,
    /// The clock.
    pub clock: Kw11,
    /// What the switches of the panel say.
    pub switches: u16,
    /// How often the processor has asked for a register, be it there or not.
    pub asked: u64,
}

/// Nobody answers at the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Silence;

impl Bus {
    /// Devices with these images on their discs.
    pub fn new(timing: &Timing, drum: Vec<u8>, pack: Vec<u8>) -> Self {
        let drum = Drum::new(drum, DRUM_BYTES, timing.drum);
        let pack = Pack::new(pack, timing.pack);
        Self {
            arithmetic: Ke11::default(),
            drum: Rf11::new(Box::new(drum), timing.tick_ns),
            pack: Rk11::new(Box::new(pack), timing.tick_ns),
            console: Kl11::new(timing.key_ticks, timing.print_ticks),
            lines: Dc11::new(timing.line),
            clock: Kw11::new(timing.clock_ticks, timing.clock_first_ticks),
            switches: 0,
            asked: 0,
        }
    }

    /// What `RESET` does to the devices.
    pub fn reset(&mut self, now: u64) {
        self.arithmetic.reset();
        self.drum.reset();
        self.pack.reset();
        self.console.reset(now);
        self.lines.reset();
        self.clock.reset();
    }

    /// Reads the register at an even address.
    pub fn read(&mut self, now: u64, address: u16) -> Result<u16, Silence> {
        self.asked += 1;
        Ok(match address {
            KE11..=0o177_316 => self.arithmetic.read(address - KE11),
            RK11..=0o177_416 => self.pack.read(now, address - RK11),
            RF11..=0o177_476 => self.drum.read(now, address - RF11),
            KW11 => self.clock.read(),
            KL11..=0o177_566 => self.console.read(now, address - KL11),
            SWITCHES => self.switches,
            LINES.. if address - LINES < dc11::BYTES => self.lines.read(now, address - LINES),
            _ => return Err(Silence),
        })
    }

    /// Writes to the register at an even address, or to a byte of it.
    pub fn write(
        &mut self,
        now: u64,
        address: u16,
        write: Write,
        memory: &Memory,
    ) -> Result<(), Silence> {
        self.asked += 1;
        match address {
            KE11..=0o177_316 => self.arithmetic.write(address - KE11, write),
            RK11..=0o177_416 => self.pack.write(now, address - RK11, write, memory),
            RF11..=0o177_476 => self.drum.write(now, address - RF11, write, memory),
            KW11 => self.clock.write(write),
            KL11..=0o177_566 => self.console.write(now, address - KL11, write),
            // The lamps of the panel, which nobody sees.
            SWITCHES => {}
            LINES.. if address - LINES < dc11::BYTES => {
                self.lines.write(now, address - LINES, write);
            }
            _ => return Err(Silence),
        }
        Ok(())
    }

    /// When something happens next.
    pub fn due(&self) -> u64 {
        let discs = self.drum.transfer.due().min(self.pack.transfer.due());
        discs.min(self.console.due()).min(self.lines.due()).min(self.clock.due())
    }

    /// Does all that is due. So many words went through memory.
    pub fn service(&mut self, now: u64, memory: &mut Memory) -> u32 {
        let mut words = 0;
        while self.clock.due() <= now {
            self.clock.service();
        }
        if self.console.due() <= now {
            self.console.service(now);
        }
        if self.lines.due() <= now {
            self.lines.service(now);
        }
        if self.drum.transfer.due() <= now {
            words += self.drum.service(memory);
        }
        if self.pack.transfer.due() <= now {
            words += self.pack.service(memory);
        }
        words
    }

    /// Whether a disc moves, or waits to.
    pub fn a_disc_is_busy(&self) -> bool {
        self.drum.transfer.is_busy() || self.pack.transfer.is_busy()
    }

    /// The vector of the most urgent request above a priority, which is heard with this. Clock 6;
    /// pack, drum, then lines, 5; keyboard, then printer, 4.
    pub fn interrupt(&mut self, priority: u8) -> Option<u16> {
        if priority < 6 && self.clock.requests {
            self.clock.requests = false;
            return Some(CLOCK_VECTOR);
        }
        if priority < 5 && self.pack.requests() {
            self.pack.acknowledge();
            return Some(PACK_VECTOR);
        }
        if priority < 5 && self.drum.requests {
            self.drum.requests = false;
            return Some(DRUM_VECTOR);
        }
        if priority < 5 && self.lines.requests {
            return self.lines.interrupt().map(|vector| LINES_VECTOR + vector);
        }
        if priority < 4 && self.console.keyboard_requests {
            self.console.keyboard_requests = false;
            return Some(KEYBOARD_VECTOR);
        }
        if priority < 4 && self.console.printer_requests {
            self.console.printer_requests = false;
            return Some(PRINTER_VECTOR);
        }
        None
    }
}
