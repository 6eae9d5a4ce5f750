//! The one folder that depends on the kernel's code: the buffer allocator and its events.
//!
//! Addresses come from the symbols of the kernel's own a.out. They are used only if the code in
//! core is the known code. Otherwise there are no hooks, and only discs are counted. Source: the
//! listing of June 1972, `u8.s` (bufaloc, dskrd, wslot) and `u3.s` (idle).

mod landmarks;
mod meters;

use crate::machine::Pdp11;
use crate::memory::Memory;

pub use landmarks::Landmarks;
pub use meters::{Meters, Panic};

/// The reason why an a.out is invalid, or does not match the kernel in core.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KernelError {
    /// It is not an a.out with symbols.
    #[error("the file is no a.out with symbols")]
    NotAnObject,
    /// A symbol is missing.
    #[error("the kernel has no symbol `{0}`")]
    NoSymbol(&'static str),
    /// The code in core differs from the known code.
    #[error("the kernel in core differs from the known code at {name} ({address:06o})")]
    OtherCode {
        /// The nearest symbol.
        name: &'static str,
        /// The address of the difference.
        address: u16,
    },
}

/// The value of a symbol in an a.out of the Second Edition. That has a header of sixteen bytes,
/// text, as many relocation words, then twelve bytes a symbol.
pub fn symbol(object: &[u8], name: &'static str) -> Result<u16, KernelError> {
    let word = |at: usize| Some(u16::from_le_bytes([*object.get(at)?, *object.get(at + 1)?]));
    let header = (word(0), word(2), word(4), word(8));
    let (Some(0o407), Some(text), Some(data), Some(_)) = header else {
        return Err(KernelError::NotAnObject);
    };
    let symbols = 16 + 2 * (usize::from(text) + usize::from(data));
    let table = object.get(symbols..).ok_or(KernelError::NotAnObject)?;
    let mut padded = [0; 8];
    padded[..name.len().min(8)].copy_from_slice(&name.as_bytes()[..name.len().min(8)]);
    let row = table.chunks_exact(12).find(|row| row[..8] == padded);
    row.map(|row| u16::from_le_bytes([row[10], row[11]])).ok_or(KernelError::NoSymbol(name))
}

/// The addresses in a kernel whose code was verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel {
    bufaloc: u16,
    preread: u16,
    dskrd: u16,
    wslot: u16,
    idle: u16,
    bufp: u16,
    cdev: u16,
    /// The number of buffers, from the operand of the loop over them.
    pub buffers: u16,
}

const HIT: u16 = 0o44;
const FULL: u16 = 0o62;
const MISS: u16 = 0o72;
const WAIT: u16 = 0o20;
/// The offsets of `bufaloc`'s operands: the first buffer, and the end of the list.
const FIRST_OPERAND: u16 = 0o14;
const END_OPERAND: u16 = 0o52;
/// The bits that protect a buffer from eviction: written, read, active, waiting, kept or locked.
const BUSY: u16 = 0o173_000;
/// The bits that make a reader wait: the read is requested or in progress.
const READING: u16 = 0o022_000;

/// The words that must be in core, by symbol and offset: the starts of the routines, and the code
/// around the hooks.
const CODE: [(&str, u16, &[u16]); 8] = [
    ("bufaloc", 0, &[0o010_246, 0o012_737, 0o340, 0o177_776, 0o005_046, 0o012_702]),
    ("bufaloc", 0o16, &[0o012_205, 0o032_715, BUSY, 0o001_001, 0o010_216, 0o121_567]),
    ("bufaloc", HIT, &[0o005_726, 0o000_412, 0o020_227]),
    ("bufaloc", 0o56, &[0o012_602, 0o001_004, 0o004_067]),
    ("bufaloc", 0o70, &[0o000_747, 0o005_720, 0o014_205]),
    ("dskrd", 0o22, &[0o032_715, READING, 0o001_404, 0o004_067]),
    ("wslot", 6, &[0o032_715, READING, 0o001_404, 0o004_067]),
    ("idle", 0, &[0o013_746, 0o177_776, 0o005_037, 0o177_776, 0o016_746]),
];

impl Kernel {
    /// Verifies the kernel in core, by the symbols of its a.out.
    pub fn verify(object: &[u8], memory: &Memory) -> Result<Self, KernelError> {
        let mut kernel = Self {
            bufaloc: symbol(object, "bufaloc")?,
            preread: symbol(object, "preread")?,
            dskrd: symbol(object, "dskrd")?,
            wslot: symbol(object, "wslot")?,
            idle: symbol(object, "idle")?,
            bufp: symbol(object, "bufp")?,
            cdev: symbol(object, "cdev")?,
            buffers: 0,
        };
        for (name, offset, words) in CODE {
            let address = symbol(object, name)?.wrapping_add(offset);
            let there = (0u16..)
                .zip(words)
                .all(|(at, &word)| memory.word(address.wrapping_add(2 * at)) == Some(word));
            if !there {
                return Err(KernelError::OtherCode { name, address });
            }
        }
        let operand = |offset| memory.word(kernel.bufaloc.wrapping_add(offset)).unwrap_or(0);
        if operand(FIRST_OPERAND) != kernel.bufp
            || memory.word(kernel.idle.wrapping_add(WAIT)) != Some(1)
        {
            return Err(KernelError::OtherCode { name: "bufaloc", address: kernel.bufaloc });
        }
        kernel.buffers = operand(END_OPERAND).wrapping_sub(kernel.bufp) / 2;
        Ok(kernel)
    }

    fn hooks(&self) -> [(u16, Hook); 5] {
        [
            (self.bufaloc, Hook::Request),
            (self.bufaloc.wrapping_add(HIT), Hook::Hit),
            (self.bufaloc.wrapping_add(FULL), Hook::Full),
            (self.bufaloc.wrapping_add(MISS), Hook::Miss),
            (self.idle.wrapping_add(WAIT), Hook::Wait),
        ]
    }

    fn caller(&self, link: u16) -> Caller {
        match link {
            link if link == self.preread.wrapping_add(4) => Caller::Preread,
            link if link == self.dskrd.wrapping_add(4) => Caller::Read,
            link if link == self.wslot.wrapping_add(4) => Caller::Write,
            _ => Caller::Other,
        }
    }

    /// Whether the event for which the processor is about to wait has already happened.
    fn wakeup_is_past(&self, machine: &Pdp11) -> bool {
        let word = |address| machine.memory.word(address).unwrap_or(0);
        let link = machine.cpu.registers[0];
        if link == self.dskrd.wrapping_add(0o36) || link == self.wslot.wrapping_add(0o22) {
            return word(machine.cpu.registers[5]) & READING == 0;
        }
        link == self.bufaloc.wrapping_add(0o70)
            && (0..self.buffers).any(|at| word(word(self.bufp.wrapping_add(2 * at))) & BUSY == 0)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hook {
    Request,
    Hit,
    Full,
    Miss,
    Wait,
    Panic,
}

/// The routine that requests a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Caller {
    /// A read ahead of its use.
    Preread,
    /// A read for a process.
    Read,
    /// A write.
    Write,
    /// An unknown routine.
    Other,
}

/// A call of the buffer allocator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferRequest {
    /// The time of the call.
    pub ticks: u64,
    /// The device: 0 is the drum, 1 the pack.
    pub device: u8,
    /// The block's number on it.
    pub block: u16,
    /// The caller.
    pub caller: Caller,
    /// Whether a buffer held the block.
    pub is_hit: bool,
}
