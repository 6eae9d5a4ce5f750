//! A bound on memory: what grows with an input says what it will take before it takes it.
//!
//! Invariant: a question costs no memory. Not for what is small whatever is read: blocks, tables of
//! columns and the program itself are beside the bound.

use super::Bytes;

/// How much memory may be used, and what to do where that is not enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// So much.
    pub allowed: Bytes,
    /// What to do, for a message.
    pub remedy: &'static str,
}

/// More memory would be used than may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} would take {needed} of memory or more, and {allowed} may be used: {remedy}")]
pub struct TooLarge {
    /// What would take it.
    pub what: &'static str,
    /// How much, at the least.
    pub needed: Bytes,
    /// What may be used.
    pub allowed: Bytes,
    /// What to do.
    pub remedy: &'static str,
}

impl Default for Bound {
    fn default() -> Self {
        Self::NONE
    }
}

impl Bound {
    /// No bound.
    pub const NONE: Self = Self { allowed: Bytes(u64::MAX), remedy: "allow more with --memory" };

    /// Whether so many bytes fit.
    pub fn holds(&self, bytes: u64) -> bool {
        bytes <= self.allowed.0
    }

    /// An error unless so many bytes fit.
    pub fn allow(&self, what: &'static str, bytes: u64) -> Result<(), TooLarge> {
        if self.holds(bytes) {
            return Ok(());
        }
        let Self { allowed, remedy } = *self;
        Err(TooLarge { what, needed: Bytes(bytes), allowed, remedy })
    }

    /// What is left of it beside so many bytes.
    #[must_use]
    pub fn without(self, bytes: u64) -> Self {
        if self == Self::NONE {
            return self;
        }
        Self { allowed: self.allowed - Bytes(bytes), ..self }
    }
}

/// What a hash table of the standard library takes for so many entries, at the most: also while it
/// grows, when the old one is there too.
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
        let want = "this would take 1.00 TiB of memory or more, and 1.00 GiB may be used: allow more \
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
            // A bucket for each eighth more than there is room for, as the library has it.
            let buckets = (table.capacity() as u64 * 8 / 7).next_power_of_two();
            assert!(table_bytes(table.len() as u64, 8) >= buckets * 9);
        }
        assert!(table_bytes(u64::MAX, 16) > 1 << 60);
    }
}
