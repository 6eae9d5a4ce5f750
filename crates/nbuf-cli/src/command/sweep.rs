//! `nbuf sweep`: one parameter of a command, varied.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::OwnedFd;

use anyhow::{Context, Result, bail};
use nbuf::experiment::result::SweepDocument;
use nbuf::experiment::sweep::{Parameter, rows};
use nbuf::sys::signal::Signals;
use nbuf::units::Nanos;
use nbuf::workload::command::{Command, Ended, Job, Nobody, discarding, run as run_command};

use crate::fail::Senseless;
use crate::output::print;
use crate::show::progress;
use crate::show::sweep as shown;
use crate::show::terminal::Terminal;
use crate::{caller, exit};

/// How long does a command take with each value of a parameter, and what does each step gain?
///
/// Runs the command with every value once, then again backwards, and so on: as many times as there
/// are samples. The value takes the place of {NAME}. Its input is /dev/null and its output is
/// discarded. Shown are medians, how many times as fast each is as the first, and how much faster than the
/// one before, where that is more than chance.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nbuf sweep --param size=1..6 --prepare 'make N={size}' -- ./prog
  nbuf sweep --param jobs=1,2,4,8 --samples 5 -- make -C build -B -j{jobs}

Exit status:
  0    all was measured
  2    the command line makes no sense
  125  a run failed, or nbuf itself, and it says why on standard error
  126  the command cannot be executed
  127  the command was not found
  130  Ctrl-C ended it; what was measured by then is shown")]
pub(crate) struct Args {
    /// What is varied: n=1..6, n=0..64:16 or level=low,high
    #[arg(short = 'P', long, value_name = "NAME=VALUES")]
    param: Parameter,

    /// Run this by `sh` before each run, untimed, with the value in it
    #[arg(long, value_name = "SCRIPT")]
    prepare: Option<String>,

    /// Runs of each value
    #[arg(long, value_name = "N", default_value = "10",
        value_parser = clap::value_parser!(u16).range(1..))]
    samples: u16,

    /// One JSON document on standard output
    #[arg(long)]
    json: bool,

    /// The rows as comma-separated values on standard output
    #[arg(long, conflicts_with = "json")]
    csv: bool,

    /// The command to run, and its arguments
    #[arg(required = true, last = true)]
    command: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<u8> {
    let parts = args.command.iter().chain(&args.prepare);
    if !parts.into_iter().any(|part| args.param.is_in(part)) {
        let name = &args.param.name;
        let what = format!("nothing varies: write {{{name}}} where the value is to stand");
        return Err(Senseless(what).into());
    }
    let signals = Signals::block().context("cannot listen for Ctrl-C")?;
    let mut seconds = vec![Vec::new(); args.param.values.len()];
    let total = args.param.values.len() * usize::from(args.samples);
    let bar = progress::bar("runs", total);
    let mut interrupted = None;
    for (done, at) in args.param.turns(args.samples.into()).enumerate() {
        bar.set(done, total);
        let value = &args.param.values[at];
        match sample(args, value, &signals).inspect_err(|_| bar.clear())? {
            Sample::Took(time) => seconds[at].push(time),
            Sample::Interrupted(signal) => {
                interrupted = Some(signal);
                break;
            }
        }
    }
    bar.clear();
    let document = SweepDocument {
        schema: SweepDocument::SCHEMA.to_owned(),
        command: args.command.clone(),
        prepare: args.prepare.clone(),
        parameter: args.param.name.clone(),
        rows: rows(&args.param, &seconds),
        is_complete: interrupted.is_none(),
    };
    tell(args, &document)?;
    Ok(interrupted.map_or(0, |signal| u8::try_from(128 + signal).unwrap_or(exit::OURS)))
}

fn tell(args: &Args, document: &SweepDocument) -> Result<()> {
    let text = match (args.json, args.csv) {
        (true, _) => serde_json::to_string_pretty(document)? + "\n",
        (_, true) => shown::csv(document),
        _ => shown::table(document, Terminal::of_output().width),
    };
    print(text.as_bytes())
}

/// One run.
enum Sample {
    Took(f64),
    Interrupted(i32),
}

fn sample(args: &Args, value: &str, signals: &Signals) -> Result<Sample> {
    let put = |text: &String| OsString::from(args.param.put(value, text));
    if let Some(script) = &args.prepare {
        let ended = once(vec!["sh".into(), "-c".into(), put(script)], signals)?;
        if let Some(signal) = over(&ended, "--prepare", args, value, signals)? {
            return Ok(Sample::Interrupted(signal));
        }
    }
    let ended = once(args.command.iter().map(put).collect(), signals)?;
    if let Some(signal) = over(&ended, "the command", args, value, signals)? {
        return Ok(Sample::Interrupted(signal));
    }
    Ok(Sample::Took(Nanos(ended.elapsed_ns).seconds()))
}

/// The signal that ends it all, if one came; an error if the run failed by itself.
fn over(
    ended: &Ended,
    what: &str,
    args: &Args,
    value: &str,
    signals: &Signals,
) -> Result<Option<i32>> {
    if let Some(signal) = ended.interrupted.or_else(|| signals.next().map(|next| next.number)) {
        return Ok(Some(signal));
    }
    if ended.exit_status != 0 {
        let (name, status) = (&args.param.name, ended.exit_status);
        bail!("{what} ended with status {status} at {name}={value}; run it by hand first");
    }
    Ok(None)
}

fn once(arguments: Vec<OsString>, signals: &Signals) -> Result<Ended> {
    let input: OwnedFd = File::open("/dev/null")?.into();
    let output = discarding(std::io::stdout())?;
    let standard = [Some(input), Some(output), None];
    let command = Command { arguments, account: caller::account() };
    Ok(run_command(&command, Job { standard, ..Job::default() }, &mut Nobody, signals)?)
}
