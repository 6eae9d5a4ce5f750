//! `nbuf watch --server`: a server that runs, seen at its control socket.

use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use nbuf::experiment::document;
use nbuf::experiment::serve::{self, Error, WatchSpec};
use nbuf::experiment::session::Interim;

use super::{Arguments, begin, displays, obey};
use crate::console::Console;
use crate::output::{as_io, print};
use crate::show::serve::live::{Served, text};

pub(super) fn run(arguments: &Arguments, path: &Path) -> Result<u8> {
    let (interval_ms, count) = (arguments.interval, arguments.count());
    let spec = WatchSpec { server: path.to_owned(), interval_ms, count };
    let live = Mutex::new(None);
    let take = |interim: Interim<'_>| {
        let live = &mut *live.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Interim::Watching, Some(live)) = (&interim, &mut *live) {
            return obey(live, Duration::ZERO);
        }
        let Interim::Served { unix_seconds, total, interval } = interim else { return Ok(()) };
        let served = || Served::new(unix_seconds, total, interval);
        match live {
            Some(live) => live.take(served()),
            None if arguments.json => {
                let record = document::write_line(total).map_err(io::Error::other)?;
                print(record.as_bytes()).map_err(as_io)
            }
            None => print(text(&served()).as_bytes()).map_err(as_io),
        }
    };
    let console = Console::new(false, &take);
    let mut session = console.session();
    session.cancellation.listen().context("cannot listen for signals")?;
    // A path that is wrong is said on the terminal as it was.
    serve::stats(path)?;
    if displays(arguments) {
        let mut begun = begin(false)?;
        begun.draw().context("cannot draw on the terminal; add --once or --json")?;
        *live.lock().unwrap_or_else(PoisonError::into_inner) = Some(begun);
    }
    let ended = serve::watch(&spec, &mut session);
    drop(live.lock().unwrap_or_else(PoisonError::into_inner).take());
    match ended {
        Ok(_) => Ok(0),
        Err(Error::Observer(error)) if error.kind() == io::ErrorKind::Interrupted => Ok(0),
        Err(Error::Observer(error)) => Err(error.into()),
        Err(other) => Err(other.into()),
    }
}
