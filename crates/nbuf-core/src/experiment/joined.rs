//! What a reader must know of a snapshot that was joined to a trace.

use super::warning::{CurveWarning, TraceWarning, Warning};
use crate::workload::format::snapshot::{Broken, Join};

/// Puts the warnings of the join in place of the one of the log, whose requests without a size it may have completed.
/// `uses_lifetimes` says whether times to live matter, `is_whole` whether the counts are of the whole trace.
pub(super) fn warn(warnings: &mut Vec<Warning>, join: &Join, uses_lifetimes: bool, is_whole: bool) {
    let is_of_log = |it: &Warning| matches!(it, Warning::Trace(TraceWarning::SizesMissing { .. }));
    warnings.retain(|warning| !is_of_log(warning));
    let (snapshot, joined) = (join.snapshot(), join.joined());
    let keys = snapshot.keys();
    let broken = snapshot
        .broken()
        .map(|Broken { at_bytes, wanted }| CurveWarning::SnapshotBroken { at_bytes, wanted, keys });
    let lacks = (is_whole && joined.missing_keys > 0).then_some(CurveWarning::SnapshotLacks {
        keys: joined.missing_keys,
        of: joined.keys + joined.missing_keys,
        requests: joined.unsized_requests,
    });
    let lifetimes = (joined.lifetimes > 0 && uses_lifetimes)
        .then_some(CurveWarning::SnapshotLifetimes { keys: joined.lifetimes });
    warnings.extend([broken, lacks, lifetimes].into_iter().flatten().map(Warning::Curve));
}

/// Where a snapshot without a key of the trace cannot be read any further: the key may be behind that place.
pub(super) fn broken_words(broken: Option<Broken>) -> String {
    broken.map_or_else(String::new, |Broken { at_bytes, wanted }| {
        format!(", which cannot be read behind byte {at_bytes} (expected {wanted})")
    })
}

/// Whether a snapshot is of another store: it has no key of the trace.
pub(super) fn is_foreign(join: &Join) -> bool {
    let joined = join.joined();
    joined.keys == 0 && joined.missing_keys > 0
}
