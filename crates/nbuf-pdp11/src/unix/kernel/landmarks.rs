//! Finds places in a kernel by its code, without its a.out: the console's sleeper, the idle loop of
//! the scheduler, and `panic`.
//!
//! It searches core for the words of the routines. A gap stands for an operand that differs between
//! kernels; the operands found there are the addresses. A kernel that has one routine never or
//! twice has no landmarks. Source: the listing of June 1972, `u7.s` (ttych), `u4.s` (sleep), `u3.s`
//! (swap) and `u0.s` (panic).

use crate::cpu::PC;
use crate::machine::Pdp11;
use crate::memory::Memory;

/// The addresses of the places in a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Landmarks {
    /// The byte with the number of the process that sleeps until the console has a line, or zero.
    console_sleeper: u16,
    /// The address at which the scheduler continues after it idled because no process can run.
    nothing_runs: u16,
    /// The instruction after the WAIT of `idle`.
    idle: u16,
    /// The routine from which a kernel never returns.
    pub(super) panic: u16,
}

/// Matches any word.
const ANY: u32 = 0x1_0000;
/// The largest size of a kernel: a slot of the drum.
const KERNEL_BYTES: u16 = 12_288;

/// Returns the console's characters one by one; without one, the process sleeps in channel 0.
const TTYCH: [u32; 15] = [
    0o012_737, 0o240, 0o177_776, 0o004_067, ANY, 0, 0o000_403, 0o005_037, 0o177_776, 0o000_200,
    0o010_546, 0o004_067, ANY, 0, 0o012_605,
];
/// Puts the process's number into the table of sleepers.
const SLEEP: [u32; 9] = [0o004_067, ANY, 0o000_433, 0o012_001, 0o116_146, ANY, 0o116_761, ANY, ANY];
/// The scheduler: three queues, and `idle` when all are empty.
const SWAP: [u32; 14] = [
    0o012_737, 0o300, 0o177_776, 0o012_702, ANY, 0o005_722, 0o001_007, 0o020_227, ANY, 0o001_373,
    0o004_067, ANY, ANY, 0o000_762,
];
/// Waits for an interrupt at priority 0.
const IDLE: [u32; 8] = [0o013_746, 0o177_776, 0o005_037, 0o177_776, 0o016_746, ANY, 0o012_067, ANY];
/// Counts down, and starts the bootstrap.
const PANIC: [u32; 10] =
    [0o005_067, ANY, 0o005_327, ANY, 0o001_375, 0o005_327, ANY, 0o001_372, 0o000_137, 0o173_700];
/// The distance from `panic` back to the branch for an `/etc/init` that cannot be executed.
const NO_INIT: u16 = 0o20;

impl Landmarks {
    /// Finds the landmarks of a known kind of kernel in core.
    pub fn find(memory: &Memory) -> Option<Self> {
        let ttych = once(memory, &TTYCH)?;
        let sleep = target(memory, ttych.wrapping_add(2 * 12))?;
        let sleepers = memory.word(sleep.wrapping_add(2 * 5))?;
        let writes_there = memory.word(sleep.wrapping_add(2 * 8)) == Some(sleepers);
        let swap = once(memory, &SWAP)?;
        let idle = target(memory, swap.wrapping_add(2 * 11))?;
        let waits = memory.word(idle.wrapping_add(2 * 8)) == Some(1);
        let is_known = matches(memory, sleep, &SLEEP) && matches(memory, idle, &IDLE);
        (is_known && writes_there && waits).then_some(Self {
            console_sleeper: sleepers,
            nothing_runs: swap.wrapping_add(2 * 13),
            idle: idle.wrapping_add(2 * 9),
            panic: once(memory, &PANIC)?,
        })
    }

    /// Whether a process sleeps until the console has a line, and no input or output is in
    /// progress. The processor is at priority 0, so no handler is in the middle of a wakeup.
    pub fn console_is_read(self, machine: &Pdp11) -> bool {
        machine.cpu.priority == 0
            && machine.bus.console.is_quiet()
            && machine.memory.byte(self.console_sleeper).is_some_and(|process| process != 0)
    }

    /// Whether no process can run: the scheduler idles, and not a process that waits for a disc.
    pub fn nothing_runs(self, machine: &Pdp11) -> bool {
        machine.cpu.waits
            && machine.cpu.registers[PC] == self.idle
            && machine.cpu.registers[0] == self.nothing_runs
            && !machine.bus.a_disc_is_busy()
    }

    /// Whether a panic from this address means that `/etc/init` is missing.
    pub(crate) fn lacks_init(self, from: u16) -> bool {
        from == self.panic.wrapping_sub(NO_INIT)
    }
}

/// The address of the words, if they occur exactly once.
fn once(memory: &Memory, words: &[u32]) -> Option<u16> {
    let mut places =
        (0..KERNEL_BYTES).step_by(2).filter(|&address| matches(memory, address, words));
    let place = places.next()?;
    places.next().is_none().then_some(place)
}

fn matches(memory: &Memory, address: u16, words: &[u32]) -> bool {
    (0u16..).zip(words).all(|(at, &word)| {
        let there = memory.word(address.wrapping_add(2 * at));
        there.is_some_and(|there| word == ANY || word == u32::from(there))
    })
}

/// The address of an operand relative to the program counter.
fn target(memory: &Memory, operand: u16) -> Option<u16> {
    Some(operand.wrapping_add(2).wrapping_add(memory.word(operand)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::memory::CORE_BYTES;

    proptest! {
        #[test]
        fn no_core_panics_and_none_that_was_not_written_for_it_is_known(
            words in proptest::collection::vec(any::<u16>(), 0..4096),
        ) {
            let mut memory = Memory::new(CORE_BYTES);
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            memory.load(0, &bytes);
            prop_assert_eq!(Landmarks::find(&memory), None);
        }
    }
}
