//! Private control groups: a limit, meters and a list of processes, made below our own group and
//! removed on every way out.
//!
//! Invariant: nothing here ever writes to a group that this process did not make; `sys::probe` does.
//! Sources: `Documentation/admin-guide/cgroup-v1/memory.rst`, `cgroup-v2.rst`.

mod container;
mod error;
mod hierarchy;
mod leftovers;
mod limiter;
mod meters;
mod nested;
mod pressure;
mod removal;
mod scope;
mod throttle;
mod v1;
mod v2;
mod watchdog;

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use container::Nest;
pub use error::Error;
pub use hierarchy::Hierarchies;
pub(crate) use hierarchy::{memory_mount, memory_path, unified_directory, unified_path};
pub use leftovers::sweep;
pub use limiter::{Limiter, Usage};
pub(crate) use meters::GroupCounts;
pub use pressure::Pressure;
use removal::{end_processes, remove};
pub use throttle::Throttle;

use crate::sys::process;
use crate::sys::supervise::GroupPaths;
use crate::sys::supervise::kill::kill_group;
use watchdog::Watchdog;

/// A private group: memory under a limiter, and pressure from the unified hierarchy where there is
/// one. Dropping it ends its processes and removes it; so does the death of this process.
pub struct Group {
    limiter: Box<dyn Limiter>,
    pressure: Option<PathBuf>,
    /// The group of the v1 `blkio` hierarchy, where a rate or a count was asked for.
    rate: Option<PathBuf>,
    /// Where the container of an engine goes, in a group for one.
    nest: Option<Nest>,
    /// Goes last, when there is nothing left to do for it. None where systemd made the group, which
    /// removes it too.
    watchdog: Option<Watchdog>,
}

impl std::fmt::Debug for Group {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Group")
            .field("directory", &self.limiter.directory())
            .finish_non_exhaustive()
    }
}

impl Group {
    /// Makes a private group below ours, without a limit; or has systemd make one, where we may not,
    /// or cannot: in the unified hierarchy a group with processes has no groups with limits below it.
    pub fn create(hierarchies: &Hierarchies) -> Result<Self, Error> {
        Self::create_with(hierarchies, None)
    }

    /// The same, with a rate for its discs.
    pub fn create_with(
        hierarchies: &Hierarchies,
        throttle: Option<&Throttle>,
    ) -> Result<Self, Error> {
        Self::below_ours(hierarchies, throttle, &unique_name(), None).or_else(|error| {
            // The groups that systemd makes are in the unified hierarchy.
            if hierarchies.memory_v1.is_some() || hierarchies.unified.is_none() {
                return Err(error);
            }
            let scope = scope::Scope::start(&unique_name()).map_err(|why| match why.kind() {
                io::ErrorKind::NotFound => error,
                _ => Error::Scope { own: Box::new(error), why },
            })?;
            if let Some(throttle) = throttle {
                let held = throttle.set_v2(scope.directory());
                held.map_err(|source| Error::Rate { source })?;
            }
            let pressure = Some(scope.directory().to_owned());
            Ok(Self { limiter: Box::new(scope), pressure, rate: None, nest: None, watchdog: None })
        })
    }

