//! Programs that run already, as a workload: processes by number, or those of a cgroup and of the groups
//! below it.
//!
//! Nothing is started, stopped or ended. The descendants of a named process belong to it: a server with workers is
//! one program. So do processes that are begun meanwhile, in a group wherever they come from.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, FileType, Mode, OFlags};
use serde::{Deserialize, Serialize};

use crate::sys::files;

/// What runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Running {
    /// Processes, by their numbers here.
    pub processes: Vec<u32>,
    /// The directory of a cgroup.
    pub cgroup: Option<PathBuf>,
}

/// Why there is nothing to attach to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No such process.
    #[error("no process has the number {0}; `ps -e` lists them")]
    Process(u32),
    /// Another account's, or one that its account may not trace either.
    #[error(
        "you may not trace process {0}: it belongs to another account; watch it in a shell of root, or with \
         `sudo nbuf --as-root`"
    )]
    NotYours(u32),
    /// The kernel's own threads have no files of their own.
    #[error("{0} is a thread of the kernel; give the number of a program")]
    Kernel(u32),
    /// It is nbuf itself.
    #[error("{0} is nbuf itself; give the number of another program")]
    Itself(u32),
    /// Not a cgroup, or one that cannot be read.
    #[error(
        "cannot read the cgroup {}: {cause}; give its directory, as /sys/fs/cgroup/system.slice/NAME.service",
        .path.display()
    )]
    Cgroup {
        /// The directory.
        path: PathBuf,
        /// The answer of the kernel.
        cause: io::Error,
    },
    /// A group without processes.
    #[error("the cgroup {} has no processes; start the service first", .0.display())]
    Empty(PathBuf),
    /// Neither processes nor a group.
    #[error("nothing to attach to; give --pid or --cgroup")]
    Nothing,
}

impl Running {
    /// The processes of a cgroup, by its directory.
    pub fn group(directory: PathBuf) -> Self {
        Self { processes: Vec::new(), cgroup: Some(directory) }
    }

    /// Checks that it runs, and that the user with this number may trace it.
    ///
    /// # Errors
    /// As [`Error`] has them.
    pub fn check(&self, user: u32) -> Result<(), Error> {
        for &process in &self.processes {
            if process == std::process::id() {
                return Err(Error::Itself(process));
            }
            if threads(process).is_empty() {
                return Err(Error::Process(process));
            }
            if !may_trace(process, user) {
                return Err(Error::NotYours(process));
            }
            // A thread of the kernel has no program and no arguments.
            let is_kernel = std::fs::read(format!("/proc/{process}/cmdline"))
                .is_ok_and(|words| words.is_empty())
                && std::fs::read_link(format!("/proc/{process}/exe")).is_err();
            if is_kernel {
                return Err(Error::Kernel(process));
            }
        }
        if let Some(path) = &self.cgroup {
            let failed = |cause| Error::Cgroup { path: path.clone(), cause };
            let processes = members(path).map_err(failed)?;
            if processes.is_empty() {
                return Err(Error::Empty(path.clone()));
            }
            if let Some(&process) = processes.iter().find(|&&process| !may_trace(process, user)) {
                return Err(Error::NotYours(process));
            }
        }
        if self.processes.is_empty() && self.cgroup.is_none() {
            return Err(Error::Nothing);
        }
        Ok(())
    }

    /// Threads that run now, by process: of those that are named, of their descendants that the user may trace, and of
    /// the group. A group that is gone has none.
    pub fn threads(&self, user: u32) -> BTreeMap<u32, Vec<u32>> {
        let mut processes = self.processes.clone();
        with_descendants(&mut processes, user);
        if let Some(cgroup) = &self.cgroup {
            processes.extend(members(cgroup).unwrap_or_default());
        }
        processes.retain(|&process| process != std::process::id());
        let each = processes.into_iter().map(|process| (process, threads(process)));
        each.filter(|(_, threads)| !threads.is_empty()).collect()
    }

