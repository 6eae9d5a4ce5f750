//! Requests, bytes, distinct pages and time of traces, counted; and their shape, where that is asked for.
//!
//! ```
//! use nbuf::experiment::session::Session;
//! use nbuf::experiment::trace::{Inputs, stat};
//!
//! # use nbuf::experiment::trace::generate;
//! # let directory = tempfile::tempdir()?;
//! # let trace = directory.path().join("loop.oracleGeneral");
//! # let spec = generate::Spec { count: 1000, keys: 10, ..generate::Spec::of(&trace) };
//! # generate::run(&spec, &mut Session::new(&()))?;
//! let inputs = Inputs { paths: vec![trace], ..Inputs::default() };
//! let shape = Some(stat::ShapeSpec::default());
//! let spec = stat::Spec { shape, ..stat::Spec::of(inputs) };
//! let stat = stat::run(&spec, &mut Session::new(&()))?;
//! assert!(stat.census.requests == 1000 && stat.shape.is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cause;
mod classes;
mod finish;
mod judge;
mod shape;
#[cfg(test)]
mod tests;
mod walk;
mod watched;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use self::judge::{Again, Judge};
use self::walk::Walk;
use self::watched::Room;
use super::{Error, Inputs, TraceReading};
use crate::cache::policy::Choice;
use crate::experiment::census::Counting;
use crate::experiment::objects::must_weigh;
use crate::experiment::result::{ShapePolicies, TraceDocument, TraceShape};
use crate::experiment::session::Session;
use crate::experiment::warning::Warning;
use crate::trace::request::Unit;
use crate::units::{Bound, Bytes, PAGE_BYTES, SizeList};
use crate::workload::format::snapshot::Join;
use crate::workload::source::{Detected, Source, comes_again};
use crate::workload::within::take_within;

/// Policies that are not judged: the optimum needs the future, and two are LRU without sizes.
pub const NOT_JUDGED: &[&str] = &["opt", "adaptsize", "memcached"];

/// What grows with a trace.
const SHAPE: &str = "the shape of this trace";
const POLICIES: &str = "policies on this trace";
/// What to do where there is too little memory.
const LESS: &str = "allow more with --memory, take larger pages with --page, or look at fewer keys with --sample 0.01";

/// The spec of a count.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The traces.
    pub inputs: Inputs,
    /// The page to count in, where a trace counts bytes.
    pub page_bytes: Bytes,
    /// What is asked of the shape; nothing where counts are enough.
    #[serde(default)]
    pub shape: Option<ShapeSpec>,
}

/// What is asked of the shape of a trace.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ShapeSpec {
    /// Policies to explain, the first against each of the others.
    pub policies: Vec<Choice>,
    /// The one size of their caches; a tenth of the keys by default. In bytes, the caches are of objects if the trace has
    /// keys with sizes.
    pub size: Option<SizeList>,
    /// Looks at this share of the keys only.
    pub sample: Option<f64>,
    /// Another trace to compare with.
    pub against: Option<PathBuf>,
}

impl Spec {
    /// A count of these traces in pages of 4 KiB.
    pub fn of(inputs: Inputs) -> Self {
        Self { inputs, page_bytes: Bytes(PAGE_BYTES), shape: None }
    }
}

/// Counts.
pub fn run(spec: &Spec, session: &mut Session<'_>) -> Result<TraceDocument, Error> {
    let shape = spec.shape.as_ref();
    shape.map(must_be_possible).transpose()?;
    let mut join = None;
    let mut document = one(spec, &spec.inputs, &mut join, session)?;
    if let Some(path) = shape.and_then(|shape| shape.against.clone()) {
        let inputs = Inputs { paths: vec![path], ..spec.inputs.clone() };
        if let Some(join) = &mut join {
            join.begin_another();
        }
        document.against = Some(Box::new(one(spec, &inputs, &mut join, session)?));
    }
    Ok(document)
}

/// Refuses what no trace can give.
fn must_be_possible(shape: &ShapeSpec) -> Result<(), Error> {
    if !shape.policies.is_empty() && shape.sample.is_some() {
        return Err(Error::PoliciesOfSample);
    }
    // How many sizes a list has does not depend on the trace.
    let unit_bytes = |list: &SizeList| if list.has_bytes() { 1 } else { PAGE_BYTES };
    let sizes =
        shape.size.as_ref().map(|list| list.pages(unit_bytes(list), 1 << 20)).transpose()?;
    if sizes.is_some_and(|sizes| sizes.len() != 1) {
        return Err(Error::SeveralSizes);
    }
    let is_judged = |choice: &&Choice| NOT_JUDGED.contains(&choice.row().name);
    match shape.policies.iter().find(is_judged) {
        Some(choice) => Err(Error::NotJudged { policy: choice.to_string() }),
        None => Ok(()),
    }
}

/// Whether the caches of policies are of bytes.
fn are_of_bytes(asked: &ShapeSpec, inputs: &Inputs, detected: &Detected) -> bool {
    let has_sizes = detected.has_sizes || inputs.snapshot.is_some();
    let has_bytes = asked.size.as_ref().is_some_and(SizeList::has_bytes);
    detected.unit == Unit::Keys && has_sizes && has_bytes
}

