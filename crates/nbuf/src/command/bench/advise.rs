//! `nbuf bench advise`: what to use instead.

use std::path::PathBuf;

use anyhow::Result;
use nbuf::experiment::bench::AccessPattern;
use nbuf::experiment::bench::Error;
use nbuf::experiment::bench::advise::{self, AdviceError, Spec, Way};
use nbuf::experiment::document;
use nbuf::units::Size;

use super::INTERRUPTED;
use crate::command::memory::allowed;
use crate::console::Console;
use crate::output::print;
use crate::show::bench as shown;
use crate::show::terminal::Terminal;

/// Find a faster path for your access pattern, and by how much
///
/// Measures the pattern as it is done now and in other ways. Gives advice only where the whole
/// interval of the ratio is above 1, and the processes of both are of different ranks.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("what").required(true)))]
pub(crate) struct Arguments {
    /// What is asked of the file: a block, `stride SIZE` or `random`, `write` or `append`, `cold`, the
    /// size of the file and what is touched of it: 4KiB, random, cold, file 1GiB, touches 4MiB
    #[arg(long, value_name = "PATTERN", group = "what")]
    pattern: Option<AccessPattern>,

    /// What most requests of a trace of `nbuf record` are like
    #[arg(long, value_name = "FILE", group = "what")]
    trace: Option<PathBuf>,

    /// With --trace: memory to use at most, 2GiB or a share of what is available [default: 50%]
    #[arg(long, value_name = "SIZE", value_parser = allowed, requires = "trace")]
    memory: Option<Size>,

    /// How it is done now: read, pread, stdio, mmap, ...
    #[arg(long, value_name = "PATH", default_value = "read")]
    now: Way,

    /// Do the whole job in each way, and say how many times faster the advice was
    #[arg(long)]
    check: bool,

    /// Read this file instead of ours, and change nothing of it
    #[arg(long, value_name = "FILE", conflicts_with = "dir")]
    file: Option<PathBuf>,

    /// The directory of the file [default: as for `nbuf bench`]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,

    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl Arguments {
    /// What the experiment is asked.
    fn spec(&self) -> Spec {
        Spec {
            pattern: self.pattern,
            trace: self.trace.clone(),
            memory: self.memory,
            now: self.now,
            verify: self.check,
            file: self.file.clone(),
            directory: self.dir.clone(),
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<u8> {
    let console = Console::plain();
    let mut session = console.session();
    let document = match advise::run(&arguments.spec(), &mut session) {
        Err(AdviceError::Bench(Error::Interrupted)) => return Ok(INTERRUPTED),
        found => found?,
    };
    if arguments.json {
        print(document::write(&document)?.as_bytes())?;
    } else {
        print(shown::advice(&document, Terminal::of_output().width).as_bytes())?;
    }
    Ok(0)
}
