//! What `--prepare` asks for, before every run.

use std::fs::File;
use std::os::fd::OwnedFd;

use anyhow::{Context, Result, bail};
use nbuf::workload::command::{Command, Job, Nobody, run};

use super::workload::{Workload, stderr};

impl Workload<'_> {
    /// Runs the preparation, if one was given.
    pub(super) fn prepare(&self) -> Result<()> {
        let Some(script) = &self.args.prepare else { return Ok(()) };
        let arguments = ["sh", "-c", script].map(Into::into).to_vec();
        let command = Command { arguments, account: self.command.account.clone() };
        let null: OwnedFd = File::open("/dev/null")?.into();
        let standard = [Some(null), Some(stderr()?), None];
        let job = Job { standard, deadline: self.time_left(), ..Job::default() };
        let ended = run(&command, job, &mut Nobody, self.signals).context("--prepare")?;
        self.note(&ended);
        if ended.timed_out {
            bail!(
                "--prepare `{script}` still ran when the time was up; allow more with --max-time"
            );
        }
        if ended.exit_status != 0 && ended.interrupted.is_none() {
            bail!(
                "--prepare `{script}` ended with status {}; see why, and run it by hand first",
                ended.exit_status
            );
        }
        Ok(())
    }
}
