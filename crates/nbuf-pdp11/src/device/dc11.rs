//! The DC11: eight serial lines with a modem each. A line without a connection is silent.
//!
//! When a terminal connects, the modem answers after a while, if the program has set the terminal
//! ready bit. The carrier then comes on, which is a change and interrupts. When the terminal hangs
//! up, the carrier goes off. It stays off until the program sets the bit again, so that the next
//! user does not find the previous session. Input waits until the program has taken the previous
//! character, so that no character is lost. Not modelled: breaks, the secondary channel, and odd
//! parity.
//!
//! Sources: DEC, *PDP-11 Peripherals Handbook* (1972); SIMH 3.8. The speeds follow the words that
//! First Edition Unix uses in `getty.s`.

use super::line::Line;
use super::{NEVER, Write};

/// The number of lines.
pub const LINES: u16 = 8;
/// The bytes of all registers, eight for each line.
pub const BYTES: u16 = LINES * 8;

/// The times of the lines.
#[derive(Clone, Copy, Debug)]
pub struct LineTiming {
    /// The ticks of a character, by the two bits of the speed.
    pub character_ticks: [u64; 4],
    /// The ticks until a modem answers.
    pub answer_ticks: u64,
}

/// The controller of all lines.
#[derive(Clone, Debug)]
pub struct Dc11 {
    timing: LineTiming,
    lines: Vec<Line>,
    /// The earliest event of all lines.
    due: u64,
    /// Whether any line requests an interrupt.
    pub(crate) requests: bool,
}

impl Dc11 {
    /// Makes eight lines without a connection.
    pub fn new(timing: LineTiming) -> Self {
        let lines = vec![Line::SILENT; usize::from(LINES)];
        Self { timing, lines, due: NEVER, requests: false }
    }

    /// Connects a terminal to a line.
    pub fn connect(&mut self, now: u64, line: usize) {
        self.change(line, |line, timing| {
            line.is_connected = true;
            line.call(now, timing);
        });
    }

    /// Disconnects a terminal, and drops input that the program has not taken.
    pub fn hang_up(&mut self, line: usize) {
        self.change(line, |line, _| {
            line.is_hung_up |= line.has_carrier();
            line.is_connected = false;
            line.receives_at = NEVER;
            line.typed.clear();
            line.lose_carrier();
        });
    }

    /// Queues input on a line, from `now` on.
    pub fn type_in(&mut self, now: u64, line: usize, text: &[u8]) {
        self.change(line, |line, timing| {
            line.typed.extend(text);
            line.strike(now, timing);
        });
    }

    /// The number of characters that still wait to be typed on a line.
    pub fn to_type(&self, line: usize) -> usize {
        self.lines.get(line).map_or(0, |line| line.typed.len())
    }

    /// Takes the output of a line since the last call.
    pub fn take_printed(&mut self, line: usize) -> Vec<u8> {
        self.lines.get_mut(line).map(|line| std::mem::take(&mut line.printed)).unwrap_or_default()
    }

    /// The time of the next event.
    pub fn due(&self) -> u64 {
        self.due
    }

    /// Processes the due events.
    pub fn service(&mut self, now: u64) {
        for line in &mut self.lines {
            line.service(now, &self.timing);
        }
        self.settle();
    }

    /// Resets all lines; connections stay.
    pub fn reset(&mut self) {
        for line in &mut self.lines {
            line.reset();
        }
        self.settle();
    }

    /// Reads the register at an offset from the first line's first register.
    pub fn read(&mut self, now: u64, offset: u16) -> u16 {
        self.change(usize::from(offset >> 3), |line, timing| line.read(now, offset & 6, timing))
            .unwrap_or(0)
    }

    /// Writes to the register at such an offset.
    pub fn write(&mut self, now: u64, offset: u16, write: Write) {
        self.change(usize::from(offset >> 3), |line, timing| {
            line.write(now, offset & 6, write, timing);
        });
    }

