//! `nbuf bench advise`: what to use instead.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use nbuf::experiment::bench::advise;
use nbuf::experiment::bench::asked::Asked;
use nbuf::experiment::bench::measure::{Bench, HELD_BYTES_MAX};
use nbuf::experiment::bench::{Error, observed, place};
use nbuf::meter::probe::ceiling;
use nbuf::path;
use nbuf::sys::input;
use nbuf::units::{Bytes, Size};
use nbuf::workload::format::native;

use super::{INTERRUPTED, directory, watch};
use crate::command::memory::{allowed, bound};
use crate::output::print;
use crate::show::bench as shown;
use crate::show::progress;
use crate::show::terminal::Terminal;
use crate::voice::note;

/// What to use instead of what you do now, and how much faster it is here
///
/// Measures the pattern as it is done now and in other ways, and gives advice only where the whole
/// interval lies above the noise floor of this run.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("what").required(true)))]
pub(crate) struct Arguments {
    /// What is asked of the file: a block, `stride SIZE` or `random`, `write` or `append`, `cold`, the
    /// size of the file and what is touched of it: 4KiB, random, cold, file 1GiB, touches 4MiB
    #[arg(long, value_name = "PATTERN", group = "what")]
    pattern: Option<Asked>,

    /// What most requests of a trace of `nbuf record` are like
    #[arg(long, value_name = "FILE", group = "what")]
    trace: Option<PathBuf>,

    /// With --trace: memory that may be used, 2GiB or a share of what is available [default: 50%]
    #[arg(long, value_name = "SIZE", value_parser = allowed, requires = "trace")]
    memory: Option<Size>,

    /// How it is done now: read, pread, stdio, mmap, ...
    #[arg(long, value_name = "PATH", default_value = "read", value_parser = way)]
    now: &'static str,

    /// Do the whole job in each way, and say how many times faster the advice was
    #[arg(long)]
    check: bool,

    /// Read this file instead of ours, and change nothing of it
    #[arg(long, value_name = "FILE", conflicts_with = "dir")]
    file: Option<PathBuf>,

    /// Where the file lies [default: as for `nbuf bench`]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,

    /// One JSON document on standard output
    #[arg(long)]
    json: bool,
}

fn way(name: &str) -> Result<&'static str, String> {
    let names = || path::PATHS.iter().map(|row| row.name).collect::<Vec<_>>().join(", ");
    path::row(name).map(|row| row.name).ok_or_else(|| format!("give one of {}", names()))
}

pub(super) fn run(arguments: &Arguments) -> Result<u8> {
    let asked = match (&arguments.pattern, &arguments.trace) {
        (Some(asked), _) => *asked,
        (None, Some(path)) => of_trace(path, arguments.memory)?,
        (None, None) => bail!("give --pattern or --trace"),
    };
    let lent = arguments.file.as_deref().map(super::lent).transpose()?;
    let asked = match &lent {
        Some(_) if asked.is_write => bail!("--file is only read; give a pattern that reads"),
        Some(lent) if lent.size_bytes < asked.block_bytes => {
            bail!("a block of {} does not fit into --file; give a smaller one", asked.block_bytes)
        }
        Some(lent) => asked.on(lent.size_bytes),
        None => asked,
    };
    let directory = directory(arguments.dir.as_ref());
    place::sweep(&directory);
    announce(&asked, lent.is_some(), &directory)?;
    let watch = watch()?;
    let mut ignore = |_: &_| {};
    let mut bench = Bench::new(&watch, directory, ceiling::copy_rate(), &mut ignore);
    bench.lent = lent;
    let steps = advise::steps(&asked, arguments.now);
    let bar = progress::bar("measures", steps);
    let mut done = 0;
    let mut step = |_: &str| {
        bar.set(done, steps);
        done += 1;
    };
    let found = advise::run(&mut bench, &asked, arguments.now, arguments.check, &mut step);
    bar.clear();
    let document = match found {
        Err(Error::Interrupted) => return Ok(INTERRUPTED),
        found => found?,
    };
    let document = match document {
        Ok(document) => document,
        Err(refused) => bail!("{}: {}; give another --now", refused.test, refused.reason),
    };
    if arguments.json {
        print((serde_json::to_string_pretty(&document)? + "\n").as_bytes())?;
    } else {
        print(shown::advice(&document, Terminal::of_output().width).as_bytes())?;
    }
    Ok(0)
}

/// What will be measured, and on what; refused where there is no room for it.
fn announce(asked: &Asked, is_lent: bool, directory: &Path) -> Result<()> {
    let size = Bytes(asked.file_bytes);
    if is_lent {
        note(format_args!("measures some ten seconds to minutes, and only reads the file"));
        return Ok(());
    }
    // Files in memory are made again while the old ones are there.
    let needed = Bytes(size.0.saturating_add(size.0.min(HELD_BYTES_MAX)));
    if place::room(directory)? < needed {
        return Err(Error::Full { directory: directory.to_owned(), size: needed }.into());
    }
    note(format_args!(
        "measures some ten seconds to minutes with files of {size} in {}, which have no name and go at the end",
        directory.display()
    ));
    Ok(())
}

/// What a record takes: its length, and how far it is from the one before.
const REQUEST_BYTES: u64 = 76;

fn of_trace(path: &Path, memory: Option<Size>) -> Result<Asked> {
    let file = input::open(path)?;
    let bound = bound(memory, "allow more with --memory");
    let cannot = || format!("cannot read {}", path.display());
    let trace = native::read_within(file, bound).with_context(cannot)?;
    let requests = REQUEST_BYTES * trace.records.len() as u64 + trace.records.bytes();
    bound.allow("the requests of this trace", requests).with_context(cannot)?;
    let found = observed::of_trace(&trace).with_context(|| {
        format!("{} has no reads and no writes; give --pattern", path.display())
    })?;
    if found.is_pages {
        note(format_args!(
            "the trace has whole pages{}: blocks smaller than a page look the same; if yours are, give \
             --pattern with their size",
            if found.repeats > 0 { ", some again and again" } else { "" }
        ));
    }
    Ok(found.asked)
}
