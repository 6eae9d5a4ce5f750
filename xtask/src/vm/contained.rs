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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{self, BufRead, BufReader, Write};
    use std::thread;
    use std::time::Duration;

    use super::*;

    /// Numbers of the processes that this one started; none if it is gone.
    fn children(process: &str) -> Vec<String> {
        let path = format!("/proc/{process}/task/{process}/children");
        let text = fs::read_to_string(path).unwrap_or_default();
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn wait_for(mut is_so: impl FnMut() -> bool) -> bool {
        (0..600).any(|_| {
            thread::sleep(Duration::from_millis(50));
            is_so()
        })
    }

    #[test]
    fn what_a_killed_chore_started_ends() {
        let mut probe = Command::new(BEFORE[0]);
        if !probe.args(&BEFORE[1..]).args(["--", "true"]).status().is_ok_and(|it| it.success()) {
            writeln!(io::stderr(), "skipped: namespaces are not permitted here").unwrap();
            return;
        }
        // A shell stands for the chore.
        let mut chore = Command::new("sh");
        chore.args(["-c", "\"$@\" & echo $!; wait", "chore"]).args(BEFORE);
        chore.args(["--", "sleep", "1000"]).stdout(Stdio::piped());
        let mut chore = chore.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(chore.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let started = line.trim();
        if !wait_for(|| !children(started).is_empty()) {
            chore.kill().unwrap();
            panic!("`unshare` started nothing");
        }
        let inside = children(started);
        chore.kill().unwrap();
        chore.wait().unwrap();
        let is_gone = |process: &str| !Path::new("/proc").join(process).exists();
        assert!(wait_for(|| is_gone(started) && inside.iter().all(|process| is_gone(process))));
    }
}
