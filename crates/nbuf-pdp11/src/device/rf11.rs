//! The RF11, the controller of the drum.
//!
//! Registers: RFCS status, RFWC word count (negative), RFCMA memory, RFDA and RFDAE place on the
//! drum in words, RFDBR buffer, RFMR maintenance, RFADS position of the drum. DEC, *PDP-11
//! Peripherals Handbook* (1972), RF11. Maintenance and the write-lock switches are absent.

use super::transfer::{Store, Transfer};
use super::{DONE, ENABLE, GO, Write, low};
use crate::memory::Memory;

const CS_ERROR: u16 = 0o100_000;
const CS_FREEZE: u16 = 0o040_000;
const CS_CHECK: u16 = 0o020_000;
const CS_NO_DRUM: u16 = 0o004_000;
const CS_ERRORS: u16 = 0o077_000;
const CS_CLEAR: u16 = 0o000_400;
const CS_MEMORY: u16 = 0o60;
const CS_FUNCTION: u16 = 0o6;
const CS_WRITABLE: u16 = ENABLE | CS_MEMORY | CS_FUNCTION;

const DAE_ERRORS: u16 = 0o176_000;
const DAE_NO_MEMORY: u16 = 0o002_000;
const DAE_FIXED: u16 = 0o000_400;
const DAE_PLACE: u16 = 0o77;
const DAE_WRITABLE: u16 = 0o000_677;
const DAE_READABLE: u16 = 0o176_677;

const WRITE: u16 = 2;
const READ: u16 = 4;
const CHECK: u16 = 6;

/// The registers of the controller, and its drum.
#[derive(Clone, Debug)]
pub struct Rf11 {
    status: u16,
    word_count: u16,
    memory_address: u16,
    place: u16,
    extension: u16,
    buffer: u16,
    function: u16,
    /// Whether the controller requests an interrupt.
    pub(crate) requests: bool,
    /// The drum, and the operation in progress.
    pub transfer: Transfer,
}

impl Rf11 {
    /// Makes a controller with this drum.
    pub fn new(drum: Box<dyn Store>, tick_ns: u64) -> Self {
        Self {
            status: DONE,
            word_count: 0,
            memory_address: 0,
            place: 0,
            extension: 0,
            buffer: 0,
            function: 0,
            requests: false,
            transfer: Transfer::new(drum, tick_ns),
        }
    }

    /// Resets the registers; the drum keeps its contents.
    pub fn reset(&mut self) {
        self.transfer.cancel();
        self.status = DONE;
        self.requests = false;
        (self.word_count, self.memory_address, self.place) = (0, 0, 0);
        (self.extension, self.buffer, self.function) = (0, 0, 0);
    }

    fn drum_words(&self) -> u32 {
        u32::try_from(self.transfer.size_bytes() / 2).unwrap_or(u32::MAX)
    }

    fn drum_word(&self) -> u32 {
        u32::from(self.extension & DAE_PLACE) << 16 | u32::from(self.place)
    }

    fn bus_address(&self) -> u32 {
        u32::from(self.status & CS_MEMORY) << 12 | u32::from(self.memory_address)
    }

    /// The words still to move; a count of zero means the maximum.
    fn words(&self) -> u32 {
        0x1_0000 - u32::from(self.word_count)
    }

    /// Updates the summary bits.
    fn sum_up(&mut self) {
        let past_the_end = self.drum_word() >= self.drum_words();
        let freezes = self.extension & DAE_ERRORS != 0;
        self.status &= !(CS_FREEZE | CS_ERROR);
        for (is_so, bit) in [(past_the_end, CS_NO_DRUM), (freezes, CS_FREEZE)] {
            self.status |= if is_so { bit } else { 0 };
        }
        if self.status & CS_ERRORS != 0 {
            self.status |= CS_ERROR;
        }
    }

