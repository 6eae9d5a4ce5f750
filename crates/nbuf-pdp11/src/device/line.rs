//! One line of a DC11 and its modem.

use std::collections::VecDeque;

use super::dc11::LineTiming;
use super::{DONE, ENABLE, NEVER, Write};

/// Bit 0: the terminal is ready.
const READY: u16 = 1;
/// Bit 2: the carrier is on.
pub(super) const CARRIER: u16 = 4;
/// Bits 4 and 3: one of four speeds.
const SPEED: u16 = 0o30;
/// Bits 15 and 14: the carrier changed, which counts as an error.
pub(super) const CHANGED: u16 = 0o140_000;
/// The receiver bits, and the transmitter bits, that a program may set.
const RECEIVER: u16 = 0o3_533;
const TRANSMITTER: u16 = 0o535;

/// The registers and queues of a line.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "two of the modem, two of the interrupts")]
pub(super) struct Line {
    pub(super) is_connected: bool,
    /// Whether the terminal hung up, and the program has not set the ready bit since.
    pub(super) is_hung_up: bool,
    receiver: u16,
    received: u8,
    transmitter: u16,
    sent: u8,
    pub(super) typed: VecDeque<u8>,
    pub(super) printed: Vec<u8>,
    answers_at: u64,
    pub(super) receives_at: u64,
    sends_at: u64,
    pub(super) receiver_requests: bool,
    pub(super) transmitter_requests: bool,
}

impl Line {
    /// A line without a connection.
    pub(super) const SILENT: Self = Self {
        is_connected: false,
        is_hung_up: false,
        receiver: 0,
        received: 0,
        transmitter: DONE,
        sent: 0,
        typed: VecDeque::new(),
        printed: Vec::new(),
        answers_at: NEVER,
        receives_at: NEVER,
        sends_at: NEVER,
        receiver_requests: false,
        transmitter_requests: false,
    };

    pub(super) fn due(&self) -> u64 {
        self.answers_at.min(self.receives_at).min(self.sends_at)
    }

    pub(super) fn has_carrier(&self) -> bool {
        self.receiver & CARRIER != 0
    }

    /// Starts a call. The modem answers a while after both sides are ready.
    pub(super) fn call(&mut self, now: u64, timing: &LineTiming) {
        let both = self.is_connected && !self.is_hung_up && self.receiver & READY != 0;
        if both && !self.has_carrier() && self.answers_at == NEVER {
            self.answers_at = now.saturating_add(timing.answer_ticks);
        }
    }

    pub(super) fn lose_carrier(&mut self) {
        self.answers_at = NEVER;
        if self.has_carrier() {
            self.receiver = (self.receiver & !CARRIER) | CHANGED;
            self.receiver_requests |= self.receiver & ENABLE != 0;
        }
    }

    /// Types the next character once the program has taken the last.
    pub(super) fn strike(&mut self, now: u64, timing: &LineTiming) {
        let is_free = self.receiver & DONE == 0 && self.receives_at == NEVER;
        if is_free && self.has_carrier() && !self.typed.is_empty() {
            self.receives_at = now.saturating_add(ticks(self.receiver, timing));
        }
    }

    /// Resets the registers; the connection, input and output stay.
    pub(super) fn reset(&mut self) {
        let typed = std::mem::take(&mut self.typed);
        let printed = std::mem::take(&mut self.printed);
        *self = Self { is_connected: self.is_connected, typed, printed, ..Self::SILENT };
    }

    pub(super) fn service(&mut self, now: u64, timing: &LineTiming) {
        if self.answers_at <= now {
            self.answers_at = NEVER;
            self.receiver |= CARRIER | CHANGED;
            self.receiver_requests |= self.receiver & ENABLE != 0;
            self.strike(now, timing);
        }
        if self.receives_at <= now {
            self.receives_at = NEVER;
            if let Some(character) = self.typed.pop_front() {
                self.received = character;
                self.receiver |= DONE;
                self.receiver_requests |= self.receiver & ENABLE != 0;
            }
        }
        if self.sends_at <= now {
            self.sends_at = NEVER;
            if self.has_carrier() {
                self.printed.push(self.sent & 0o177);
            }
            self.transmitter |= DONE;
            self.transmitter_requests |= self.transmitter & ENABLE != 0;
        }
    }

    pub(super) fn read(&mut self, now: u64, register: u16, timing: &LineTiming) -> u16 {
        match register {
            0 => self.receiver,
            2 => {
                self.receiver &= !(DONE | CHANGED);
                self.receiver_requests = false;
                self.strike(now, timing);
                u16::from(self.received)
            }
            4 => self.transmitter,
            _ => u16::from(self.sent),
        }
    }

    pub(super) fn write(&mut self, now: u64, register: u16, write: Write, timing: &LineTiming) {
        match register {
            0 => {
                let old = self.receiver;
                let word = write.over(old);
                self.receiver = (old & !RECEIVER) | (word & RECEIVER);
                let waits = old & (DONE | CHANGED) != 0 && old & ENABLE == 0;
                self.receiver_requests = word & ENABLE != 0 && (self.receiver_requests || waits);
                if word & READY == 0 {
                    self.lose_carrier();
                } else {
                    self.is_hung_up = false;
                    self.call(now, timing);
                }
            }
            4 => {
                let old = self.transmitter;
                let word = write.over(old);
                self.transmitter = (old & !TRANSMITTER) | (word & TRANSMITTER);
                let waits = old & DONE != 0 && old & ENABLE == 0;
                self.transmitter_requests =
                    word & ENABLE != 0 && (self.transmitter_requests || waits);
            }
            6 => {
                self.sent = write.over(u16::from(self.sent)).to_le_bytes()[0];
                self.transmitter &= !DONE;
                self.transmitter_requests = false;
                self.sends_at = now.saturating_add(ticks(self.transmitter, timing));
            }
            _ => {}
        }
    }
}

/// The time of a character at the speed in a status word.
fn ticks(status: u16, timing: &LineTiming) -> u64 {
    timing.character_ticks[usize::from((status & SPEED) >> 3)]
}
