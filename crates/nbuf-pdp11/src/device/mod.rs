//! The devices, one file each. A device has its registers and its own time. The bus has its address
//! and its interrupt.

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

/// The due time of an idle device.
pub const NEVER: u64 = u64::MAX;

/// Bit 7 of a status register: done, ready.
const DONE: u16 = 0o200;
/// Bit 6: interrupt when done.
const ENABLE: u16 = 0o100;
/// Bit 0: go.
const GO: u16 = 1;

/// A processor's write to a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    /// The whole word.
    Word(u16),
    /// The byte at the even address.
    Low(u8),
    /// The byte at the odd address.
    High(u8),
}

impl Write {
    /// The new contents of a register that accepts byte writes.
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
