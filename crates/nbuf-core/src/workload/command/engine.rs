//! A command that asks a container engine to run a container.
//!
//! The engine puts the container into a cgroup of its own making, where no limit on the engine's group holds
//! it. So nbuf tells the engine where that group goes, measures what is in it, and leaves the engine alone: it
//! sizes the container, without the engine's copying of layers.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::Command;
use crate::sys::cgroup::{self, Group, Hierarchies, Throttle};
use crate::workload::record::Backend;

/// Options of podman and docker before the subcommand that take their value as the next word.
const WITH_VALUE: &[&str] = &[
    "--cgroup-manager",
    "--conmon",
    "--config",
    "--events-backend",
    "--hooks-dir",
    "--imagestore",
    "--log-level",
    "--module",
    "--namespace",
    "--network-cmd-path",
    "--network-config-dir",
    "--out",
    "--registries-conf",
    "--root",
    "--runroot",
    "--runtime",
    "--runtime-flag",
    "--storage-driver",
    "--storage-opt",
    "--tmpdir",
    "--volumepath",
    "-l",
];
/// Those that name an engine on another machine, or in another account.
const ELSEWHERE: &[&str] =
    &["--connection", "--context", "--host", "--identity", "--remote", "--url", "-H", "-c", "-r"];
/// Options of `run` by which the caller has placed the container.
const PLACED: &[&str] = &["--cgroup-parent", "--cgroups", "--cgroupns", "--pod", "--pod-id-file"];

/// Where an engine's command line takes our words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Engine {
    is_podman: bool,
    /// Whether the caller has said how groups are made.
    says_manager: bool,
    /// Position of `run`.
    run_at: usize,
}

impl Engine {
    /// The engine of this command, if it runs a container that we may place.
    pub(crate) fn of(arguments: &[OsString]) -> Option<Self> {
        let words: Vec<&str> = arguments.iter().map(|word| word.to_str().unwrap_or("")).collect();
        let program = Path::new(words.first()?).file_name().and_then(OsStr::to_str)?;
        let is_podman = program == "podman";
        if !is_podman && program != "docker" {
            return None;
        }
        let names = |names: &[&str], word: &str| {
            names.contains(&word.split_once('=').map_or(word, |(name, _)| name))
        };
        let mut at = 1;
        let mut says_manager = false;
        while let Some(word) = words.get(at).filter(|word| word.starts_with('-')) {
            if names(ELSEWHERE, word) {
                return None;
            }
            says_manager |= names(&["--cgroup-manager"], word);
            at += if WITH_VALUE.contains(word) { 2 } else { 1 };
        }
        at += usize::from(words.get(at) == Some(&"container"));
        if words.get(at) != Some(&"run") {
            return None;
        }
        // An option of the program in the container may have the same name: it is left as it is then.
        let is_placed = words[at..].iter().any(|word| names(PLACED, word));
        (!is_placed).then_some(Self { is_podman, says_manager, run_at: at })
    }

    /// The command with the group of the container in it.
    fn placed(self, arguments: &[OsString], parent: &str) -> Vec<OsString> {
        let mut words = arguments.to_vec();
        words.insert(self.run_at + 1, format!("--cgroup-parent={parent}").into());
        if self.is_podman && !self.says_manager {
            words.insert(1, "--cgroup-manager=cgroupfs".into());
        }
        words
    }
}

/// The command, followed into its container if that can be done: tracepoints show the container alone, and its
/// engine may put it into a group of ours. podman in the account of another user may not.
pub(crate) fn followed(command: Command, backend: Backend) -> Command {
    let engine = Engine::of(&command.arguments);
    let may = engine.is_some_and(|engine| command.account.is_none() || !engine.is_podman);
    Command { follows_container: may && backend == Backend::Perf, ..command }
}

/// A private group for a command: where its container goes, if it asks an engine for one.
///
/// # Errors
/// As [`Group::create_with`]. A container that cannot have a group of ours is left to its engine.
pub(crate) fn group_for(
    command: &Command,
    hierarchies: &Hierarchies,
    throttle: Option<&Throttle>,
) -> Result<Group, cgroup::Error> {
    if command.follows_container
        && let Ok(group) = Group::for_container(hierarchies, throttle)
    {
        return Ok(group);
    }
    Group::create_with(hierarchies, throttle)
}

/// The words to execute: those of the caller, and for an engine where the container goes.
pub(super) fn placed(arguments: &[OsString], group: Option<&Group>) -> Vec<OsString> {
    let parent = group.and_then(Group::parent_for_engine);
    match (Engine::of(arguments), parent) {
        (Some(engine), Some(parent)) => engine.placed(arguments, parent),
        _ => arguments.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_is_given_the_group_and_nothing_else_changes() {
        let check = |line: &str, want: Option<&str>| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let placed = Engine::of(&words).map(|engine| engine.placed(&words, "/g"));
            let placed = placed.map(|words| words.join(OsStr::new(" ")));
            assert_eq!(placed, want.map(OsString::from), "{line}");
        };
        let podman = "podman --cgroup-manager=cgroupfs";
        check(
            "podman run --rm image cat run",
            Some(&format!("{podman} run --cgroup-parent=/g --rm image cat run")),
        );
        check(
            "podman --runtime runc --log-level=warn container run image",
            Some(&format!(
                "{podman} --runtime runc --log-level=warn container run --cgroup-parent=/g image"
            )),
        );
        check(
            "/usr/bin/podman --cgroup-manager systemd run image",
            Some("/usr/bin/podman --cgroup-manager systemd run --cgroup-parent=/g image"),
        );
        check("docker run image", Some("docker run --cgroup-parent=/g image"));
        check("podman build run", None);
        check("podman", None);
        check("podman --remote run image", None);
        check("docker -H tcp://other run image", None);
        check("podman run --cgroups=disabled image", None);
        check("podman run --cgroup-parent /mine image", None);
        check("podman exec run ls", None);
        check("env podman run image", None);
    }
}