    /// Grants the most urgent request and returns its vector, relative to the first line's first.
    pub(crate) fn interrupt(&mut self) -> Option<u16> {
        let vector = (0..).step_by(8).zip(&mut self.lines).find_map(|(vector, line)| {
            if std::mem::take(&mut line.receiver_requests) {
                return Some(vector);
            }
            std::mem::take(&mut line.transmitter_requests).then_some(vector + 4)
        });
        self.settle();
        vector
    }

    fn change<T>(
        &mut self,
        line: usize,
        change: impl FnOnce(&mut Line, &LineTiming) -> T,
    ) -> Option<T> {
        let changed = change(self.lines.get_mut(line)?, &self.timing);
        self.settle();
        Some(changed)
    }

    fn settle(&mut self) {
        self.due = self.lines.iter().map(Line::due).min().unwrap_or(NEVER);
        self.requests =
            self.lines.iter().any(|line| line.receiver_requests || line.transmitter_requests);
    }
}

#[cfg(test)]
mod tests {
    use super::super::DONE;
    use super::super::line::{CARRIER, CHANGED};
    use super::*;

    const TIMING: LineTiming = LineTiming { character_ticks: [1, 10, 5, 20], answer_ticks: 100 };
    /// Ready, interrupts, the second speed: the word that First Edition Unix writes.
    const OPEN: Write = Write::Word(0o511);

    /// Connects line 1 to a terminal whose call was answered.
    fn open() -> Dc11 {
        let mut lines = Dc11::new(TIMING);
        lines.write(0, 0o10, OPEN);
        lines.connect(0, 1);
        assert_eq!(lines.due(), 100);
        lines.service(100);
        lines
    }

    #[test]
    fn carrier_comes_when_both_sides_are_there_and_interrupts() {
        let mut lines = open();
        assert_eq!(lines.interrupt(), Some(0o10));
        assert_eq!(lines.read(100, 0o10), CHANGED | CARRIER | 0o511);
        lines.read(100, 0o12);
        assert_eq!(lines.read(100, 0o10), CARRIER | 0o511, "seen with the buffer");
        assert_eq!((lines.interrupt(), lines.due()), (None, NEVER));

        let mut early = Dc11::new(TIMING);
        early.connect(0, 7);
        assert_eq!(early.due(), NEVER, "the program is not ready");
        early.write(3, 0o70, OPEN);
        assert_eq!(early.due(), 103);
    }

    #[test]
    fn characters_wait_for_the_program_and_are_as_fast_as_the_line() {
        let mut lines = open();
        lines.read(100, 0o12);
        lines.type_in(100, 1, b"ab");
        assert_eq!(lines.due(), 110);
        lines.service(110);
        assert_eq!((lines.interrupt(), lines.due()), (Some(0o10), NEVER));
        assert_eq!(lines.read(120, 0o12), u16::from(b'a'));
        assert_eq!((lines.due(), lines.to_type(1)), (130, 1));
        lines.write(120, 0o14, Write::Word(0o521));
        lines.write(120, 0o16, Write::Word(0o301));
        assert_eq!((lines.read(120, 0o14) & DONE, lines.due()), (0, 125));
        lines.service(125);
        assert_eq!((lines.interrupt(), lines.take_printed(1)), (Some(0o14), b"A".to_vec()));
    }

    #[test]
    fn who_comes_next_waits_until_the_program_is_ready_again() {
        let mut lines = open();
        lines.read(100, 0o12);
        lines.interrupt();
        lines.type_in(100, 1, b"left");
        lines.hang_up(1);
        assert_eq!((lines.interrupt(), lines.to_type(1)), (Some(0o10), 0));
        assert_eq!(lines.read(100, 0o10) & (CHANGED | CARRIER), CHANGED);
        lines.connect(101, 1);
        assert_eq!(lines.due(), NEVER);
        lines.write(102, 0o10, Write::Low(0o110));
        lines.write(103, 0o10, OPEN);
        assert_eq!(lines.due(), 203);
        lines.reset();
        assert_eq!(lines.due(), NEVER);
        lines.write(300, 0o10, OPEN);
        assert_eq!(lines.due(), 400, "the connection has outlived the reset");
    }
}
