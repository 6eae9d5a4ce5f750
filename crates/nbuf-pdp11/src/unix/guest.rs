//! A Unix that was booted, and the conversation on its console.
//!
//! A line is sent when its prompt was seen, never ahead; what comes back is masked to seven bits, and
//! control characters but the ends of lines are left out. **Invariant:** the conversation depends on
//! what was printed and on simulated time alone.

use crate::cpu::PC;
use crate::machine::{Pdp11, Stop};
use crate::memory::CORE_BYTES;
use crate::timing::Timing;

use super::kernel::{Kernel, Landmarks, Meters};

/// What is on the two discs.
#[derive(Clone, PartialEq, Eq)]
pub struct Images {
    /// The drum: the root, the boot slots, swap.
    pub drum: Vec<u8>,
    /// The pack: `/usr`.
    pub pack: Vec<u8>,
}

/// A kernel on the drum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// The one that is used, block 964.
    Warm,
    /// The one for installing and trying, block 988.
    Cold,
}

impl Slot {
    const BYTES: usize = 12_288;

    fn offset_bytes(self) -> usize {
        match self {
            Self::Warm => 964 * 512,
            Self::Cold => 988 * 512,
        }
    }

    /// What the switches say to get it.
    fn switches(self) -> u16 {
        match self {
            Self::Warm => 0o173_700,
            Self::Cold => 1,
        }
    }
}

/// What went wrong with a guest, and how the machine stood.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}; it waited for `{wanted}`")]
pub struct Trouble {
    /// In a sentence.
    pub what: String,
    /// The text that did not come.
    pub wanted: String,
    /// The address of the next instruction.
    pub counter: u16,
    /// Why the machine stands still; nothing where it would run on.
    pub stop: Option<Stop>,
    /// Registers and the last 50 instructions.
    pub machine: String,
}

/// See the module.
#[derive(Clone)]
pub struct Guest {
    /// The machine.
    pub machine: Pdp11,
    /// What is counted.
    pub meters: Meters,
    printed: String,
    /// When the last character appeared.
    pub printed_ticks: u64,
    second_ticks: u64,
}

/// Instructions without the text that is waited for: more is a loop.
const INSTRUCTIONS_MAX: u64 = 60_000_000;
/// Seconds likewise.
const SECONDS_MAX: u64 = 1_000;

impl Guest {
    /// Puts the kernel of a slot into core and starts it, as the bootstrap does.
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

    /// Puts hooks into the kernel in core, if it is the one that the a.out says.
    pub fn hook(&mut self, object: &[u8]) -> Result<Kernel, super::kernel::KernelError> {
        let kernel = Kernel::verify(object, &self.machine.memory)?;
        self.meters = Meters::new(Some(kernel), self.meters.landmarks().copied());
        Ok(kernel)
    }

    /// The images as they are now.
    pub fn images(&self) -> Images {
        let drum = self.machine.bus.drum.transfer.image().to_vec();
        Images { drum, pack: self.machine.bus.pack.transfer.image().to_vec() }
    }

    /// All that was printed.
    pub fn printed(&self) -> &str {
        &self.printed
    }

    /// Whether a process sleeps until the console has a line, and nothing that was typed or printed is
    /// under way. Nothing where the kernel is of a kind that is not known.
    pub fn console_is_read(&self) -> Option<bool> {
        self.meters.landmarks().map(|places| places.console_is_read(&self.machine))
    }

    /// Whether no process can run and no disc moves. Nothing where the kernel is of a kind that is not
    /// known.
    pub fn nothing_runs(&self) -> Option<bool> {
        self.meters.landmarks().map(|places| places.nothing_runs(&self.machine))
    }

    /// Lets so many seconds pass.
    pub fn rest(&mut self, seconds: u64) {
        let until = self.machine.now() + seconds * self.second_ticks;
        while self.machine.run(&mut self.meters, until) == Stop::Printed {
            self.listen();
        }
        self.listen();
    }

    /// Takes what was printed, without what no reader wants.
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

    /// Waits until what was printed since `from` ends with a text. The time at which it did.
    fn wait_for(&mut self, from: usize, wanted: &str) -> Result<u64, Trouble> {
        let instructions = self.meters.instructions + INSTRUCTIONS_MAX;
        let deadline = self.machine.now() + SECONDS_MAX * self.second_ticks;
        loop {
            if self.printed.len() >= from + wanted.len() && self.printed.ends_with(wanted) {
                return Ok(self.printed_ticks);
            }
            // Time may leap, instructions may not: both are looked at now and then.
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

    /// Waits for `login: ` and logs in. The time of the prompt.
    pub fn log_in(&mut self) -> Result<u64, Trouble> {
        self.wait_for(0, "login: ")?;
        self.line("root")
    }

    /// Sends a line and waits for the prompt of the shell behind its echo. The time of the prompt.
    pub fn line(&mut self, line: &str) -> Result<u64, Trouble> {
        self.ask(line, "\n# ")
    }

    /// Sends a line and waits for an answer behind its echo.
    pub fn ask(&mut self, line: &str, answer: &str) -> Result<u64, Trouble> {
        let from = self.printed.len() + line.len();
        self.machine.type_in(line.as_bytes());
        self.machine.type_in(b"\r");
        self.wait_for(from, answer)
    }

    /// What was printed behind a place, in lines.
    pub fn since(&self, from: usize) -> &str {
        self.printed.get(from..).unwrap_or_default()
    }
}
