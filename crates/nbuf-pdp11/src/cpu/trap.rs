//! Traps: exceptions of the processor itself, in order of priority.
//!
//! Several may wait. The first in order is taken, and clears the waiting traps that it makes
//! meaningless. Interrupts of devices come after all traps.

/// The last entry through a vector, by a trap or an interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The vector's address.
    pub vector: u16,
    /// The saved program counter: the address of the next instruction.
    pub counter: u16,
    /// The name of the trap or interrupt.
    pub cause: &'static str,
}

/// A trap to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) vector: u16,
    /// Whether it is the stack trap, which must not trigger itself.
    pub(crate) is_stack: bool,
    pub(crate) cause: &'static str,
}

/// The set of waiting traps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traps(u16);

impl Traps {
    /// A word at an odd address: vector 4.
    pub const ODD: Self = Self(1);
    /// An address where no memory or device answers: vector 4.
    pub const ABSENT: Self = Self(2);
    /// A jump to a register: vector 4.
    pub const JUMP: Self = Self(4);
    /// A reserved instruction: vector 10.
    pub const RESERVED: Self = Self(8);
    /// `BPT`: vector 14.
    pub const BREAKPOINT: Self = Self(0o20);
    /// `IOT`: vector 20.
    pub const IOT: Self = Self(0o40);
    /// `EMT`: vector 30.
    pub const EMT: Self = Self(0o100);
    /// `TRAP`: vector 34.
    pub const TRAP: Self = Self(0o200);
    /// The T bit: vector 14.
    pub const TRACE: Self = Self(0o400);
    /// The stack went below its limit: vector 4.
    pub const STACK: Self = Self(0o1000);

    /// The traps in order of priority: the trap, its vector, the traps that it clears, and its
    /// name.
    const ORDER: [(Self, u16, Self, &'static str); 10] = [
        (
            Self::ODD,
            0o4,
            Self(Self::ODD.0 | Self::STACK.0 | Self::TRACE.0),
            "a word at an odd address",
        ),
        (
            Self::ABSENT,
            0o4,
            Self(Self::ABSENT.0 | Self::STACK.0 | Self::TRACE.0),
            "nothing answers at an address",
        ),
        (Self::JUMP, 0o4, Self(Self::JUMP.0 | Self::TRACE.0), "a jump to a register"),
        (Self::RESERVED, 0o10, Self(Self::RESERVED.0 | Self::TRACE.0), "a reserved instruction"),
        (Self::BREAKPOINT, 0o14, Self(Self::BREAKPOINT.0 | Self::TRACE.0), "BPT"),
        (Self::IOT, 0o20, Self(Self::IOT.0 | Self::TRACE.0), "IOT"),
        (Self::EMT, 0o30, Self(Self::EMT.0 | Self::TRACE.0), "EMT"),
        (Self::TRAP, 0o34, Self(Self::TRAP.0 | Self::TRACE.0), "TRAP"),
        (Self::TRACE, 0o14, Self::TRACE, "the T bit of the status"),
        (Self::STACK, 0o4, Self::STACK, "a stack below 000400"),
    ];

    /// Whether no trap waits.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Adds a trap.
    pub(crate) fn raise(&mut self, trap: Self) {
        self.0 |= trap.0;
    }

    /// Removes and returns the first trap.
    pub(crate) fn take(&mut self) -> Option<Taken> {
        let &(trap, vector, with_it, cause) =
            Self::ORDER.iter().find(|(trap, ..)| self.0 & trap.0 != 0)?;
        self.0 &= !with_it.0;
        Some(Taken { vector, is_stack: trap == Self::STACK, cause })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_the_order_takes_with_it_what_has_no_meaning_any_more() {
        let mut traps = Traps::default();
        for trap in [Traps::STACK, Traps::TRACE, Traps::EMT] {
            traps.raise(trap);
        }
        let take = |traps: &mut Traps| traps.take().map(|taken| (taken.vector, taken.is_stack));
        assert_eq!(take(&mut traps), Some((0o30, false)));
        let why = "the trace is gone with EMT, the stack is not";
        assert_eq!(take(&mut traps), Some((0o4, true)), "{why}");
        assert_eq!(take(&mut traps), None);
        traps.raise(Traps::STACK);
        traps.raise(Traps::ODD);
        assert_eq!(take(&mut traps), Some((0o4, false)));
        assert!(traps.is_empty());
    }
}
