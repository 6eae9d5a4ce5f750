//! A booted Unix, and the conversation on its console.
//!
//! It sends a line only after its prompt. It masks the output to seven bits and drops control
//! characters except line ends. **Invariant:** the conversation depends only on the output and on
//! simulated time.

use serde::{Deserialize, Serialize};

use crate::cpu::PC;
use crate::machine::{Pdp11, Stop};
use crate::memory::CORE_BYTES;
use crate::timing::Timing;

use super::kernel::{Kernel, Landmarks, Meters};

/// The contents of the two discs.
#[derive(Clone, PartialEq, Eq)]
pub struct Images {
    /// The drum: the root, the boot slots, swap.
    pub drum: Vec<u8>,
    /// The pack: `/usr`.
    pub pack: Vec<u8>,
}

/// A kernel on the drum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Slot {
    /// The kernel in normal use, block 964.
    #[default]
    Warm,
    /// The kernel for installation and tests, block 988.
    Cold,
}

impl Slot {
    const BYTES: usize = 12_288;

    /// Whether a drum has something in it.
    pub fn is_filled(self, drum: &[u8]) -> bool {
        let slot = drum.iter().skip(self.offset_bytes()).take(Self::BYTES);
        slot.copied().any(|byte| byte != 0)
    }

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Warm => "warm",
            Self::Cold => "cold",
        }
    }

    fn offset_bytes(self) -> usize {
        match self {
            Self::Warm => 964 * 512,
            Self::Cold => 988 * 512,
        }
    }

    /// The setting of the switches that boots it.
    fn switches(self) -> u16 {
        match self {
            Self::Warm => 0o173_700,
            Self::Cold => 1,
        }
    }
}

/// The failure of a guest, and the state of its machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}; it waited for `{wanted}`")]
pub struct Trouble {
    /// The failure in a sentence.
    pub what: String,
    /// The expected text.
    pub wanted: String,
    /// The address of the next instruction.
    pub counter: u16,
    /// The reason for the stop; `None` if the machine would continue.
    pub stop: Option<Stop>,
    /// The registers and the last 50 instructions.
    pub machine: String,
}

/// A booted machine with its console output and meters.
#[derive(Clone)]
pub struct Guest {
    /// The machine.
    pub machine: Pdp11,
    /// The meters on the kernel.
    pub meters: Meters,
    printed: String,
    /// The time of the last printed character.
    pub printed_ticks: u64,
    second_ticks: u64,
}

/// The most instructions without the expected text; more means a loop.
const INSTRUCTIONS_MAX: u64 = 60_000_000;
/// The same limit in simulated seconds.
const SECONDS_MAX: u64 = 1_000;

impl Guest {
    /// Loads the kernel of a slot into core and starts it, as the bootstrap does.
    pub fn boot(images: Images, slot: Slot, timing: &Timing) -> Self {
        let from = slot.offset_bytes();
        let end = images.drum.len().min(from + Slot::BYTES);
        let kernel = images.drum.get(from..end).unwrap_or_default().to_vec();
        let mut machine = Pdp11::new(timing, CORE_BYTES, images.drum, images.pack);
        machine.memory.load(0, &kernel);
        machine.cpu.registers[PC] = 0o400;
        machine.bus.switches = slot.switches();
        machine.stop_when_printed(true);
        let meters = Meters::new(None, Landmarks::find(&machine.memory));
        let (printed, second_ticks) = (String::new(), timing.second_ticks);
        Self { machine, meters, printed, printed_ticks: 0, second_ticks }
    }

    /// Attaches hooks to the kernel in core, if it matches the a.out.
    pub fn hook(&mut self, object: &[u8]) -> Result<Kernel, super::kernel::KernelError> {
        let kernel = Kernel::verify(object, &self.machine.memory)?;
        self.meters = Meters::new(Some(kernel), self.meters.landmarks().copied());
        Ok(kernel)
    }

