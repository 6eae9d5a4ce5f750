//! A size for a hit ratio, a slowdown or the lowest bill. docs/report.md has formulas and assumptions.
//!
//! Invariant: a size that is chosen meets its target by the figures of the curve, and what cannot
//! be met is answered with the best there is. Cost: linear in the points.
//!
//! ```
//! use nbuf::experiment::target::Target;
//!
//! let target: Target = "slowdown=1.1".parse()?;
//! assert_eq!(target, Target::Slowdown(1.1));
//! # Ok::<(), nbuf::experiment::target::TargetError>(())
//! ```

mod choose;

use std::fmt;

use crate::units::as_text;
pub(super) use choose::{Choice, MONTH_SECONDS, Offer, choose};

/// What is wanted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Target {
    /// At least this share of the page accesses finds a page that was kept.
    Hit(f64),
    /// At most this many times the time with room for everything.
    Slowdown(f64),
    /// At most this share of the time, from 0 to 1, spent waiting for memory. Runs alone tell.
    Stall(f64),
    /// At most this many pages are filled a second. Programs that run already alone tell.
    Fills(f64),
    /// The lowest sum of what memory and fills cost.
    Price {
        /// Dollars for a GiB of memory in a month.
        memory: f64,
        /// Dollars for a million pages filled.
        fills: f64,
    },
}

/// Why a text is no target; the message has the grammar.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TargetError(String);

impl std::str::FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        let wrong = |what: &str| TargetError(format!("`{text}` {what}"));
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|n| n.is_finite());
        let grammar = "is not a target: write hit=0.95, slowdown=1.1, stall=1%, fills=100/s, or \
                       price=3.5,0.4 (dollars for a GiB-month of memory, dollars for a million fills)";
        let (name, value) = text.split_once('=').ok_or_else(|| wrong(grammar))?;
        match name.trim() {
            "hit" => match number(value) {
                Some(share) if share > 0.0 && share <= 1.0 => Ok(Self::Hit(share)),
                _ => Err(wrong("is not a share: write hit=0.95 for 95 % of the page accesses")),
            },
            "slowdown" => match number(value) {
                Some(times) if times >= 1.0 => Ok(Self::Slowdown(times)),
                _ => Err(wrong("is not a slowdown: write slowdown=1.1 for at most 10 % longer")),
            },
            "stall" => {
                let (digits, unit) = match value.trim().strip_suffix('%') {
                    Some(percent) => (percent, 0.01),
                    None => (value, 1.0),
                };
                match number(digits).map(|share| share * unit) {
                    Some(share) if share > 0.0 && share < 1.0 => Ok(Self::Stall(share)),
                    _ => Err(wrong("is not a share of the time: write stall=1%")),
                }
            }
            "fills" => match number(value.trim().trim_end_matches("/s")) {
                Some(rate) if rate >= 0.0 => Ok(Self::Fills(rate)),
                _ => Err(wrong("is not a rate: write fills=100/s for a hundred pages a second")),
            },
            "price" => {
                let prices = value.split_once(',');
                let prices = prices.and_then(|(memory, fills)| number(memory).zip(number(fills)));
                match prices {
                    Some((memory, fills)) if memory >= 0.0 && fills >= 0.0 => {
                        if memory + fills > 0.0 {
                            return Ok(Self::Price { memory, fills });
                        }
                        Err(wrong("makes everything free: one of the prices must be more than 0"))
                    }
                    _ => Err(wrong(
                        "is not two prices: write price=3.5,0.4, dollars for a GiB-month of \
                         memory and dollars for a million fills",
                    )),
                }
            }
            _ => Err(wrong(grammar)),
        }
    }
}

as_text!(Target);

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hit(share) => write!(f, "hit={share}"),
            Self::Slowdown(times) => write!(f, "slowdown={times}"),
            Self::Stall(share) => write!(f, "stall={share}"),
            Self::Fills(rate) => write!(f, "fills={rate}/s"),
            Self::Price { memory, fills } => write!(f, "price={memory},{fills}"),
        }
    }
}

#[cfg(test)]
mod tests;
