//! `nbuf trace head`: the first requests, as they are understood.

use std::fmt::Write as _;

use anyhow::Result;
use nbuf::workload::request::{Ask, Unit};

use super::input::{Input, each};
use crate::output::print;
use crate::show::text::clean;

/// Show the first requests of traces as nbuf understands them.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  nbuf trace head OLTP.lis.zst
  nbuf trace head -n 3 --from csv:key=lbn,size=size,op=op disc.csv.gz")]
pub(super) struct Head {
    #[command(flatten)]
    input: Input,
    /// How many
    #[arg(short = 'n', value_name = "N", default_value_t = 10)]
    count: usize,
}

pub(super) fn head(Head { input, count }: &Head) -> Result<u8> {
    let (mut source, _) = input.open()?;
    let (place, unit) = match source.detected().unit {
        Unit::Bytes => ("offset", "bytes"),
        Unit::Keys => ("key", "bytes"),
    };
    let mut text =
        format!("{:>20} {:7} {place:>20} {unit:>12} {:>8} object\n", "seconds", "ask", "task");
    let mut left = *count;
    let read = each(&mut source, |source, batch| {
        for request in batch.requests.iter().take(left) {
            let ask = match request.ask {
                Ask::Read => "read",
                Ask::Write => "write",
                Ask::Discard => "discard",
                Ask::Flush => "flush",
            };
            let sign = if request.time_ns < 0 { "-" } else { "" };
            let time_ns = request.time_ns.unsigned_abs();
            let (whole, decimals) = (time_ns / 1_000_000_000, time_ns % 1_000_000_000);
            let object = source.objects().get(request.object as usize).map_or("-", String::as_str);
            let seconds = format!("{sign}{whole}.{decimals:09}");
            let (offset, length) = (request.offset, request.length_bytes);
            writeln!(
                text,
                "{seconds:>20} {ask:7} {offset:>20} {length:>12} {:>8} {}",
                request.task,
                clean(object)
            )?;
        }
        left = left.saturating_sub(batch.requests.len());
        // A batch at a time: as many as are asked for need not fit into memory.
        print(std::mem::take(&mut text).as_bytes())?;
        Ok(left > 0)
    })?;
    if read == 0 {
        return Err(input.nothing(&source));
    }
    Ok(0)
}
