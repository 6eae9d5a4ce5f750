//! Several programs that run already, watched in the same window: a table of the machine.
//!
//! Each has a thread that attaches to it alone, with rings and a log of its own. What one has room for is shared by
//! all: rings of 8 MiB a processor, and 256 MiB of logs. The traces are made one after the other at the end, so that
//! one of them is in memory. Cost: as many recordings as there are targets; a recording does not see the others'.
//!
//! ```no_run
//! use nbuf::experiment::live::Target;
//! use nbuf::experiment::live::several::{self, Spec};
//! use nbuf::experiment::session::Session;
//!
//! let targets = vec![Target::process(1234), Target::process(5678)];
//! let machine = several::run(&Spec { targets, ..Spec::default() }, &mut Session::new(&()))?;
//! println!("{} rows", machine.targets.len());
//! # Ok::<(), nbuf::experiment::live::Error>(())
//! ```

use std::cell::Cell;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::super::record::{NameError, Named};
use super::super::result::{LiveMachine, LiveTarget};
use super::super::session::Session;
use super::{Error, Running, RunningError, Watched, watch};
use crate::sys::process::monotonic_ns;
use crate::workload::record::running::{Quiet, Stop, groups, name_of};
use crate::workload::record::spool::Spool;

/// How many can be watched at once.
pub const TARGETS_MAX: usize = 32;
/// The sizes of all logs in memory together, and of all rings of a processor.
pub(super) const LOGS_BYTES: usize = 256 << 20;
pub(super) const RINGS_BYTES: usize = 32 << 20;
pub(super) const RING_BYTES_MAX: usize = 8 << 20;

/// One of several.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Target {
    /// The name in the table.
    pub name: String,
    /// The programs.
    pub running: Running,
}

impl Target {
    /// The process with this number.
    pub fn process(number: u32) -> Self {
        let running = Running { processes: vec![number], cgroup: None };
        Self { name: number.to_string(), running }
    }

    /// The processes of this cgroup.
    pub fn group(directory: PathBuf) -> Self {
        Self { name: name_of(&directory), running: Running::group(directory) }
    }

    /// The cgroups that match a pattern of paths, such as `/system.slice/*.service`.
    ///
    /// # Errors
    /// If none does.
    pub fn groups(pattern: &std::path::Path) -> Result<Vec<Self>, NameError> {
        Ok(groups(pattern)?.into_iter().map(Self::group).collect())
    }

    /// The container, unit or pod of this name.
    ///
    /// # Errors
    /// If none, or several, have the name.
    pub fn named(named: &Named) -> Result<Self, NameError> {
        let running = Running::group(named.cgroup()?);
        Ok(Self { name: named.name().to_owned(), running })
    }
}

/// What is watched at once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// At most [`TARGETS_MAX`].
    pub targets: Vec<Target>,
    /// The window, and the question; its programs do not count.
    pub each: super::Spec,
}

/// Watches all in the same window, and sorts them by what can be gained. What cannot be attached to is a row with its
/// reason.
///
/// # Errors
/// If there is nothing to watch or too much, and if no signal could end it.
pub fn run(spec: &Spec, session: &mut Session<'_>) -> Result<LiveMachine, Error> {
    let session = &*session;
    let targets = once(&spec.targets);
    match targets.len() {
        0 => return Err(RunningError::Nothing.into()),
        many if many > TARGETS_MAX => return Err(Error::TooMany(many)),
        _ => {}
    }
    let gate = Gate::new(targets.len(), spec.each.duration);
    let share = |all: usize| all / targets.len();
    let rings = share(RINGS_BYTES).min(RING_BYTES_MAX);
    let ring_bytes = spec.each.ring_bytes.or(Some(rings));
    let stop = || match session.cancellation.signal() {
        Some(signal) => Some(Stop::Signal(signal)),
        None => gate.is_over().then_some(Stop::Over),
    };
    let user = session.user();
    let watch_one = |(target, inside): &(Target, Option<String>)| {
        let arrival = Cell::new(Some(Arrival(&gate)));
        if let Some(outer) = inside {
            return Err(format!("it is inside {outer}, which is watched, too"));
        }
        let spec = super::Spec {
            running: target.running.clone(),
            duration: None,
            ring_bytes,
            ..spec.each.clone()
        };
        let log = Spool::new(session.spool.clone()).with_memory(share(LOGS_BYTES));
        let quiet = Quiet::default();
        let watched = watch(&spec, user, log, &quiet, &|| drop(arrival.take()), &stop);
        watched.map_err(|error| reason(&error))
    };
    let windows = session.heeding(|| side_by_side(&targets, &watch_one)).map_err(Error::Signals)?;
    let rows = targets.into_iter().zip(windows).map(|((target, _), watched)| {
        row(target.name, watched.and_then(|watched| judged(watched, &spec.each)))
    });
    let mut machine = LiveMachine {
        schema: LiveMachine::SCHEMA.to_owned(),
        seconds: gate.seconds(),
        interrupted: session.cancellation.signal(),
        targets: rows.collect(),
    };
    machine.sort();
    Ok(machine)
}