    /// Reads the register at an offset of 0 to 16 octal.
    pub fn read(&mut self, now: u64, offset: u16) -> u16 {
        match offset & 0o16 {
            0o00 => {
                self.sum_up();
                self.status
            }
            0o02 => self.word_count,
            0o04 => self.memory_address,
            0o06 => self.place,
            0o10 => self.extension & DAE_READABLE,
            0o12 => self.buffer,
            0o16 => {
                let [low, high, ..] = (now % super::drum::TURN_WORDS).to_le_bytes();
                u16::from_le_bytes([low, high])
            }
            _ => 0,
        }
    }

    /// Writes to the register at an offset of 0 to 16 octal.
    pub fn write(&mut self, now: u64, offset: u16, write: Write, memory: &Memory) {
        match offset & 0o16 {
            0o00 => self.command(now, write, memory),
            0o02 => self.word_count = write.over(self.word_count),
            0o04 => self.memory_address = write.over(self.memory_address) & !1,
            0o06 => self.place = write.over(self.place),
            0o10 => {
                let word = write.over(self.extension);
                self.extension = self.extension & !DAE_WRITABLE | word & DAE_WRITABLE;
            }
            0o12 => self.buffer = write.over(self.buffer),
            _ => {}
        }
    }

    fn command(&mut self, now: u64, write: Write, memory: &Memory) {
        let word = write.over(self.status);
        if word & CS_CLEAR != 0 {
            self.reset();
        }
        if word & ENABLE == 0 {
            self.requests = false;
        } else if self.status & (DONE | ENABLE) == DONE {
            self.requests = true;
        }
        self.status = self.status & !CS_WRITABLE | word & CS_WRITABLE;
        let function = self.status & CS_FUNCTION;
        if self.status & DONE == 0 || word & GO == 0 || function == 0 {
            return;
        }
        self.function = function;
        self.status &= !(CS_ERRORS & !CS_FREEZE | DONE);
        self.requests = false;
        let left = self.drum_words().saturating_sub(self.drum_word());
        let words = self.words().min(left);
        let is_fixed = self.extension & DAE_FIXED != 0;
        let data = (function == WRITE).then(|| memory.gather(self.bus_address(), words, is_fixed));
        self.transfer.begin(now, u64::from(self.drum_word()) * 2, words * 2, data);
    }

    /// Completes the operation. Returns the number of words moved through memory.
    pub fn service(&mut self, memory: &mut Memory) -> u32 {
        let wanted = self.words();
        let left = self.drum_words().saturating_sub(self.drum_word());
        let is_fixed = self.extension & DAE_FIXED != 0;
        let data = self.transfer.finish().unwrap_or_default();
        let on_drum = u32::try_from(data.len() / 2).unwrap_or(0);
        let address = self.bus_address();
        let moved = match self.function {
            READ => memory.scatter(address, &data, is_fixed),
            CHECK => {
                let held = memory.gather(address, on_drum, is_fixed);
                let same =
                    data.chunks_exact(2).zip(held.chunks_exact(2)).take_while(|(a, b)| a == b);
                let same = u32::try_from(same.count()).unwrap_or(0);
                if same < on_drum && same < u32::try_from(held.len() / 2).unwrap_or(0) {
                    self.status |= CS_CHECK;
                }
                same
            }
            _ => on_drum,
        };
        if moved < wanted.min(left) && self.status & CS_CHECK == 0 {
            self.extension |= DAE_NO_MEMORY;
        }
        if moved == left && wanted > left {
            self.status |= CS_NO_DRUM;
        }
        self.go_on(moved, is_fixed);
        if let Some(last) = data.chunks_exact(2).last() {
            self.buffer = u16::from_le_bytes([last[0], last[1]]);
        }
        self.sum_up();
        self.status |= DONE;
        self.requests |= self.status & ENABLE != 0;
        moved
    }

    /// Advances the registers past the moved words.
    fn go_on(&mut self, words: u32, is_fixed: bool) {
        let address = self.bus_address() + if is_fixed { 0 } else { words * 2 };
        let drum = self.drum_word() + words;
        self.word_count = self.word_count.wrapping_add(low(words));
        self.memory_address = low(address);
        self.status = self.status & !CS_MEMORY | low(address >> 12) & CS_MEMORY;
        self.place = low(drum);
        self.extension = self.extension & !DAE_PLACE | low(drum >> 16) & DAE_PLACE;
    }
}
