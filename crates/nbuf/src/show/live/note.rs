//! A sentence under the figures of a window.

use std::fmt::{self, Display, Formatter};

/// What the figures rest on, or what spoils them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Note {
    Plain(String),
    Warning(String),
}

impl Note {
    pub(super) const fn is_warning(&self) -> bool {
        matches!(self, Self::Warning(_))
    }
}

impl Display for Note {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(text) => f.write_str(text),
            Self::Warning(text) => write!(f, "Warning: {text}"),
        }
    }
}
