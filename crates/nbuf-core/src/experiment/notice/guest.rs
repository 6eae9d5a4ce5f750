//! What the console of a simulated machine reports while it runs, and its words.

use std::fmt::{self, Display, Formatter};

/// Something that the user at a console must know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GuestNotice<'a> {
    /// The key that ends the session.
    LeaveKey,
    /// A serial line is a pseudo-terminal.
    Line {
        /// The number of the line.
        number: u8,
        /// The name of the pseudo-terminal.
        name: &'a str,
    },
    /// The kernel is not one whose processes can be seen.
    UnknownKernel,
}

impl Display for GuestNotice<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::LeaveKey => f.write_str("Ctrl-E leaves"),
            Self::Line { number, name } => write!(f, "tty{number} is {name}"),
            Self::UnknownKernel => f.write_str(
                "this kernel is not known: a line is typed when the machine has stood still for half \
                 a second",
            ),
        }
    }
}
