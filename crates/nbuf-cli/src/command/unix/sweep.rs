//! `nbuf unix sweep`: the nbuf experiment.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use nbuf::sys::publish::Readers;
use nbuf::sys::signal::Signals;
use nbuf::units::even;
use nbuf::workload::format::native;
use nbuf_pdp11::unix::stages::StageError;
use nbuf_pdp11::unix::sweep::{self as experiment, BUFFERS_MAX, Plan};

use super::{Costs, Model, images};
use crate::fail::say;
use crate::output::{must_be_possible, print, write_new};
use crate::show::progress;
use crate::show::terminal::Terminal;
use crate::show::unix as shown;

/// Assemble the kernel of Unix with each number of buffers, and time it.
///
/// The guest assembles its kernels, installs each and assembles with it, on copies in memory: the
/// images are only read. The first sample begins with clock and discs at their beginning, the others
/// at seeded places. The row is that of the median sample.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  nbuf unix sweep --images unix-v1/images
  nbuf unix sweep --images unix-v1/images --timing simh --nbuf 0..8
  nbuf unix sweep --images unix-v1/images --nbuf 1,2,6
  nbuf unix sweep --images unix-v1/images --samples 1 --trace v1.parquet
  nbuf unix sweep --images unix-v1/images --scan rk-time=10..600 --nbuf 1")]
pub(super) struct Sweep {
    /// The folder with rf0.dsk and rk0.dsk
    #[arg(long, value_name = "DIR")]
    images: PathBuf,
    /// Numbers of buffers, 0 to 12, as 6, 1,2,6 or 1..6; with 0, 7 and more the guest does not run
    #[arg(long, value_name = "LIST", default_value = "1..6", value_parser = numbers)]
    nbuf: Numbers,
    /// Assemblies for each
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1000))]
    samples: u64,
    #[command(flatten)]
    costs: Costs,
    /// Instead: the least number of buffers at so many units of the pack's controller under simh
    #[arg(long, value_name = "rk-time=A..B", value_parser = scan, conflicts_with_all = ["html", "csv", "trace", "timing"])]
    scan: Option<Units>,
    /// One JSON document on standard output
    #[arg(long)]
    json: bool,
    /// Also write the rows, refused when the file exists
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Also write a page with the curve, refused when the file exists
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Also write the requests for buffers as a native trace, refused when the file exists
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

fn scan(text: &str) -> Result<Units, String> {
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
    if arguments.scan.is_none() {
        // Refused before anything is read.
        arguments.costs.timing(Model::Hardware)?;
    }
    let images = images::read(&arguments.images)?;
    let signals = Signals::block().context("cannot listen for Ctrl-C")?;
    let numbers = arguments.nbuf.0.clone();
    let scanned = arguments.scan.as_ref().map(|scan| scan.0.len());
    let steps = scanned.unwrap_or(numbers.len() * usize::try_from(arguments.samples)?) + 1;
    let (bar, mut done, mut ended) = (progress::bar("", steps), 0, None);
    let mut step = |what: &str| {
        bar.say(what);
        bar.set(done, steps);
        done += 1;
        ended = ended.or_else(|| signals.next().map(|signal| 128 + signal.number));
        ended.is_none()
    };
    if let Some(scan) = &arguments.scan {
        let (nbuf, mips) = (numbers[0], arguments.costs.host_mips());
        let rows = experiment::scan(&images, nbuf, mips, &scan.0, &mut step);
        bar.clear();
        let rows = rows.map_err(told)?;
        let text = if arguments.json {
            serde_json::to_string_pretty(&rows)? + "\n"
        } else {
            shown::scan(nbuf, &rows)
        };
        print(text.as_bytes())?;
    } else {
        let timing = arguments.costs.timing(Model::Hardware)?;
        let plan = Plan { numbers, samples: arguments.samples, timing };
        let outcome = experiment::run(&images, &plan, &mut step);
        bar.clear();
        tell(arguments, &plan, &outcome.map_err(told)?)?;
    }
    Ok(ended.and_then(|status| u8::try_from(status).ok()).unwrap_or(0))
}

/// A guest that did something else: its registers and last instructions, then one line.
fn told(error: StageError) -> anyhow::Error {
    if let StageError::Guest { trouble, .. } = &error {
        say(format_args!("the machine as it stood:\n{}", trouble.machine));
    }
    anyhow::Error::new(error).context("the images hold another Unix than is known, or are damaged")
}

fn tell(arguments: &Sweep, plan: &Plan, outcome: &experiment::Outcome) -> Result<()> {
    let document = &outcome.document;
    if let Some(path) = &arguments.csv {
        write(path, "--csv", shown::csv(document).as_bytes())?;
    }
    if let Some(path) = &arguments.html {
        write(path, "--html", shown::page(document).as_bytes())?;
    }
    if let Some(path) = &arguments.trace {
        if outcome.asked.is_empty() {
            bail!(
                "--trace: no request was seen, since the kernel is not the one that is known: leave it out"
            );
        }
        let trace = experiment::trace(&outcome.asked, &plan.timing);
        write_new(path, "--trace", Readers::All, |file| Ok(native::write(&trace, file)?))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    if arguments.json {
        return print((serde_json::to_string_pretty(document)? + "\n").as_bytes());
    }
    print(shown::table(document, Terminal::of_output().width).as_bytes())
}

fn write(path: &Path, option: &str, bytes: &[u8]) -> Result<()> {
    write_new(path, option, Readers::All, |mut file| Ok(file.write_all(bytes)?))
        .with_context(|| format!("cannot write {}", path.display()))
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
