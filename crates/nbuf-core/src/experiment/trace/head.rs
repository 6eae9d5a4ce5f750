//! The first requests of traces, as nbuf understands them.
//!
//! ```
//! use nbuf::experiment::session::Session;
//! use nbuf::experiment::trace::{Inputs, head};
//!
//! # use nbuf::experiment::trace::generate;
//! # let directory = tempfile::tempdir()?;
//! # let trace = directory.path().join("loop.oracleGeneral");
//! # let spec = generate::Spec { count: 1000, keys: 10, ..generate::Spec::of(&trace) };
//! # generate::run(&spec, &mut Session::new(&()))?;
//! // The observer of the session gets the requests.
//! let inputs = Inputs { paths: vec![trace], ..Inputs::default() };
//! let head = head::run(&head::Spec { inputs, count: 5 }, &mut Session::new(&()))?;
//! assert_eq!(head.count, 5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
