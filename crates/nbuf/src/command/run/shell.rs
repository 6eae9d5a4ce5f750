//! `nbuf run --shell`: the hook of a shell, and the helper of a session.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use nbuf::experiment::shell;

use crate::output::print;
use crate::shell::quoted;
use crate::show::run::session_line;

/// A shell that has a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Shell {
    /// bash from 5.0 on
    Bash,
    /// zsh
    Zsh,
    /// fish
    Fish,
}

/// The helper of one session; for the hook.
#[derive(Debug, clap::Args)]
pub(crate) struct Helper {
    /// The shell.
    shell: i32,
    /// Its directory, for the process that stays.
    directory: Option<PathBuf>,
}

/// Prints what the shell is to evaluate.
pub(super) fn hook(shell: Shell) -> Result<u8> {
    let text = match shell {
        Shell::Bash => include_str!("hooks/hook.bash"),
        Shell::Zsh => include_str!("hooks/hook.zsh"),
        Shell::Fish => include_str!("hooks/hook.fish"),
    };
    print(text.replace("@NBUF@", &quoted(this()?.as_os_str())).as_bytes())?;
    Ok(0)
}

/// Starts the helper of a session and prints its directory and its number; or is that helper.
pub(crate) fn helper(arguments: &Helper) -> Result<u8> {
    let Helper { shell, directory } = arguments;
    if let Some(directory) = directory {
        // Then the shell may go on: what it starts earlier would not be counted.
        let ready = || io::stdout().write_all(b"ready\n").and_then(|()| io::stdout().flush());
        shell::serve(*shell, directory, ready, session_line)?;
        return Ok(0);
    }
    let directory = shell::prepare(*shell).context(
        "cannot make the directory of this session; set XDG_RUNTIME_DIR or TMPDIR to a place for it",
    )?;
    let number = start(*shell, &directory)?;
    print(format!("{number} {}\n", directory.display()).as_bytes())?;
    Ok(0)
}

fn start(shell: i32, directory: &Path) -> Result<u32> {
    let mut command = Command::new(this()?);
    command.args([OsString::from("shell-helper"), shell.to_string().into(), directory.into()]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut helper = command.spawn().context("cannot start the helper of this session")?;
    let mut answer = [0; 6];
    let ready = helper.stdout.take().map(|mut output| output.read_exact(&mut answer));
    if let Some(Ok(())) = ready {
        return Ok(helper.id());
    }
    helper.wait()?;
    bail!("the helper of this session did not begin; give it the number of a shell that runs")
}

fn this() -> Result<PathBuf> {
    std::env::current_exe().context("cannot find this program to run it again")
}
