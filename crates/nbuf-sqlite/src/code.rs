//! The result codes of SQLite that files give.

/// A code that is not `SQLITE_OK`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Code(pub i32);

/// `SQLITE_OK`.
pub(crate) const OK: i32 = 0;

impl Code {
    /// The kernel refused a read.
    pub(crate) const READ: Self = Self(0x10a);
    /// The file ended before the bytes did; the rest of the buffer is zeros.
    pub(crate) const SHORT_READ: Self = Self(0x20a);
    /// The kernel refused a write.
    pub(crate) const WRITE: Self = Self(0x30a);
    /// Another error of a file.
    pub(crate) const FAILED: Self = Self(0x0a);

    /// What a call gave.
    pub(crate) fn check(code: i32) -> Result<(), Self> {
        if code == OK { Ok(()) } else { Err(Self(code)) }
    }

    /// What a call gives.
    pub(crate) fn of(outcome: Result<(), Self>) -> i32 {
        outcome.map_or_else(|code| code.0, |()| OK)
    }
}
