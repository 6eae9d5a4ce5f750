//! The KL11, the console: a keyboard and a printer.
//!
//! Input waits in a queue until the program has taken the previous character, so that no character
//! is lost. Output is kept with the time at which it appeared.

use std::collections::VecDeque;

use super::{DONE, ENABLE, NEVER, Write};

/// A printed character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Printed {
    /// The time at which it appeared.
    pub ticks: u64,
    /// The low seven bits.
    pub character: u8,
}

/// The registers and queues of the console.
#[derive(Clone, Debug)]
pub struct Kl11 {
    typed: VecDeque<u8>,
    printed: Vec<Printed>,
    keyboard_status: u16,
    keyboard_buffer: u8,
    keyboard_due: u64,
    printer_status: u16,
    printer_buffer: u8,
    printer_due: u64,
    in_ticks: u64,
    out_ticks: u64,
    /// Whether the keyboard requests an interrupt.
    pub(crate) keyboard_requests: bool,
    /// Whether the printer requests an interrupt.
    pub(crate) printer_requests: bool,
}

impl Kl11 {
    /// Makes a console that receives and prints a character in these times.
    pub fn new(in_ticks: u64, out_ticks: u64) -> Self {
        Self {
            typed: VecDeque::new(),
            printed: Vec::new(),
            keyboard_status: 0,
            keyboard_buffer: 0,
            keyboard_due: NEVER,
            printer_status: DONE,
            printer_buffer: 0,
            printer_due: NEVER,
            in_ticks,
            out_ticks,
            keyboard_requests: false,
            printer_requests: false,
        }
    }

    /// Queues input, from `now` on.
    pub fn type_in(&mut self, now: u64, text: &[u8]) {
        self.typed.extend(text);
        self.strike(now);
    }

    /// Takes the output since the last call.
    pub fn take_printed(&mut self) -> Vec<Printed> {
        std::mem::take(&mut self.printed)
    }

    /// Whether there is output that was not taken.
    pub fn has_printed(&self) -> bool {
        !self.printed.is_empty()
    }

    /// Whether input still waits in the queue.
    pub fn is_typing(&self) -> bool {
        !self.typed.is_empty()
    }

    /// Whether the console is idle. No input waits in the queue or for the program, and the program
    /// has seen that the printer is done.
    pub fn is_quiet(&self) -> bool {
        let keys = self.is_typing() || self.keyboard_status & DONE != 0 || self.keyboard_requests;
        let prints = self.printer_status & DONE == 0 || self.printer_requests;
        !keys && !prints && self.keyboard_due == NEVER
    }

    /// The time of the next event.
    pub fn due(&self) -> u64 {
        self.keyboard_due.min(self.printer_due)
    }

    /// Types the next character once the program has taken the last.
    fn strike(&mut self, now: u64) {
        let is_free = self.keyboard_status & DONE == 0 && self.keyboard_due == NEVER;
        if is_free && !self.typed.is_empty() {
            self.keyboard_due = now.saturating_add(self.in_ticks);
        }
    }

    /// Processes the due events.
    pub fn service(&mut self, now: u64) {
        if self.printer_due <= now {
            self.printer_due = NEVER;
            self.printed.push(Printed { ticks: now, character: self.printer_buffer & 0o177 });
            self.printer_status |= DONE;
            self.printer_requests |= self.printer_status & ENABLE != 0;
        }
        if self.keyboard_due <= now {
            self.keyboard_due = NEVER;
            if let Some(key) = self.typed.pop_front() {
                self.keyboard_buffer = key;
                self.keyboard_status |= DONE;
                self.keyboard_requests |= self.keyboard_status & ENABLE != 0;
            }
        }
    }

    /// Resets the registers; queued input stays.
    pub fn reset(&mut self, now: u64) {
        self.keyboard_status = 0;
        self.keyboard_requests = false;
        self.keyboard_due = NEVER;
        self.printer_status = DONE;
        self.printer_requests = false;
        self.printer_due = NEVER;
        self.strike(now);
    }

    /// Reads keyboard status, keyboard, printer status or printer, at offset 0, 2, 4 or 6.
    pub fn read(&mut self, now: u64, offset: u16) -> u16 {
        match offset & 6 {
            0 => self.keyboard_status & (DONE | ENABLE),
            2 => {
                self.keyboard_status &= !DONE;
                self.keyboard_requests = false;
                self.strike(now);
                u16::from(self.keyboard_buffer)
            }
            4 => self.printer_status & (DONE | ENABLE),
            _ => u16::from(self.printer_buffer),
        }
    }

    /// Writes to the register at such an offset.
    pub fn write(&mut self, now: u64, offset: u16, write: Write) {
        match (offset & 6, write) {
            (0, Write::Word(_) | Write::Low(_)) => {
                enable(&mut self.keyboard_status, &mut self.keyboard_requests, write);
            }
            (4, Write::Word(_) | Write::Low(_)) => {
                enable(&mut self.printer_status, &mut self.printer_requests, write);
            }
            (6, _) => {
                if !matches!(write, Write::High(_)) {
                    self.printer_buffer = write.over(0).to_le_bytes()[0];
                }
                self.printer_status &= !DONE;
                self.printer_requests = false;
                self.printer_due = now.saturating_add(self.out_ticks);
            }
            _ => {}
        }
    }
}

/// Sets the interrupt bit. If the device is done, this interrupts at once.
fn enable(status: &mut u16, requests: &mut bool, write: Write) {
    let word = write.over(*status);
    if word & ENABLE == 0 {
        *requests = false;
    } else if *status & (DONE | ENABLE) == DONE {
        *requests = true;
    }
    *status = (*status & !ENABLE) | (word & ENABLE);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_wait_for_the_program_and_characters_for_the_printer() {
        let mut console = Kl11::new(5, 10);
        console.write(0, 0, Write::Word(ENABLE));
        console.type_in(0, b"ab");
        assert_eq!(console.due(), 5);
        console.service(5);
        assert!(console.keyboard_requests);
        assert_eq!((console.due(), console.read(7, 0)), (NEVER, DONE | ENABLE));
        assert_eq!(console.read(7, 2), u16::from(b'a'));
        assert_eq!((console.due(), console.keyboard_requests), (12, false));
        console.write(7, 6, Write::Low(b'x' | 0o200));
        assert_eq!(console.read(7, 4), 0);
        console.service(17);
        assert_eq!(console.take_printed(), [Printed { ticks: 17, character: b'x' }]);
        assert_eq!((console.read(17, 2), console.is_typing()), (u16::from(b'b'), false));
        console.write(17, 4, Write::Word(ENABLE));
        assert!(console.printer_requests, "it was done already");
    }
}
