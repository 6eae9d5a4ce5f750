//! DC11 lines that nobody is connected to: registers that read as zero and forget what is written.
//!
//! First Edition Unix touches the receiver status of eight lines when it starts; a device that does
//! not answer would end that.

/// Lines of the machine.
pub const LINES: u16 = 8;
/// Bytes of registers, eight for each line.
pub const BYTES: u16 = LINES * 8;

/// What any of the registers says.
pub const SILENCE: u16 = 0;
