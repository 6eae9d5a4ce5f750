//! `nbuf trace convert`: any format into the two that are written.

use std::path::PathBuf;

use anyhow::Result;
use nbuf::experiment::result::TraceDropped;
use nbuf::experiment::trace::convert::{self, PartitionBy, Spec};
use nbuf::units::Bytes;

use super::input::{Input, page, refused, tell};
use super::made;
use crate::console::Console;
use crate::exit;
use crate::show::text::count;

/// Convert traces of any format to nbuf's own, or to oracleGeneral.
///
/// The native trace is Parquet and keeps bytes, files and times. oracleGeneral is the format of
/// libCacheSim: one record of 24 bytes per access of a page.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  nbuf trace convert usr_0.csv.gz usr_1.csv.gz -o usr.parquet
  nbuf trace convert --to oracleGeneral --page 512 OLTP.lis.zst -o OLTP.oracleGeneral
  nbuf trace convert hours/*.csv --partition-by volume -o volumes")]
pub(super) struct Convert {
    #[command(flatten)]
    input: Input,
    /// Write the trace to this file; it must not exist.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Format to write
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = To::Native)]
    to: To,
    /// Page size of oracleGeneral, where a trace has bytes
    #[arg(long, value_name = "SIZE", default_value = "4KiB", value_parser = page)]
    page: Bytes,
    /// Write a trace for each file or volume, into folders below FILE named `volume=NAME`
    #[arg(long, value_name = "WHAT", value_enum)]
    partition_by: Option<By>,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum By {
    File,
    Volume,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum To {
    Native,
    #[value(name = "oracleGeneral")]
    OracleGeneral,
}

pub(super) fn convert(arguments: &Convert) -> Result<u8> {
    let to = match arguments.to {
        To::Native => convert::To::Native,
        To::OracleGeneral => convert::To::OracleGeneral { page_bytes: arguments.page },
    };
    let (inputs, output) = (arguments.input.inputs(), arguments.output.clone());
    let partition_by = arguments.partition_by.map(|by| match by {
        By::File => PartitionBy::File,
        By::Volume => PartitionBy::Volume,
    });
    let spec = Spec { inputs, output, to, partition_by };
    let console = Console::plain();
    let mut session = console.session();
    let converted = convert::run(&spec, &mut session);
    if let (Err(error), Some(signal)) = (&converted, session.cancellation.signal()) {
        crate::fail::say(error);
        return Ok(exit::command(128 + signal));
    }
    let converted = converted.map_err(refused)?;
    if let Some(reading) = &converted.reading {
        tell(reading);
    }
    tell_dropped(converted.dropped);
    made(&converted);
    Ok(0)
}

/// What the new form cannot say.
fn tell_dropped(dropped: TraceDropped) {
    let TraceDropped { flushes, discards, empty, cut, objects, lifetimes } = dropped;
    let counts = [
        (flushes, "left out, because the new form has none", "flush", "flushes"),
        (discards, "left out, because the new form has none", "discard", "discards"),
        (empty, "left out, because of no bytes", "request", "requests"),
        (cut, "cut off, because too large", "request", "requests"),
        (objects, "to objects that the new form cannot tell apart", "access", "accesses"),
        (lifetimes, "left out, because the new form has none", "time to live", "times to live"),
    ];
    for (number, what, one, many) in counts.into_iter().filter(|(number, ..)| *number > 0) {
        crate::fail::say(format_args!("{what}: {}", count(number, one, many)));
    }
}
