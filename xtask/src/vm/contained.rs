//! Commands that leave nothing behind, even if the chore is killed.
//!
//! Each is the first process of a namespace of its own. With it end all processes that it started, and with the last of
//! them go its mounts. The kernel ends it when the chore ends, whatever ended that.

use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context, Result, ensure};

/// What comes before the command. `setpriv` has `unshare` killed with the chore, and `unshare` the command.
const BEFORE: [&str; 9] = [
    "setpriv",
    "--pdeathsig",
    "KILL",
    "unshare",
    "--mount",
    "--pid",
    "--fork",
    "--kill-child",
    "--mount-proc",
];

/// Runs it to its end, with this folder for its temporary files.
pub(super) fn status(words: &[String], temporary: &Path) -> Result<ExitStatus> {
    let mut command = Command::new(BEFORE[0]);
    command.args(&BEFORE[1..]).arg("--").args(words);
    command.env("TMPDIR", temporary).stdin(Stdio::null());
    command.status().with_context(|| format!("cannot run {command:?}"))
}

/// The same; it has to succeed.
pub(super) fn run(words: &[String], temporary: &Path) -> Result<()> {
    let status = status(words, temporary)?;
    ensure!(status.success(), "{words:?} failed: {status}");
    Ok(())
}
