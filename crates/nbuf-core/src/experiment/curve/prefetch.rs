//! Caches that prefetch: whether they can be drawn, and with which policies.

use super::policies::is_opt;
use super::reading::{Reading, named};
use super::{Error, Spec};
use crate::cache::policy::Choice;
use crate::experiment::result::Warning;
use crate::trace::request::Unit;
use crate::workload::pages::Whole;

/// Refuses what no cache that prefetches can show, before anything is read.
pub(super) fn must_be_possible(spec: &Spec) -> Result<(), Error> {
    let has_parts = spec.sample.is_some() || spec.every.is_some() || spec.by.is_some();
    if spec.prefetch.is_some() && has_parts { Err(Error::PrefetchOfParts) } else { Ok(()) }
}

/// Refuses to prefetch objects, and pages where an access is to a key or a whole request.
pub(super) fn must_fit(spec: &Spec, reading: &Reading<'_>, is_objects: bool) -> Result<(), Error> {
    let Some(prefetching) = spec.prefetch else { return Ok(()) };
    if is_objects {
        return Err(Error::PrefetchOfObjects);
    }
    let what = match (reading.source.detected().unit, spec.whole) {
        (Unit::Keys, _) => "a key",
        (Unit::Bytes, Whole::Yes) => "a whole request",
        (Unit::Bytes, Whole::No) => return Ok(()),
    };
    if prefetching.needs_pages() {
        return Err(Error::PrefetchOfKeys { prefetching, name: named(spec), what });
    }
    Ok(())
}

/// The policies without the optimum where caches prefetch, and a warning if it was among them.
pub(super) fn without_opt(
    spec: &Spec,
    mut policies: Vec<Choice>,
) -> Result<(Vec<Choice>, Vec<Warning>), Error> {
    if spec.prefetch.is_none() || !policies.iter().any(is_opt) {
        return Ok((policies, Vec::new()));
    }
    policies.retain(|choice| !is_opt(choice));
    if policies.is_empty() {
        return Err(Error::OptPrefetches);
    }
    Ok((policies, vec![Warning::Text(Error::OptPrefetches.to_string())]))
}
