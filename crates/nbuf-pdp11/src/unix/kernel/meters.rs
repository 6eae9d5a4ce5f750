//! Counts calls of the buffer allocator and sleeps while a kernel runs, and keeps the last
//! instructions.

use crate::cpu::{Entry, PC};
use crate::machine::{Pdp11, Watcher};

use super::{BufferRequest, Hook, Kernel, Landmarks, WAIT};

/// The path of a kernel to its `panic`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Panic {
    /// The instruction that jumped there.
    pub from: u16,
    /// The last trap before it.
    pub trap: Option<Entry>,
}

/// The counts of a kernel, and its last instructions.
#[derive(Clone)]
pub struct Meters {
    kernel: Option<Kernel>,
    landmarks: Option<Landmarks>,
    hooks: Box<[Option<Hook>; 32_768]>,
    last: [u16; LAST],
    /// The number of executed instructions.
    pub instructions: u64,
    /// Every call of the allocator.
    pub requests: Vec<BufferRequest>,
    /// The number of waits for a free buffer.
    pub buffer_waits: u64,
    /// The WAITs after their event, however they ended.
    pub late_sleeps: u64,
    /// The late sleeps that the clock ended.
    pub lost_wakeups: u64,
    /// The first path to `panic`.
    pub panicked: Option<Panic>,
    wakeup_is_past: bool,
}

/// The number of instructions kept.
const LAST: usize = 64;

impl Meters {
    /// Starts at zero, with hooks for a known kernel and for the places found in it.
    #[expect(clippy::large_stack_arrays, reason = "it goes to the heap, once a machine")]
    pub fn new(kernel: Option<Kernel>, landmarks: Option<Landmarks>) -> Self {
        let mut hooks = Box::new([None; 32_768]);
        for (address, hook) in kernel.iter().flat_map(Kernel::hooks) {
            hooks[usize::from(address >> 1)] = Some(hook);
        }
        if let Some(landmarks) = landmarks {
            hooks[usize::from(landmarks.panic >> 1)] = Some(Hook::Panic);
        }
        Self {
            kernel,
            landmarks,
            hooks,
            last: [0; LAST],
            instructions: 0,
            requests: Vec::new(),
            buffer_waits: 0,
            late_sleeps: 0,
            lost_wakeups: 0,
            panicked: None,
            wakeup_is_past: false,
        }
    }

    /// The known kernel.
    pub fn kernel(&self) -> Option<&Kernel> {
        self.kernel.as_ref()
    }

    /// The places found in the kernel.
    pub fn landmarks(&self) -> Option<&Landmarks> {
        self.landmarks.as_ref()
    }

    /// The addresses of the last instructions, the latest last.
    pub fn last(&self) -> Vec<u16> {
        let count = self.instructions.min(LAST as u64);
        (self.instructions - count..self.instructions).map(|at| self.last[slot(at)]).collect()
    }

    #[cold]
    fn seen(&mut self, hook: Hook, machine: &Pdp11) {
        if hook == Hook::Panic {
            let from = self.last().iter().rev().nth(1).copied();
            let panicked = from.map(|from| Panic { from, trap: machine.trapped() });
            self.panicked = self.panicked.or(panicked);
        }
        let Some(kernel) = self.kernel else { return };
        match hook {
            Hook::Request => self.requests.push(BufferRequest {
                ticks: machine.now(),
                device: machine.memory.byte(kernel.cdev).unwrap_or(0),
                block: machine.cpu.registers[1],
                caller: kernel.caller(machine.cpu.registers[0]),
                is_hit: false,
            }),
            Hook::Hit => {
                if let Some(request) = self.requests.last_mut() {
                    request.is_hit = true;
                }
            }
            Hook::Miss | Hook::Panic => {}
            Hook::Full => self.buffer_waits += 1,
            Hook::Wait => {
                self.wakeup_is_past = kernel.wakeup_is_past(machine);
                self.late_sleeps += u64::from(self.wakeup_is_past);
            }
        }
    }
}

fn slot(instruction: u64) -> usize {
    usize::try_from(instruction % LAST as u64).unwrap_or(0)
}

impl Watcher for Meters {
    const WATCHES: bool = true;

    #[inline]
    fn instruction(&mut self, machine: &Pdp11, address: u16) {
        self.last[slot(self.instructions)] = address;
        self.instructions += 1;
        if let Some(hook) = self.hooks[usize::from(address >> 1)] {
            self.seen(hook, machine);
        }
    }

    fn interrupt(&mut self, machine: &Pdp11, vector: u16, had_waited: bool) {
        let at = machine.cpu.registers[PC].wrapping_sub(2);
        let in_idle = self.kernel.is_some_and(|kernel| at == kernel.idle.wrapping_add(WAIT));
        if had_waited && in_idle && self.wakeup_is_past {
            if vector == crate::bus::CLOCK_VECTOR {
                self.lost_wakeups += 1;
            }
            self.wakeup_is_past = false;
        }
    }
}
