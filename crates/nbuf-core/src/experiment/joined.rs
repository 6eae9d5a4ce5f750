//! What a reader must know of a snapshot that was joined to a trace, and why one cannot be joined.

use std::path::Path;

use super::warning::{CurveWarning, TraceWarning, Warning};
use crate::trace::request::Unit;
use crate::units::count;
use crate::workload::format::snapshot::{Broken, Join};
use crate::workload::source::{Detected, input_name};

/// Why a snapshot cannot be joined to a trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CannotJoin {
    /// Only keys are in a snapshot.
    #[error(
        "--snapshot joins sizes to keys, and {name} has none ({format}): leave --snapshot out, or name a column of keys \
         with --from csv:key=.."
    )]
    Pages {
        /// The trace.
        name: String,
        /// Its format.
        format: &'static str,
    },
    /// A snapshot of another store.
    #[error(
        "no key of {name} is in the snapshot {snapshot}{}: name a snapshot of the same store, and see that the keys of \
         the trace are names or numbers and no hashes",
        broken_words(*broken)
    )]
    NoKey {
        /// The trace.
        name: String,
        /// The snapshot.
        snapshot: String,
        /// Where it cannot be read any further.
        broken: Option<Broken>,
    },
    /// A snapshot of another store, as far as the trace was read.
    #[error(
        "no key of the first {} of {name} is in the snapshot {snapshot}{}: name a snapshot of the same store, and see \
         that the keys of the trace are names or numbers and no hashes; or read more requests with -n",
        count(*requests, "request", "requests"),
        broken_words(*broken)
    )]
    NoKeyOfFirst {
        /// The requests that were read.
        requests: u64,
        /// The trace.
        name: String,
        /// The snapshot.
        snapshot: String,
        /// Where it cannot be read any further.
        broken: Option<Broken>,
    },
}

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

/// Refuses a trace that has no keys.
pub(super) fn must_have_keys(
    detected: &Detected,
    name: impl FnOnce() -> String,
) -> Result<(), CannotJoin> {
    if detected.unit == Unit::Keys {
        return Ok(());
    }
    Err(CannotJoin::Pages { name: name(), format: detected.format.name })
}

/// Refuses a snapshot of another store: it has no key of the trace, or of the part of it that was read. Such a part has
/// this many requests.
pub(super) fn must_match(
    join: &Join,
    path: &Path,
    name: impl FnOnce() -> String,
    part: Option<u64>,
) -> Result<(), CannotJoin> {
    let joined = join.joined();
    if joined.keys > 0 || joined.missing_keys == 0 {
        return Ok(());
    }
    let (name, snapshot, broken) = (name(), input_name(path), join.snapshot().broken());
    Err(match part {
        None => CannotJoin::NoKey { name, snapshot, broken },
        Some(requests) => CannotJoin::NoKeyOfFirst { requests, name, snapshot, broken },
    })
}

/// Where a snapshot without a key of the trace cannot be read any further: the key may be behind that place.
fn broken_words(broken: Option<Broken>) -> String {
    broken.map_or_else(String::new, |Broken { at_bytes, wanted }| {
        format!(", which cannot be read behind byte {at_bytes} (expected {wanted})")
    })
}
