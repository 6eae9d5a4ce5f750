//! Traces of any format as one of the two that are written.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Error, Inputs};
use crate::experiment::output::{OutputError, Readers, must_be_free, write_new, write_trace};
use crate::experiment::result::{TraceMade, TraceReading};
use crate::experiment::session::Session;
use crate::trace::request::Unit;
use crate::units::{Bound, Bytes};
use crate::workload::convert::{ToNative, ToOracleGeneral};
use crate::workload::source::Source;
use crate::workload::within::{Growing, take_within};

/// The spec of a conversion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// The traces.
    pub inputs: Inputs,
    /// The new trace; nothing may have its name.
    pub output: PathBuf,
    /// Its format.
    pub to: To,
}

/// A format that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum To {
    /// nbuf's own: bytes, files and times, in Parquet.
    Native,
    /// The format of libCacheSim: one record of 24 bytes per access of a page.
    OracleGeneral {
        /// The page, where a trace has bytes.
        page_bytes: Bytes,
    },
}

/// Converts.
pub fn run(spec: &Spec, session: &mut Session<'_>) -> Result<TraceMade, Error> {
    let session = &*session;
    must_be_free(&spec.output, "-o")?;
    let (mut source, bound) = spec.inputs.open(session)?;
    let unit = source.detected().unit;
    let format = source.detected().format.name;
    let cannot = |source: OutputError| Error::of_writing(&spec.output, source);
    let mut made = TraceMade::of(&spec.output);
    match spec.to {
        To::Native if unit == Unit::Keys => return Err(Error::KeysToNative { format }),
        To::Native => {
            let mut to = ToNative::default();
            made.reading = Some(spec.take(&mut to, &mut source, bound, session)?);
            made.dropped = to.dropped.into();
            let trace = to.finish(source.objects(), format, source.cautions());
            write_trace(&trace, &spec.output, "-o").map_err(cannot)?;
            (made.count, made.what) = (trace.records.len() as u64, "record".to_owned());
        }
        To::OracleGeneral { page_bytes } => {
            let mut to = ToOracleGeneral::new(unit, page_bytes);
            let remedy = "allow more with --memory, or take larger pages with --page";
            let bound = Bound { remedy, ..bound };
            made.reading = Some(spec.take(&mut to, &mut source, bound, session)?);
            made.dropped = to.dropped.into();
            (made.count, made.what) = (to.oracle.len() as u64, "access".to_owned());
            write_new(&spec.output, "-o", Readers::Owner, |file| to.oracle.write(file))
                .map_err(cannot)?;
        }
    }
    Ok(made)
}

impl Spec {
    fn take(
        &self,
        to: &mut impl Growing,
        source: &mut Source,
        bound: Bound,
        session: &Session<'_>,
    ) -> Result<TraceReading, Error> {
        self.inputs.each(source, session, |source, batch| {
            let bound = bound.without(source.bytes());
            take_within(to, &batch.requests, "the new trace", bound)?;
            Ok(true)
        })
    }
}
