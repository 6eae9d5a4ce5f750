//! `nbuf size --pid`, `--cgroup`, `--container`, `--unit` and `--pod`: programs that run already.

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
