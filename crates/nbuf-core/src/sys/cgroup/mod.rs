//! Private control groups: a limit, meters and a list of processes, made below our own group and
//! removed on every way out.
//!
//! Invariant: nothing here ever writes to a group that this process did not make.
//! Sources: `Documentation/admin-guide/cgroup-v1/memory.rst`, `cgroup-v2.rst`.

mod error;
mod hierarchy;
mod leftovers;
mod meters;
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

pub use error::Error;
pub use hierarchy::Hierarchies;
pub use leftovers::sweep;
pub use pressure::Pressure;
use removal::{end_processes, remove};
pub use throttle::Throttle;

use crate::sys::process;
use crate::sys::supervise::GroupPaths;
use crate::sys::supervise::kill::kill_group;
use crate::units::Bytes;
use watchdog::Watchdog;

/// What a group's memory is used for, now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Anonymous memory.
    pub anonymous: Bytes,
    /// Shared memory and tmpfs. Not part of `page_cache` here, though both versions count it there.
    pub shmem: Bytes,
    /// Kernel memory: slabs, page tables, stacks.
    pub kernel: Bytes,
    /// The most `kernel` has been, where the kernel keeps that figure.
    pub kernel_peak: Bytes,
    /// The most that all of it has been, page cache included; 0 where the kernel does not keep that.
    pub peak: Bytes,
    /// File pages.
    pub page_cache: Bytes,
    /// Page faults that waited for I/O.
    pub major_faults: u64,
    /// Processes that the kernel OOM-killed.
    pub oom_kills: u64,
}

impl Usage {
    /// All that is not page cache of files, with the peak of kernel memory where it is known.
    pub fn other(&self) -> Bytes {
        self.anonymous + self.shmem + self.kernel.max(self.kernel_peak)
    }
}

/// One version of the memory controller, over one private group.
pub trait Limiter: Send + Sync {
    /// `cgroup v1` or `cgroup v2`, for reports.
    fn version(&self) -> &'static str;

    /// The directory of the group.
    fn directory(&self) -> &Path;

    /// Limits the group's memory, or lifts the limit.
    fn limit(&self, limit: Option<Bytes>) -> io::Result<()>;

    /// What its memory is used for.
    fn usage(&self) -> io::Result<Usage>;

    /// Takes in a process that cannot enter by itself.
    fn admit(&self, _pid: i32) -> io::Result<()> {
        Ok(())
    }

    /// Gives back the pages that no process uses any more, so that the group can go without a
    /// trace.
    fn empty(&self);
}

/// A private group: memory under a limiter, and pressure from the unified hierarchy where there is
/// one. Dropping it ends its processes and removes it; so does the death of this process.
pub struct Group {
    limiter: Box<dyn Limiter>,
    pressure: Option<PathBuf>,
    /// The group of the v1 `blkio` hierarchy, where a rate or a count was asked for.
    rate: Option<PathBuf>,
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
        Self::below_ours(hierarchies, throttle).or_else(|error| {
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
            Ok(Self { limiter: Box::new(scope), pressure, rate: None, watchdog: None })
        })
    }

    fn below_ours(hierarchies: &Hierarchies, throttle: Option<&Throttle>) -> Result<Self, Error> {
        let name = unique_name();
        let memory = hierarchies.memory_v1.as_deref();
        let blkio = hierarchies.blkio_v1.as_deref().filter(|_| throttle.is_some());
        let planned: Vec<PathBuf> = [memory, hierarchies.unified.as_deref(), blkio]
            .into_iter()
            .flatten()
            .map(|parent| parent.join(&name))
            .collect();
        let watched: Vec<_> = planned.iter().map(|path| GroupPaths::of(path)).collect();
        let watchdog = Watchdog::start(&watched).map_err(|source| Error::Create {
            path: planned.first().cloned().unwrap_or_default(),
            source,
        })?;
        let make = |parent: &Path| {
            let path = parent.join(&name);
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
            let pressure = hierarchies.unified.as_deref().and_then(|parent| make(parent).ok());
            return Ok(Self { limiter, pressure, rate, watchdog: Some(watchdog) });
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
        Ok(Self { limiter, pressure: Some(path), rate, watchdog: Some(watchdog) })
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

    /// The `cgroup.procs` files, open for a forked child to write itself into.
    pub fn join_files(&self) -> io::Result<Vec<OwnedFd>> {
        self.to_remove()
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

    /// The paths of each part, for the supervisor.
    pub fn paths(&self) -> Vec<GroupPaths> {
        self.to_remove().map(GroupPaths::of).collect()
    }

    /// Its name, which no other group has.
    pub fn name(&self) -> String {
        let name = self.limiter.directory().file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    /// Kills what is in it.
    pub fn kill(&self) {
        self.directories().for_each(kill_group);
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
        for directory in self.directories() {
            end_processes(directory);
        }
        self.limiter.empty();
        for directory in self.to_remove() {
            remove(directory);
        }
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
