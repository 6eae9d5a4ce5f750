//! The snapshot of a store, to be joined to the requests of a trace: opened, and judged.

use super::reading::{Reading, named};
use super::{Error, Spec};
use crate::cache::allocator::Allocator;
use crate::experiment::joined;
use crate::experiment::session::Session;
use crate::units::Bound;
use crate::workload::format::snapshot::{Join, Lengths};
use crate::workload::source::{Source, open_snapshot};

/// The snapshot of the spec, ready to be joined to the trace.
pub(super) fn open(
    spec: &Spec,
    session: &Session<'_>,
    source: &Source,
    memory: Bound,
) -> Result<Option<Join>, Error> {
    let Some(path) = &spec.snapshot else { return Ok(None) };
    joined::must_have_keys(source.detected(), || named(spec))?;
    let token = session.opening_quietly().token;
    let snapshot = open_snapshot(path, memory.without(source.bytes()), &token)?;
    let lengths = match spec.allocator {
        Allocator::Exact | Allocator::Jemalloc => Lengths::KeysAndValues,
        // These add the key themselves.
        Allocator::Redis { .. } | Allocator::Memcached { .. } => Lengths::Values,
    };
    Ok(Some(Join::new(snapshot, lengths)))
}

/// Refuses a snapshot that has no key of the trace.
pub(super) fn must_match(spec: &Spec, reading: &Reading<'_>) -> Result<(), Error> {
    let Some((join, path)) = reading.join.as_ref().zip(spec.snapshot.as_ref()) else {
        return Ok(());
    };
    if reading.is_ended() {
        return Ok(());
    }
    Ok(joined::must_match(join, path, || named(spec), None)?)
}
