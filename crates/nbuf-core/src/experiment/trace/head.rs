//! The first requests of traces, as nbuf understands them.

use serde::{Deserialize, Serialize};

use super::{Error, Inputs};
use crate::experiment::result::TraceHead;
use crate::experiment::session::{Interim, Session};

/// The spec.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The traces.
    pub inputs: Inputs,
    /// How many requests.
    pub count: usize,
}

/// Reads the first requests. The observer gets them a batch at a time: as many as are wanted need not
/// fit into memory.
pub fn run(spec: &Spec, session: &mut Session<'_>) -> Result<TraceHead, Error> {
    let session = &*session;
    let (mut source, _) = spec.inputs.open(session)?;
    let unit = source.detected().unit;
    let show = |requests: &[_], objects: &[String]| {
        let interim = Interim::Requests { unit, requests, objects };
        session.observer.interim(interim).map_err(Error::Observer)
    };
    let mut left = spec.count;
    let reading = spec.inputs.each(&mut source, session, |source, batch| {
        let wanted = left.min(batch.requests.len());
        show(&batch.requests[..wanted], source.objects())?;
        left -= wanted;
        Ok(left > 0)
    })?;
    let schema = TraceHead::SCHEMA.to_owned();
    Ok(TraceHead { schema, count: (spec.count - left) as u64, reading })
}
