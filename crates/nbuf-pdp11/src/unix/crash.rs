//! Words the reason why a guest stopped, and shows the state of its machine.

use std::fmt::Write as _;

use crate::cpu::disassemble::disassemble;
use crate::cpu::{Entry, PC, SP};
use crate::machine::{Pdp11, Stop};

use super::guest::Guest;
use super::kernel::Panic;

/// The number of instructions shown.
const SHOWN: usize = 50;

impl Guest {
    /// The reason why the machine stopped, or what the kernel does instead of its work. It names
    /// the trap or interrupt that led there, with its vector and address.
    pub fn reason(&self, stop: Option<Stop>) -> String {
        let machine = &self.machine;
        if let Some(panicked) = self.meters.panicked {
            return self.panic(panicked);
        }
        match stop {
            Some(Stop::Halt) => halt(machine),
            Some(Stop::Asleep) => {
                let at = machine.cpu.registers[PC].wrapping_sub(2);
                format!("the guest waits at {at:06o}, and no device has anything to do")
            }
            Some(Stop::StackAbort) => stack_abort(machine),
            Some(Stop::VectorAbort) => match machine.entered() {
                Some(entry) => format!(
                    "the guest stopped at {:06o}: it trapped to {:03o} ({}), where no memory answers",
                    entry.counter, entry.vector, entry.cause
                ),
                None => "the guest stopped: a trap found no vector".to_owned(),
            },
            Some(Stop::Limit | Stop::Printed) | None => {
                let around = self.meters.last();
                let (low, high) = (around.iter().min(), around.iter().max());
                let (low, high) = (low.unwrap_or(&0), high.unwrap_or(&0));
                format!("the guest loops at {low:06o}-{high:06o}")
            }
        }
    }

    fn panic(&self, Panic { from, trap }: Panic) -> String {
        if self.meters.landmarks().is_some_and(|places| places.lacks_init(from)) {
            return format!("the kernel panicked at {from:06o}: it cannot execute /etc/init");
        }
        match trap {
            Some(Entry { vector, counter, cause }) => format!(
                "the kernel panicked at {from:06o}: it trapped to {vector:03o} ({cause}) at \
                 {counter:06o}, inside a system call"
            ),
            None => format!("the kernel panicked at {from:06o}"),
        }
    }

    /// The registers and the last 50 instructions.
    pub fn post_mortem(&self) -> String {
        let cpu = &self.machine.cpu;
        let names = ["r0", "r1", "r2", "r3", "r4", "r5", "sp", "pc"];
        let mut text = String::new();
        for (name, value) in names.iter().zip(cpu.registers) {
            let _ = write!(text, "{name} {value:06o}  ");
        }
        let _ = writeln!(text, "ps {:06o}", cpu.status());
        let last = self.meters.last();
        for &address in &last[last.len().saturating_sub(SHOWN)..] {
            let (instruction, _) = disassemble(&self.machine.memory, address);
            let _ = writeln!(text, "{address:06o}  {instruction}");
        }
        text
    }
}

fn halt(machine: &Pdp11) -> String {
    let at = machine.cpu.registers[PC].wrapping_sub(2);
    let halted = format!("the guest halted at {at:06o}");
    // An entry counts only if its vector points here.
    match machine.entered() {
        Some(entry) if machine.memory.word(entry.vector) == Some(at) => format!(
            "{halted}: {} through {:03o} at {:06o} led there",
            entry.cause, entry.vector, entry.counter
        ),
        _ => halted,
    }
}

fn stack_abort(machine: &Pdp11) -> String {
    let stack = machine.cpu.registers[SP];
    let why = if stack & 1 == 0 { "below it no memory answers" } else { "it is odd" };
    let no_stack = format!("found no stack: sp is {stack:06o}, and {why}");
    match machine.entered() {
        Some(Entry { vector, counter, cause }) => format!(
            "the guest stopped at {counter:06o}: its trap to {vector:03o} ({cause}) {no_stack}"
        ),
        None => format!("the guest stopped: a trap {no_stack}"),
    }
}
