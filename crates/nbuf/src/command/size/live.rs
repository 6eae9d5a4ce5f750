//! `nbuf size --pid` and `--cgroup`: programs that run already.

use anyhow::{Error, Result};
use nbuf::experiment::document;
use nbuf::experiment::live::{self, Spec};
use nbuf::experiment::record::Running;
use nbuf::experiment::target::Target;

use super::arguments::Args;
use crate::console::Console;
use crate::fail::UsageError;
use crate::output::print;
use crate::show::live::report;
use crate::show::terminal::Terminal;
use crate::{exit, permission};

/// Nothing is run of what runs already, and its report is no picture.
pub(super) fn check(args: &Args) -> Result<(), UsageError> {
    if args.running.running().is_none() {
        return Ok(());
    }
    let idle = [
        ("--trace", args.trace.is_some()),
        ("--compare", !args.compare.is_empty()),
        ("--no-verify", args.no_verify),
        ("--verify-at", !args.verify_at.is_empty()),
        ("--prepare", args.prepare.is_some()),
        ("--max-time", args.max_time.is_some()),
        ("--budget", args.budget.is_some()),
        ("--readahead", args.readahead.is_some()),
        ("--iops", args.iops.is_some()),
        ("--bps", args.bps.is_some()),
        ("--loop", args.loop_size.is_some()),
        ("--force", args.force),
        ("--output", args.output.is_some()),
        ("--trace-out", args.trace_out.is_some()),
        ("--svg", args.svg.is_some()),
        ("--html", args.html.is_some()),
    ];
    match idle.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => Err(UsageError(format!(
            "{option} is for commands, not for what runs already (--pid, --cgroup); leave it out"
        ))),
        None => Ok(()),
    }
}

/// Watches them, and shows what they need.
pub(super) fn run(args: &Args, running: Running) -> Result<u8> {
    let defaults = Spec::default();
    let hit = match args.target {
        None => defaults.hit,
        Some(Target::Hit(share)) => share,
        Some(_) => {
            let only = "programs that run already are sized by --target hit=0.99 only".to_owned();
            return Err(UsageError(only).into());
        }
    };
    let spec =
        Spec { running, hit, duration: args.running.duration.or(defaults.duration), ..defaults };
    let console = Console::plain();
    let mut session = console.session();
    let document = live::run(&spec, &mut session).map_err(|error| match error {
        live::Error::Record(error) => permission::explain(error),
        other => Error::from(other),
    })?;
    if args.json {
        print(document::write(&document)?.as_bytes())?;
    } else {
        print(report(&document, Terminal::of_output().width).as_bytes())?;
    }
    Ok(if document.lost > 0 { exit::NOT_HELD } else { 0 })
}
