//! The options that name programs that run already.

use std::path::PathBuf;
use std::time::Duration;

use nbuf::experiment::record::Running;

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
    /// For how long to watch what runs already, as 60s or 5m; Ctrl-C ends it earlier [default: 60s for
    /// `size`, until it ends for `record`].
    #[arg(long = "for", value_name = "TIME", value_parser = some_time)]
    pub(crate) duration: Option<Duration>,
}

impl Attach {
    /// What runs already, if that is named.
    pub(crate) fn running(&self) -> Option<Running> {
        let is_named = !self.pid.is_empty() || self.cgroup.is_some();
        is_named.then(|| Running { processes: self.pid.clone(), cgroup: self.cgroup.clone() })
    }
}
