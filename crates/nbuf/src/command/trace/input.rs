//! What the verbs over foreign traces have in common: which files, in which format, and what is said
//! of them.

use std::path::PathBuf;

use anyhow::{Context, Error, Result};
use nbuf::experiment::result::{TraceReading, Warning};
use nbuf::experiment::trace::{self, Inputs, Parameters};
use nbuf::units::{Bytes, Size};

use crate::command::memory::allowed;
use crate::fail::UsageError;
use crate::fail::say;
use crate::output::unwrapped;
use crate::show::text::count;
use crate::verbosity::note;

/// Problems that are said in words.
const PROBLEMS_SAID: usize = 5;

#[derive(Debug, clap::Args)]
pub(super) struct Input {
    /// Traces in any format of `nbuf trace formats`, compressed or not; `-` is standard input. Several
    /// are read as one trace.
    #[arg(required = true, value_name = "TRACE")]
    paths: Vec<PathBuf>,
    /// The traces' format [default: detected]; with parameters: csv:key=lbn,size=size
    #[arg(long, value_name = "FORMAT")]
    from: Option<Parameters>,
    /// Merge several traces by time, instead of one after the other
    #[arg(long)]
    merge: bool,
    /// Stop when more records than this cannot be read
    #[arg(long, value_name = "N", default_value_t = Inputs::default().problems_max)]
    problems_max: u64,
    /// Memory to use at most: 2GiB, or a share of what is available [default: 50%]
    #[arg(long, value_name = "SIZE", value_parser = allowed)]
    memory: Option<Size>,
    /// Take sizes and times to live of keys without from this snapshot: memcached's metadump, or an RDB file
    /// of Redis
    #[arg(long, value_name = "FILE")]
    snapshot: Option<PathBuf>,
}

impl Input {
    pub(super) fn inputs(&self) -> Inputs {
        Inputs {
            paths: self.paths.clone(),
            format: self.from.clone(),
            merge: self.merge,
            problems_max: self.problems_max,
            memory: self.memory,
            snapshot: self.snapshot.clone(),
        }
    }
}

/// Says what could not be read, and what must not be forgotten of a recording.
pub(super) fn tell(reading: &TraceReading) {
    for problem in reading.problem_texts.iter().take(PROBLEMS_SAID) {
        say(problem);
    }
    if reading.problems > PROBLEMS_SAID as u64 {
        say(format_args!("{} records could not be read and were left out", reading.problems));
    }
    if reading.unused > 0 {
        let unused = count(reading.unused, "record", "records");
        note(format_args!("left out, because they ask a cache for nothing: {unused}"));
    }
    for warning in &reading.warnings {
        match warning {
            Warning::CountCut { .. } => say(warning),
            _ => note(warning),
        }
    }
}

/// Why there is no document, after what could not be read.
pub(super) fn refused(error: trace::Error) -> Error {
    match error {
        trace::Error::Nothing { ref reading, .. } => {
            tell(reading);
            error.into()
        }
        trace::Error::Output(error) => unwrapped(error),
        trace::Error::Observer(error) => error.into(),
        other => other.into(),
    }
}

/// A size of a page.
pub(super) fn page(text: &str) -> Result<Bytes> {
    match text.parse().context("a page")? {
        Size::Absolute(bytes) if bytes.0 > 0 => Ok(bytes),
        _ => anyhow::bail!(UsageError(
            "the size of a page is in bytes: write 4KiB or 512".to_owned()
        )),
    }
}
