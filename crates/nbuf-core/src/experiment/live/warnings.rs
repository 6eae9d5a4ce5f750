//! What spoils the figures of a window, in words.

use super::super::result::LiveDocument;
use super::super::warning::Warning;
use crate::trace::Capture;
use crate::units::{Bytes, PAGE_BYTES};

/// What a thread of the kernel took, where it is more than one page in a hundred of those that were touched.
pub(super) fn took(name: &str, pages: u64, touched: u64) -> Option<String> {
    (pages.saturating_mul(100) > touched).then(|| {
        let how = if name == "kdamond" {
            "it takes pages that are not used for a while, without a lack of memory"
        } else {
            "memory was short"
        };
        let bytes = Bytes(pages * PAGE_BYTES);
        format!(
            "{name} took {bytes} of files from the cache of the machine in the window: {how}; what the programs \
             held, and what the kernel brought in, depend on it"
        )
    })
}

/// What of mapped files could not be watched.
pub(super) fn unseen_touches(capture: &Capture) -> Option<String> {
    let Some(looks) = capture.looks else {
        return Some(
            "touches of mapped files are not seen here; `nbuf doctor` says why".to_owned(),
        );
    };
    let unseen = Bytes(looks.unseen_pages * PAGE_BYTES);
    (unseen.0 > 0).then(|| {
        format!(
            "{unseen} of mapped files are in large pages, whose touches are not seen: more misses than these \
             are likely"
        )
    })
}

/// That recording took clearly more of a processor than was allowed, if it did.
pub(super) fn exceeded(share: f64, window: &LiveDocument) -> Option<Warning> {
    let taken = window.reader_seconds / window.seconds.max(1e-9);
    (taken > 1.5 * share).then(|| {
        Warning::Text(format!(
            "reading the events took {:.0} % of a processor, and --overhead allows {:.1} %: a sample keeps at least 64 MiB \
             of pages, and leaving an access out costs too",
            taken * 100.0,
            share * 100.0
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reclaimer_is_named_where_it_took_more_than_a_hundredth() {
        assert_eq!(took("kswapd", 10, 1000), None);
        assert!(took("kswapd", 11, 1000).unwrap().contains("kswapd took 44.0 KiB of files"));
        assert!(took("kdamond", 1, 0).unwrap().contains("without a lack of memory"));
    }
}
