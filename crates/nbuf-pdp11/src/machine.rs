//! The machine: the processor on its bus, and the loop that advances time.
//!
//! Before each instruction the loop compares one number: the time of the next event, which is now
//! if a trap or a request waits. It serves due devices first, then traps, then interrupts, then the
//! instruction. A waiting processor jumps to the next event. Cost: a few nanoseconds an
//! instruction, plus the cost of an active watcher.

use crate::bus::Bus;
use crate::cpu::decode::{self, Decoded};
use crate::cpu::{Abort, Cpu, Entry, PC, SP, STACK_LIMIT, Traps};
use crate::device::NEVER;
use crate::memory::Memory;
use crate::timing::Timing;

/// The reason why the machine stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The time limit was reached.
    Limit,
    /// A character was printed.
    Printed,
    /// `HALT`.
    Halt,
    /// `WAIT` without any future event.
    Asleep,
    /// A trap could not push the processor's state: the stack was at an odd or absent address.
    StackAbort,
    /// The vector of a trap was at an absent address.
    VectorAbort,
}

/// Observes the machine.
pub trait Watcher {
    /// Whether it observes instructions; a watcher that does not costs nothing.
    const WATCHES: bool;
    /// Called before the instruction at this address.
    fn instruction(&mut self, machine: &Pdp11, address: u16);
    /// Called after an interrupt with this vector; `had_waited` if the processor was in WAIT.
    fn interrupt(&mut self, machine: &Pdp11, vector: u16, had_waited: bool);
}

/// Observes nothing.
impl Watcher for () {
    const WATCHES: bool = false;
    fn instruction(&mut self, _: &Pdp11, _: u16) {}
    fn interrupt(&mut self, _: &Pdp11, _: u16, _: bool) {}
}

/// The time in which the processor waited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waited {
    /// The total time.
    pub ticks: u64,
    /// The part of it in which no disc moved.
    pub idle_ticks: u64,
}

/// A PDP-11/20 with its memory and devices.
#[derive(Clone)]
pub struct Pdp11 {
    /// The processor.
    pub cpu: Cpu,
    /// The core memory.
    pub memory: Memory,
    /// The devices.
    pub bus: Bus,
    pub(crate) now: u64,
    /// The time of the next check for events; 0 means at once.
    pub(crate) attend_at: u64,
    pub(crate) branch_taken_ticks: u64,
    pub(crate) odd_byte_ticks: u64,
    trap_ticks: u64,
    stolen_ticks: u64,
    until: u64,
    stops_when_printed: bool,
    waited: Waited,
    entered: Option<Entry>,
    trapped: Option<Entry>,
    decoded: std::sync::Arc<[Decoded; 65_536]>,
}

enum Attended {
    Go,
    Again,
    Stop(Stop),
}

impl Pdp11 {
    /// Makes a halted machine with this much core and these images.
    pub fn new(timing: &Timing, core_bytes: u16, drum: Vec<u8>, pack: Vec<u8>) -> Self {
        Self {
            cpu: Cpu::default(),
            memory: Memory::new(core_bytes),
            bus: Bus::new(timing, drum, pack),
            now: 0,
            attend_at: 0,
            branch_taken_ticks: timing.branch_taken_ticks(),
            odd_byte_ticks: timing.odd_byte_ticks(),
            trap_ticks: timing.trap_ticks(),
            stolen_ticks: timing.stolen_ticks,
            until: NEVER,
            stops_when_printed: false,
            waited: Waited::default(),
            entered: None,
            trapped: None,
            decoded: decode::table(|word| timing.instruction_ticks(word)).into(),
        }
    }

    /// The ticks since the start.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// The time in which the processor waited.
    pub fn waited(&self) -> Waited {
        self.waited
    }

    /// The last trap or interrupt.
    pub fn entered(&self) -> Option<Entry> {
        self.entered
    }

    /// The last trap.
    pub fn trapped(&self) -> Option<Entry> {
        self.trapped
    }

    /// Sets whether [`run`](Self::run) returns after every printed character.
    pub fn stop_when_printed(&mut self, stops: bool) {
        self.stops_when_printed = stops;
    }

    /// Types on the console.
    pub fn type_in(&mut self, text: &[u8]) {
        self.bus.console.type_in(self.now, text);
        self.attend_at = 0;
    }

    /// Connects a terminal to a serial line.
    pub fn connect(&mut self, line: usize) {
        self.bus.lines.connect(self.now, line);
    }

    /// Types on a serial line.
    pub fn type_on(&mut self, line: usize, text: &[u8]) {
        self.bus.lines.type_in(self.now, line, text);
    }