    /// The current images.
    pub fn images(&self) -> Images {
        let drum = self.machine.bus.drum.transfer.image().to_vec();
        Images { drum, pack: self.machine.bus.pack.transfer.image().to_vec() }
    }

    /// All output so far.
    pub fn printed(&self) -> &str {
        &self.printed
    }

    /// Whether a process sleeps until the console has a line, and no input or output is in
    /// progress. `None` for an unknown kernel.
    pub fn console_is_read(&self) -> Option<bool> {
        self.meters.landmarks().map(|places| places.console_is_read(&self.machine))
    }

    /// Whether no process can run and no disc moves. `None` for an unknown kernel.
    pub fn nothing_runs(&self) -> Option<bool> {
        self.meters.landmarks().map(|places| places.nothing_runs(&self.machine))
    }

    /// Runs for this number of simulated seconds.
    pub fn rest(&mut self, seconds: u64) {
        let until = self.machine.now() + seconds * self.second_ticks;
        while self.machine.run(&mut self.meters, until) == Stop::Printed {
            self.listen();
        }
        self.listen();
    }

    /// Takes new output, without control characters.
    fn listen(&mut self) {
        for printed in self.machine.bus.console.take_printed() {
            self.printed_ticks = printed.ticks;
            match printed.character {
                // Lines end with LF, CR or both, in any order and number.
                b'\r' | b'\n' if !self.printed.ends_with('\n') => self.printed.push('\n'),
                character @ 0o40..=0o176 => self.printed.push(char::from(character)),
                _ => {}
            }
        }
    }

    /// Waits until the output since `from` ends with `wanted`. Returns the time of that moment.
    fn wait_for(&mut self, from: usize, wanted: &str) -> Result<u64, Trouble> {
        let instructions = self.meters.instructions + INSTRUCTIONS_MAX;
        let deadline = self.machine.now() + SECONDS_MAX * self.second_ticks;
        loop {
            if self.printed.len() >= from + wanted.len() && self.printed.ends_with(wanted) {
                return Ok(self.printed_ticks);
            }
            // Time may jump, but instructions cannot, so the loop checks both at intervals.
            let slice = self.machine.now() + 1_000_000;
            let stop = self.machine.run(&mut self.meters, slice);
            self.listen();
            match stop {
                Stop::Printed | Stop::Limit => {}
                stop => return Err(self.trouble(self.reason(Some(stop)), wanted, Some(stop))),
            }
            let is_lost = self.meters.panicked.is_some();
            if is_lost || self.meters.instructions > instructions {
                return Err(self.trouble(self.reason(None), wanted, None));
            }
            if self.machine.now() > deadline {
                return Err(self.trouble("the guest says nothing".to_owned(), wanted, None));
            }
        }
    }

    fn trouble(&self, what: String, wanted: &str, stop: Option<Stop>) -> Trouble {
        let (counter, wanted) = (self.machine.cpu.registers[PC], wanted.trim().to_owned());
        Trouble { what, wanted, counter, stop, machine: self.post_mortem() }
    }

    /// Waits for `login: ` and logs in. Returns the time of the prompt.
    pub fn log_in(&mut self) -> Result<u64, Trouble> {
        self.wait_for(0, "login: ")?;
        self.line("root")
    }

    /// Sends a line and waits for the shell's prompt after its echo. Returns the time of the
    /// prompt.
    pub fn line(&mut self, line: &str) -> Result<u64, Trouble> {
        self.ask(line, "\n# ")
    }

    /// Sends a line and waits for an answer after its echo.
    pub fn ask(&mut self, line: &str, answer: &str) -> Result<u64, Trouble> {
        let from = self.printed.len() + line.len();
        self.machine.type_in(line.as_bytes());
        self.machine.type_in(b"\r");
        self.wait_for(from, answer)
    }

    /// The output after a place, in lines.
    pub fn since(&self, from: usize) -> &str {
        self.printed.get(from..).unwrap_or_default()
    }
}
