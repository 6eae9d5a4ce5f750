//! The costs of a machine, as data: three machines that differ only in these.
//!
//! A tick is the machine's unit: 0.1 us if it has seconds, one instruction if it has none. Discs
//! count nanoseconds; without seconds, a tick is one of them.
//!
//! Sources of `hardware`: DEC, *PDP-11/20 Processor Handbook* (1971), instruction times to within
//! 20 %; *PDP-11 Peripherals Handbook* (1972): RS11 1800 turns a minute, RK03 1500, seek 10 ms to
//! the next cylinder, 50 on average, 85 at most. `simh` uses the units of SIMH 3.8, whose clock is
//! the host's.

use nbuf::units::Nanos;
use serde::{Deserialize, Serialize};

use crate::cpu::decode::{Operation, operation};
use crate::device::dc11::LineTiming;

/// The times of the drum.
#[derive(Clone, Copy, Debug)]
pub struct DrumTiming {
    /// The time from one word to the next; zero for a drum that does not turn.
    pub word: Nanos,
    /// The rotation at the start.
    pub phase: Nanos,
    /// Whether all words move at once when the first has come.
    pub is_burst: bool,
}

/// The times of the pack.
#[derive(Clone, Copy, Debug)]
pub struct PackTiming {
    /// The overhead of any command.
    pub overhead: Nanos,
    /// The seek times by number of cylinders, ascending; interpolated linearly.
    pub seeks: [(u64, Nanos); 4],
    /// The time of a turn; zero for a pack that does not turn.
    pub turn: Nanos,
    /// The rotation at the start.
    pub phase: Nanos,
}

impl PackTiming {
    /// The time of a seek over `cylinders` cylinders.
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

/// The cost model of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instructions {
    /// One tick for each instruction.
    Counted,
    /// The handbook's times, in tenths of a microsecond.
    Handbook,
}

/// A machine, by its costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Model {
    /// See [`Timing::instant`].
    Instant,
    /// See [`Timing::simh`], with SIMH's own pack.
    Simh {
        /// The million instructions of SIMH's host in a second.
        host_mips: u64,
    },
    /// See [`Timing::hardware`].
    Hardware {
        /// The frequency of the mains.
        mains_hz: u64,
    },
}

impl Default for Model {
    fn default() -> Self {
        Self::Hardware { mains_hz: MAINS_HZ }
    }
}

impl Model {
    /// Its costs.
    pub fn timing(self) -> Timing {
        match self {
            Self::Instant => Timing::instant(),
            Self::Simh { host_mips } => Timing::simh(host_mips, SIMH_RK_UNITS),
            Self::Hardware { mains_hz } => Timing::hardware(mains_hz),
        }
    }
}

/// The costs of one machine.
#[derive(Clone, Debug)]
pub struct Timing {
    /// The name for `--timing`.
    pub name: &'static str,
    /// The cost model of instructions.
    pub instructions: Instructions,
    /// The nanoseconds of a disc's clock in a tick.
    pub tick_ns: u64,
    /// The ticks of a second.
    pub second_ticks: u64,
    /// The ticks between two ticks of the clock device.
    pub clock_ticks: u64,
    /// The ticks until its first.
    pub clock_first_ticks: u64,
    /// The ticks for a character of the keyboard.
    pub key_ticks: u64,
    /// The ticks for a character of the printer.
    pub print_ticks: u64,
    /// The times of the serial lines.
    pub line: LineTiming,
    /// The ticks that a disc takes from the processor for each word.
    pub stolen_ticks: u64,
    /// The times of the drum.
    pub drum: DrumTiming,
    /// The times of the pack.
    pub pack: PackTiming,
}

const NO_DRUM: DrumTiming = DrumTiming { word: Nanos::ZERO, phase: Nanos::ZERO, is_burst: true };
const NO_PACK: PackTiming = PackTiming {
    overhead: Nanos::ZERO,
    seeks: [(0, Nanos::ZERO); 4],
    turn: Nanos::ZERO,
    phase: Nanos::ZERO,
};

/// Millions of instructions a second of SIMH 3.8 on the machine of the measurement.
pub const HOST_MIPS: u64 = 250;
/// The mains of North America.
pub const MAINS_HZ: u64 = 60;
/// SIMH's units of the RK for any command, and for each cylinder.
pub const SIMH_RK_UNITS: u64 = 10;

impl Timing {
    /// Discs complete before the next instruction; a second is a million instructions.
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

    /// The units of SIMH 3.8. `host_mips` million of them are a second, which affects only the
    /// clock and the report. `rk_units` is SIMH's RTIME.
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

    /// The machine of 1971. The mains of this frequency drive the clock and turn the drum.
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
            // A turn takes two cycles of the mains.
            drum: DrumTiming { word: Nanos(2_000_000_000 / hz / 2048), is_burst: false, ..NO_DRUM },
            pack: PackTiming {
                seeks: [(0, ms(0)), (1, ms(10)), (68, ms(50)), (202, ms(85))],
                turn: ms(40),
                ..NO_PACK
            },
        }
    }

    /// The cost of an instruction before its branch is decided.
    pub(crate) fn instruction_ticks(&self, word: u16) -> u8 {
        match self.instructions {
            Instructions::Counted => 1,
            Instructions::Handbook => handbook(word),
        }
    }

    /// The extra cost of a taken branch.
    pub(crate) fn branch_taken_ticks(&self) -> u64 {
        if self.instructions == Instructions::Handbook { 11 } else { 0 }
    }

    /// The extra cost of a byte at an odd address.
    pub(crate) fn odd_byte_ticks(&self) -> u64 {
        if self.instructions == Instructions::Handbook { 6 } else { 0 }
    }

    /// The cost of a trap or an interrupt.
    pub(crate) fn trap_ticks(&self) -> u64 {
        if self.instructions == Instructions::Handbook { 93 } else { 0 }
    }
}

const SOURCE: [u8; 8] = [0, 15, 15, 27, 15, 27, 27, 39];
const DESTINATION: [u8; 8] = [0, 14, 14, 26, 14, 26, 26, 38];

/// The handbook's time of an instruction by its addressing modes, in tenths of a microsecond.
fn handbook(word: u16) -> u8 {
    use Operation as O;
    let source = SOURCE[usize::from((word >> 9) & 7)];
    let destination = DESTINATION[usize::from((word >> 3) & 7)];
    // A destination that is only read is not written back.
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
