//! The options that name programs that run already.

use std::path::PathBuf;
use std::time::Duration;

use nbuf::experiment::record::{NameError, Named, Running};

use super::size::some_time;

/// What to attach to.
#[derive(Clone, Debug, clap::Args)]
#[group(id = "running", multiple = true)]
pub(crate) struct Attach {
    /// Attach to this process, which runs already, and to what it starts from now on. Repeat it for
    /// several.
    #[arg(long, value_name = "PID")]
    pub(crate) pid: Vec<u32>,
    /// Attach to the processes of this cgroup and of the groups below it.
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) cgroup: Option<PathBuf>,
    /// Attach to this container of docker, podman, containerd or LXC: its name, or 12 digits or more of its
    /// number.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["cgroup", "unit", "pod"])]
    pub(crate) container: Option<String>,
    /// Attach to this unit of systemd; without a suffix it is a service.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["cgroup", "pod"])]
    pub(crate) unit: Option<String>,
    /// Attach to this pod of Kubernetes, on its node: NAME, NAMESPACE/NAME, or its number.
    #[arg(long, value_name = "NAME", conflicts_with = "cgroup")]
    pub(crate) pod: Option<String>,
    /// For how long to watch what runs already, as 60s or 5m; Ctrl-C ends it earlier [default: 60s for
    /// `size`, until it ends for `record`].
    #[arg(long = "for", value_name = "TIME", value_parser = some_time)]
    pub(crate) duration: Option<Duration>,
}

impl Attach {
    /// Whether something that runs already is named.
    pub(crate) fn is_given(&self) -> bool {
        !self.pid.is_empty() || self.cgroup.is_some() || self.named().is_some()
    }

    /// What runs already, if that is named.
    pub(crate) fn running(&self) -> Result<Option<Running>, NameError> {
        let cgroup = match self.named() {
            Some(named) => Some(named.cgroup()?),
            None => self.cgroup.clone(),
        };
        let processes = self.pid.clone();
        Ok(self.is_given().then_some(Running { processes, cgroup }))
    }

    fn named(&self) -> Option<Named> {
        let container = self.container.clone().map(Named::Container);
        let unit = || self.unit.clone().map(Named::Unit);
        container.or_else(unit).or_else(|| self.pod.clone().map(Named::Pod))
    }
}
