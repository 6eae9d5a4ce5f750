//! The devices, one file each. A device knows its registers and its own time; where it sits and whom
//! it interrupts is known to the bus alone.

pub mod dc11;
pub mod drum;
pub mod ke11;
pub mod kl11;
pub mod kw11;
mod line;
pub mod pack;
pub mod rf11;
pub mod rk11;
pub mod transfer;

/// A device has nothing to do.
pub const NEVER: u64 = u64::MAX;

/// Bit 7 of a status register: done, ready.
const DONE: u16 = 0o200;
/// Bit 6: interrupts when done.
const ENABLE: u16 = 0o100;
/// Bit 0: go.
const GO: u16 = 1;

/// How a processor writes to a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    /// All of it.
    Word(u16),
    /// The byte at the even address.
    Low(u8),
    /// The byte at the odd address.
    High(u8),
}

impl Write {
    /// What a register that takes bytes holds afterwards.
    pub(crate) fn over(self, old: u16) -> u16 {
        match self {
            Self::Word(word) => word,
            Self::Low(byte) => (old & 0xff00) | u16::from(byte),
            Self::High(byte) => (old & 0x00ff) | u16::from(byte) << 8,
        }
    }
}

/// The low half of a number.
fn low(value: u32) -> u16 {
    let [a, b, ..] = value.to_le_bytes();
    u16::from_le_bytes([a, b])
}
