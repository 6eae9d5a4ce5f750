//! Reads and writes, apart.

use std::fmt::Write as _;

use nbuf::experiment::result::{Traffic, Verified};
use nbuf::units::Bytes;

use super::super::text::{count, grouped};

/// The requests, and what was done for them, in a line.
pub(super) fn summary(traffic: &Traffic) -> String {
    let Traffic { read_pages, written_pages, .. } = *traffic;
    let mut text = format!("{} read", count(read_pages, "page", "pages"));
    if traffic.read_bytes > Bytes(0) {
        let _ = write!(text, " ({} from discs)", traffic.read_bytes);
    }
    let _ = write!(text, ", {} written", grouped(written_pages));
    if traffic.written_bytes > Bytes(0) {
        let _ = write!(text, " ({} to be written back)", traffic.written_bytes);
    }
    let _ = write!(text, "; {} filled", grouped(traffic.filled_pages));
    if traffic.filled_by_writes_pages > 0 {
        let _ = write!(text, ", {} of them by writes", grouped(traffic.filled_by_writes_pages));
    }
    text
}

/// Whether a run wrote more than what any program leaves behind, a line in a log or the like.
pub(super) fn writes(run: &Verified) -> bool {
    run.written_bytes >= Bytes(1 << 20)
}
