//! What recording and verifying need, and whether this machine lets us: `nbuf doctor`.
//!
//! Everything that can be tried is tried: an event is opened, a process is traced, a group is made,
//! limited and removed. Invariant: nothing is changed, and nothing is left.

mod circumstances;

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;

use super::mounts::{self, Mount};
use super::names::Names;
use super::perf::Perf;
use super::{overlay, touched, traced};
use crate::sys::cache::resident_pages;
use crate::sys::cgroup::{Error, Group, Hierarchies};
use crate::sys::{process, programs};
use crate::units::Bytes;
use circumstances::circumstances;

/// What came of trying.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It works.
    Works,
    /// It does not.
    Fails,
    /// It is so, and matters to what is measured.
    Is,
}

/// One thing that was tried or looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capability {
    /// What.
    pub name: &'static str,
    /// Whether `nbuf size` cannot do its whole job without.
    pub needed: bool,
    /// Whether it works.
    pub state: State,
    /// Why, or what exactly.
    pub why: String,
    /// What would change it; empty where nothing need be changed.
    pub remedy: String,
}

/// Tries everything.
pub fn capabilities() -> Vec<Capability> {
    let mounts = mounts::backed();
    let mut found = vec![
        tracepoints(),
        programs_in_kernel(),
        names(mounts.first()),
        touches(),
        calls(),
        limits(&Hierarchies::of_this_process()),
        residency(),
        throttle(),
        private_discs(),
    ];
    found.extend(circumstances(&mounts));
    found
}

fn capability(
    name: &'static str,
    needed: bool,
    tried: Result<String, String>,
    remedy: &str,
) -> Capability {
    let (state, why, remedy) = match tried {
        Ok(what) => (State::Works, what, String::new()),
        Err(why) => (State::Fails, why, remedy.to_owned()),
    };
    Capability { name, needed, state, why, remedy }
}

/// What helps a root who lacks what root has.
const OUTSIDE: &str = "in a container: start it with --privileged, or run nbuf outside it";

/// The value of a setting, to be said behind what it may be the reason of.
fn setting(name: &str, path: &str) -> String {
    match text(path) {
        value if value.is_empty() => String::new(),
        value => format!("; {name} is {value}"),
    }
}

fn tracepoints() -> Capability {
    let paranoid = setting("kernel.perf_event_paranoid", "/proc/sys/kernel/perf_event_paranoid");
    let tried = Perf::probe().map(|()| "an event was opened".to_owned());
    capability(
        "capture by tracepoints",
        true,
        tried.map_err(|error| format!("{error}{paranoid}")),
        if process::is_root() {
            OUTSIDE
        } else {
            "run as root; or sudo setcap \
             cap_perfmon,cap_sys_admin,cap_dac_read_search,cap_ipc_lock+ep on nbuf"
        },
    )
}

fn programs_in_kernel() -> Capability {
    let tried = Perf::probe_programs().map(|()| "programs were loaded (BPF)".to_owned());
    capability(
        "capture of running programs by BPF",
        false,
        tried.map_err(|error| format!("{error}; they are recorded by tracepoints")),
        if process::is_root() {
            "a kernel with CONFIG_DEBUG_INFO_BTF; in a container --privileged"
        } else {
            "run as root"
        },
    )
}

fn names(mount: Option<&Mount>) -> Capability {
    let opened =
        mount.map_or(Ok(()), Names::probe).map_err(|error| format!("fanotify is refused: {error}"));
    let hidden = overlay::without_layers(Path::new("/"));
    let tried = opened.and_then(|()| {
        if hidden {
            let why = "the layers of / are hidden here, as in a container: its own files have no names, and \
                       cannot be dropped before a run; those of volumes have and can";
            return Err(why.to_owned());
        }
        Ok("opened files are reported (fanotify)".to_owned())
    });
    capability(
        "names of files",
        true,
        tried,
        if hidden {
            "record by system calls (--capture calls), which have names for all; or run nbuf outside"
        } else {
            "as for tracepoints; recording by system calls (--capture calls) needs none of this"
        },
    )
}

fn touches() -> Capability {
    let tried = touched::probe().map(|()| "page tables were read (BPF)".to_owned());
    let remedy = if process::is_root() { OUTSIDE } else { "run as root" };
    capability(
        "repeated touches of mapped pages",
        false,
        tried.map_err(|error| error.to_string()),
        remedy,
    )
}