/// Refuses policies that have no answer for this trace, before it is read.
fn must_judge(
    asked: &ShapeSpec,
    inputs: &Inputs,
    detected: &Detected,
    session: &Session<'_>,
) -> Result<(), Error> {
    if asked.policies.is_empty() {
        return Ok(());
    }
    if session.given.is_none() && !inputs.paths.iter().all(|path| comes_again(path)) {
        return Err(Error::PoliciesOfPipe);
    }
    if are_of_bytes(asked, inputs, detected) {
        asked.policies.iter().try_for_each(|choice| must_weigh(choice, NOT_JUDGED))?;
    } else if detected.unit == Unit::Keys && asked.size.as_ref().is_some_and(SizeList::has_bytes) {
        return Err(Error::NoBytes { name: inputs.name(), format: detected.format.name });
    }
    Ok(())
}

/// Counts one trace.
fn one(
    spec: &Spec,
    inputs: &Inputs,
    join: &mut Option<Join>,
    session: &mut Session<'_>,
) -> Result<TraceDocument, Error> {
    let (mut source, bound) = inputs.open(session)?;
    if let Some(asked) = &spec.shape {
        must_judge(asked, inputs, source.detected(), session)?;
    }
    let bound = if spec.shape.is_some() { Bound { remedy: LESS, ..bound } } else { bound };
    let unit = source.detected().unit;
    let sample = spec.shape.as_ref().and_then(|shape| shape.sample);
    let mut shape = spec.shape.as_ref().map(|_| shape::Shape::new(unit, spec.page_bytes, sample));
    let counting = Counting::new(unit, spec.page_bytes);
    let mut counting = counting.within(bound.without(source.bytes()));
    let reading = inputs.each_with(join, &mut source, session, |source, batch| {
        if let Some(shape) = &mut shape {
            take_within(shape, &batch.requests, SHAPE, bound.without(source.bytes()))?;
        }
        counting.push(&batch.requests);
        Ok(true)
    })?;
    let census = counting.finish(source.objects().len());
    let TraceReading { format, packing, unit, also, problems, unused, problem_texts, mut warnings } =
        reading;
    if census.is_cut {
        let (allowed_bytes, remedy) = (bound.allowed, bound.remedy);
        warnings.push(Warning::CountCut { allowed_bytes, remedy });
    }
    let mut shaped = None;
    if let (Some(shape), Some(asked)) = (shape, &spec.shape) {
        let requests = shape.walk.tally().unplaced;
        if requests > 0 {
            warnings.push(Warning::Unplaced { requests });
        }
        let (mut of, uses) = shape.finish(sample);
        drop(source);
        if !asked.policies.is_empty() {
            judge(spec, inputs, join, session, (asked, &mut of, &uses))?;
        }
        shaped = Some(of);
    }
    Ok(TraceDocument {
        schema: TraceDocument::SCHEMA.to_owned(),
        format,
        packing,
        unit,
        also,
        census,
        problems,
        unused,
        problem_texts,
        warnings,
        shape: shaped,
        against: None,
    })
}

/// Reads the trace again, for the policies.
fn judge(
    spec: &Spec,
    inputs: &Inputs,
    join: &mut Option<Join>,
    session: &mut Session<'_>,
    (asked, of, uses): (&ShapeSpec, &mut TraceShape, &[u32]),
) -> Result<(), Error> {
    if uses.is_empty() {
        return Ok(());
    }
    let (mut source, bound): (Source, Bound) = inputs.open_quietly(session)?;
    if let Some(join) = join.as_mut() {
        join.begin_again();
    }
    let unit = source.detected().unit;
    let is_bytes = are_of_bytes(asked, inputs, source.detected());
    let page_bytes = match unit {
        Unit::Bytes => spec.page_bytes.0,
        Unit::Keys => u64::from(is_bytes),
    };
    let size = size(asked, page_bytes, uses.len() as u64)?;
    let room = if is_bytes {
        Room::Bytes(size)
    } else {
        Room::Keys(u32::try_from(size).unwrap_or(u32::MAX))
    };
    let mut again = Again {
        walk: Walk::new(unit, spec.page_bytes, None),
        judge: Judge::new(&asked.policies, room, session.seed, uses, of.accesses),
    };
    inputs.each_with(join, &mut source, session, |source, batch| {
        take_within(&mut again, &batch.requests, POLICIES, bound.without(source.bytes()))?;
        Ok(true)
    })?;
    if again.walk.accesses_of_all() != of.accesses || again.walk.distinct() != uses.len() as u64 {
        return Err(Error::Changed);
    }
    let rows = again.judge.finish();
    let differences = cause::differences(&again.judge, &rows);
    of.policies = Some(ShapePolicies { size, is_bytes, rows, differences });
    Ok(())
}

/// The one size of the caches.
fn size(asked: &ShapeSpec, page_bytes: u64, distinct: u64) -> Result<u64, Error> {
    let Some(list) = &asked.size else { return Ok((distinct / 10).max(1)) };
    match list.pages(page_bytes, distinct)?[..] {
        [one] => Ok(one.max(1)),
        _ => Err(Error::SeveralSizes),
    }
}
