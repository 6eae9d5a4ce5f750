//! What a cache does with an object that is larger than the cache itself.
//!
//! It never keeps such an object. It finds that out before it makes room, or after: programs differ. Groupcache adds an
//! object first, and then evicts until all fits, so that an object like that empties it. Invariant: this changes nothing in
//! caches from the largest object up.

use std::fmt;
use std::str::FromStr;

use crate::units::as_text;

/// What an object that is larger than the cache does to the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Oversized {
    /// It bypasses the cache: the others stay.
    #[default]
    Bypass,
    /// The cache evicts all of them for it, in vain.
    Clear,
}

/// Why a text says nothing of objects that are too large.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no rule for objects that are larger than the cache: write bypass, with which the others stay, or clear, which \
     evicts them all"
)]
pub struct OversizedError(String);

impl FromStr for Oversized {
    type Err = OversizedError;

    fn from_str(text: &str) -> Result<Self, OversizedError> {
        match text {
            "bypass" => Ok(Self::Bypass),
            "clear" => Ok(Self::Clear),
            _ => Err(OversizedError(text.to_owned())),
        }
    }
}

impl fmt::Display for Oversized {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bypass => "bypass",
            Self::Clear => "clear",
        })
    }
}

as_text!(Oversized);
