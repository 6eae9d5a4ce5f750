//! Programs that run already, followed without end: each window renews the answer, and older windows count less.
//!
//! All programs share a window. A program is looked for by its name before it is attached to, and again when it ends,
//! so that restarts and new groups of the same name are followed. One LRU stack goes on over all windows. Accesses
//! between two windows are not seen: attaching and drawing the curve take a fraction of a second.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::super::result::LiveFollow;
use super::super::session::{Interim, Session};
use super::followed::{Followed, Round};
use super::several::{LOGS_BYTES, RING_BYTES_MAX, RINGS_BYTES, TARGETS_MAX, side_by_side};
use super::{Error, Spec};
use crate::clock::unix_time;
use crate::sys::process::{monotonic_ns, process_time_ns};
use crate::workload::record::running::{Stop, groups};

pub use super::followed::Wanted;

/// A window, if none is named.
const EVERY: Duration = Duration::from_mins(1);
/// Windows after which a group of a pattern is forgotten that is not there.
const FORGOTTEN: u64 = 15;

/// What is followed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Follow {
    /// The programs: at most [`TARGETS_MAX`] at once.
    pub wanted: Vec<Wanted>,
    /// The length of a window, a minute by default, and the question; its programs do not count.
    pub each: Spec,
}

/// Watches until a signal comes, or until all programs have ended that are named by processes. Each program has an
/// [`Interim::LiveFollow`] at the end of each window, in which figures of older windows have less weight.
///
/// # Errors
/// If the observer cannot take a window. In the first window also if one of them cannot be attached to; a program
/// that is not there is no error.
pub fn follow(spec: &Follow, session: &mut Session<'_>) -> Result<(), Error> {
    let session = &*session;
    session.heeding(|| rounds(spec, session)).map_err(Error::Signals)?
}

fn rounds(spec: &Follow, session: &Session<'_>) -> Result<(), Error> {
    let every = spec.each.duration.unwrap_or(EVERY);
    let each = Spec { duration: None, ..spec.each.clone() };
    let mut all: Vec<Mutex<Followed>> = Vec::new();
    let named = spec.wanted.iter().filter(|wanted| wanted.pattern().is_none());
    all.extend(named.map(|wanted| Mutex::new(Followed::new(wanted.clone(), every))));
    for number in 1.. {
        let missing = add_groups(spec, every, &mut all, number)?;
        let began_ns = monotonic_ns();
        let stop = || {
            let passed = Duration::from_nanos(monotonic_ns().saturating_sub(began_ns));
            let is_over = (passed >= every).then_some(Stop::Over);
            session.cancellation.signal().map(Stop::Signal).or(is_over)
        };
        let share = |bytes: usize| bytes / all.len().max(1);
        let rings = share(RINGS_BYTES).min(RING_BYTES_MAX);
        let each = Spec { ring_bytes: each.ring_bytes.or(Some(rings)), ..each.clone() };
        let traces = Mutex::new(());
        let round = Round {
            spec: &each,
            spool: session.spool.clone(),
            log_bytes: share(LOGS_BYTES),
            caller: session.caller(),
            number,
            began_ns,
            stop: &stop,
            traces: &traces,
        };
        let lines = lines(&all, &round)?;
        // Where no group of a pattern is there yet.
        while all.is_empty() && stop().is_none() {
            std::thread::sleep(Duration::from_millis(20));
        }
        for line in missing.into_iter().chain(lines) {
            let line = LiveFollow {
                unix_seconds: unix_time().unwrap_or_default().as_secs(),
                nbuf_cpu_seconds: process_time_ns() as f64 / 1e9,
                ..line
            };
            session.observer.interim(Interim::LiveFollow(&line)).map_err(Error::Observer)?;
        }
        all.retain_mut(|one| {
            let one = one.get_mut().unwrap_or_else(PoisonError::into_inner);
            let is_named = spec.wanted.iter().any(|wanted| wanted.name() == one.name);
            !one.is_over && (is_named || one.absent < FORGOTTEN)
        });
        let has_patterns = spec.wanted.iter().any(|wanted| wanted.pattern().is_some());
        if session.is_over() || all.is_empty() && !has_patterns {
            break;
        }
    }
    Ok(())
}

/// The window of each, at the same time.
fn lines(all: &[Mutex<Followed>], round: &Round<'_>) -> Result<Vec<LiveFollow>, Error> {
    let failed = Mutex::new(None);
    let windows = side_by_side(all, &|one: &Mutex<Followed>| {
        let mut one = one.lock().unwrap_or_else(PoisonError::into_inner);
        one.window(round).map_err(|error| {
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

/// Adds the groups that match a pattern now. A line for each pattern that none has ever matched.
fn add_groups(
    spec: &Follow,
    every: Duration,
    all: &mut Vec<Mutex<Followed>>,
    number: u64,
) -> Result<Vec<LiveFollow>, Error> {
    let mut missing = Vec::new();
    for pattern in spec.wanted.iter().filter_map(Wanted::pattern) {
        match groups(pattern) {
            Ok(found) => {
                for directory in found {
                    let is_known = all.iter_mut().any(|one| {
                        let one = one.get_mut().unwrap_or_else(PoisonError::into_inner);
                        one.directory().is_some_and(|outer| directory.starts_with(outer))
                    });
                    if !is_known && (all.len() < TARGETS_MAX || number == 1) {
                        let wanted = Wanted::Cgroup(directory);
                        all.push(Mutex::new(Followed::new(wanted, every)));
                    }
                }
            }
            Err(error) => missing.push(LiveFollow {
                schema: LiveFollow::SCHEMA.to_owned(),
                target: pattern.display().to_string(),
                window: number,
                absent: Some(error.to_string()),
                ..LiveFollow::default()
            }),
        }
    }
    if all.len() > TARGETS_MAX {
        return Err(Error::TooMany(all.len()));
    }
    Ok(missing)
}
