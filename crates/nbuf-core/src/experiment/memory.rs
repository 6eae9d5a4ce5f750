//! How much memory a verb that reads a trace may use.
//!
//! ```
//! use nbuf::experiment::memory::bound;
//! use nbuf::units::Bytes;
//!
//! let bound = bound(Some("1 GiB".parse()?), "give --memory");
//! assert_eq!(bound.allowed, Bytes(1 << 30));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::sys::memory::available;
use crate::units::{Bound, Size};

/// By default, half of what is available.
const DEFAULT: Size = Size::Percent(50.0);

/// The bound for an amount, or for a share of what is available; `remedy` is what a message says to do
/// where it is too low.
pub fn bound(asked: Option<Size>, remedy: &'static str) -> Bound {
    let allowed = match asked.unwrap_or(DEFAULT) {
        Size::Absolute(bytes) => bytes,
        Size::Percent(percent) => available().percent(percent),
    };
    Bound { allowed, remedy }
}
