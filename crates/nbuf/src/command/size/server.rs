//! `nbuf size --server`: a cache of `nbuf serve` that runs.

use std::path::PathBuf;

use anyhow::{Error, Result};
use nbuf::experiment::document;
use nbuf::experiment::result::ServeAnswer;
use nbuf::experiment::serve::{self, NeedSpec};

use super::arguments::Args;
use crate::console::Console;
use crate::exit;
use crate::fail::UsageError;
use crate::output::print;
use crate::show::serve::need::report;
use crate::show::terminal::Terminal;

/// A server that is asked.
#[derive(Debug, clap::Args)]
pub(super) struct Served {
    /// Ask a running `nbuf serve` how much cache it needs: the socket it printed. Its small caches have seen all
    /// reads since the start; --for takes the rates of a window.
    #[arg(long, value_name = "SOCKET", group = "running")]
    pub(super) server: Option<PathBuf>,
}

/// Asks, and shows what is needed. Status 1 says that no size that is known meets the target, or that none is known.
pub(super) fn run(args: &Args, server: PathBuf) -> Result<u8> {
    let others = [
        (args.running.is_given(), "--pid and its like"),
        (args.following.follow, "--follow"),
        (args.overhead.is_some(), "--overhead"),
        (args.html.is_some(), "--html"),
        (args.yes, "--yes"),
        (args.memory.is_some(), "--memory"),
    ];
    if let Some((_, other)) = others.iter().find(|(is_given, _)| *is_given) {
        let only = format!("--server is asked for its own figures: leave out {other}");
        return Err(UsageError(only).into());
    }
    let spec = NeedSpec { server, duration: args.running.duration, target: args.target };
    let console = Console::plain();
    let mut session = console.session();
    let needs = serve::need(&spec, &mut session).map_err(|error| {
        if error.is_usage() { UsageError(error.to_string()).into() } else { Error::from(error) }
    })?;
    if args.json {
        print(document::write(&needs)?.as_bytes())?;
    } else {
        print(report(&needs, Terminal::of_output().width).as_bytes())?;
    }
    let is_beyond = needs.exports.iter().any(|need| match need.answer {
        ServeAnswer::Beyond | ServeAnswer::NotYet => true,
        ServeAnswer::Unknown => args.target.is_some(),
        _ => false,
    });
    Ok(match session.cancellation.signal() {
        Some(signal) => exit::command(128 + signal),
        None if is_beyond => exit::CHECK_FAILED,
        None => 0,
    })
}