    /// Runs until `until`, or until another stop.
    pub fn run<W: Watcher>(&mut self, watcher: &mut W, until: u64) -> Stop {
        self.until = until;
        self.attend_at = 0;
        loop {
            if self.now >= self.attend_at {
                match self.attend(watcher) {
                    Attended::Go => {}
                    Attended::Again => continue,
                    Attended::Stop(stop) => return stop,
                }
            }
            let address = self.cpu.registers[PC];
            if W::WATCHES {
                watcher.instruction(self, address);
            }
            if let Some(stop) = self.step(address) {
                return stop;
            }
        }
    }

    /// Executes one instruction.
    #[inline]
    fn step(&mut self, address: u16) -> Option<Stop> {
        let word = match self.read_word(address) {
            Ok(word) => word,
            Err(abort) => {
                self.raise(cause(abort));
                return None;
            }
        };
        self.cpu.registers[PC] = address.wrapping_add(2);
        let Decoded { operation, ticks } = self.decoded[usize::from(word)];
        self.now += u64::from(ticks);
        match self.execute(operation, word) {
            Ok(stop) => stop,
            Err(abort) => {
                self.raise(cause(abort));
                None
            }
        }
    }

    /// Processes due events, traps and interrupts.
    #[cold]
    fn attend<W: Watcher>(&mut self, watcher: &mut W) -> Attended {
        if self.bus.due() <= self.now {
            let words = self.bus.service(self.now, &mut self.memory);
            if !self.cpu.waits {
                self.now += u64::from(words) * self.stolen_ticks;
            }
        }
        if self.stops_when_printed && self.bus.console.has_printed() {
            return Attended::Stop(Stop::Printed);
        }
        if self.now >= self.until {
            return Attended::Stop(Stop::Limit);
        }
        if let Some(taken) = self.cpu.traps.take() {
            let counter = self.cpu.registers[PC];
            self.trapped = Some(Entry { vector: taken.vector, counter, cause: taken.cause });
            self.entered = self.trapped;
            let stop = self.enter(taken.vector, taken.is_stack);
            return stop.map_or(Attended::Again, Attended::Stop);
        }
        if let Some(vector) = self.bus.interrupt(self.cpu.priority) {
            let (had_waited, counter) = (self.cpu.waits, self.cpu.registers[PC]);
            self.entered = Some(Entry { vector, counter, cause: "an interrupt" });
            watcher.interrupt(self, vector, had_waited);
            return self.enter(vector, false).map_or(Attended::Again, Attended::Stop);
        }
        if self.cpu.trace {
            self.raise(Traps::TRACE);
            if self.cpu.waits {
                return Attended::Again;
            }
            return Attended::Go;
        }
        let next = self.bus.due().min(self.until);
        if !self.cpu.waits {
            self.attend_at = next;
            return Attended::Go;
        }
        if next == NEVER {
            return Attended::Stop(Stop::Asleep);
        }
        let ticks = next - self.now;
        self.waited.ticks += ticks;
        if !self.bus.a_disc_is_busy() {
            self.waited.idle_ticks += ticks;
        }
        self.now = next;
        Attended::Again
    }

    /// Enters through a vector, and pushes the old state.
    fn enter(&mut self, vector: u16, is_stack: bool) -> Option<Stop> {
        self.cpu.waits = false;
        let stack = self.cpu.registers[SP];
        let (Ok(counter), Ok(status)) = (self.read_word(vector), self.read_word(vector | 2)) else {
            return Some(Stop::VectorAbort);
        };
        let (old_status, old_counter) = (self.cpu.status(), self.cpu.registers[PC]);
        let pushed = self.write_word(stack.wrapping_sub(2), old_status);
        let pushed = pushed.and_then(|()| self.write_word(stack.wrapping_sub(4), old_counter));
        if pushed.is_err() {
            return Some(Stop::StackAbort);
        }
        let stack = stack.wrapping_sub(4);
        self.cpu.registers[SP] = stack;
        self.cpu.registers[PC] = counter;
        self.write_status(status);
        self.now += self.trap_ticks;
        if stack < STACK_LIMIT && !is_stack {
            self.raise(Traps::STACK);
        }
        None
    }

    #[inline]
    pub(crate) fn raise(&mut self, trap: Traps) {
        self.cpu.traps.raise(trap);
        self.attend_at = 0;
    }

    /// Sets the status, which may enable a request before the next instruction.
    pub(crate) fn write_status(&mut self, status: u16) {
        self.cpu.set_status(status);
        self.attend_at = 0;
    }

    pub(crate) fn look_for_requests(&mut self) {
        self.attend_at = 0;
    }
}

fn cause(abort: Abort) -> Traps {
    match abort {
        Abort::Odd => Traps::ODD,
        Abort::Absent => Traps::ABSENT,
    }
}
