//! Processes that leave the group of their command, because a container engine or a session manager moves
//! them. Their memory is charged elsewhere, and a limit on the group does not hold them.
//!
//! Looks at `/proc/PID/cgroup` of all descendants, every 50 ms. One that leaves and ends in between is
//! missed. Cost: some tens of microseconds a process and look, and at most a fiftieth of a processor.

use std::collections::HashSet;
use std::fmt::{self, Display, Formatter};
use std::fs;

use crate::sys::cgroup::{Group, memory_path};
use crate::sys::process;

/// The least time between two looks, and after one that saw a process outside for the first time. A longer one:
/// this many times what a look took.
const EVERY_NS: u64 = 50_000_000;
const AGAIN_NS: u64 = 10_000_000;
const REST: u64 = 50;

/// What left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// How many processes.
    pub processes: u64,
    /// Name of the first one.
    pub name: String,
    /// Where that went.
    pub group: String,
}

impl Left {
    /// A container that its engine has put elsewhere.
    pub(super) fn container() -> Self {
        let group = "one that its engine has made".to_owned();
        Self { processes: 1, name: "the container".to_owned(), group }
    }
}

impl Display for Left {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { processes, name, group } = self;
        let others = match processes - 1 {
            0 => String::new(),
            1 => " and 1 other process".to_owned(),
            more => format!(" and {more} other processes"),
        };
        write!(
            f,
            "{name}{others} left the cgroup of the command for {group}: their memory is missing here, \
             and no limit on the command would hold them; to size a container, run nbuf inside it"
        )
    }
}

/// The watch for them.
#[derive(Debug, Default)]
pub(super) struct Leavers {
    /// Name of the group of the command: no other has it.
    home: String,
    /// Our own group, where the command is until it enters its own.
    ours: String,
    entered: bool,
    due_ns: u64,
    /// Who was outside at the look before. A process that is being forked is in the root's group for a moment
    /// (`cgroup_fork`, until `cgroup_post_fork`), and may be seen there: it takes two looks to have left, and to have
    /// run, since the one that forks may lose its processor for longer.
    outside: HashSet<i32>,
    known: HashSet<i32>,
    left: Option<Left>,
}

impl Leavers {
    /// A command begins, which enters this group.
    pub(super) fn start(&mut self, group: &Group) {
        if group.parent_for_engine().is_some() {
            // Engines are elsewhere, and their containers in it.
            return;
        }
        self.home = group.name();
        self.ours = i32::try_from(std::process::id()).ok().and_then(group_of).unwrap_or_default();
    }

    /// Looks, if it is time to.
    pub(super) fn look(&mut self, supervisor: i32, now_ns: u64) {
        if self.home.is_empty() || now_ns < self.due_ns {
            return;
        }
        let before = std::mem::take(&mut self.outside);
        let mut again = false;
        for pid in process::descendants(&[supervisor]).into_iter().filter(|&pid| pid != supervisor)
        {
            let Some(group) = group_of(pid) else { continue };
            let is_home = is_inside(&self.home, &group);
            self.entered |= is_home;
            let is_waiting = !self.entered && group == self.ours;
            if is_home || is_waiting || self.known.contains(&pid) || is_ending(pid) || !has_run(pid)
            {
                continue;
            }
            if !before.contains(&pid) {
                self.outside.insert(pid);
                again = true;
                continue;
            }
            self.known.insert(pid);
            let processes = self.known.len() as u64;
            let left =
                self.left.get_or_insert_with(|| Left { processes, name: name_of(pid), group });
            left.processes = processes;
        }
        let took_ns = process::monotonic_ns().saturating_sub(now_ns);
        let every_ns = if again { AGAIN_NS } else { EVERY_NS };
        self.due_ns = now_ns + every_ns.max(took_ns.saturating_mul(REST));
    }

    /// What left until now.
    pub(super) fn left(&mut self) -> Option<Left> {
        self.left.take()
    }
}

/// Whether it is about to end, or has ended. From then on the kernel writes the root for its group of version 1, while it
/// may have its memory for long (`PF_EXITING`, `proc_cgroup_show`).
fn is_ending(pid: i32) -> bool {
    const EXITING: u64 = 4;
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // Behind the name: state, four numbers of processes and terminals, the group in front, and the flags.
    let flags = stat.rsplit_once(") ").and_then(|(_, rest)| rest.split(' ').nth(6));
    flags.and_then(|flags| flags.parse::<u64>().ok()).is_none_or(|flags| flags & EXITING != 0)
}

/// Whether it has had a processor, as far as this kernel counts that: it is the third number.
fn has_run(pid: i32) -> bool {
    let times = fs::read_to_string(format!("/proc/{pid}/schedstat")).unwrap_or_default();
    times.split_whitespace().nth(2) != Some("0")
}

fn name_of(pid: i32) -> String {
    fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim_end().to_owned()
}

fn group_of(pid: i32) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{pid}/cgroup")).ok()?;
    memory_path(&text).map(str::to_owned)
}

/// Whether a group is the one of this name, or below it.
fn is_inside(name: &str, group: &str) -> bool {
    group.split('/').any(|part| part == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_runs_has_run() {
        assert!(has_run(i32::try_from(std::process::id()).unwrap()));
        assert!(has_run(0), "without the counts all have");
    }

    #[test]
    fn who_has_ended_is_ending_and_who_runs_is_not() {
        assert!(!is_ending(i32::try_from(std::process::id()).unwrap()));
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        // It stays until it is waited for.
        for _ in 0..1000 {
            if is_ending(pid) {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert!(is_ending(pid));
        child.wait().unwrap();
        assert!(is_ending(pid), "there is none of this number");
    }

    #[test]
    fn the_group_is_the_one_that_memory_is_charged_to() {
        let check = |text, want| assert_eq!(memory_path(text), want, "{text}");
        check("0::/user.slice\n", Some("/user.slice"));
        check("4:memory:/a:b\n1:name=systemd:/c\n0::/d\n", Some("/a:b"));
        check("4:cpu,memory:/a\n0::/d\n", Some("/a"));
        check("4:cpu:/a\n0::/d\n", Some("/d"));
        check("nothing", None);
    }

    #[test]
    fn a_group_inside_ours_is_ours() {
        assert!(is_inside("nbuf-1", "/a/nbuf-1") && is_inside("nbuf-1", "/a/nbuf-1/libpod"));
        assert!(!is_inside("nbuf-1", "/a/nbuf-12") && !is_inside("nbuf-1", "/a"));
    }

    #[test]
    fn who_left_is_named_with_the_number_of_the_others() {
        let left = |processes| Left { processes, name: "conmon".into(), group: "/pod".into() };
        assert!(left(1).to_string().starts_with("conmon left the cgroup of the command for /pod:"));
        assert!(left(3).to_string().starts_with("conmon and 2 other processes left"));
    }
}
