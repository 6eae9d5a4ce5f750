//! The files that are open, each with its one cache, and how the kernel is asked about them.
//!
//! A file is asked about by a descriptor that cannot read (`O_PATH`): closing any other would release all locks
//! that this process holds on the file. The descriptor also keeps the number of the inode from being used again.

use std::collections::HashMap;
use std::ffi::CStr;
use std::os::fd::OwnedFd;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use rustix::fs::{Mode, OFlags, Stat, fstat, stat};
use rustix::time::{ClockId, clock_gettime};

use crate::below::Below;
use crate::handle::Shared;
use crate::options::Options;
use crate::stamp::{Seen, Status};

/// Device and inode.
type Number = (u64, u64);

/// The caches of a process, by file.
pub(crate) struct Files<F>(LazyLock<Mutex<HashMap<Number, Weak<Shared<F>>>>>);

impl<F: Below> Files<F> {
    pub(crate) const fn new() -> Self {
        Self(LazyLock::new(Mutex::default))
    }

    /// The cache of the file that was opened by this path; a new one if no connection has it open. `is_there` says
    /// whether the path still leads to the open file. If it does not, the cache stays empty.
    pub(crate) fn shared(
        &self,
        path: &CStr,
        options: &Options,
        is_there: impl FnOnce() -> bool,
    ) -> Arc<Shared<F>> {
        let Some((file, number)) = identified(path, is_there) else {
            return Arc::new(Shared::new(options, Box::new(|| None)));
        };
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        files.retain(|_, shared| shared.strong_count() > 0);
        if let Some(shared) = files.get(&number).and_then(Weak::upgrade) {
            return shared;
        }
        let look = move || fstat(&file).ok().and_then(|stat| seen(&stat));
        let shared = Arc::new(Shared::new(options, Box::new(look)));
        files.insert(number, Arc::downgrade(&shared));
        shared
    }
}

/// A descriptor of the open file, if the path leads to it before and after.
fn identified(path: &CStr, is_there: impl FnOnce() -> bool) -> Option<(OwnedFd, Number)> {
    let file = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let number = |stat: Stat| (stat.st_dev, stat.st_ino);
    let own = number(fstat(&file).ok()?);
    (is_there() && number(stat(path).ok()?) == own).then_some((file, own))
}

/// The longest tick of a kernel's clock is 10 ms.
const SETTLED_NS: i128 = 100_000_000;
/// The longest of a file system, and some more.
const COARSE_NS: i128 = 3_000_000_000;

fn seen(stat: &Stat) -> Option<Seen> {
    let times = [(stat.st_mtime, stat.st_mtime_nsec), (stat.st_ctime, stat.st_ctime_nsec)];
    let status = Status { length: u64::try_from(stat.st_size).ok()?, times };
    let now = clock_gettime(ClockId::Realtime);
    let now = i128::from(now.tv_sec) * 1_000_000_000 + i128::from(now.tv_nsec);
    let changed = times.map(|(seconds, ns)| i128::from(seconds) * 1_000_000_000 + i128::from(ns));
    // Some file systems have times in whole seconds, or in two.
    let is_coarse = stat.st_mtime_nsec == 0 && stat.st_ctime_nsec == 0;
    let settled_ns = if is_coarse { COARSE_NS } else { SETTLED_NS };
    Some(Seen { status, is_settled: changed.iter().all(|then| now - then > settled_ns) })
}
