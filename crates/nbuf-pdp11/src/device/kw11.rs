//! KW11-L, the clock: a tick at every cycle of the mains.

use super::{DONE, ENABLE, NEVER, Write};

/// The register and the next tick of the clock.
#[derive(Clone, Debug)]
pub struct Kw11 {
    status: u16,
    /// Whether the clock requests an interrupt.
    pub(crate) requests: bool,
    due: u64,
    period_ticks: u64,
    ticked: u64,
}

impl Kw11 {
    /// Makes a clock that ticks every `period_ticks`, first after `first_ticks`. A clock without a
    /// period stands still.
    pub fn new(period_ticks: u64, first_ticks: u64) -> Self {
        let due = if period_ticks == 0 { NEVER } else { first_ticks };
        Self { status: 0, requests: false, due, period_ticks, ticked: 0 }
    }

    /// The time of the next tick.
    pub fn due(&self) -> u64 {
        self.due
    }

    /// The number of ticks so far.
    pub fn ticked(&self) -> u64 {
        self.ticked
    }

    /// Processes the due tick.
    pub fn service(&mut self) {
        self.status |= DONE;
        self.requests |= self.status & ENABLE != 0;
        self.due = self.due.saturating_add(self.period_ticks);
        self.ticked += 1;
    }

    /// Clears the register; the mains continue.
    pub fn reset(&mut self) {
        self.status = DONE;
        self.requests = false;
    }

    /// Reads the status register.
    pub fn read(&self) -> u16 {
        self.status & (DONE | ENABLE)
    }

    /// Writes the status register. The processor can clear the tick bit, but not set it.
    pub fn write(&mut self, write: Write) {
        if let Write::High(_) = write {
            return;
        }
        let word = write.over(self.status);
        self.status = (self.status & word & DONE) | (word & ENABLE);
        if self.status != DONE | ENABLE {
            self.requests = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_is_seen_once_and_interrupts_where_it_may() {
        let mut clock = Kw11::new(10, 3);
        assert_eq!(clock.due(), 3);
        clock.service();
        assert_eq!((clock.read(), clock.requests, clock.due()), (DONE, false, 13));
        clock.write(Write::Word(ENABLE));
        assert_eq!((clock.read(), clock.requests), (ENABLE, false));
        clock.service();
        assert!(clock.requests);
        clock.write(Write::Low(0));
        assert_eq!((clock.read(), clock.requests), (0, false));
        assert_eq!(Kw11::new(0, 0).due(), NEVER);
    }
}
