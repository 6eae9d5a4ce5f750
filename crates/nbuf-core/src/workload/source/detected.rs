//! What an input was taken for.

use std::fmt;

use super::Packing;
use crate::trace::request::Unit;
use crate::workload::format::{Format, Likeness};

/// What the inputs were taken for.
#[derive(Clone, Debug)]
pub struct Detected {
    /// The format of the first input.
    pub format: &'static Format,
    /// What it is packed with.
    pub packing: Packing,
    /// What the offsets count.
    pub unit: Unit,
    /// Whether its requests have lengths, or its keys sizes.
    pub has_sizes: bool,
    /// How sure that is; `None` when the format was named.
    pub likeness: Option<Likeness>,
    /// Other formats that are as likely.
    pub also: Vec<&'static str>,
}

impl fmt::Display for Detected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self.unit {
            Unit::Bytes => "bytes",
            Unit::Keys => "keys",
        };
        write!(f, "{} ({unit}), {}", self.format.name, self.packing.name())?;
        match self.likeness {
            None => write!(f, ", as named"),
            Some(Likeness::Possible) => write!(f, ", a guess"),
            Some(_) => Ok(()),
        }?;
        if self.also.is_empty() {
            return Ok(());
        }
        write!(f, "; could as well be {}", self.also.join(", "))
    }
}
