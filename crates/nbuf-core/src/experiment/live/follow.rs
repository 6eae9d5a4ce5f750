//! Programs that run already, followed without end: each window renews the answer, and older windows count less.
//!
//! All programs share a window. A program is looked for by its name before it is attached to, and again when it ends,
//! so that restarts and new groups of the same name are followed. One LRU stack goes on over all windows. Accesses
//! between two windows are not seen: attaching and drawing the curves take a fraction of a second for each program.
//!
//! ```no_run
//! use nbuf::experiment::live::Wanted;
//! use nbuf::experiment::live::follow::{self, Spec};
//! use nbuf::experiment::session::Session;
//!
//! let spec = Spec { wanted: vec![Wanted::Processes(vec![1234])], ..Spec::default() };
//! let followed = follow::run(&spec, &mut Session::new(&()))?;
//! println!("{} windows", followed.windows);
//! # Ok::<(), nbuf::experiment::live::Error>(())
//! ```

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::super::result::{LiveFollow, LiveFollowed};
use super::super::session::{Interim, Session};
use super::Error;
use super::followed::{Followed, Round};
use super::several::{LOGS_BYTES, RING_BYTES_MAX, RINGS_BYTES, TARGETS_MAX, side_by_side};
use super::wanted::Wanted;
use crate::clock::unix_time;
use crate::sys::process::{monotonic_ns, process_time_ns};
use crate::workload::record::running::{Stop, groups};

/// A window, if none is named.
const EVERY: Duration = Duration::from_mins(1);
/// Windows after which a group of a pattern is forgotten that is not there.
const FORGOTTEN: u64 = 15;

/// What is followed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// The programs: at most [`TARGETS_MAX`] at once.
    pub wanted: Vec<Wanted>,
    /// The length of a window, a minute by default, and the question; its programs do not count.
    pub each: super::Spec,
}

/// Watches until a signal comes, or until all programs have ended that are named by processes. Each program has an
/// [`Interim::LiveFollow`] at the end of each window, in which figures of older windows have less weight. The document
/// has those of the last window.
///
/// # Errors
/// If the observer cannot take a window. In the first window also if one of them cannot be attached to; a program
/// that is not there is no error.
pub fn run(spec: &Spec, session: &mut Session<'_>) -> Result<LiveFollowed, Error> {
    let session = &*session;
    session.heeding(|| rounds(spec, session)).map_err(Error::Signals)?
}

fn rounds(spec: &Spec, session: &Session<'_>) -> Result<LiveFollowed, Error> {
    let every = spec.each.duration.unwrap_or(EVERY);
    // One stack is for all windows, so that all have the same pages.
    let each = super::Spec { duration: None, overhead: None, ..spec.each.clone() };
    let schema = LiveFollowed::SCHEMA.to_owned();
    let mut followed = LiveFollowed { schema, ..LiveFollowed::default() };
    let mut all: Vec<Mutex<Followed>> = Vec::new();
    for wanted in spec.wanted.iter().filter(|wanted| wanted.pattern().is_none()) {
        let one = Followed::new(wanted.clone(), every);
        if !all.iter_mut().any(|other| inner(other).is_same(&one)) {
            all.push(Mutex::new(one));
        }
    }
    for number in 1.. {
        let missing = add_groups(spec, every, &mut all, number)?;
        let began_ns = monotonic_ns();
        let has_failed = AtomicBool::new(false);
        let stop = || {
            let passed = Duration::from_nanos(monotonic_ns().saturating_sub(began_ns));
            let is_over = passed >= every || has_failed.load(Ordering::Relaxed);
            let is_over = is_over.then_some(Stop::Over);
            session.cancellation.signal().map(Stop::Signal).or(is_over)
        };
        let share = |bytes: usize| bytes / all.len().max(1);
        let rings = share(RINGS_BYTES).min(RING_BYTES_MAX);
        let each = super::Spec { ring_bytes: each.ring_bytes.or(Some(rings)), ..each.clone() };
        let traces = Mutex::new(());
        let round = Round {
            spec: &each,
            spool: session.spool.clone(),
            log_bytes: share(LOGS_BYTES),
            user: session.user(),
            number,
            began_ns,
            stop: &stop,
            has_failed: &has_failed,
            traces: &traces,
        };
        let lines = lines(&all, &round)?;
        // Where no group of a pattern is there yet.
        while all.is_empty() && stop().is_none() {
            std::thread::sleep(Duration::from_millis(20));
        }
        // A signal may come while no program is attached to. It ends the window all the same.
        let signal = session.cancellation.signal();
        (followed.windows, followed.interrupted) = (number, signal);
        followed.targets = reported(missing.into_iter().chain(lines), signal, session)?;
        all.retain_mut(|one| {
            let one = inner(one);
            let is_named = spec.wanted.contains(&one.wanted);
            !one.is_over && (is_named || one.absent < FORGOTTEN)
        });
        let has_patterns = spec.wanted.iter().any(|wanted| wanted.pattern().is_some());
        if signal.is_some() || all.is_empty() && !has_patterns {
            break;
        }
    }
    Ok(followed)
}

