//! Requests, bytes, distinct pages and time of traces, counted.

use serde::{Deserialize, Serialize};

use super::{Error, Inputs, TraceReading};
use crate::experiment::census::Counting;
use crate::experiment::result::TraceDocument;
use crate::experiment::session::Session;
use crate::experiment::warning::Warning;
use crate::units::{Bytes, PAGE_BYTES};

/// The spec of a count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The traces.
    pub inputs: Inputs,
    /// The page to count in, where a trace counts bytes.
    pub page_bytes: Bytes,
}

impl Spec {
    /// A count of these traces in pages of 4 KiB.
    pub fn of(inputs: Inputs) -> Self {
        Self { inputs, page_bytes: Bytes(PAGE_BYTES) }
    }
}

/// Counts.
pub fn run(spec: &Spec, session: &mut Session<'_>) -> Result<TraceDocument, Error> {
    let (mut source, bound) = spec.inputs.open(session)?;
    let counting = Counting::new(source.detected().unit, spec.page_bytes);
    let mut counting = counting.within(bound.without(source.bytes()));
    let reading = spec.inputs.each(&mut source, session, |_, batch| {
        counting.push(&batch.requests);
        Ok(true)
    })?;
    let census = counting.finish(source.objects().len());
    let TraceReading { format, packing, unit, also, problems, unused, problem_texts, mut cautions } =
        reading;
    if census.is_cut {
        let (allowed_bytes, remedy) = (bound.allowed, bound.remedy);
        cautions.push(Warning::CountCut { allowed_bytes, remedy });
    }
    let schema = TraceDocument::SCHEMA.to_owned();
    Ok(TraceDocument {
        schema,
        format,
        packing,
        unit,
        also,
        census,
        problems,
        unused,
        problem_texts,
        cautions,
    })
}
