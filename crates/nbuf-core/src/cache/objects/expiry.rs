//! Ends objects whose time to live is over, in front of any policy.
//!
//! An object lives from the miss that brought it in, and from each write. A read does not prolong its life. An access at
//! the last moment still hits. What an expired object holds is free at once, or when the policy evicts the object or an
//! access finds it expired.
//!
//! Invariant: an access to an expired object misses. Cost: 8 bytes an object where bytes are freed at eviction. At once it
//! is 20, and O(log n) a miss. Redis 7.0, `src/expire.c`, frees nearly at once; memcached frees at eviction, except what
//! its crawler finds.

use std::fmt;
use std::str::FromStr;

use super::Object;
use crate::cache::heap::Heap;
use crate::cache::table::Table;
use crate::units::as_text;

/// The end of what does not expire.
pub(crate) const NEVER_NS: i64 = i64::MAX;

/// What becomes of the bytes of expired objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Expired {
    /// They stay in use until the policy evicts the object, or an access finds it expired.
    #[default]
    Evict,
    /// They are free as soon as the object expires.
    Free,
}

/// Why a text says nothing of expired objects.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no rule for expired objects: write evict, which keeps their bytes until they are evicted, \
     or free, which frees them at once"
)]
pub struct ExpiredError(String);

impl FromStr for Expired {
    type Err = ExpiredError;

    fn from_str(text: &str) -> Result<Self, ExpiredError> {
        match text {
            "evict" => Ok(Self::Evict),
            "free" => Ok(Self::Free),
            _ => Err(ExpiredError(text.to_owned())),
        }
    }
}

impl fmt::Display for Expired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Evict => "evict",
            Self::Free => "free",
        })
    }
}

as_text!(Expired);

/// When the objects of one cache end.
pub(super) enum Expiry {
    /// Looked up when an object is accessed; what is kept of absent objects says nothing.
    Evict(Table<i64>),
    /// The earliest first. Objects that left before stay until they would have ended.
    Free(Heap<i64>),
}

impl Expiry {
    pub(super) fn new(expired: Expired) -> Self {
        match expired {
            Expired::Evict => Self::Evict(Table::default()),
            Expired::Free => Self::Free(Heap::default()),
        }
    }

    /// Before an access: `leave` is called with the objects that must go by now, and with others that left before.
    pub(super) fn end(&mut self, object: &Object, mut leave: impl FnMut(u32)) {
        match self {
            Self::Evict(ends) => {
                // An object that is there has its end in the table.
                if ends.get(object.number) < object.now_ns {
                    leave(object.number);
                }
            }
            Self::Free(ends) => {
                while ends.first().is_some_and(|(_, ends_ns)| ends_ns < object.now_ns)
                    && let Some((number, _)) = ends.take_first(|_| true)
                {
                    leave(number);
                }
            }
        }
    }

    /// The life of an object begins, also if it was there.
    pub(super) fn begin(&mut self, object: &Object) {
        match self {
            Self::Evict(ends) => *ends.at(object.number) = object.ends_ns,
            Self::Free(ends) if object.ends_ns == NEVER_NS => {
                ends.remove(object.number);
            }
            Self::Free(ends) => ends.set(object.number, object.ends_ns),
        }
    }
}
