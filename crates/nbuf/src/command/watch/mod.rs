//! `nbuf watch`: core watch.

mod arguments;

use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};
use nbuf::experiment::result::WatchDocument;
use nbuf::experiment::session::Interim;
use nbuf::experiment::watch::{self, Recording};
use nbuf::experiment::{document, watch::Error};

pub(crate) use arguments::Arguments;

use crate::console::Console;
use crate::fail::say;
use crate::output::{as_io, must_be_possible, print};
use crate::show::watch as shown;

pub(crate) fn run(arguments: &Arguments) -> Result<u8> {
    if let Some(path) = &arguments.replay {
        let (intervals, is_cut) = watch::replay(path)?;
        if is_cut {
            say("the last line of the recording was cut off, and is left out");
        }
        let shown = intervals.iter().take(arguments.count().map_or(usize::MAX, bounded));
        for interval in shown {
            show(interval, arguments.json)?;
        }
        return Ok(0);
    }
    let spec = arguments.spec();
    if let Some(path) = &arguments.record {
        must_be_possible(path, "--record")?;
    }
    let recording = Mutex::new(None);
    let take = |interim: Interim<'_>| {
        if let Some(path) = &arguments.record {
            let recording = &mut *recording.lock().unwrap_or_else(PoisonError::into_inner);
            record(path, recording, interim).map_err(io::Error::other)?;
        }
        let Interim::Watch(interval) = interim else { return Ok(()) };
        show(interval, arguments.json).map_err(as_io)
    };
    let console = Console::new(false, &take);
    let mut session = console.session();
    watch::run(&spec, &mut session).map_err(|error| match error {
        // By its type a closed pipe is known.
        Error::Observer(error) => error.into(),
        other => anyhow::Error::from(other),
    })?;
    Ok(0)
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
