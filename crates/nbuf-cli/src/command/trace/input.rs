//! What the verbs over foreign traces have in common: which files, in which format, and what is said
//! of them.

use std::path::PathBuf;

use anyhow::{Context, Result};
use nbuf::units::{Bound, Bytes, Size};
use nbuf::workload::format::{Batch, Parameters};
use nbuf::workload::source::{Options, Source, input_name};

use crate::command::memory::{allowed, bound};
use crate::fail::say;
use crate::show::text::count;
use crate::voice::note;

/// Problems that are said in words.
const PROBLEMS_SAID: usize = 5;

#[derive(Debug, clap::Args)]
pub(super) struct Input {
    /// Traces in any format of `nbuf trace formats`, packed with gzip, xz or zstd or not; `-` is
    /// standard input. Several are one trace.
    #[arg(required = true, value_name = "TRACE")]
    paths: Vec<PathBuf>,
    /// Their format instead of what they look like, with its parameters:
    /// csv:key=lbn,size=size
    #[arg(long, value_name = "FORMAT")]
    from: Option<Parameters>,
    /// Merge several traces by time instead of reading one after the other
    #[arg(long)]
    merge: bool,
    /// Give up when more records than this cannot be read
    #[arg(long, value_name = "N", default_value_t = Options::default().problems_max)]
    problems_max: u64,
    /// Memory that may be used: 2GiB, or a share of what is available [default: 50%]
    #[arg(long, value_name = "SIZE", value_parser = allowed)]
    memory: Option<Size>,
}

impl Input {
    /// Opens it, and says what it was taken for. The bound is on all the memory that is used.
    pub(super) fn open(&self) -> Result<(Source, Bound)> {
        let memory = bound(self.memory, "allow more with --memory");
        let options = Options {
            memory,
            format: self.from.clone(),
            problems_max: self.problems_max,
            merge: self.merge,
        };
        let source = Source::open(&self.paths, &options)?;
        note(format_args!("{}: {}", input_name(&self.paths[0]), source.detected()));
        Ok((source, memory))
    }

    /// What is said of a trace without a request.
    pub(super) fn nothing(&self, source: &Source) -> anyhow::Error {
        let format = source.detected().format;
        let takes = match format.parameters {
            "" => String::new(),
            parameters => format!(" (its parameters: {parameters})"),
        };
        anyhow::anyhow!(
            "there is no request in {} as {}{takes}: name the right format with --from",
            input_name(&self.paths[0]),
            format.name
        )
    }
}

/// Reads to the end, and says what could not be read. The number of requests.
pub(super) fn each(
    source: &mut Source,
    mut take: impl FnMut(&Source, &Batch) -> Result<bool>,
) -> Result<u64> {
    let (mut batch, mut requests) = (Batch::default(), 0);
    while source.next(&mut batch)? {
        requests += batch.requests.len() as u64;
        if !take(source, &batch)? {
            break;
        }
    }
    tell(source);
    Ok(requests)
}

/// Says what could not be read, and what must not be forgotten of a recording.
fn tell(source: &Source) {
    let problems = source.problems();
    for problem in problems.kept.iter().take(PROBLEMS_SAID) {
        say(source.describe(problem));
    }
    if problems.count > PROBLEMS_SAID as u64 {
        say(format_args!("{} records could not be read and were left out", problems.count));
    }
    if problems.unused > 0 {
        let unused = count(problems.unused, "record", "records");
        note(format_args!("left out, because nothing says what is asked: {unused}"));
    }
    for caution in source.cautions() {
        note(caution);
    }
}

/// A size of a page.
pub(super) fn page(text: &str) -> Result<Bytes> {
    match text.parse().context("a page")? {
        Size::Absolute(bytes) if bytes.0 > 0 => Ok(bytes),
        _ => anyhow::bail!("a page has bytes: write 4KiB or 512"),
    }
}