fn calls() -> Capability {
    let tried = traced::probe();
    let scope = setting("ptrace_scope", "/proc/sys/kernel/yama/ptrace_scope");
    capability(
        "capture by system calls",
        false,
        tried
            .map(|()| "a process was traced (ptrace, seccomp)".to_owned())
            .map_err(|why| format!("{why}{scope}")),
        "kernel.yama.ptrace_scope of 0 or 1, and /proc; in a container --cap-add SYS_PTRACE, and a \
         seccomp profile that permits ptrace and seccomp",
    )
}

fn limits(hierarchies: &Hierarchies) -> Capability {
    let tried = || -> Result<String, (String, &'static str)> {
        let group = Group::create(hierarchies).map_err(|error| {
            let remedy = match error {
                Error::NoController => "mount the memory controller below /sys/fs/cgroup",
                _ => {
                    "run as root, outside a container; or where `systemd-run --user --scope` works \
                     and hands the memory controller down"
                }
            };
            let why = match error {
                Error::Create { path, source } => format!("{}: {source}", path.display()),
                Error::NotDelegated(path) => {
                    format!("{} lacks the memory controller", path.display())
                }
                error => error.to_string(),
            };
            (why, remedy)
        })?;
        let limiter = group.limiter();
        let done = limiter.limit(Some(Bytes(64 << 20))).and_then(|()| limiter.limit(None));
        let refused = |error: io::Error| (format!("no limit can be set: {error}"), "run as root");
        done.and_then(|()| limiter.usage()).map_err(refused)?;
        Ok(format!("a group was made, limited and removed ({})", limiter.version()))
    };
    match tried() {
        Ok(what) => capability("memory limits", true, Ok(what), ""),
        Err((why, remedy)) => capability("memory limits", true, Err(why), remedy),
    }
}

fn residency() -> Capability {
    let tried = std::env::current_exe().and_then(File::open).and_then(|file| resident_pages(&file));
    let tried = tried.map(|pages| format!("cachestat: {pages} pages of this program are cached"));
    capability(
        "what is in the cache",
        false,
        tried.map_err(|error| format!("cachestat: {error}")),
        "Linux 6.5, a seccomp profile that permits it, and root for files that one may not write to; \
         without it, what stays in the cache when files are dropped is not known",
    )
}

fn throttle() -> Capability {
    let files = ["/sys/fs/cgroup/blkio/blkio.throttle.read_bps_device", "/sys/fs/cgroup/io.stat"];
    let found = files.into_iter().find(|file| Path::new(file).exists());
    let tried = found.ok_or("no cgroup has the controller".to_owned());
    let writable = tried.and_then(|file| {
        // Asked for, not written to.
        match rustix::fs::access(Path::new(file).parent().unwrap_or(Path::new("/")), WRITE) {
            Ok(()) => Ok(format!("groups can be made next to {file}")),
            Err(error) => Err(format!("{file}: {error}")),
        }
    });
    let remedy = if process::is_root() { OUTSIDE } else { "run as root" };
    capability("slower discs (blkio, io)", false, writable, remedy)
}

const WRITE: rustix::fs::Access = rustix::fs::Access::WRITE_OK;

/// What makes the file system of a private disc.
const MAKES_DISCS: &str = "mkfs.ext4";

fn private_discs() -> Capability {
    let control = "/dev/loop-control";
    let opened = OpenOptions::new().read(true).write(true).open(control);
    let tried = opened.map_err(|error| format!("{control}: {error}")).and_then(|_| {
        match programs::find(MAKES_DISCS) {
            Some(_) => Ok(format!("{control} opens, and {MAKES_DISCS} is there")),
            None => Err(format!("there is no {MAKES_DISCS} where the system keeps its programs")),
        }
    });
    let remedy = "run as root, with the module loop and e2fsprogs";
    capability("private discs (--loop)", false, tried, remedy)
}

/// A small file of the kernel's, without the end of its line.
fn text(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_says_why_and_what_would_change_it() {
        for capability in capabilities() {
            assert!(!capability.why.is_empty(), "{capability:?}");
            if capability.state != State::Is {
                let works = capability.state == State::Works;
                assert_eq!(capability.remedy.is_empty(), works, "{capability:?}");
            }
        }
    }
}
