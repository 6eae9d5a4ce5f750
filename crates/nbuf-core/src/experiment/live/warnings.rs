//! What spoils the figures of a window.

use super::super::result::LiveDocument;
use super::super::warning::{LiveWarning, Warning};
use crate::units::{Bytes, PAGE_BYTES};

/// What a thread of the kernel took, where it is more than one page in a hundred of those that were touched.
pub(super) fn took(name: &str, pages: u64, touched: u64) -> Option<Warning> {
    (pages.saturating_mul(100) > touched).then(|| {
        Warning::Live(LiveWarning::Reclaimed {
            thread: name.to_owned(),
            bytes: Bytes(pages * PAGE_BYTES),
            // The thread of DAMON takes what rests.
            is_short: name != "kdamond",
        })
    })
}

/// That recording took clearly more of a processor than was allowed, if it did.
pub(super) fn exceeded(allowed: f64, window: &LiveDocument) -> Option<Warning> {
    let taken = window.reader_seconds / window.seconds.max(1e-9);
    let warning = LiveWarning::OverheadExceeded { taken, allowed };
    (taken > 1.5 * allowed).then_some(Warning::Live(warning))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reclaimer_is_named_where_it_took_more_than_a_hundredth() {
        let words = |name, pages, touched| {
            let warning = took(name, pages, touched)?;
            Some(warning.to_string())
        };
        assert_eq!(words("kswapd", 10, 1000), None);
        assert!(words("kswapd", 11, 1000).unwrap().contains("kswapd took 44.0 KiB of files"));
        assert!(words("kdamond", 1, 0).unwrap().contains("without a lack of memory"));
    }
}
