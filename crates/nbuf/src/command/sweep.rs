//! `nbuf sweep`: one parameter of a command, varied.

use std::path::PathBuf;

use anyhow::Result;
use nbuf::experiment::document;
use nbuf::experiment::result::SweepDocument;
use nbuf::experiment::sweep::{self, Error, Parameter, Spec};

use crate::console::Console;
use crate::exit;
use crate::fail::UsageError;
use crate::output::{keep, must_be_possible, print};
use crate::show::sweep as shown;
use crate::show::terminal::Terminal;

/// How does a command's time depend on a parameter?
///
/// Runs the command with every value once, then in reverse order, and so on, once per sample. The value
/// replaces {NAME}. Input is /dev/null; output is discarded. Prints medians, the speed relative to the
/// first value, and the gain over the value before where it is significant.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nbuf sweep --param size=1..6 --prepare 'make N={size}' -- ./prog
  nbuf sweep --param jobs=1,2,4,8 --samples 5 -- make -C build -B -j{jobs}
  nbuf sweep -P size=1..6 --html sweep.html -- ./prog {size}

Exit status:
  0    all runs were measured
  2    usage error
  125  nbuf or a run failed; standard error says why
  126  the command cannot be executed
  127  the command was not found
  130  interrupted by Ctrl-C; prints what was measured so far")]
pub(crate) struct Args {
    /// The parameter and its values: n=1..6, n=0..64:16 or level=low,high
    #[arg(short = 'P', long, value_name = "NAME=VALUES")]
    param: Parameter,

    /// Run this by `sh` before each run, untimed; {NAME} is replaced
    #[arg(long, value_name = "SCRIPT")]
    prepare: Option<String>,

    /// Runs of each value
    #[arg(long, value_name = "N", default_value = "10",
        value_parser = clap::value_parser!(u16).range(1..))]
    samples: u16,

    /// Print one JSON document
    #[arg(long)]
    json: bool,

    /// Print the rows as comma-separated values
    #[arg(long, conflicts_with = "json")]
    csv: bool,

    /// Write the curve and the table as one HTML page to this file; it must not exist
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// The command to run, and its arguments; the first word that is no option begins it, or the first
    /// after `--`
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<String>,
}

impl Args {
    /// What the experiment is asked.
    fn spec(&self) -> Spec {
        Spec {
            parameter: self.param.clone(),
            prepare: self.prepare.clone(),
            samples: self.samples,
            command: self.command.clone(),
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<u8> {
    if let Some(path) = &args.html {
        must_be_possible(path, "--html")?;
    }
    let console = Console::plain();
    let mut session = console.session();
    let document = sweep::run(&args.spec(), &mut session).map_err(|error| match error {
        Error::NothingVaries(_) => UsageError(error.to_string()).into(),
        Error::Command(error) => error.into(),
        other => anyhow::Error::from(other),
    })?;
    tell(args, &document)?;
    Ok(session.cancellation.signal().map_or(0, |signal| exit::command(128 + signal)))
}

fn tell(args: &Args, sweep: &SweepDocument) -> Result<()> {
    let text = match (args.json, args.csv) {
        (true, _) => document::write(sweep)?,
        (_, true) => shown::csv(sweep),
        _ => shown::table(sweep, Terminal::of_output().width),
    };
    let page = |path: &PathBuf| keep(path, "--html", shown::page(sweep).as_bytes());
    let kept = args.html.as_ref().map_or(Ok(()), page);
    kept.and(print(text.as_bytes()))
}
