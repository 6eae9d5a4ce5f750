//! `nbuf trace`: what can be done with traces and logs.

mod convert;
mod formats;
mod generate;
mod head;
mod input;
mod stat;

use std::fs::File;
use std::io::{Read, Seek};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use nbuf::sys::direct::is_being_written;
use nbuf::sys::input::open;
use nbuf::units::{Bound, Bytes, Size};
use nbuf::workload::anonymize;
use nbuf::workload::format::native;
use nbuf::workload::record::log::Ending;
use nbuf::workload::record::{Salvaged, salvage};

use self::convert::Convert;
use self::formats::Formats;
use self::generate::Generate;
use self::head::Head;
use self::stat::Stat;
use crate::command::memory::{allowed, bound};
use crate::output::{must_be_free, write_trace};
use crate::show::text::count;
use crate::voice::note;

/// Work with traces and with the logs they are made of.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    Convert(Convert),
    Head(Head),
    Stat(Stat),
    Generate(Generate),
    Formats(Formats),
    Recover(Recover),
    Anonymize(Anonymize),
}

/// Make a trace of the log of a recording that broke off.
///
/// While a command runs, `nbuf record` writes FILE.log. When nbuf is killed, the machine stops or
/// the disc is full, the log stays, and is good up to the last half second.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  nbuf trace recover grep.parquet.log -o grep.parquet")]
struct Recover {
    /// The log that was left.
    log: PathBuf,
    /// The trace to write; refused when it exists.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Memory that may be used: 2GiB, or a share of what is available [default: 50%]
    #[arg(long, value_name = "SIZE", value_parser = allowed)]
    memory: Option<Size>,
}

/// Take out of a trace what tells whose it is, so that it can be shared.
///
/// Names of files become words with numbers, the same word for the same component of a path; the
/// command, its directory, the date, the machine, threads and devices go. What stays: sizes,
/// offsets and times of accesses, amounts of memory, types of file systems, readahead, and the
/// first two numbers of the kernel. The curve of the new trace is that of the old one.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  nbuf trace anonymize grep.parquet -o shared.parquet")]
struct Anonymize {
    /// The trace; it stays as it is.
    trace: PathBuf,
    /// The trace to write; refused when it exists.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Memory that may be used: 2GiB, or a share of what is available [default: 50%]
    #[arg(long, value_name = "SIZE", value_parser = allowed)]
    memory: Option<Size>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<u8> {
    match &arguments.what {
        What::Convert(arguments) => convert::convert(arguments),
        What::Head(arguments) => head::head(arguments),
        What::Stat(arguments) => stat::stat(arguments),
        What::Generate(arguments) => generate::generate(arguments),
        What::Formats(Formats {}) => formats::formats(),
        What::Recover(arguments) => recover(arguments),
        What::Anonymize(arguments) => anonymize(arguments),
    }
}

/// What the trace of a log takes at the most, a byte of the log.
const LOG_FACTOR: u64 = 4;

fn recover(Recover { log, output, memory }: &Recover) -> Result<u8> {
    let shown = log.display();
    let mut file = open(log)?;
    must_be_free(output, "-o")?;
    if is_being_written(&file) {
        bail!("{shown} is being written by an nbuf that still records; wait until it has ended");
    }
    if is_parquet(&mut file).with_context(|| format!("cannot read {shown}"))? {
        bail!("{shown} is already a trace; there is nothing to recover");
    }
    let log_bytes = file.metadata().with_context(|| format!("cannot read {shown}"))?.len();
    let bound = bound(*memory, "allow more with --memory");
    bound.allow("the trace of this log", LOG_FACTOR.saturating_mul(log_bytes))?;
    let salvaged = salvage(&file).with_context(|| format!("{shown}"))?;
    let what = || format!("cannot write {}; the log is as it was", output.display());
    write_trace(&salvaged.trace, output).with_context(what)?;
    note(tale(&salvaged));
    let records = salvaged.trace.records.len() as u64;
    note(format_args!("{} has {}", output.display(), count(records, "record", "records")));
    Ok(0)
}

fn anonymize(Anonymize { trace: path, output, memory }: &Anonymize) -> Result<u8> {
    let shown = path.display();
    let file = open(path)?;
    must_be_free(output, "-o")?;
    // The old records and the new ones.
    let bound = bound(*memory, "allow more with --memory");
    let half = Bound { allowed: Bytes(bound.allowed.0 / 2), ..bound };
    let mut trace = native::read_within(file, half).with_context(|| format!("{shown}"))?;
    anonymize::anonymize(&mut trace);
    write_trace(&trace, output).with_context(|| format!("cannot write {}", output.display()))?;
    let records = count(trace.records.len() as u64, "record", "records");
    let files = count(trace.files.len() as u64, "file", "files");
    note(format_args!("{} has {records} of {files}", output.display()));
    Ok(0)
}

fn is_parquet(file: &mut File) -> std::io::Result<bool> {
    let mut head = Vec::new();
    file.take(4).read_to_end(&mut head)?;
    file.rewind()?;
    Ok(head == b"PAR1")
}

/// What was saved and what was not, in one line.
fn tale(salvaged: &Salvaged) -> String {
    let Salvaged { entries, frames_skipped, ending, .. } = salvaged;
    let how = match ending {
        Ending::Torn { at_byte, reason } => format!("torn at byte {at_byte} ({reason})"),
        _ => "the log is whole".to_owned(),
    };
    format!("{entries} entries salvaged, {frames_skipped} frames skipped; {how}")
}