    /// What the first of the processes was started as.
    pub fn command(&self) -> Vec<String> {
        let in_group = || members(self.cgroup.as_deref()?).ok()?.first().copied();
        let Some(process) = self.processes.first().copied().or_else(in_group) else {
            return Vec::new();
        };
        let mut words = arguments(process);
        for _ in 0..EXEC_LOOKS {
            if words.is_empty() && !threads(process).is_empty() {
                std::thread::sleep(EXEC_PAUSE);
                words = arguments(process);
            }
        }
        words
    }
}

/// A process that executes another program has no arguments for a moment, as one of a container does at its start. It is
/// looked at so often, with so long a pause.
const EXEC_LOOKS: u32 = 50;
const EXEC_PAUSE: std::time::Duration = std::time::Duration::from_millis(2);

fn arguments(process: u32) -> Vec<String> {
    let words = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let words = words.split(|&byte| byte == 0).filter(|word| !word.is_empty());
    words.map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

/// Whether the user may trace a process: root may, and others may if it is their own and its memory is
/// theirs to read. A capability of the program's file lets the kernel allow more than that. A process with capabilities
/// is not for a user without them, as for `ptrace`.
pub(crate) fn may_trace(process: u32, user: u32) -> bool {
    if user == 0 {
        return true;
    }
    // Root owns the files, not the directory, of what may not be dumped.
    let owner = std::fs::metadata(format!("/proc/{process}/status")).map(|found| found.uid());
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let is_theirs = owner.is_ok_and(|owner| owner == user) && is_all_of(&status, user);
    is_theirs && !(has_capabilities(&status) && is_in_our_namespace(process))
}

/// Whether a process has a capability at all, or does not say so.
fn has_capabilities(status: &str) -> bool {
    let line = status.lines().find_map(|line| line.strip_prefix("CapPrm:"));
    line.is_none_or(|digits| digits.trim().bytes().any(|digit| digit != b'0'))
}

/// Whether its capabilities are worth something here. In a user namespace of its own, as of a rootless container, they
/// are not.
fn is_in_our_namespace(process: u32) -> bool {
    let of = |process: &str| std::fs::read_link(format!("/proc/{process}/ns/user")).ok();
    of(&process.to_string()).is_none_or(|namespace| Some(namespace) == of("self"))
}

/// Whether the real, effective, saved and file system account of a process are this one.
fn is_all_of(status: &str, account: u32) -> bool {
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:")).unwrap_or_default();
    let mut accounts =
        line.split_whitespace().map(|number| number.parse() == Ok(account)).peekable();
    accounts.peek().is_some() && accounts.all(|same| same)
}

/// Adds the descendants that the user may trace. Not nbuf, and not what has started it: a shell may watch itself.
fn with_descendants(processes: &mut Vec<u32>, user: u32) {
    let ours: Vec<u32> =
        std::iter::successors(Some(std::process::id()), |&it| parent(it)).collect();
    let mut at = 0;
    while at < processes.len() {
        let new = children(processes[at]).into_iter();
        let new = new.filter(|child| !processes.contains(child) && !ours.contains(child));
        let new: Vec<u32> = new.filter(|&child| may_trace(child, user)).collect();
        processes.extend(new);
        at += 1;
    }
}

/// The process that a process is a child of.
fn parent(process: u32) -> Option<u32> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // Its name may have blanks and brackets.
    let (_, rest) = text.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok().filter(|&parent| parent > 0)
}

