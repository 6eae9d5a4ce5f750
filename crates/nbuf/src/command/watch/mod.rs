//! `nbuf watch`: core watch.

mod arguments;
mod live;
mod server;

use std::io::{self, IsTerminal};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use nbuf::experiment::result::WatchDocument;
use nbuf::experiment::session::{Cancellation, Interim};
use nbuf::experiment::watch::{self, Recording};
use nbuf::experiment::{document, watch::Error};

pub(crate) use arguments::Arguments;
use live::Live;

use super::scrapes::{Text, serve};
use crate::console::Console;
use crate::fail::say;
use crate::output::{as_io, must_be_possible, print};
use crate::show::terminal::Terminal;
use crate::show::watch as shown;
use crate::show::watch::metrics::Metrics;
use crate::show::watch::screen::View;

/// How long a key of a replay may wait while a signal comes.
const KEYS: Duration = Duration::from_millis(100);

pub(crate) fn run(arguments: &Arguments) -> Result<u8> {
    if let Some(path) = &arguments.replay {
        let (intervals, is_cut) = watch::replay(path)?;
        if is_cut {
            say("the last line of the recording was cut off, and is left out");
        }
        let count = arguments.count().map_or(usize::MAX, bounded);
        return replay(arguments, &intervals[..count.min(intervals.len())]);
    }
    if let Some(path) = &arguments.server {
        return server::run(arguments, path);
    }
    let spec = arguments.spec();
    if let Some(path) = &arguments.record {
        must_be_possible(path, "--record")?;
    }
    let recording = Mutex::new(None);
    let live = Mutex::new(None);
    let metrics = Arc::new(Mutex::new(Metrics::default()));
    let take = |interim: Interim<'_>| {
        if let Some(path) = &arguments.record {
            let recording = &mut *recording.lock().unwrap_or_else(PoisonError::into_inner);
            record(path, recording, interim).map_err(io::Error::other)?;
        }
        let live = &mut *live.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Interim::Watching, Some(live)) = (&interim, &mut *live) {
            return obey(live, Duration::ZERO);
        }
        let Interim::Watch(interval) = interim else { return Ok(()) };
        metrics.lock().unwrap_or_else(PoisonError::into_inner).take(interval);
        match live {
            Some(live) => live.take(interval.clone()),
            None if arguments.metrics.is_some() && !arguments.json => Ok(()),
            None => show(interval, arguments.json).map_err(as_io),
        }
    };
    let console = Console::new(false, &take);
    let mut session = console.session();
    // Before the terminal is taken: a signal must not find it without a listener.
    session.cancellation.listen().context("cannot listen for signals")?;
    if let Some(address) = arguments.metrics {
        serve(address, Arc::clone(&metrics) as Arc<dyn Text>)?;
    }
    if displays(arguments) {
        let mut begun = begin(false)?;
        begun.draw().context("cannot draw on the terminal; add --once or --json")?;
        *live.lock().unwrap_or_else(PoisonError::into_inner) = Some(begun);
    }
    let ended = watch::run(&spec, &mut session);
    // The terminal first, then what is to be said.
    drop(live.lock().unwrap_or_else(PoisonError::into_inner).take());
    match ended {
        Ok(_) => Ok(0),
        Err(Error::Observer(error)) if error.kind() == io::ErrorKind::Interrupted => Ok(0),
        // By its type a closed pipe is known.
        Err(Error::Observer(error)) => Err(error.into()),
        Err(other) => Err(other.into()),
    }
}

impl Text for Mutex<Metrics> {
    fn text(&self) -> String {
        self.lock().unwrap_or_else(PoisonError::into_inner).text()
    }
}

fn replay(arguments: &Arguments, intervals: &[WatchDocument]) -> Result<u8> {
    if !displays(arguments) {
        for interval in intervals {
            show(interval, arguments.json)?;
        }
        return Ok(0);
    }
    let cancellation = Cancellation::default();
    cancellation.listen().context("cannot listen for signals")?;
    let mut live = begin(true)?;
    for interval in intervals {
        live.take(interval.clone())?;
    }
    while cancellation.poll().is_none() {
        if let Err(error) = obey(&mut live, KEYS) {
            return if error.kind() == io::ErrorKind::Interrupted {
                Ok(0)
            } else {
                Err(error.into())
            };
        }
    }
    Ok(0)
}

/// A quit is an interruption.
fn obey<V: View>(live: &mut Live<V>, within: Duration) -> io::Result<()> {
    if live.obey(within)? { Ok(()) } else { Err(io::ErrorKind::Interrupted.into()) }
}

fn begin<V: View>(is_replay: bool) -> Result<Live<V>> {
    Live::begin(Terminal::of_output().colour, is_replay)
        .context("cannot display on this terminal; add --once or --json")
}

/// Whether there is a terminal to display on, and nothing else was asked for.
fn displays(arguments: &Arguments) -> bool {
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    let is_terminal = io::stdout().is_terminal() && io::stdin().is_terminal();
    is_terminal && !is_dumb && !arguments.json && !arguments.once
}

/// Begins the recording once the machine is watched, and adds each interval.
fn record(path: &Path, recording: &mut Option<Recording>, interim: Interim<'_>) -> Result<()> {
    let recording = match recording {
        Some(recording) => recording,
        None => recording.insert(Recording::begin(path, "--record")?),
    };
    let Interim::Watch(interval) = interim else { return Ok(()) };
    recording.add(interval).with_context(|| {
        format!("cannot write {}; make room, or give another place", path.display())
    })
}

/// Prints an interval: a line of JSON, or a paragraph.
fn show(interval: &WatchDocument, json: bool) -> Result<()> {
    if json {
        return print(document::write_line(interval)?.as_bytes());
    }
    print(shown::text(interval).as_bytes())
}

fn bounded(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
