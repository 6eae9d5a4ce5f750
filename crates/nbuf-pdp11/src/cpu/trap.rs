//! Traps: what the processor does to itself, in the order in which it is heard.
//!
//! Several may wait; the first of the order is taken and takes those with it that it makes
//! meaningless. Interrupts of devices come after all traps.

/// A set of traps that wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traps(u16);

impl Traps {
    /// A word at an odd address: vector 4.
    pub const ODD: Self = Self(1);
    /// Nobody answered at the address: vector 4.
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

    /// In their order: vector, and what goes with the trap when it is taken.
    const ORDER: [(Self, u16, Self); 10] = [
        (Self::ODD, 0o4, Self(Self::ODD.0 | Self::STACK.0 | Self::TRACE.0)),
        (Self::ABSENT, 0o4, Self(Self::ABSENT.0 | Self::STACK.0 | Self::TRACE.0)),
        (Self::JUMP, 0o4, Self(Self::JUMP.0 | Self::TRACE.0)),
        (Self::RESERVED, 0o10, Self(Self::RESERVED.0 | Self::TRACE.0)),
        (Self::BREAKPOINT, 0o14, Self(Self::BREAKPOINT.0 | Self::TRACE.0)),
        (Self::IOT, 0o20, Self(Self::IOT.0 | Self::TRACE.0)),
        (Self::EMT, 0o30, Self(Self::EMT.0 | Self::TRACE.0)),
        (Self::TRAP, 0o34, Self(Self::TRAP.0 | Self::TRACE.0)),
        (Self::TRACE, 0o14, Self::TRACE),
        (Self::STACK, 0o4, Self::STACK),
    ];

    /// Whether none waits.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Adds one.
    pub(crate) fn raise(&mut self, trap: Self) {
        self.0 |= trap.0;
    }

    /// Takes the first: its vector, and whether it was that of the stack, which cannot call itself.
    pub(crate) fn take(&mut self) -> Option<(u16, bool)> {
        let &(trap, vector, with_it) =
            Self::ORDER.iter().find(|(trap, ..)| self.0 & trap.0 != 0)?;
        self.0 &= !with_it.0;
        Some((vector, trap == Self::STACK))
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
        assert_eq!(traps.take(), Some((0o30, false)));
        assert_eq!(traps.take(), Some((0o4, true)), "the trace is gone with EMT, the stack is not");
        assert_eq!(traps.take(), None);
        traps.raise(Traps::STACK);
        traps.raise(Traps::ODD);
        assert_eq!(traps.take(), Some((0o4, false)));
        assert!(traps.is_empty());
    }
}