/// Threads of a process that have not ended.
fn threads(process: u32) -> Vec<u32> {
    let entries = std::fs::read_dir(format!("/proc/{process}/task"));
    let names = entries.into_iter().flatten().flatten();
    names.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Processes of a group and of those below it. A group below may end meanwhile.
///
/// # Errors
/// The answer of the kernel for the group itself.
pub(crate) fn members(group: &Path) -> io::Result<Vec<u32>> {
    let mut found = Vec::new();
    add_members(files::directory(group)?.as_fd(), &mut found)?;
    Ok(found)
}

fn add_members(group: BorrowedFd<'_>, found: &mut Vec<u32>) -> io::Result<()> {
    let open = |name: &str, flags| files::open(group, Path::new(name), flags, Mode::empty());
    let mut text = String::new();
    File::from(open("cgroup.procs", OFlags::RDONLY)?).read_to_string(&mut text)?;
    found.extend(text.lines().filter_map(|line| line.parse::<u32>().ok()));
    for entry in Dir::new(open(".", OFlags::RDONLY | OFlags::DIRECTORY)?)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type() == FileType::Directory
            && ![".", ".."].contains(&name.as_str())
            && let Ok(below) = open(&name, OFlags::PATH | OFlags::DIRECTORY)
        {
            let _ = add_members(below.as_fd(), found);
        }
    }
    Ok(())
}

/// When a process began, in ticks since the machine did (`proc_pid_stat(5)`).
pub(crate) fn began(process: u32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // Its name may have blanks and brackets.
    let (_, rest) = text.rsplit_once(')')?;
    let mut words = rest.split_whitespace();
    if words.next()? == "Z" {
        return None;
    }
    words.nth(18)?.parse().ok()
}

/// Processes that its threads have started and that have not ended.
pub(crate) fn children(process: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let texts = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    let texts: Vec<String> = texts.collect();
    texts.iter().flat_map(|text| text.split_whitespace()).filter_map(|it| it.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_of_several_accounts_is_refused() {
        for (status, want) in [
            ("Name:\tx\nUid:\t7\t7\t7\t7\n", true),
            ("Uid:\t7\t0\t7\t7\n", false),
            ("Uid:\t0\t0\t0\t0\n", false),
            ("Uid:\n", false),
            ("", false),
        ] {
            assert_eq!(is_all_of(status, 7), want, "{status:?}");
        }
    }

    #[test]
    fn a_process_with_capabilities_is_refused() {
        for (status, want) in [
            ("CapInh:\t0000000000000001\nCapPrm:\t0000000000000000\n", false),
            ("CapPrm:\t0000000000000400\n", true),
            ("CapPrm:\t000001ffffffffff\n", true),
            ("", true),
        ] {
            assert_eq!(has_capabilities(status), want, "{status:?}");
        }
        assert!(is_in_our_namespace(std::process::id()) && is_in_our_namespace(u32::MAX));
    }

    #[test]
    fn descendants_are_of_the_program_and_nbuf_is_not() {
        let own = std::process::id();
        let mut child =
            std::process::Command::new("sh").args(["-c", "sleep 60 & wait"]).spawn().unwrap();
        let shell = child.id();
        while children(shell).is_empty() {
            std::thread::yield_now();
        }
        let sleep = children(shell)[0];
        let seen = Running { processes: vec![shell], cgroup: None }.threads(0);
        let above = Running { processes: vec![parent(own).unwrap()], cgroup: None }.threads(0);
        crate::sys::process::signal(i32::try_from(sleep).unwrap(), libc::SIGKILL).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(seen.into_keys().collect::<Vec<_>>(), [shell, sleep]);
        assert!(!above.contains_key(&own) && above.contains_key(&parent(own).unwrap()));
    }

    #[test]
    fn what_does_not_run_is_refused() {
        let check = |processes: &[u32], cgroup: Option<&str>| {
            let cgroup = cgroup.map(PathBuf::from);
            Running { processes: processes.to_vec(), cgroup }.check(0)
        };
        assert!(matches!(check(&[], None), Err(Error::Nothing)));
        assert!(matches!(check(&[u32::MAX], None), Err(Error::Process(u32::MAX))));
        let own = std::process::id();
        assert!(matches!(check(&[own], None), Err(Error::Itself(process)) if process == own));
        assert!(matches!(check(&[], Some("/proc")), Err(Error::Cgroup { .. })));
    }
}
