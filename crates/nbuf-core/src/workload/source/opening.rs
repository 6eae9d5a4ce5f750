//! What the opening of a trace reports, and what ends it before its time.

use super::cancellation::CancellationToken;
use super::progress::Progress;

/// What is called while a trace is opened. A native trace is read at once, and one in a store is copied before.
pub(crate) struct Opening<'a> {
    /// Gets the records of each native trace that were read, and all.
    pub(crate) loading: &'a dyn Fn(u64, u64),
    /// Gets how much of a native trace was copied from its store.
    pub(crate) copying: &'a dyn Fn(Progress),
    /// Ends it, and the reading after it.
    pub(crate) token: CancellationToken,
    /// Whether inputs without a byte are left out. Without this, they are errors.
    pub(crate) skips_empty: bool,
}

impl Default for Opening<'_> {
    fn default() -> Self {
        let token = CancellationToken::default();
        Self { loading: &|_, _| (), copying: &|_| (), token, skips_empty: false }
    }
}
