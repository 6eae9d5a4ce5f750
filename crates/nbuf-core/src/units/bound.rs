//! A bound on memory: a growing structure states its size before it allocates.
//!
//! Invariant: a check costs no memory. The bound excludes memory whose size does not depend on the
//! input: blocks, tables of columns and the program itself.

use super::Bytes;

/// The memory that may be used, and advice for an input that needs more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The limit.
    pub allowed: Bytes,
    /// Advice for the error message.
    pub remedy: &'static str,
}

/// The error for an input that needs more memory than the bound allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} would take {needed} of memory or more, and {allowed} is allowed: {remedy}")]
pub struct TooLarge {
    /// The structure that needs the memory.
    pub what: &'static str,
    /// The least memory that it needs.
    pub needed: Bytes,
    /// The limit that it exceeds.
    pub allowed: Bytes,
    /// Advice for the user.
    pub remedy: &'static str,
}

impl Default for Bound {
    fn default() -> Self {
        Self::NONE
    }
}

impl Bound {
    /// Allows any amount.
    pub const NONE: Self = Self { allowed: Bytes(u64::MAX), remedy: "allow more with --memory" };

    /// Whether the bound allows this many bytes.
    pub fn holds(&self, bytes: u64) -> bool {
        bytes <= self.allowed.0
    }

    /// Returns an error if the bound does not allow this many bytes.
    pub fn allow(&self, what: &'static str, bytes: u64) -> Result<(), TooLarge> {
        if self.holds(bytes) {
            return Ok(());
        }
        let Self { allowed, remedy } = *self;
        Err(TooLarge { what, needed: Bytes(bytes), allowed, remedy })
    }

    /// The bound that remains after this many bytes.
    #[must_use]
    pub fn without(self, bytes: u64) -> Self {
        if self == Self::NONE {
            return self;
        }
        Self { allowed: self.allowed - Bytes(bytes), ..self }
    }
}

/// The most memory that a hash table of the standard library takes for this many entries. It
/// includes the old table, which still exists while a new one is filled.
pub fn table_bytes(entries: u64, entry_bytes: u64) -> u64 {
    let buckets = (entries.saturating_mul(8) / 7).saturating_add(1).max(4);
    let buckets = buckets.checked_next_power_of_two().unwrap_or(u64::MAX);
    buckets.saturating_mul(entry_bytes + 1).saturating_mul(3) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_said_in_a_line() {
        let bound = Bound { allowed: Bytes(1 << 30), remedy: "allow more with --memory" };
        assert_eq!(bound.allow("this", 1 << 30), Ok(()));
        let said = bound.allow("this", 1 << 40).unwrap_err().to_string();
        let want = "this would take 1.00 TiB of memory or more, and 1.00 GiB is allowed: allow more \
                    with --memory";
        assert_eq!(said, want);
        assert_eq!(bound.without(1 << 31).allowed, Bytes(0));
        assert!(Bound::NONE.without(5).holds(u64::MAX));
    }

    #[test]
    fn a_table_takes_no_more_than_is_said() {
        let mut table: std::collections::HashSet<u64> = std::collections::HashSet::new();
        for number in 0..100_000 {
            table.insert(number);
            // The library fills at most seven eighths of the buckets.
            let buckets = (table.capacity() as u64 * 8 / 7).next_power_of_two();
            assert!(table_bytes(table.len() as u64, 8) >= buckets * 9);
        }
        assert!(table_bytes(u64::MAX, 16) > 1 << 60);
    }
}
