//! The traces of a verb: which files, in which format, and what could not be read of them.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Error, TraceReading};
use crate::experiment::joined;
use crate::experiment::left_out::{doubts_of_sizes, recorded};
use crate::experiment::memory::bound;
use crate::experiment::notice::Notice;
use crate::experiment::session::Session;
use crate::trace::request::Unit;
use crate::units::{Bound, Size};
use crate::workload::format::snapshot::{Join, Lengths};
use crate::workload::format::{Batch, Parameters};
use crate::workload::source::{Opening, Options, Source, input_name, must_be_apart, open_snapshot};

/// What to do where there is too little memory.
const LESS: &str = "allow more with --memory";

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
    /// A snapshot of the store, whose sizes and times to live go to the requests of keys without.
    pub snapshot: Option<PathBuf>,
}

impl Default for Inputs {
    fn default() -> Self {
        let Options { problems_max, merge, .. } = Options::default();
        let (paths, format, memory, snapshot) = (Vec::new(), None, None, None);
        Self { paths, format, merge, problems_max, memory, snapshot }
    }
}

impl Inputs {
    /// Opens them, and reports their format. The bound is on all the memory that is used.
    pub(super) fn open(&self, session: &Session<'_>) -> Result<(Source, Bound), Error> {
        let (source, memory) = self.open_quietly(session)?;
        let detected = source.detected();
        session.observer.notice(&Notice::Detected { input: &self.name(), detected });
        Ok((source, memory))
    }

    /// The same without a report: for another reading.
    pub(super) fn open_quietly(&self, session: &Session<'_>) -> Result<(Source, Bound), Error> {
        must_be_apart(&self.paths, self.snapshot.as_deref())?;
        let memory = bound(self.memory, LESS);
        let (format, problems_max, merge) = (self.format.clone(), self.problems_max, self.merge);
        let given = session.given.clone();
        let options = Options { format, problems_max, merge, given, memory, ..Options::default() };
        let open = |opening: &Opening<'_>| Source::open_with(&self.paths, &options, opening);
        Ok((session.opening(open)?, memory))
    }

    pub(super) fn name(&self) -> String {
        self.paths.first().map(|path| input_name(path)).unwrap_or_default()
    }

    /// Reads to the end, or to where `take` wants no more. An error if there is no request.
    pub(super) fn each(
        &self,
        source: &mut Source,
        session: &Session<'_>,
        take: impl FnMut(&Source, &Batch) -> Result<bool, Error>,
    ) -> Result<TraceReading, Error> {
        self.each_with(&mut None, source, session, take)
    }

    /// The same. The snapshot stays in `join` for another reading, because a pipe has no second one.
    pub(super) fn each_with(
        &self,
        join: &mut Option<Join>,
        source: &mut Source,
        session: &Session<'_>,
        mut take: impl FnMut(&Source, &Batch) -> Result<bool, Error>,
    ) -> Result<TraceReading, Error> {
        self.open_snapshot(join, source, session)?;
        let has_sizes = source.detected().has_sizes;
        let (mut batch, mut requests, mut is_whole) = (Batch::default(), 0_u64, true);
        while !session.is_over() && source.next(&mut batch)? {
            requests += batch.requests.len() as u64;
            if let Some(join) = join.as_mut() {
                join.join(&mut batch.requests, has_sizes);
                source.set_joined_bytes(join.bytes());
            }
            if !take(source, &batch)? {
                is_whole = false;
                break;
            }
            session.reading(source);
        }
        session.observer.stage_over();
        let mut reading = reading(source);
        if let (Some(join), Some(path)) = (join.as_ref(), &self.snapshot) {
            if !session.is_over() {
                let part = (!is_whole).then_some(requests);
                joined::must_match(join, path, || self.name(), part)?;
            }
            joined::warn(&mut reading.warnings, join, false, is_whole);
        }
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

    /// Opens the snapshot, if there is one that is not open yet.
    fn open_snapshot(
        &self,
        join: &mut Option<Join>,
        source: &Source,
        session: &Session<'_>,
    ) -> Result<(), Error> {
        let Some(path) = &self.snapshot else { return Ok(()) };
        joined::must_have_keys(source.detected(), || self.name())?;
        if join.is_none() {
            let memory = bound(self.memory, LESS).without(source.bytes());
            let snapshot = open_snapshot(path, memory, &session.opening_quietly().token)?;
            *join = Some(Join::new(snapshot, Lengths::KeysAndValues));
        }
        Ok(())
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
