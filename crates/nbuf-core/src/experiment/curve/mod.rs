//! What caches of other sizes and policies would hit, of a trace in any format.
//!
//! ```no_run
//! use nbuf::experiment::curve::{self, Spec};
//! use nbuf::experiment::session::Session;
//!
//! let spec = Spec { traces: vec!["trace.parquet".into()], ..Spec::default() };
//! let document = curve::run(&spec, &mut Session::new(&()))?;
//! println!("{} curves", document.curves.len());
//! # Ok::<(), curve::Error>(())
//! ```

mod error;
mod following;
mod objects;
mod parts;
mod policies;
mod prefetch;
mod reading;
mod sampled;
mod snapshot;
mod spec;
mod warmup;

pub use super::joined::CannotJoin;
pub use super::objects::{CannotWeigh, Ttl, TtlError};
pub use crate::cache::admission::{ADMISSIONS, Admission, AdmissionError, AdmissionRow, Tuning};
pub use crate::cache::allocator::{Allocator, AllocatorError};
pub use crate::cache::objects::{Expired, ExpiredError, Oversized, OversizedError};
pub use crate::cache::policy::{Choice, ChoiceError, POLICIES, find as find_policy};
pub use crate::cache::prefetch::{On, PREFETCHERS, PrefetchError, PrefetcherRow, Prefetching};
pub use crate::workload::format::Parameters;
pub use crate::workload::pages::{Whole, Writes};
pub use error::Error;
pub use policies::all as all_policies;
pub use spec::{Rate, Spec, Warmup};

use super::grid::{Grid, Names, Plan};
use super::notice::Notice;
use super::result::{CurveDocument, PolicyCurve, TraceSummary, Warning};
use super::session::Session;
use super::target::Target;
use crate::trace::request::Unit;
use crate::workload::pages::Tally;
use crate::workload::within::take_within;
use policies::policies;
use reading::Reading;

/// What grows with a trace.
const PAGES: &str = "the distinct pages of this trace";
const KEYS: &str = "the distinct keys of this trace";

/// What was drawn.
struct Drawn {
    curves: Vec<PolicyCurve>,
    tally: Tally,
    span_ns: u64,
    left_out: Vec<Warning>,
}

/// Draws the curves of the spec. The session seeds policies that play with chance, and samples. A signal
/// ends the reading early: what was read by then is in the document.
pub fn run(spec: &Spec, session: &mut Session<'_>) -> Result<CurveDocument, Error> {
    sampled::must_be_possible(spec)?;
    parts::must_be_possible(spec)?;
    prefetch::must_be_possible(spec)?;
    if spec.cost.is_some() && matches!(spec.target, Some(Target::Price { .. })) {
        return Err(Error::PriceAndCost);
    }
    let session = &*session;
    let document = session.heeding(|| draw(spec, session)).map_err(Error::Signals)??;
    if document.trace.requests == 0 && session.cancellation.signal().is_none() {
        return Err(Error::Empty { name: reading::named(spec) });
    }
    Ok(document)
}

fn draw(spec: &Spec, session: &Session<'_>) -> Result<CurveDocument, Error> {
    let mut reading = Reading::open(spec, session)?;
    let detected = reading.source.detected();
    if let (Some(option), Unit::Keys) = (spec.asks_for_pages, detected.unit) {
        let (name, format) = (reading::named(spec), detected.format.name);
        return Err(Error::PagesOfKeys { name, format, option });
    }
    let is_objects = objects::are_asked_for(spec, &reading)?;
    prefetch::must_fit(spec, &reading, is_objects)?;
    if spec.writes == Writes::Store && !is_objects {
        return Err(Error::StoresPages);
    }
    let warmup = warmup::requests(spec, &mut reading)?;
    let drawn = match spec.sample {
        _ if is_objects => objects::draw(spec, &mut reading, warmup)?,
        Some(rate) => sample(spec, &mut reading, rate, warmup)?,
        None => exact(spec, &mut reading, warmup)?,
    };
    if reading.requests == 0 && reading.source.problems().count > 0 {
        return Err(reading.source.unreadable().into());
    }
    let unit = match (reading.source.detected().unit, spec.whole) {
        _ if is_objects => "object",
        (Unit::Keys, _) => "key",
        (Unit::Bytes, Whole::Yes) => "request",
        (Unit::Bytes, Whole::No) => "page",
    };
    Ok(document(spec, &reading, drawn, (unit, warmup)))
}

