//! The Unibus: the address of each device register, and the priority of each interrupt.
//!
//! **Invariant:** addresses, vectors and priorities are defined only here.

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

/// The address of the processor's status.
pub const STATUS: u16 = 0o177_776;

/// The clock's vector.
pub const CLOCK_VECTOR: u16 = 0o100;
/// The drum's vector.
pub const DRUM_VECTOR: u16 = 0o204;
/// The pack's vector.
pub const PACK_VECTOR: u16 = 0o220;
/// The keyboard's vector.
pub const KEYBOARD_VECTOR: u16 = 0o60;
/// The printer's vector.
pub const PRINTER_VECTOR: u16 = 0o64;
/// The vector of the first line's receiver. Those of its transmitter and of the other lines follow.
pub const LINES_VECTOR: u16 = 0o300;

/// Bytes of a drum of one platter: 262,144 words.
pub const DRUM_BYTES: usize = 524_288;

/// The devices of a machine.
#[derive(Clone, Debug)]
pub struct Bus {
    /// The extended arithmetic element.
    pub arithmetic: Ke11,
    /// The drum's controller.
    pub drum: Rf11,
    /// The pack's controller.
    pub pack: Rk11,
    /// The console.
    pub console: Kl11,
    /// The serial lines.
    pub lines: Dc11,
    /// The clock.
    pub clock: Kw11,
    /// The value of the panel's switches.
    pub switches: u16,
    /// The number of register accesses by the processor, including absent registers.
    pub accesses: u64,
}

/// No device answers at the address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Silence;

impl Bus {
    /// Makes devices with these images on their discs.
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
            accesses: 0,
        }
    }

    /// Resets the devices, as the `RESET` instruction does.
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
        self.accesses += 1;
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
        self.accesses += 1;
        match address {
            KE11..=0o177_316 => self.arithmetic.write(address - KE11, write),
            RK11..=0o177_416 => self.pack.write(now, address - RK11, write, memory),
            RF11..=0o177_476 => self.drum.write(now, address - RF11, write, memory),
            KW11 => self.clock.write(write),
            KL11..=0o177_566 => self.console.write(now, address - KL11, write),
            // The lamps of the panel are not modelled.
            SWITCHES => {}
            LINES.. if address - LINES < dc11::BYTES => {
                self.lines.write(now, address - LINES, write);
            }
            _ => return Err(Silence),
        }
        Ok(())
    }

    /// The time of the next event.
    pub fn due(&self) -> u64 {
        let discs = self.drum.transfer.due().min(self.pack.transfer.due());
        discs.min(self.console.due()).min(self.lines.due()).min(self.clock.due())
    }

    /// Processes all due events. Returns the number of words that went through memory.
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

    /// Whether a disc command is in progress or waits.
    pub fn a_disc_is_busy(&self) -> bool {
        self.drum.transfer.is_busy() || self.pack.transfer.is_busy()
    }

    /// Grants the most urgent request above a priority and returns its vector. The priorities are 6
    /// for the clock; 5 for pack, drum, then lines; 4 for keyboard, then printer.
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
