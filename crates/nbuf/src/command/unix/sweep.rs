//! `nbuf unix sweep`: the nbuf experiment.

use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use anyhow::{Result, bail};
use nbuf::experiment::document;
use nbuf::experiment::session::Interim;
use nbuf::units::even;
use nbuf_pdp11::unix::result::{ScanDocument, SweepDocument};
use nbuf_pdp11::unix::scan;
use nbuf_pdp11::unix::stages::StageError;
use nbuf_pdp11::unix::sweep::{self, BUFFERS_MAX, Error, Spec};

use super::{Costs, Model};
use crate::console::Console;
use crate::exit;
use crate::fail::say;
use crate::output::{keep, must_be_possible, print};
use crate::show::terminal::Terminal;
use crate::show::unix as shown;

/// Time the assembly of the Unix kernel with each number of buffers.
///
/// The guest assembles its kernels, installs each and assembles with it, on copies in memory; the
/// images are only read. The first sample starts with clock and discs at zero, the others at seeded
/// positions. Each row shows the median sample.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  nbuf unix sweep --images unix-v1/images
  nbuf unix sweep --images unix-v1/images --timing simh --nbuf 0..8
  nbuf unix sweep --images unix-v1/images --nbuf 1,2,6
  nbuf unix sweep --images unix-v1/images --samples 1 --trace v1.parquet
  nbuf unix sweep --images unix-v1/images --scan rk-time=10..600 --nbuf 1")]
pub(super) struct Sweep {
    /// Directory with rf0.dsk and rk0.dsk
    #[arg(long, value_name = "DIR")]
    images: PathBuf,
    /// Numbers of buffers, 0 to 12: 6, 1,2,6 or 1..6; with 0, 7 and more the guest does not run
    #[arg(long, value_name = "LIST", default_value = "1..6", value_parser = numbers)]
    nbuf: Numbers,
    /// Assemblies per number of buffers
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1000))]
    samples: u64,
    #[command(flatten)]
    costs: Costs,
    /// Instead: find the smallest working number of buffers by RK controller time, with simh
    #[arg(long, value_name = "rk-time=A..B", value_parser = units, conflicts_with_all = ["html", "csv", "trace", "timing"])]
    scan: Option<Units>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Write the rows to this file; it must not exist
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write an HTML page with the curve to this file; it must not exist
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the requests for buffers as a native trace to this file; it must not exist
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
}

/// Times to scan.
#[derive(Clone, Debug)]
struct Units(Vec<u64>);

/// Numbers of buffers, ascending.
#[derive(Clone, Debug)]
struct Numbers(Vec<u16>);

fn numbers(text: &str) -> Result<Numbers, String> {
    let wrong = || format!("write 6, 1,2,6 or 1..6, with numbers up to {BUFFERS_MAX}");
    let mut numbers = Vec::new();
    for part in text.split(',') {
        let (from, to) = part.split_once("..").unwrap_or((part, part));
        let (from, to): (u16, u16) =
            (from.parse().map_err(|_| wrong())?, to.parse().map_err(|_| wrong())?);
        if from > to || to > BUFFERS_MAX {
            return Err(wrong());
        }
        numbers.extend(from..=to);
    }
    numbers.sort_unstable();
    numbers.dedup();
    Ok(Numbers(numbers))
}

fn units(text: &str) -> Result<Units, String> {
    let wrong = || "write rk-time=10..600, or rk-time=10..600:10".to_owned();
    let range = text.strip_prefix("rk-time=").ok_or_else(wrong)?;
    let (from, rest) = range.split_once("..").unwrap_or((range, range));
    let (to, step) = rest.split_once(':').map_or((rest, None), |(to, step)| (to, Some(step)));
    let number = |text: &str| text.parse::<u64>().ok().filter(|&n| (1..=1_000_000).contains(&n));
    let (from, to) = (number(from).ok_or_else(wrong)?, number(to).ok_or_else(wrong)?);
    if to < from {
        return Err(wrong());
    }
    let mut units: Vec<u64> = match step {
        None => even(from, to, 16).collect(),
        Some(step) => {
            let step = usize::try_from(number(step).ok_or_else(wrong)?).map_err(|_| wrong())?;
            (from..=to).step_by(step).take(1000).collect()
        }
    };
    units.dedup();
    Ok(Units(units))
}