/// Counts every cell of the grid, in one reading or two.
fn exact(spec: &Spec, reading: &mut Reading<'_>, warmup: u64) -> Result<Drawn, Error> {
    let (policies, mut left_out) = prefetch::without_opt(spec, policies(spec))?;
    let mut grids = Vec::new();
    for page_bytes in pages(spec, reading) {
        let plan = Plan {
            policies: policies.clone(),
            sizes: spec.sizes.clone(),
            page_bytes,
            unit: reading.source.detected().unit,
            whole: spec.whole,
            writes: spec.writes,
            prefetching: spec.prefetch,
            all_sizes: spec.all_sizes || spec.target.is_some(),
            every: spec.every,
            by: spec.by,
            warmup_requests: warmup,
            seed: reading.session.seed,
            again: reading.again(),
            parallel: !spec.is_serial,
        };
        grids.push(Grid::new(plan)?);
    }
    let bytes: u64 = grids.iter().map(Grid::page_bytes).sum();
    let what = if pages(spec, reading) == [0] { "key" } else { "page" };
    reading.notice(&Notice::MemoryPer { bytes, what, allowed: reading.bound().allowed });
    let exactly = if what == "key" { KEYS } else { PAGES };
    reading.read(|requests, bound| take_within(&mut grids[..], requests, exactly, bound))?;
    warmup::must_leave_some(spec, reading, warmup)?;
    parts::times_must_be_there(spec, reading, grids.first().map_or(0, Grid::span_ns))?;
    let mut again = false;
    for grid in &mut grids {
        again |= grid.again()?;
    }
    if again {
        reading.read(|requests, bound| take_within(&mut grids[..], requests, exactly, bound))?;
        let mut policies: Vec<_> = grids.iter_mut().flat_map(Grid::drop_unequal).collect();
        policies.sort_unstable();
        policies.dedup();
        if !policies.is_empty() {
            left_out.push(Warning::PoliciesLeftOut { policies, changed: reading.changed() });
        }
    }
    let names = Names { objects: reading.source.objects(), target: spec.target };
    let tally = grids.first().map(Grid::tally).unwrap_or_default();
    let span_ns = grids.first().map_or(0, Grid::span_ns);
    let mut curves = Vec::new();
    for grid in grids {
        reading.notice(&Notice::Distinct { count: grid.distinct_pages(), what });
        curves.extend(grid.finish(&names)?);
    }
    parts::must_be_there(spec, reading, &curves)?;
    Ok(Drawn { curves, tally, span_ns, left_out })
}

fn sample(spec: &Spec, reading: &mut Reading<'_>, rate: Rate, warmup: u64) -> Result<Drawn, Error> {
    let (mut curves, mut left_out) = (Vec::new(), Vec::new());
    let mut tally = Tally::default();
    for page_bytes in pages(spec, reading) {
        let outcome = sampled::run(spec, reading, page_bytes, (rate, warmup))?;
        warmup::must_leave_some(spec, reading, warmup)?;
        curves.extend(outcome.curves);
        left_out.extend(outcome.left_out);
        tally = outcome.tally;
        if !reading.again() && spec.page_bytes.len() > 1 {
            return Err(Error::PipeOnce);
        }
    }
    if spec.target.is_some() {
        left_out.push(Warning::TargetLeftOut);
    }
    if curves.iter().any(|curve| curve.points.is_empty()) {
        left_out.push(Warning::SampleTooThin);
    }
    Ok(Drawn { curves, tally, span_ns: 0, left_out })
}

/// Bytes of the pages; none where an access is to a key or a whole request.
fn pages(spec: &Spec, reading: &Reading<'_>) -> Vec<u64> {
    let has_pages = reading.source.detected().unit == Unit::Bytes && spec.whole == Whole::No;
    if has_pages { spec.page_bytes.clone() } else { vec![0] }
}

fn document(
    spec: &Spec,
    reading: &Reading<'_>,
    drawn: Drawn,
    (unit, warmup): (&str, u64),
) -> CurveDocument {
    let Drawn { curves, tally, span_ns, left_out } = drawn;
    let detected = reading.source.detected();
    let mut warnings = reading.warnings();
    warnings.extend(left_out);
    if tally.unplaced > 0 {
        warnings.push(Warning::Unplaced { requests: tally.unplaced });
    }
    let writes_do = match spec.writes {
        Writes::Allocate => "allocate",
        Writes::Around => "around",
        Writes::Ignore => "ignore",
        Writes::Store => "store",
    };
    CurveDocument {
        schema: CurveDocument::SCHEMA.to_owned(),
        trace: TraceSummary {
            files: spec.traces.iter().map(|path| path.display().to_string()).collect(),
            format: detected.format.name.to_owned(),
            packing: detected.packing.name().to_owned(),
            unit: unit.to_owned(),
            writes_do: writes_do.to_owned(),
            requests: reading.requests,
            warmup_requests: (warmup > 0).then_some(warmup),
            reads: tally.reads,
            writes: tally.writes,
            discards: tally.discards,
            flushes: tally.flushes,
            empty: tally.empty,
            unplaced: tally.unplaced,
            read_bytes: tally.read_bytes,
            written_bytes: tally.written_bytes,
            span_ns,
            problems: reading.source.problems().count,
        },
        curves,
        warnings,
    }
}
