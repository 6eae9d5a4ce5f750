//! Curves over objects with sizes: whether they are asked for, and how they are read.

use super::policies::{MEMCACHED, OF_OBJECTS, ONLY_OBJECTS, all, is_opt, policies};
use super::reading::{Reading, named};
use super::{Drawn, Error, Spec, snapshot, warmup};
use crate::cache::allocator::{Allocator, SLAB_BYTES, chunks};
use crate::cache::objects::Oversized;
use crate::cache::policy::Choice;
use crate::experiment::notice::Notice;
use crate::experiment::objects::{Costs, Objects, Plan, Refused, can_weigh};
use crate::experiment::result::{PolicyCurve, Warning};
use crate::experiment::warning::CurveWarning;
use crate::trace::request::Unit;
use crate::units::{Bytes, SizeList};
use crate::workload::pages::{Whole, Writes};
use crate::workload::within::take_within;

/// What grows with a trace.
const OBJECTS: &str = "the distinct objects of this trace";

/// Whether the caches are of objects: because the spec says so, or because its sizes are in bytes and an
/// access is to a key or a whole request. Fails where the trace has no sizes, or the spec asks for parts or
/// samples of objects.
pub(super) fn are_asked_for(spec: &Spec, reading: &Reading<'_>) -> Result<bool, Error> {
    let is_whole = reading.source.detected().unit == Unit::Keys || spec.whole == Whole::Yes;
    let has_bytes = is_whole && spec.sizes.as_ref().is_some_and(SizeList::has_bytes);
    if !(spec.is_objects
        || spec.overhead_bytes > 0
        || spec.allocator != Allocator::Exact
        || spec.ttl.is_some()
        || !spec.admissions.is_empty()
        || spec.cost.is_some()
        || spec.snapshot.is_some()
        || spec.oversized != Oversized::Bypass
        || has_bytes)
    {
        return Ok(false);
    }
    if !reading.source.detected().has_sizes && spec.snapshot.is_none() {
        return Err(no_sizes(spec, reading));
    }
    if spec.sample.is_some() || spec.every.is_some() || spec.by.is_some() {
        return Err(Error::PartsOfObjects);
    }
    Ok(true)
}

fn no_sizes(spec: &Spec, reading: &Reading<'_>) -> Error {
    let (name, format) = (named(spec), reading.source.detected().format.name);
    Error::NoSizes { name, format, has_snapshot: spec.snapshot.is_some() }
}

/// Counts every policy, in one reading or two.
pub(super) fn draw(spec: &Spec, reading: &mut Reading<'_>, warmup: u64) -> Result<Drawn, Error> {
    let (mut policies, mut left_out) = weighed(spec);
    let why = match (spec.ttl, spec.writes) {
        (Some(_), _) => Some((Error::OptExpires, CurveWarning::OptExpires)),
        (None, Writes::Store) => Some((Error::OptStores, CurveWarning::OptStores)),
        _ => None,
    };
    if let Some((refused, warning)) = why.filter(|_| policies.iter().any(is_opt)) {
        policies.retain(|choice| !is_opt(choice));
        if policies.is_empty() {
            return Err(refused);
        }
        left_out.push(Warning::Curve(warning));
    }
    let plan = Plan {
        policies,
        sizes: spec.sizes.clone(),
        overhead_bytes: spec.overhead_bytes,
        allocator: spec.allocator,
        unit: reading.source.detected().unit,
        ttl: spec.ttl,
        expired: spec.expired,
        oversized: spec.oversized,
        admissions: spec.admissions.clone(),
        costs: if spec.cost.is_some() { Costs::OfTrace } else { Costs::Equal },
        writes: spec.writes,
        all_sizes: spec.all_sizes || spec.target.is_some(),
        warmup_requests: warmup,
        seed: reading.session.seed,
        again: reading.again(),
        parallel: !spec.is_serial,
    };
    let mut objects = Objects::new(plan).map_err(|refused| match refused {
        Refused::Policy(error) => Error::CannotWeigh(error),
        Refused::Sizes(error) => Error::Sizes(error),
    })?;
    let (bytes, allowed) = (objects.object_bytes(), reading.bound().allowed);
    reading.notice(&Notice::MemoryPer { bytes, what: "object", allowed });
    reading.read(|requests, bound| take_within(&mut objects, requests, OBJECTS, bound))?;
    warmup::must_leave_some(spec, reading, warmup)?;
    snapshot::must_match(spec, reading)?;
    let tally = objects.tally();
    if tally.read_bytes == 0 && tally.written_bytes == 0 && objects.distinct() > 0 {
        return Err(no_sizes(spec, reading));
    }
    lifetimes_must_be_there(spec, reading, &objects)?;
    if objects.again()? {
        reading.read(|requests, bound| take_within(&mut objects, requests, OBJECTS, bound))?;
        let policies = objects.drop_unequal();
        if !policies.is_empty() {
            left_out.push(Warning::PoliciesLeftOut { policies, changed: reading.changed() });
        }
    }
    let span_ns = objects.span_ns();
    reading.notice(&Notice::Distinct { count: objects.distinct(), what: "object" });
    let curves = objects.finish(spec.target)?;
    left_out.extend(small_memcached(&curves));
    Ok(Drawn { curves, tally, span_ns, left_out })
}

/// Refuses times to live that the trace does not have, or that never pass.
fn lifetimes_must_be_there(
    spec: &Spec,
    reading: &Reading<'_>,
    objects: &Objects,
) -> Result<(), Error> {
    let Some(ttl) = spec.ttl else { return Ok(()) };
    if reading.is_ended() || objects.distinct() == 0 {
        return Ok(());
    }
    let (name, format) = (named(spec), reading.source.detected().format.name);
    if ttl.of_trace && !objects.has_lifetimes() {
        return Err(Error::NoLifetimes { name, format });
    }
    if objects.span_ns() == 0 && reading.requests > 1 {
        return Err(Error::NoTimeToLive { name, format });
    }
    Ok(())
}

/// memcached gives each class of sizes one slab whatever its limit: a small one says little.
fn small_memcached(curves: &[PolicyCurve]) -> Option<Warning> {
    let least = chunks().count() as u64 * SLAB_BYTES;
    let is_small = |curve: &PolicyCurve| {
        curve.policy == MEMCACHED && curve.points.iter().any(|point| point.pages < least)
    };
    let warning = CurveWarning::SmallSlabs { least_bytes: Bytes(least) };
    curves.iter().any(is_small).then_some(Warning::Curve(warning))
}

/// The policies of the spec; of all that there are, those that can be counted over objects.
fn weighed(spec: &Spec) -> (Vec<Choice>, Vec<Warning>) {
    if spec.policies.is_empty() {
        let default = ["lru", OF_OBJECTS].iter().filter_map(|name| name.parse().ok());
        return (default.collect(), Vec::new());
    }
    let policies = policies(spec);
    let is_in =
        |choice: &Choice| policies.iter().any(|other| other.row().name == choice.row().name);
    if !all().iter().all(is_in) {
        return (policies, Vec::new());
    }
    let (mut can, cannot): (Vec<Choice>, Vec<Choice>) = policies.into_iter().partition(can_weigh);
    for name in ONLY_OBJECTS {
        if can.iter().all(|choice| choice.row().name != name) {
            can.extend(name.parse::<Choice>());
        }
    }
    let policies = cannot.iter().map(ToString::to_string).collect();
    (can, vec![Warning::PoliciesOfPages { policies }])
}
