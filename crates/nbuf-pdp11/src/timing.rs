//! What things cost, as data: three machines that differ in nothing else.
//!
//! A tick is the machine's unit: 0.1 us where it has seconds, one instruction where it has none.
//! Discs are told time in nanoseconds; where there are no seconds, a tick is one of them.
//!
//! Sources of `hardware`: DEC, *PDP-11/20 Processor Handbook* (1971), instruction times, good to 20 %;
//! *PDP-11 Peripherals Handbook* (1972): RS11 1800 turns a minute, RK03 1500, seek 10 ms to the next
//! cylinder, 50 on average, 85 at most. Of `simh`: the units of SIMH 3.8, whose clock is the host's.

use nbuf::units::Nanos;

use crate::cpu::decode::{Operation, operation};
use crate::device::dc11::LineTiming;

/// What the drum costs.
#[derive(Clone, Copy, Debug)]
pub struct DrumTiming {
    /// From one word to the next; no time at all where the drum does not turn.
    pub word: Nanos,
    /// Where it stood at the beginning.
    pub phase: Nanos,
    /// Words move all at once when the first has come.
    pub is_burst: bool,
}

/// What the pack costs.
#[derive(Clone, Copy, Debug)]
pub struct PackTiming {
    /// For any command.
    pub overhead: Nanos,
    /// For so many cylinders, ascending; between two rows a straight line.
    pub seeks: [(u64, Nanos); 4],
    /// A turn; no time at all where it does not turn.
    pub turn: Nanos,
    /// Where it stood at the beginning.
    pub phase: Nanos,
}

impl PackTiming {
    /// For so many cylinders.
    pub fn seek(&self, cylinders: u64) -> Nanos {
        for pair in self.seeks.windows(2) {
            let ((from, least), (to, most)) = (pair[0], pair[1]);
            if cylinders <= to && to > from {
                let part = (most.0 - least.0) * (cylinders.max(from) - from) / (to - from);
                return Nanos(least.0 + part);
            }
        }
        self.seeks[3].1
    }
}

/// How instructions are charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instructions {
    /// One tick each.
    Counted,
    /// By the handbook, in tenths of a microsecond.
    Handbook,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Timing {
    /// What it is called.
    pub name: &'static str,
    /// What instructions cost.
    pub instructions: Instructions,
    /// Nanoseconds of a disc's clock in a tick.
    pub tick_ns: u64,
    /// Ticks of a second.
    pub second_ticks: u64,
    /// Ticks between two of the clock's.
    pub clock_ticks: u64,
    /// Ticks until the clock's first.
    pub clock_first_ticks: u64,
    /// For a character of the keyboard.
    pub key_ticks: u64,
    /// For a character of the printer.
    pub print_ticks: u64,
    /// The serial lines.
    pub line: LineTiming,
    /// For a word that a disc moves while the processor works.
    pub stolen_ticks: u64,
    /// The drum.
    pub drum: DrumTiming,
    /// The pack.
    pub pack: PackTiming,
}

const NO_DRUM: DrumTiming = DrumTiming { word: Nanos::ZERO, phase: Nanos::ZERO, is_burst: true };
const NO_PACK: PackTiming = PackTiming {
    overhead: Nanos::ZERO,
    seeks: [(0, Nanos::ZERO); 4],
    turn: Nanos::ZERO,
    phase: Nanos::ZERO,
};

/// Instructions a second of SIMH 3.8 on the machine where it was measured, in millions.
pub const HOST_MIPS: u64 = 250;
/// Units of SIMH's RK for any command, and for each cylinder.
pub const SIMH_RK_UNITS: u64 = 10;

impl Timing {
    /// Discs that are done before the next instruction; a million instructions are a second.
    pub fn instant() -> Self {
        Self {
            name: "instant",
            instructions: Instructions::Counted,
            tick_ns: 1,
            second_ticks: 1_000_000,
            clock_ticks: 1_000_000 / 60,
            clock_first_ticks: 1_000_000 / 60,
            key_ticks: 100,
            print_ticks: 100,
            line: LineTiming { character_ticks: [100; 4], answer_ticks: 100_000 },
            stolen_ticks: 0,
            drum: NO_DRUM,
            pack: NO_PACK,
        }
    }

    /// As SIMH 3.8 counts: ticks are its units, and `host_mips` millions of them make a second, which
    /// only the clock and the reader notice. `rk_units` is its RTIME.
    pub fn simh(host_mips: u64, rk_units: u64) -> Self {
        let second_ticks = host_mips.clamp(1, 1_000_000) * 1_000_000;
        let cylinders = |count: u64| (count, Nanos(count * SIMH_RK_UNITS));
        Self {
            name: "simh",
            second_ticks,
            clock_ticks: second_ticks / 60,
            clock_first_ticks: second_ticks / 60,
            line: LineTiming { answer_ticks: second_ticks / 10, ..Self::instant().line },
            drum: DrumTiming { word: Nanos(10), ..NO_DRUM },
            pack: PackTiming {
                overhead: Nanos(rk_units),
                seeks: [cylinders(0), cylinders(1), cylinders(2), cylinders(202)],
                ..NO_PACK
            },
            ..Self::instant()
        }
    }

