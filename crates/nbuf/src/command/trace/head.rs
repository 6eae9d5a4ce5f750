//! `nbuf trace head`: the first requests, as they are understood.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Result;
use nbuf::experiment::session::Interim;
use nbuf::experiment::trace::head::{self, Spec};
use nbuf::experiment::trace::{Op, Request, Unit};

use super::input::{Input, refused, tell};
use crate::console::Console;
use crate::output::{as_io, print};
use crate::show::terminal::Terminal;
use crate::show::text::clean;

/// A terminal with fewer columns has no room for a request on one line; there it has two.
const COLUMNS_MIN: usize = 80;

/// Print the first requests of traces.
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
    let is_first = AtomicBool::new(true);
    let is_narrow = Terminal::of_output().width < COLUMNS_MIN;
    let show = |interim: Interim<'_>| match interim {
        Interim::Requests { unit, requests, objects } => {
            let is_first = is_first.swap(false, Ordering::Relaxed);
            let header = if is_first { header(unit, is_narrow) } else { String::new() };
            print((header + &lines(requests, objects, is_narrow)).as_bytes()).map_err(as_io)
        }
        _ => Ok(()),
    };
    let console = Console::new(false, &show);
    let spec = Spec { inputs: input.inputs(), count: *count };
    tell(&head::run(&spec, &mut console.session()).map_err(refused)?.reading);
    Ok(0)
}

fn header(unit: Unit, is_narrow: bool) -> String {
    let (place, unit) = match unit {
        Unit::Bytes => ("offset", "bytes"),
        Unit::Keys => ("key", "bytes"),
    };
    if is_narrow {
        return format!(
            "{:>14} {:7} {:>17}\n{place:>14} {unit:>10} object\n",
            "seconds", "ask", "task"
        );
    }
    format!("{:>20} {:7} {place:>20} {unit:>12} {:>8} object\n", "seconds", "ask", "task")
}

fn lines(requests: &[Request], objects: &[String], is_narrow: bool) -> String {
    let mut text = String::new();
    for request in requests {
        let op = match request.op {
            Op::Read => "read",
            Op::Write => "write",
            Op::Discard => "discard",
            Op::Flush => "flush",
        };
        let sign = if request.time_ns < 0 { "-" } else { "" };
        let time_ns = request.time_ns.unsigned_abs();
        let (whole, decimals) = (time_ns / 1_000_000_000, time_ns % 1_000_000_000);
        let object = objects.get(request.object as usize).map_or("-", String::as_str);
        let seconds = format!("{sign}{whole}.{decimals:09}");
        let (offset, length) = (request.offset, request.length_bytes);
        if is_narrow {
            let (task, object) = (request.task, clean(object));
            let _ = writeln!(text, "{seconds:>14} {op:7} {task:>17}");
            let _ = writeln!(text, "{offset:>14} {length:>10} {object}");
            continue;
        }
        let _ = writeln!(
            text,
            "{seconds:>20} {op:7} {offset:>20} {length:>12} {:>8} {}",
            request.task,
            clean(object)
        );
    }
    text
}
