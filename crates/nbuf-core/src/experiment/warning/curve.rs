//! What a reader of curves over objects must know, and its words.

use std::fmt::{self, Display, Formatter};

use crate::units::Bytes;

/// A warning about curves over objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CurveWarning {
    /// The optimum has no rule for times to live.
    OptExpires,
    /// The optimum counts every access.
    OptStores,
    /// memcached may take more than a small limit.
    SmallSlabs {
        /// The least limit that it keeps.
        least_bytes: Bytes,
    },
}

impl Display for CurveWarning {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::OptExpires => f.write_str(
                "opt over objects has no rule for times to live: leave opt out of --policy, or leave --ttl \
                 out",
            ),
            Self::OptStores => f.write_str(
                "opt over objects counts every access: leave opt out of --policy, or leave out --writes \
                 store",
            ),
            Self::SmallSlabs { least_bytes } => write!(
                f,
                "memcached gives each class of sizes its first slab in any case: below {least_bytes} it may \
                 take more than its limit"
            ),
        }
    }
}
