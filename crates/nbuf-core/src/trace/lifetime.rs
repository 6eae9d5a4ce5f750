//! How long an object may be served from a cache.
//!
//! Four bytes, because a request carries one: milliseconds up to 24 days, seconds above, both rounded up. Invariant:
//! a lifetime that is given is at least one millisecond.

/// Marks seconds; else the number counts milliseconds.
const SECONDS: u32 = 1 << 31;
const MILLISECOND_NS: u64 = 1_000_000;
const SECOND_NS: u64 = 1_000_000_000;

/// A time to live, if there is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lifetime(u32);

impl Lifetime {
    /// There is none: the trace does not say, or the object stays valid.
    pub const NONE: Self = Self(0);

    /// This number of nanoseconds; none for 0. More than 68 years are 68 years.
    pub fn from_ns(ns: u64) -> Self {
        let milliseconds = ns.div_ceil(MILLISECOND_NS);
        match u32::try_from(milliseconds) {
            Ok(few) if few < SECONDS => Self(few),
            _ => {
                let seconds = u32::try_from(ns.div_ceil(SECOND_NS)).unwrap_or(u32::MAX);
                Self(SECONDS | seconds.min(SECONDS - 1))
            }
        }
    }

    /// This number of seconds; none for 0.
    pub fn from_seconds(seconds: u64) -> Self {
        Self::from_ns(seconds.saturating_mul(SECOND_NS))
    }

    /// In nanoseconds; nothing if there is no lifetime.
    pub fn ns(self) -> Option<u64> {
        match self.0 {
            0 => None,
            few if few < SECONDS => Some(u64::from(few) * MILLISECOND_NS),
            seconds => Some(u64::from(seconds - SECONDS) * SECOND_NS),
        }
    }

    /// This lifetime, or another if there is none.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        if self == Self::NONE { other } else { self }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_lifetime_is_rounded_up_by_less_than_its_step(ns in 1..SECOND_NS << 31) {
            let kept = Lifetime::from_ns(ns).ns().unwrap();
            let step = if ns <= (u64::from(SECONDS) - 1) * MILLISECOND_NS { MILLISECOND_NS } else { SECOND_NS };
            prop_assert!(kept >= ns.min(SECOND_NS * u64::from(SECONDS - 1)) && kept < ns + step, "{kept}");
        }
    }

    #[test]
    fn none_is_none() {
        assert_eq!(Lifetime::from_ns(0), Lifetime::NONE);
        assert_eq!(Lifetime::NONE.or(Lifetime::from_seconds(3)).ns(), Some(3 * SECOND_NS));
        assert_eq!(Lifetime::from_ns(u64::MAX).ns(), Some(u64::from(SECONDS - 1) * SECOND_NS));
    }
}