    fn below_ours(
        hierarchies: &Hierarchies,
        throttle: Option<&Throttle>,
        name: &str,
        nest: Option<Nest>,
    ) -> Result<Self, Error> {
        let memory = hierarchies.memory_v1.as_deref();
        let blkio = hierarchies.blkio_v1.as_deref().filter(|_| throttle.is_some());
        let planned: Vec<PathBuf> = [memory, hierarchies.unified.as_deref(), blkio]
            .into_iter()
            .flatten()
            .map(|parent| parent.join(name))
            .collect();
        let mut watched: Vec<_> = planned.iter().map(|path| GroupPaths::of(path)).collect();
        let (nested, above) = nest.as_ref().map(Nest::watched).unwrap_or_default();
        watched.extend(nested);
        let watchdog = Watchdog::start(&watched, &above).map_err(|source| Error::Create {
            path: planned.first().cloned().unwrap_or_default(),
            source,
        })?;
        let make = |parent: &Path| {
            let path = parent.join(name);
            match fs::create_dir(&path) {
                Ok(()) => Ok(path),
                Err(source) => Err(Error::Create { path, source }),
            }
        };
        let rate = match (blkio, throttle) {
            (Some(parent), Some(throttle)) => {
                let path = make(parent)?;
                throttle.set_v1(&path).map_err(|source| Error::Rate { source })?;
                Some(path)
            }
            _ => None,
        };
        if let Some(parent) = &hierarchies.memory_v1 {
            if throttle.is_some() && rate.is_none() {
                return Err(Error::Rate { source: io::ErrorKind::Unsupported.into() });
            }
            let limiter = Box::new(v1::V1::new(make(parent)?));
            // Pressure is a bonus: a unified hierarchy that refuses is no reason to stop.
            let pressure = match &nest {
                // An engine would make it.
                Some(nest) => nest.unified.clone().filter(|path| fs::create_dir_all(path).is_ok()),
                None => hierarchies.unified.as_deref().and_then(|parent| make(parent).ok()),
            };
            return Ok(Self { limiter, pressure, rate, nest, watchdog: Some(watchdog) });
        }
        let parent = hierarchies.unified.as_deref().ok_or(Error::NoController)?;
        let path = make(parent)?;
        if !path.join("memory.max").exists() {
            let _ = fs::remove_dir(&path);
            return Err(Error::NotDelegated(parent.to_owned()));
        }
        if let (None, Some(throttle)) = (&rate, throttle) {
            throttle.set_v2(&path).map_err(|source| Error::Rate { source })?;
        }
        let limiter = Box::new(v2::V2::new(path.clone()));
        Ok(Self { limiter, pressure: Some(path), rate, nest, watchdog: Some(watchdog) })
    }

    /// The limiter, to set and to read.
    pub fn limiter(&self) -> &dyn Limiter {
        self.limiter.as_ref()
    }

    /// What was lost so far; zero where the kernel does not say.
    pub fn pressure(&self) -> Pressure {
        let Some(directory) = &self.pressure else { return Pressure::default() };
        Pressure::of(directory)
    }

    /// Whether the kernel says how long tasks of the group wait for memory.
    pub fn knows_pressure(&self) -> bool {
        let pressure = self.pressure.as_ref().map(|directory| directory.join("memory.pressure"));
        pressure.is_some_and(|path| fs::read(path).is_ok())
    }

    /// The `cgroup.procs` files, open for a forked child to write itself into. None of a group for a
    /// container: its engine puts the container there, and stays outside.
    pub fn join_files(&self) -> io::Result<Vec<OwnedFd>> {
        self.to_remove()
            .filter(|_| self.nest.is_none())
            .map(|directory| {
                let path = directory.join("cgroup.procs");
                Ok(fs::OpenOptions::new().write(true).open(path)?.into())
            })
            .collect()
    }

    /// Takes in a process where it cannot enter by [`Self::join_files`].
    pub fn admit(&self, pid: i32) -> io::Result<()> {
        self.limiter.admit(pid)
    }

    /// The paths of each part, for the supervisor: where all that it has started is.
    pub fn paths(&self) -> Vec<GroupPaths> {
        self.to_remove().filter(|_| self.nest.is_none()).map(GroupPaths::of).collect()
    }

    /// Its name, which no other group has.
    pub fn name(&self) -> String {
        let name = self.limiter.directory().file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// Kills what is in it.
    pub fn kill(&self) {
        self.directories().for_each(kill_group);
        self.nest.iter().for_each(Nest::end);
    }

    /// The directories that are ours, and not systemd's.
    fn to_remove(&self) -> impl Iterator<Item = &Path> {
        self.directories().filter(|_| self.watchdog.is_some())
    }

    fn directories(&self) -> impl Iterator<Item = &Path> {
        let memory = self.limiter.directory();
        let pressure = self.pressure.as_deref().filter(move |&path| path != memory);
        std::iter::once(memory).chain(pressure).chain(self.rate.as_deref())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.nest.iter().for_each(Nest::end);
        for directory in self.directories() {
            end_processes(directory);
        }
        self.limiter.empty();
        for directory in self.to_remove() {
            remove(directory);
        }
        self.nest.iter().for_each(Nest::remove);
    }
}

/// Returns `nbuf-PIDNAMESPACE-PID-START-N`: the name alone identifies the owner.
fn unique_name() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let pid = std::process::id();
    let start = i32::try_from(pid).ok().and_then(process::start_ticks).unwrap_or(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("nbuf-{}-{pid}-{start}-{count}", process::pid_namespace())
}

/// The number behind `key` in a file of `key value` lines.
fn stat(text: &str, key: &str) -> u64 {
    text.lines()
        .find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok())
        .unwrap_or(0)
}

/// The number in a file.
fn number(path: &Path) -> u64 {
    fs::read_to_string(path).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests;
