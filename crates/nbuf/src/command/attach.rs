//! The options that name programs that run already.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use nbuf::experiment::live::{MappedWatch, MappedWhen, Target, Wanted};
use nbuf::experiment::record::{Named, Running, is_pattern};

use super::size::some_time;
use crate::fail::UsageError;

/// What to attach to.
#[derive(Clone, Debug, clap::Args)]
#[group(id = "running", multiple = true)]
pub(crate) struct Attach {
    /// Attach to this process, which runs already, and to what it starts from now on. With commas, as 12,34,
    /// they count as one program.
    #[arg(long, value_name = "PID", value_parser = processes)]
    pub(crate) pid: Vec<Processes>,
    /// Attach to the processes of this cgroup and of the groups below it: its directory, or its path below
    /// the mount of the memory controller. `*`, `?` and `**` stand for several groups.
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) cgroup: Vec<PathBuf>,
    /// Attach to this container of docker, podman, containerd or LXC: its name, or 12 digits or more of its
    /// number.
    #[arg(long, value_name = "NAME")]
    pub(crate) container: Vec<String>,
    /// Attach to this unit of systemd; without a suffix it is a service.
    #[arg(long, value_name = "NAME")]
    pub(crate) unit: Vec<String>,
    /// Attach to this pod of Kubernetes, on its node: NAME, NAMESPACE/NAME, or its number.
    #[arg(long, value_name = "NAME")]
    pub(crate) pod: Vec<String>,
    /// For how long to watch what runs already, as 60s or 5m; Ctrl-C ends it earlier [default: 60s for
    /// `size`, until it ends for `record`].
    #[arg(long = "for", value_name = "TIME", value_parser = some_time)]
    pub(crate) duration: Option<Duration>,
    /// When to watch touches of mapped files of what runs already [default: auto].
    #[arg(long, value_name = "WHEN")]
    mmap: Option<Mmap>,
    /// How long a process may wait while nbuf clears the marks of its mapped pages, as 5ms. nbuf looks less often at
    /// a process that waits longer, and then leaves it out [default: 5ms].
    #[arg(long, value_name = "TIME", value_parser = pause)]
    mmap_pause: Option<f64>,
}

/// When marks of mapped pages are cleared.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Mmap {
    /// While the kernel has reclaimed no memory of the programs for 10 seconds
    Auto,
    /// Also while it reclaims memory; the report has the faults before, during and after
    On,
    /// Never
    Off,
}

/// `5ms` or `0.1s`, up to a minute, in seconds.
fn pause(text: &str) -> Result<f64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match &text[digits.len()..] {
        "ms" => Some(1e-3),
        "s" => Some(1.0),
        _ => None,
    };
    let seconds = digits.parse::<f64>().ok().zip(factor).map(|(number, factor)| number * factor);
    let seconds = seconds.filter(|&seconds| seconds > 0.0 && seconds <= 60.0);
    seconds.ok_or_else(|| "write a time with its unit, as 5ms or 0.1s".to_owned())
}

/// Processes that count as one program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Processes(Vec<u32>);

/// `12`, or `12,34`.
fn processes(text: &str) -> Result<Processes, String> {
    let numbers = text.split(',').map(|number| number.trim().parse());
    let numbers: Result<_, _> = numbers.collect();
    numbers.map(Processes).map_err(|_| "write the number of a process, as `ps -e` lists it".into())
}

impl Attach {
    /// Whether something that runs already is named.
    pub(crate) fn is_given(&self) -> bool {
        !self.pid.is_empty() || !self.cgroup.is_empty() || self.named().next().is_some()
    }

    /// Whether the answer is a table: of several, or of what a pattern finds, however many.
    pub(crate) fn are_several(&self) -> bool {
        let count = self.pid.len() + self.cgroup.len() + self.named().count();
        count > 1 || self.cgroup.iter().any(|path| is_pattern(path))
    }

    /// All that is named.
    pub(crate) fn targets(&self) -> Result<Vec<Target>> {
        let mut targets: Vec<Target> = Vec::new();
        for Processes(numbers) in &self.pid {
            let names: Vec<String> = numbers.iter().map(ToString::to_string).collect();
            let running = Running { processes: numbers.clone(), cgroup: None };
            targets.push(Target { name: names.join(","), running });
        }
        for path in &self.cgroup {
            targets.extend(Target::groups(path)?);
        }
        for named in self.named() {
            targets.push(Target::named(&named)?);
        }
        Ok(targets)
    }

    /// All that is named, to be looked for again and again.
    pub(crate) fn wanted(&self) -> Vec<Wanted> {
        let processes = self.pid.iter().map(|Processes(all)| Wanted::Processes(all.clone()));
        let groups = self.cgroup.iter().cloned().map(Wanted::Cgroup);
        processes.chain(groups).chain(self.named().map(Wanted::Named)).collect()
    }

    /// How mapped files are watched.
    pub(crate) fn mapped(&self) -> MappedWatch {
        let defaults = MappedWatch::default();
        MappedWatch {
            when: match self.mmap {
                None | Some(Mmap::Auto) => MappedWhen::Auto,
                Some(Mmap::On) => MappedWhen::On,
                Some(Mmap::Off) => MappedWhen::Off,
            },
            pause_seconds: self.mmap_pause.unwrap_or(defaults.pause_seconds),
        }
    }

    /// What runs already as one program, if that is named.
    pub(crate) fn running(&self) -> Result<Option<Running>> {
        let mut all = Running::default();
        for Running { processes, cgroup } in self.targets()?.into_iter().map(|it| it.running) {
            all.processes.extend(processes);
            if all.cgroup.is_some() && cgroup.is_some() {
                let only = "one trace is of one cgroup; give one, or the cgroup around them";
                return Err(UsageError(only.to_owned()).into());
            }
            all.cgroup = all.cgroup.or(cgroup);
        }
        Ok(self.is_given().then_some(all))
    }

    fn named(&self) -> impl Iterator<Item = Named> {
        let containers = self.container.iter().cloned().map(Named::Container);
        let units = self.unit.iter().cloned().map(Named::Unit);
        containers.chain(units).chain(self.pod.iter().cloned().map(Named::Pod))
    }
}