/// Gives the observer the lines that have news. What it was given.
fn reported(
    lines: impl Iterator<Item = LiveFollow>,
    signal: Option<i32>,
    session: &Session<'_>,
) -> Result<Vec<LiveFollow>, Error> {
    let has_news = |line: &LiveFollow| line.live.is_some() || line.absent.is_some();
    let mut given = Vec::new();
    for mut line in lines.filter(has_news) {
        if let Some(live) = &mut line.live {
            live.interrupted = live.interrupted.or(signal);
        }
        let line = LiveFollow {
            unix_seconds: unix_time().unwrap_or_default().as_secs(),
            nbuf_cpu_seconds: process_time_ns() as f64 / 1e9,
            ..line
        };
        session.observer.interim(Interim::LiveFollow(&line)).map_err(Error::Observer)?;
        given.push(line);
    }
    Ok(given)
}

fn inner(one: &mut Mutex<Followed>) -> &mut Followed {
    one.get_mut().unwrap_or_else(PoisonError::into_inner)
}

/// The window of each, at the same time. The first error ends all of them.
fn lines(all: &[Mutex<Followed>], round: &Round<'_>) -> Result<Vec<LiveFollow>, Error> {
    let failed = Mutex::new(None);
    let windows = side_by_side(all, &|one: &Mutex<Followed>| {
        let mut one = one.lock().unwrap_or_else(PoisonError::into_inner);
        one.window(round).map_err(|error| {
            round.has_failed.store(true, Ordering::Relaxed);
            *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            String::new()
        })
    });
    if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    let threads = |reason: String| Error::Observer(io::Error::other(reason));
    windows.into_iter().map(|window| window.map_err(threads)).collect()
}

/// Adds the groups that match a pattern now. A line for each pattern that none matches, or too many.
fn add_groups(
    spec: &Spec,
    every: Duration,
    all: &mut Vec<Mutex<Followed>>,
    number: u64,
) -> Result<Vec<LiveFollow>, Error> {
    let mut missing = Vec::new();
    for pattern in spec.wanted.iter().filter_map(Wanted::pattern) {
        match groups(pattern) {
            Ok(found) => {
                let mut without = 0;
                for directory in found {
                    let is_inside = |outer: &Path| directory.starts_with(outer);
                    if all.iter_mut().any(|one| inner(one).directory().is_some_and(is_inside)) {
                        continue;
                    }
                    if all.len() < TARGETS_MAX || number == 1 {
                        all.push(Mutex::new(Followed::new(Wanted::Cgroup(directory), every)));
                    } else {
                        without += 1;
                    }
                }
                if without > 0 {
                    let reason =
                        format!("{TARGETS_MAX} programs are followed; {without} more match");
                    missing.push(absent(pattern, number, reason));
                }
            }
            Err(error) => missing.push(absent(pattern, number, error.to_string())),
        }
    }
    if all.len() > TARGETS_MAX {
        return Err(Error::TooMany(all.len()));
    }
    Ok(missing)
}

fn absent(pattern: &Path, number: u64, reason: String) -> LiveFollow {
    LiveFollow {
        schema: LiveFollow::SCHEMA.to_owned(),
        target: pattern.display().to_string(),
        window: number,
        absent: Some(reason),
        ..LiveFollow::default()
    }
}