    /// The machine of 1971, on mains of so many hertz: they drive the clock and turn the drum.
    pub fn hardware(mains_hz: u64) -> Self {
        let hz = mains_hz.clamp(1, 1000);
        let ms = |ms: u64| Nanos(ms * 1_000_000);
        Self {
            name: "hardware",
            instructions: Instructions::Handbook,
            tick_ns: 100,
            second_ticks: 10_000_000,
            clock_ticks: 10_000_000 / hz,
            clock_first_ticks: 10_000_000 / hz,
            key_ticks: 1_000_000,
            print_ticks: 1_000_000,
            // 134.5 baud with nine bits, 150 and 300 with ten, 110 with eleven; a second to answer.
            line: LineTiming {
                character_ticks: [669_145, 666_667, 333_333, 1_000_000],
                answer_ticks: 10_000_000,
            },
            stolen_ticks: 12,
            // Two cycles of the mains are a turn.
            drum: DrumTiming { word: Nanos(2_000_000_000 / hz / 2048), is_burst: false, ..NO_DRUM },
            pack: PackTiming {
                seeks: [(0, ms(0)), (1, ms(10)), (68, ms(50)), (202, ms(85))],
                turn: ms(40),
                ..NO_PACK
            },
        }
    }

    /// What an instruction costs before it is known where it goes.
    pub(crate) fn instruction_ticks(&self, word: u16) -> u8 {
        match self.instructions {
            Instructions::Counted => 1,
            Instructions::Handbook => handbook(word),
        }
    }

    /// What a branch that is taken costs more.
    pub(crate) fn branch_taken_ticks(&self) -> u64 {
        if self.instructions == Instructions::Handbook { 11 } else { 0 }
    }

    /// What a byte at an odd address costs more.
    pub(crate) fn odd_byte_ticks(&self) -> u64 {
        if self.instructions == Instructions::Handbook { 6 } else { 0 }
    }

    /// What a trap or an interrupt costs.
    pub(crate) fn trap_ticks(&self) -> u64 {
        if self.instructions == Instructions::Handbook { 93 } else { 0 }
    }
}

const SOURCE: [u8; 8] = [0, 15, 15, 27, 15, 27, 27, 39];
const DESTINATION: [u8; 8] = [0, 14, 14, 26, 14, 26, 26, 38];

/// Tenths of a microsecond of an instruction, by its modes.
fn handbook(word: u16) -> u8 {
    use Operation as O;
    let source = SOURCE[usize::from((word >> 9) & 7)];
    let destination = DESTINATION[usize::from((word >> 3) & 7)];
    // What is only looked at is not written back.
    let looked_at = destination.saturating_sub(4);
    match operation(word) {
        O::Cmp | O::Bit | O::Cmpb | O::Bitb => 23 + source + looked_at,
        O::Tst | O::Tstb => 23 + looked_at,
        O::Mov | O::Bic | O::Bis | O::Add | O::Sub | O::Movb | O::Bicb | O::Bisb => {
            23 + source + destination
        }
        O::Jmp => 12 + destination,
        O::Jsr => 44 + destination,
        O::Rts => 35,
        O::Rti => 48,
        O::Codes | O::Halt | O::Wait | O::Reset => 15,
        O::Bpt | O::Iot | O::Emt | O::Trap | O::Reserved => 0,
        operation if (O::Br..=O::Bcs).contains(&operation) => 15,
        _ => 23 + destination,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_cost_what_the_handbook_says() {
        let check = |word, tenths| assert_eq!(handbook(word), tenths, "{word:06o}");
        check(0o010_001, 23);
        check(0o012_737, 23 + 15 + 26);
        check(0o005_200, 23);
        check(0o005_737, 23 + 22);
        check(0o001_375, 15);
        check(0o000_137, 12 + 26);
        check(0o104_400, 0);
    }

    #[test]
    fn an_arm_takes_as_long_as_its_three_points_say() {
        let pack = Timing::hardware(60).pack;
        let check = |cylinders, ms: u64| assert_eq!(pack.seek(cylinders), Nanos(ms * 1_000_000));
        check(0, 0);
        check(1, 10);
        check(68, 50);
        check(202, 85);
        check(1000, 85);
        let simh = Timing::simh(250, 10).pack;
        assert_eq!(
            (simh.seek(0), simh.seek(7), simh.seek(202)),
            (Nanos(0), Nanos(70), Nanos(2020))
        );
    }
}
