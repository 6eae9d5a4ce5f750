//! `nbuf size --follow`: programs that run already, without end.

use std::io;
use std::io::IsTerminal;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use nbuf::experiment::document;
use nbuf::experiment::live::follow::{self, Spec};
use nbuf::experiment::live::{self, Error};
use nbuf::experiment::session::Interim;

use super::arguments::Args;
use super::live::explain;
use super::values::window_time;
use crate::command::scrapes::{Text, serve};
use crate::console::Console;
use crate::output::{as_io, print};
use crate::show::live::follow::{Metrics, line};

/// How what runs already is followed.
#[derive(Debug, clap::Args)]
pub(super) struct Following {
    /// Watch what runs already without end, and renew the answer after each window; older windows count less.
    /// Prints a line of JSON a window, or a sentence on a terminal
    #[arg(long, requires = "running", conflicts_with_all = ["duration", "html", "compare"])]
    pub(super) follow: bool,

    /// With --follow: the length of a window, from 1s to 1h (30s, 5m) [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = window_time, requires = "follow")]
    every: Option<Duration>,

    /// With --follow: serve the figures to Prometheus, at /metrics; a port alone means 127.0.0.1
    #[arg(long, value_name = "ADDRESS", value_parser = crate::command::scrapes::address,
        requires = "follow")]
    metrics: Option<SocketAddr>,
}

/// Watches until a signal comes or no process reads on.
pub(super) fn run(args: &Args, each: live::Spec) -> Result<u8> {
    let each = live::Spec { duration: args.following.every, ..each };
    let spec = Spec { wanted: args.running.wanted(), each };
    let for_people = io::stdout().is_terminal() && !args.json;
    let metrics = Arc::new(Mutex::new(Metrics::default()));
    let take = |interim: Interim<'_>| {
        let Interim::LiveFollow(window) = interim else { return Ok(()) };
        metrics.lock().unwrap_or_else(PoisonError::into_inner).take(window);
        let text = if for_people { line(window) } else { document::write_line(window)? };
        print(text.as_bytes()).map_err(as_io)
    };
    let console = Console::new(false, &take);
    let mut session = console.session();
    session.cancellation.listen().context("cannot listen for signals")?;
    if let Some(address) = args.following.metrics {
        serve(address, Arc::clone(&metrics) as Arc<dyn Text>)?;
    }
    match follow::run(&spec, &mut session) {
        Ok(_) => Ok(0),
        // By its type a closed pipe is known.
        Err(Error::Observer(error)) => Err(error.into()),
        Err(other) => Err(explain(other)),
    }
}

impl Text for Mutex<Metrics> {
    fn text(&self) -> String {
        self.lock().unwrap_or_else(PoisonError::into_inner).text()
    }
}