/// Each target once, and the name of another that it is inside of.
fn once(targets: &[Target]) -> Vec<(Target, Option<String>)> {
    let mut all: Vec<&Target> = Vec::new();
    for target in targets {
        if all.iter().all(|other| other.running != target.running) {
            all.push(target);
        }
    }
    let inside = |target: &Target| {
        let group = target.running.cgroup.as_ref()?;
        let is_outer = |other: &&&Target| {
            let outer = other.running.cgroup.as_ref();
            outer.is_some_and(|outer| outer != group && group.starts_with(outer))
        };
        all.iter().find(is_outer).map(|other| other.name.clone())
    };
    all.iter().map(|&target| (target.clone(), inside(target))).collect()
}

/// Does the work for each in a thread of its own.
pub(super) fn side_by_side<T: Sync, R: Send>(
    all: &[T],
    work: &(dyn Fn(&T) -> Result<R, String> + Sync),
) -> Vec<Result<R, String>> {
    thread::scope(|scope| {
        let begun: Vec<io::Result<_>> = all
            .iter()
            .map(|one| thread::Builder::new().spawn_scoped(scope, move || work(one)))
            .collect();
        let ended = begun.into_iter().map(|thread| match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(error) => Err(error.to_string()),
        });
        ended.collect()
    })
}

fn judged(watched: Watched, spec: &super::Spec) -> Result<super::LiveDocument, String> {
    watched.document(spec).map_err(|error| reason(&error))
}

/// An error with its causes, on a line.
pub(super) fn reason(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let causes = std::iter::successors(error.source(), |&cause| cause.source());
    for cause in causes.map(ToString::to_string) {
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

fn row(name: String, judged: Result<super::LiveDocument, String>) -> LiveTarget {
    match judged {
        Ok(live) => LiveTarget::of(name, live),
        Err(failed) => LiveTarget { name, failed: Some(failed), ..LiveTarget::default() },
    }
}

/// The window begins when the last of the targets has been attached to, or has failed.
struct Gate {
    missing: AtomicUsize,
    /// 0 before.
    began_ns: AtomicU64,
    duration: Option<Duration>,
}

impl Gate {
    fn new(count: usize, duration: Option<Duration>) -> Self {
        Self { missing: AtomicUsize::new(count), began_ns: AtomicU64::new(0), duration }
    }

    fn is_over(&self) -> bool {
        let began_ns = self.began_ns.load(Ordering::Relaxed);
        let passed = Duration::from_nanos(monotonic_ns().saturating_sub(began_ns));
        began_ns > 0 && self.duration.is_some_and(|duration| passed >= duration)
    }

    /// How long the window has been.
    fn seconds(&self) -> f64 {
        let began_ns = self.began_ns.load(Ordering::Relaxed);
        let passed = Duration::from_nanos(monotonic_ns().saturating_sub(began_ns));
        let passed = self.duration.map_or(passed, |duration| passed.min(duration));
        if began_ns > 0 { passed.as_secs_f64() } else { 0.0 }
    }
}

/// One that is to be attached to: it arrives when this is dropped.
struct Arrival<'a>(&'a Gate);

impl Drop for Arrival<'_> {
    fn drop(&mut self) {
        if self.0.missing.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.0.began_ns.store(monotonic_ns(), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_inside_of_another_is_not_watched_twice() {
        let of = |path: &str| Target {
            name: path.to_owned(),
            running: Running::group(PathBuf::from(path)),
        };
        let got = once(&["/a", "/a/b", "/a", "/ab"].map(of));
        let got: Vec<(&str, Option<&str>)> =
            got.iter().map(|(target, outer)| (target.name.as_str(), outer.as_deref())).collect();
        assert_eq!(got, [("/a", None), ("/a/b", Some("/a")), ("/ab", None)]);
    }

    #[test]
    fn the_window_begins_when_all_have_arrived() {
        let gate = Gate::new(2, Some(Duration::ZERO));
        drop(Arrival(&gate));
        assert!(!gate.is_over());
        drop(Arrival(&gate));
        assert!(gate.is_over());
        let endless = Gate::new(1, None);
        drop(Arrival(&endless));
        assert!(!endless.is_over());
    }
}
