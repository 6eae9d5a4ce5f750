//! The RK11, the controller of one pack: commands, errors, seeks.
//!
//! Registers: RKDS drive, RKER errors, RKCS status, RKWC word count (negative), RKBA memory, RKDA
//! place (drive, cylinder, surface, sector). Only drive 0 exists. Reading and writing headers is
//! not modelled and counts as a programming error. DEC, *PDP-11 Peripherals Handbook* (1972), RK11.

use super::pack::{CYLINDERS, PACK_BYTES, SECTOR_BYTES, SECTORS, SURFACES};
use super::transfer::{Store, Transfer};
use super::{DONE, ENABLE, GO, Write, low};
use crate::memory::Memory;

const CS_ERROR: u16 = 0o100_000;
const CS_HARD_ERROR: u16 = 0o040_000;
const CS_SEEK_DONE: u16 = 0o020_000;
const CS_FIXED: u16 = 0o004_000;
const CS_FORMAT: u16 = 0o002_000;
const CS_MEMORY: u16 = 0o60;
const CS_KEPT: u16 = 0o026_776;
const CS_WRITABLE: u16 = 0o006_576;

const ER_CHECK: u16 = 0o1;
const ER_SECTOR: u16 = 0o40;
const ER_CYLINDER: u16 = 0o100;
const ER_NO_DRIVE: u16 = 0o200;
const ER_NO_MEMORY: u16 = 0o2000;
const ER_PROGRAM: u16 = 0o4000;
const ER_LOCKED: u16 = 0o20_000;
const ER_OVERRUN: u16 = 0o40_000;
const ER_DRIVE: u16 = 0o100_000;
const ER_SOFT: u16 = 0o3;

/// An RK05 that is ready, and whose sector counter is valid.
const DS_READY: u16 = 0o4000 | 0o400 | 0o200;
const DS_ARM_STILL: u16 = 0o100;
const DS_LOCKED: u16 = 0o40;
const DS_ON_SECTOR: u16 = 0o20;

const CONTROL_RESET: u16 = 0;
const WRITE: u16 = 1;
const READ: u16 = 2;
const CHECK: u16 = 3;
const SEEK: u16 = 4;
const DRIVE_RESET: u16 = 6;
const LOCK: u16 = 7;

/// The registers of the controller, and its pack.
#[derive(Clone, Debug)]
pub struct Rk11 {
    status: u16,
    errors: u16,
    word_count: u16,
    memory_address: u16,
    place: u16,
    function: u16,
    is_locked: bool,
    /// Whether a completed command has not interrupted yet.
    control_requests: bool,
    /// Whether a completed seek has not interrupted yet.
    seek_requests: bool,
    /// The pack, and the operation in progress.
    pub transfer: Transfer,
}

impl Rk11 {
    /// Makes a controller with this pack in drive 0.
    pub fn new(pack: Box<dyn Store>, tick_ns: u64) -> Self {
        Self {
            status: DONE,
            errors: 0,
            word_count: 0,
            memory_address: 0,
            place: 0,
            function: 0,
            is_locked: false,
            control_requests: false,
            seek_requests: false,
            transfer: Transfer::new(pack, tick_ns),
        }
    }

    /// Resets the registers; the pack keeps its contents.
    pub fn reset(&mut self) {
        self.transfer.cancel();
        self.status = DONE;
        self.clear_requests();
        (self.errors, self.word_count, self.memory_address) = (0, 0, 0);
        (self.place, self.function, self.is_locked) = (0, 0, false);
    }

    fn clear_requests(&mut self) {
        self.control_requests = false;
        self.seek_requests = false;
    }

    /// Whether the controller requests an interrupt.
    pub(crate) fn requests(&self) -> bool {
        self.control_requests || self.seek_requests && self.status & DONE != 0
    }

    /// Clears the granted request.
    pub(crate) fn acknowledge(&mut self) {
        if self.control_requests {
            self.control_requests = false;
        } else {
            self.seek_requests = false;
        }
    }

    fn sector(&self) -> u64 {
        u64::from(self.place & 0o17)
    }

    fn cylinder(&self) -> u64 {
        u64::from((self.place >> 5) & 0o377)
    }

    /// The first byte of the place on the pack.
    fn offset_bytes(&self) -> u64 {
        let track = u64::from((self.place >> 4) & 0o777);
        (track * SECTORS + self.sector()) * SECTOR_BYTES
    }

    fn bus_address(&self) -> u32 {
        u32::from(self.status & CS_MEMORY) << 12 | u32::from(self.memory_address)
    }

    /// The words still to move, and how many of them are on the pack.
    fn words(&self) -> (u32, u32) {
        let wanted = 0x1_0000 - u32::from(self.word_count);
        let left = PACK_BYTES.saturating_sub(self.offset_bytes()) / 2;
        (wanted, wanted.min(u32::try_from(left).unwrap_or(0)))
    }

    /// Reads the register at an offset of 0 to 16 octal.
    pub fn read(&mut self, now: u64, offset: u16) -> u16 {
        match offset & 0o16 {
            0o00 => {
                let [sector, ..] = (now / 1000 % SECTORS).to_le_bytes();
                let bit = |condition: bool, bit: u16| if condition { bit } else { 0 };
                DS_READY
                    | u16::from(sector)
                    | bit(!self.transfer.is_busy(), DS_ARM_STILL)
                    | bit(self.is_locked, DS_LOCKED)
                    | bit(u64::from(sector) == self.sector(), DS_ON_SECTOR)
            }
            0o02 => self.errors,
            0o04 => {
                self.status &= CS_KEPT;
                if self.errors != 0 {
                    self.status |= CS_ERROR;
                }
                if self.errors & !ER_SOFT != 0 {
                    self.status |= CS_HARD_ERROR;
                }
                self.status
            }
            0o06 => self.word_count,
            0o10 => self.memory_address,
            0o12 => self.place,
            _ => 0,
        }
    }

