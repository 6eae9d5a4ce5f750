//! The traces of a verb: which files, in which format, and what could not be read of them.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Error, TraceReading};
use crate::experiment::left_out::{doubts_of_sizes, recorded};
use crate::experiment::memory::bound;
use crate::experiment::notice::Notice;
use crate::experiment::session::Session;
use crate::trace::request::Unit;
use crate::units::{Bound, Size};
use crate::workload::format::{Batch, Parameters};
use crate::workload::source::{Options, Source, input_name};

/// Traces in any format, read as one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Inputs {
    /// The files; `-` is standard input.
    pub paths: Vec<PathBuf>,
    /// Their format, if it is not to be detected.
    pub format: Option<Parameters>,
    /// Whether they are merged by time, instead of one after the other.
    pub merge: bool,
    /// The number of unreadable records that ends the reading.
    pub problems_max: u64,
    /// Memory that may be used, by default half of what is available.
    pub memory: Option<Size>,
}

impl Default for Inputs {
    fn default() -> Self {
        let Options { problems_max, merge, .. } = Options::default();
        Self { paths: Vec::new(), format: None, merge, problems_max, memory: None }
    }
}

impl Inputs {
    /// Opens them, and reports their format. The bound is on all the memory that is used.
    pub(super) fn open(&self, session: &Session<'_>) -> Result<(Source, Bound), Error> {
        let memory = bound(self.memory, "allow more with --memory");
        let (format, problems_max, merge) = (self.format.clone(), self.problems_max, self.merge);
        let given = session.given.clone();
        let options = Options { format, problems_max, merge, given, memory, ..Options::default() };
        let open = |loading: &dyn Fn(u64, u64)| Source::open_with(&self.paths, &options, loading);
        let source = session.loading(open)?;
        let detected = source.detected();
        session.observer.notice(&Notice::Detected { input: &self.name(), detected });
        Ok((source, memory))
    }

    fn name(&self) -> String {
        self.paths.first().map(|path| input_name(path)).unwrap_or_default()
    }

    /// Reads to the end, or to where `take` wants no more. An error if there is no request.
    pub(super) fn each(
        &self,
        source: &mut Source,
        session: &Session<'_>,
        mut take: impl FnMut(&Source, &Batch) -> Result<bool, Error>,
    ) -> Result<TraceReading, Error> {
        let (mut batch, mut requests) = (Batch::default(), 0_u64);
        while !session.is_over() && source.next(&mut batch)? {
            requests += batch.requests.len() as u64;
            if !take(source, &batch)? {
                break;
            }
            session.reading(source);
        }
        session.observer.stage_over();
        let reading = reading(source);
        if requests == 0 {
            let format = source.detected().format;
            return Err(Error::Nothing {
                name: self.name(),
                format: format.name,
                parameters: format.parameters,
                reading: Box::new(reading),
            });
        }
        Ok(reading)
    }
}

/// What was read, and what could not be.
fn reading(source: &Source) -> TraceReading {
    let (detected, problems) = (source.detected(), source.problems());
    let unit = if detected.unit == Unit::Bytes { "bytes" } else { "keys" };
    TraceReading {
        format: detected.format.name.to_owned(),
        packing: detected.packing.name().to_owned(),
        unit: unit.to_owned(),
        also: detected.also.iter().map(ToString::to_string).collect(),
        problems: problems.count,
        unused: problems.unused,
        problem_texts: problems.kept.iter().map(|problem| source.describe(problem)).collect(),
        warnings: recorded(source).chain(doubts_of_sizes(problems)).collect(),
    }
}
