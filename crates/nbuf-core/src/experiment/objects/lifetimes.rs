//! How long each object of a trace lives in a cache, and until when.
//!
//! The lifetime of an object is the one that its last request with a lifetime gave, or one for all objects. Times that go
//! back are taken as the latest time so far. Invariant: the end of an object is never before the access.

use std::fmt;
use std::str::FromStr;

use crate::cache::objects::NEVER_NS;
use crate::trace::Lifetime;
use crate::trace::request::Request;
use crate::units::as_text;

/// Where times to live come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ttl {
    /// Whether the trace gives them.
    pub of_trace: bool,
    /// The lifetime of an object to which the trace gives none.
    pub otherwise: Lifetime,
}

/// Why a text gives no times to live.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no time to live: write trace for those of the trace, a time such as 10m, 1h or 7d, or both as trace,1h"
)]
pub struct TtlError(String);

/// Units of a time, and their nanoseconds.
const UNITS: [(&str, u64); 5] = [
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("d", 86_400_000_000_000),
];

impl FromStr for Ttl {
    type Err = TtlError;

    fn from_str(text: &str) -> Result<Self, TtlError> {
        let wrong = || TtlError(text.to_owned());
        let mut ttl = Self::default();
        for part in text.split(',') {
            if part == "trace" && !ttl.of_trace {
                ttl.of_trace = true;
            } else if ttl.otherwise == Lifetime::NONE {
                ttl.otherwise = lifetime(part).ok_or_else(wrong)?;
            } else {
                return Err(wrong());
            }
        }
        Ok(ttl)
    }
}

/// A number and a unit.
fn lifetime(text: &str) -> Option<Lifetime> {
    let unit_at = text.find(|letter: char| !letter.is_ascii_digit())?;
    let (number, unit) = text.split_at(unit_at);
    let (_, ns) = UNITS.into_iter().find(|(name, _)| *name == unit)?;
    let ns = number.parse::<u64>().ok()?.checked_mul(ns)?;
    Some(Lifetime::from_ns(ns)).filter(|&lifetime| lifetime != Lifetime::NONE)
}

impl fmt::Display for Ttl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = self.otherwise.ns().map(|ns| {
            let units = UNITS.iter().rev().find(|(_, unit)| ns.is_multiple_of(*unit));
            let (name, unit) = units.unwrap_or(&UNITS[0]);
            format!("{}{name}", ns / unit)
        });
        let parts = [self.of_trace.then(|| "trace".to_owned()), time];
        f.write_str(&parts.into_iter().flatten().collect::<Vec<_>>().join(","))
    }
}

as_text!(Ttl);

/// The lifetimes of the objects of one reading.
#[derive(Debug)]
pub(super) struct Lifetimes {
    /// What each object was given last.
    last: Vec<Lifetime>,
    now_ns: i64,
    /// Whether any request has one.
    pub(super) are_in_trace: bool,
}

impl Default for Lifetimes {
    fn default() -> Self {
        Self { last: Vec::new(), now_ns: i64::MIN, are_in_trace: false }
    }
}

impl Lifetimes {
    /// The time of an access to the object of this number, and the end of the object if it came in now.
    pub(super) fn ends(&mut self, number: u32, request: &Request, ttl: Ttl) -> (i64, i64) {
        self.now_ns = self.now_ns.max(request.time_ns);
        let mut lifetime = ttl.otherwise;
        if ttl.of_trace {
            let index = number as usize;
            if index >= self.last.len() {
                self.last.resize(index + 1, Lifetime::NONE);
            }
            self.last[index] = request.lifetime.or(self.last[index]);
            self.are_in_trace |= request.lifetime != Lifetime::NONE;
            lifetime = self.last[index].or(lifetime);
        }
        let ns = lifetime.ns().and_then(|ns| i64::try_from(ns).ok());
        (self.now_ns, ns.map_or(NEVER_NS, |ns| self.now_ns.saturating_add(ns)))
    }

    /// The trace begins again.
    pub(super) fn begin_again(&mut self) {
        *self = Self { are_in_trace: self.are_in_trace, ..Self::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::request::Op;

    #[test]
    fn what_is_written_is_read_again_and_errors_say_what_to_write() {
        for text in ["trace", "90s", "1h", "trace,7d", "1500ms", "36h"] {
            assert_eq!(text.parse::<Ttl>().unwrap().to_string(), text);
        }
        for text in ["", "1", "0s", "h", "1w", "trace,trace", "1h,2h", "+1h", "1h30m", "-1s"] {
            let error = text.parse::<Ttl>().unwrap_err().to_string();
            assert!(error.contains("write trace"), "{text}: {error}");
        }
    }

    #[test]
    fn an_object_keeps_the_lifetime_that_it_was_given_last() {
        let ttl: Ttl = "trace,10s".parse().unwrap();
        let mut lifetimes = Lifetimes::default();
        let mut ends = |number, second: i64, lifetime| {
            let request = Request {
                time_ns: second * 1_000_000_000,
                lifetime: Lifetime::from_seconds(lifetime),
                ..Request::new(Op::Read, 0, 1)
            };
            let (now, ends) = lifetimes.ends(number, &request, ttl);
            (now / 1_000_000_000, ends / 1_000_000_000)
        };
        assert_eq!(ends(1, -5, 0), (-5, 5));
        assert_eq!(ends(1, 1, 3), (1, 4));
        assert_eq!(ends(1, 0, 0), (1, 4), "a time that goes back is the latest");
        assert_eq!(ends(0, 2, 0), (2, 12));
    }
}
