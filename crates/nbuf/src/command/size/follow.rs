//! `nbuf size --follow`: programs that run already, without end.

use std::io;
use std::io::IsTerminal;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use nbuf::experiment::document;
use nbuf::experiment::live::{Error, Follow, Spec, follow};
use nbuf::experiment::session::Interim;

use super::arguments::Args;
use super::live::explain;
use crate::command::scrapes::{Text, serve};
use crate::console::Console;
use crate::output::{as_io, print};
use crate::show::live::follow::{Metrics, line};

/// Watches until a signal comes or no process reads on.
pub(super) fn run(args: &Args, each: Spec) -> Result<u8> {
    let each = Spec { duration: args.every, ..each };
    let spec = Follow { wanted: args.running.wanted(), each };
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
    if let Some(address) = args.metrics {
        serve(address, Arc::clone(&metrics) as Arc<dyn Text>)?;
    }
    match follow(&spec, &mut session) {
        Ok(()) => Ok(0),
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