    /// Writes to the register at an offset of 0 to 16 octal.
    pub fn write(&mut self, now: u64, offset: u16, write: Write, memory: &Memory) {
        match offset & 0o16 {
            0o04 => self.command(now, write, memory),
            0o06 => self.word_count = write.over(self.word_count),
            0o10 => self.memory_address = write.over(self.memory_address) & !1,
            0o12 if self.status & DONE != 0 => self.place = write.over(self.place),
            _ => {}
        }
    }

    fn command(&mut self, now: u64, write: Write, memory: &Memory) {
        self.status &= CS_KEPT;
        let word = write.over(self.status);
        if word & ENABLE == 0 {
            self.clear_requests();
        } else if self.status & (DONE | ENABLE) == DONE {
            self.control_requests = true;
        }
        self.status = self.status & !CS_WRITABLE | word & CS_WRITABLE;
        if self.status & DONE != 0 && word & GO != 0 {
            self.go((self.status >> 1) & 7, now, memory);
        }
    }

    fn go(&mut self, function: u16, now: u64, memory: &Memory) {
        if function == CONTROL_RESET {
            self.clear_requests();
            self.status = DONE;
            (self.errors, self.place, self.memory_address) = (0, 0, 0);
            return;
        }
        self.errors &= !ER_SOFT;
        self.status &= !(CS_SEEK_DONE | DONE);
        self.control_requests = false;
        if let Some(error) = self.refusal(function) {
            return self.done(error);
        }
        match function {
            LOCK => {
                self.is_locked = true;
                self.done(0);
            }
            SEEK | DRIVE_RESET => {
                let cylinder = if function == SEEK { self.cylinder() } else { 0 };
                self.is_locked &= function == SEEK;
                self.function = SEEK;
                self.done(0);
                let cylinder_bytes = SURFACES * SECTORS * SECTOR_BYTES;
                self.transfer.begin(now, cylinder * cylinder_bytes, 0, None);
            }
            _ => {
                self.function = function;
                let (_, words) = self.words();
                let is_fixed = self.status & CS_FIXED != 0;
                let data = (function == WRITE).then(|| {
                    let mut data = memory.gather(self.bus_address(), words, is_fixed);
                    // The rest of the last sector becomes zero.
                    let sectors = data.len().div_ceil(512);
                    data.resize(sectors * 512, 0);
                    data
                });
                self.transfer.begin(now, self.offset_bytes(), words * 2, data);
            }
        }
    }

    /// The error bits of a command that cannot start.
    fn refusal(&self, function: u16) -> Option<u16> {
        let seeks_home = function == DRIVE_RESET;
        [
            (self.place >> 13 != 0, ER_NO_DRIVE),
            (self.transfer.is_busy(), ER_DRIVE),
            (self.status & CS_FORMAT != 0, ER_PROGRAM),
            (function == WRITE && self.is_locked, ER_LOCKED),
            (!seeks_home && self.sector() >= SECTORS, ER_SECTOR),
            (!seeks_home && self.cylinder() >= CYLINDERS, ER_CYLINDER),
        ]
        .into_iter()
        .find_map(|(is_so, error)| is_so.then_some(error))
    }

    fn done(&mut self, error: u16) {
        self.errors |= error;
        self.status |= DONE;
        self.control_requests = self.status & ENABLE != 0;
    }

    /// Completes the operation. Returns the number of words moved through memory.
    pub fn service(&mut self, memory: &mut Memory) -> u32 {
        let data = self.transfer.finish().unwrap_or_default();
        if self.function == SEEK {
            self.status |= CS_SEEK_DONE;
            self.seek_requests = self.status & ENABLE != 0;
            return 0;
        }
        let (wanted, on_pack) = self.words();
        if wanted > on_pack {
            self.errors |= ER_OVERRUN;
        }
        let is_fixed = self.status & CS_FIXED != 0;
        let address = self.bus_address();
        let held = |memory: &Memory| memory.gather(address, on_pack, is_fixed);
        let count = |bytes: usize| u32::try_from(bytes / 2).unwrap_or(0);
        let moved = match self.function {
            READ => memory.scatter(address, &data, is_fixed),
            WRITE => count(held(memory).len()),
            CHECK => {
                let held = held(memory);
                if held.iter().ne(data.iter().take(held.len())) {
                    self.errors |= ER_CHECK;
                }
                count(held.len())
            }
            _ => on_pack,
        };
        if moved < on_pack {
            self.errors |= ER_NO_MEMORY;
        }
        self.go_on(moved, is_fixed);
        self.done(0);
        moved
    }

    /// Advances the registers past the moved words.
    fn go_on(&mut self, words: u32, is_fixed: bool) {
        let address = self.bus_address() + if is_fixed { 0 } else { words * 2 };
        self.word_count = self.word_count.wrapping_add(low(words));
        self.memory_address = low(address);
        self.status = self.status & !CS_MEMORY | low(address >> 12) & CS_MEMORY;
        let sector = self.offset_bytes() / SECTOR_BYTES + u64::from(words.div_ceil(256));
        let place = ((sector / SECTORS) << 4) | (sector % SECTORS);
        let [a, b, ..] = place.to_le_bytes();
        self.place = u16::from_le_bytes([a, b]) & 0o17_777;
    }
}
