//! A PDP-11/20 with the devices of First Edition Unix, in simulated time.
//!
//! Time is a pure function of the executed instructions. No code reads a clock, so two runs of one
//! image end alike to the last digit. The costs of an instruction, a turn of the drum and a step of
//! the arm are data ([`timing`]). **Invariant:** no image and no device state causes a panic.
//! Sources: DEC, *PDP-11/20, 15, r20 Processor Handbook* (1971), *PDP-11 Peripherals Handbook*
//! (1972). Do not use it for programs that need memory management, floating point or the extended
//! instructions.

pub mod bus;
pub mod cpu;
pub mod device;
pub mod machine;
pub mod memory;
pub mod timing;
pub mod unix;

pub use machine::{Pdp11, Stop};
