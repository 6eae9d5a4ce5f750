//! `nbuf trace`: what can be done with traces and logs.

mod convert;
mod formats;
mod generate;
mod head;
mod input;
mod stat;

use std::path::PathBuf;

use anyhow::Result;
use nbuf::experiment::result::{TraceMade, TraceSalvaged};
use nbuf::experiment::trace::{anonymize, recover};
use nbuf::units::Size;

use self::convert::Convert;
use self::formats::Formats;
use self::generate::Generate;
use self::head::Head;
use self::input::refused;
use self::stat::Stat;
use crate::command::memory::allowed;
use crate::console::Console;
use crate::show::text::count;
use crate::verbosity::note;

/// Convert, inspect and generate traces.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
#[command(after_help = "Exit status:
  0    success
  2    usage error
  125  nbuf failed, or a trace cannot be read; standard error says why
  130  interrupted by Ctrl-C")]
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

/// Make a trace from the log of an interrupted recording.
///
/// While a command runs, `nbuf record` writes FILE.log. If nbuf is killed, the machine stops or the
/// disc is full, the log stays. It lacks at most the last half second.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  nbuf trace recover grep.parquet.log -o grep.parquet")]
struct Recover {
    /// The log.
    log: PathBuf,
    /// Write the trace to this file; it must not exist.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Memory to use at most: 2GiB, or a share of what is available [default: 50%]
    #[arg(long, value_name = "SIZE", value_parser = allowed)]
    memory: Option<Size>,
}

/// Remove names from a trace, so that it can be shared.
///
/// Replaces names of files by numbered words, the same word for the same part of a path. Removes the
/// command, its directory, the date, the machine, threads and devices. Keeps sizes, offsets and times
/// of accesses, amounts of memory, types of file systems, readahead, and the kernel's first two
/// numbers. The new trace has the same curve.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  nbuf trace anonymize grep.parquet -o shared.parquet")]
struct Anonymize {
    /// The trace; it is not changed.
    trace: PathBuf,
    /// Write the trace to this file; it must not exist.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Memory to use at most: 2GiB, or a share of what is available [default: 50%]
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

fn recover(Recover { log, output, memory }: &Recover) -> Result<u8> {
    let spec = recover::Spec { log: log.clone(), output: output.clone(), memory: *memory };
    let recovered = recover::run(&spec, &mut Console::plain().session()).map_err(refused)?;
    if let Some(salvaged) = &recovered.salvaged {
        note(tale(salvaged));
    }
    made(&recovered);
    Ok(0)
}

fn anonymize(Anonymize { trace, output, memory }: &Anonymize) -> Result<u8> {
    let spec = anonymize::Spec { trace: trace.clone(), output: output.clone(), memory: *memory };
    let made = anonymize::run(&spec, &mut Console::plain().session()).map_err(refused)?;
    let (records, files) =
        (count(made.count, "record", "records"), count(made.files, "file", "files"));
    note(format_args!("{} has {records} of {files}", made.output));
    Ok(0)
}

/// What the new trace has.
fn made(made: &TraceMade) {
    let many =
        if made.what == "access" { "accesses".to_owned() } else { format!("{}s", made.what) };
    note(format_args!("{} has {}", made.output, count(made.count, &made.what, &many)));
}

/// What was saved and what was not, in one line.
fn tale(salvaged: &TraceSalvaged) -> String {
    let TraceSalvaged { entries, frames_skipped, torn } = salvaged;
    let how = match torn {
        Some((at_byte, reason)) => format!("torn at byte {at_byte} ({reason})"),
        None => "the log is whole".to_owned(),
    };
    format!("{entries} entries salvaged, {frames_skipped} frames skipped; {how}")
}