pub(super) fn run(arguments: &Sweep) -> Result<u8> {
    let outputs =
        [(&arguments.csv, "--csv"), (&arguments.html, "--html"), (&arguments.trace, "--trace")];
    for (path, option) in outputs {
        if let Some(path) = path {
            must_be_possible(path, option)?;
        }
    }
    if arguments.scan.is_some() { scanned(arguments) } else { swept(arguments) }
}

fn swept(arguments: &Sweep) -> Result<u8> {
    let spec = Spec {
        images: arguments.images.clone(),
        numbers: arguments.nbuf.0.clone(),
        samples: arguments.samples,
        model: arguments.costs.model(Model::Hardware)?,
    };
    let trace = Mutex::new(None);
    let take = |interim: Interim<'_>| -> io::Result<()> {
        if let (Interim::Trace(seen), Some(_)) = (interim, &arguments.trace) {
            let bytes = sweep::trace_file(seen).map_err(io::Error::other)?;
            *trace.lock().unwrap_or_else(PoisonError::into_inner) = Some(bytes);
        }
        Ok(())
    };
    let console = Console::new(false, &take);
    let mut session = console.session();
    let document = sweep::run(&spec, &mut session).map_err(unwrapped)?;
    tell(arguments, &document, trace.lock().unwrap_or_else(PoisonError::into_inner).take())?;
    let signal = session.cancellation.signal();
    // The guest refused every number.
    if document.rows.is_empty() && signal.is_none() {
        return Ok(exit::INTERNAL_ERROR);
    }
    Ok(signal.map_or(0, |signal| exit::command(128 + signal)))
}

fn scanned(arguments: &Sweep) -> Result<u8> {
    let spec = scan::Spec {
        images: arguments.images.clone(),
        buffers: arguments.nbuf.0[0],
        host_mips: arguments.costs.host_mips(),
        rk_units: arguments.scan.clone().map(|units| units.0).unwrap_or_default(),
    };
    let console = Console::plain();
    let mut session = console.session();
    let ScanDocument { nbuf, rows, .. } = scan::run(&spec, &mut session).map_err(unwrapped)?;
    let text = if arguments.json {
        serde_json::to_string_pretty(&rows)? + "\n"
    } else {
        shown::scan(nbuf, &rows, Terminal::of_output().width)
    };
    print(text.as_bytes())?;
    Ok(session.cancellation.signal().map_or(0, |signal| exit::command(128 + signal)))
}

/// A guest that did something else: its registers and last instructions, then one line.
fn unwrapped(error: Error) -> anyhow::Error {
    let Error::Stage(error) = error else { return error.into() };
    if let StageError::Guest { trouble, .. } = &error {
        say(format_args!("the machine as it stood:\n{}", trouble.machine));
    }
    anyhow::Error::new(error)
        .context("the images are damaged, or hold a Unix that nbuf does not support")
}

fn tell(arguments: &Sweep, document: &SweepDocument, trace: Option<Vec<u8>>) -> Result<()> {
    if let Some(path) = &arguments.csv {
        keep(path, "--csv", shown::csv(document).as_bytes())?;
    }
    if let Some(path) = &arguments.html {
        keep(path, "--html", shown::page(document).as_bytes())?;
    }
    if let Some(path) = &arguments.trace {
        let Some(trace) = trace else {
            bail!(
                "--trace recorded no request, because nbuf does not support this kernel: leave it out"
            );
        };
        keep(path, "--trace", &trace)?;
    }
    if arguments.json {
        return print(document::write(document)?.as_bytes());
    }
    print(shown::table(document, Terminal::of_output().width).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_one_a_list_or_a_range() {
        let read = |text| numbers(text).map(|numbers| numbers.0);
        assert_eq!(read("6"), Ok(vec![6]));
        assert_eq!(read("6,1,2,1"), Ok(vec![1, 2, 6]));
        assert_eq!(read("1..3,10..12"), Ok(vec![1, 2, 3, 10, 11, 12]));
        for wrong in ["", "1,", "6..1", "13", "1..13", "x", "-1"] {
            assert_eq!(
                read(wrong),
                Err("write 6, 1,2,6 or 1..6, with numbers up to 12".to_owned()),
                "{wrong}"
            );
        }
    }
}
