//! `nbuf trace convert`: any format into the two that are written.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use nbuf::sys::publish::Readers;
use nbuf::units::{Bound, Bytes};
use nbuf::workload::convert::{Dropped, ToNative, ToOracleGeneral};
use nbuf::workload::request::Unit;
use nbuf::workload::within::take_within;

use super::input::{Input, each, page};
use crate::output::{must_be_free, write_new, write_trace};
use crate::show::text::count;
use crate::voice::note;

/// Convert traces of any format into nbuf's own, or into oracleGeneral.
///
/// The native trace is Parquet and keeps bytes, files and times. oracleGeneral is what libCacheSim
/// reads: one record of 24 bytes an access, of a page where the trace counts bytes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  nbuf trace convert usr_0.csv.gz usr_1.csv.gz -o usr.parquet
  nbuf trace convert --to oracleGeneral --page 512 OLTP.lis.zst -o OLTP.oracleGeneral")]
pub(super) struct Convert {
    #[command(flatten)]
    input: Input,
    /// The trace to write; refused when it exists.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// What to write
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = To::Native)]
    to: To,
    /// What oracleGeneral counts in, where a trace counts bytes
    #[arg(long, value_name = "SIZE", default_value = "4KiB", value_parser = page)]
    page: Bytes,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum To {
    Native,
    #[value(name = "oracleGeneral")]
    OracleGeneral,
}

pub(super) fn convert(arguments: &Convert) -> Result<u8> {
    let Convert { input, output, to, page } = arguments;
    must_be_free(output, "-o")?;
    let (mut source, bound) = input.open()?;
    let unit = source.detected().unit;
    let cannot = || format!("cannot write {}", output.display());
    let (made, dropped) = match to {
        To::Native if unit == Unit::Keys => bail!(
            "{} has keys, and a native trace bytes of files: write --to oracleGeneral",
            source.detected().format.name
        ),
        To::Native => {
            let mut to = ToNative::default();
            let requests = each(&mut source, |source, batch| {
                let bound = bound.without(source.bytes());
                take_within(&mut to, &batch.requests, "the new trace", bound)?;
                Ok(true)
            })?;
            if requests == 0 {
                return Err(input.nothing(&source));
            }
            let dropped = to.dropped;
            let format = source.detected().format.name;
            let trace = to.finish(source.objects(), format, source.cautions());
            write_trace(&trace, output).with_context(cannot)?;
            (count(trace.records.len() as u64, "record", "records"), dropped)
        }
        To::OracleGeneral => {
            let mut to = ToOracleGeneral::new(unit, *page);
            let remedy = "allow more with --memory, or take larger pages with --page";
            let bound = Bound { remedy, ..bound };
            let requests = each(&mut source, |source, batch| {
                let bound = bound.without(source.bytes());
                take_within(&mut to, &batch.requests, "the new trace", bound)?;
                Ok(true)
            })?;
            if requests == 0 {
                return Err(input.nothing(&source));
            }
            write_new(output, "-o", Readers::Owner, |file| Ok(to.oracle.write(file)?))
                .with_context(cannot)?;
            (count(to.oracle.len() as u64, "access", "accesses"), to.dropped)
        }
    };
    tell(dropped);
    note(format_args!("{} has {made}", output.display()));
    Ok(0)
}

/// What the new form cannot say.
fn tell(dropped: Dropped) {
    let Dropped { flushes, discards, empty, cut, objects } = dropped;
    let counts = [
        (flushes, "left out, because the new form has none", "flush", "flushes"),
        (discards, "left out, because the new form has none", "discard", "discards"),
        (empty, "left out, because of no bytes", "request", "requests"),
        (cut, "cut off, because too large", "request", "requests"),
        (objects, "to objects that the new form cannot tell apart", "access", "accesses"),
    ];
    for (number, what, one, many) in counts.into_iter().filter(|(number, ..)| *number > 0) {
        crate::fail::say(format_args!("{what}: {}", count(number, one, many)));
    }
}
