//! `nbuf completions`: what lets a shell complete our command lines.

use anyhow::Result;
use clap_complete::Shell;

use crate::cli;
use crate::output::print;

/// Print the completions for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  nbuf completions bash >~/.local/share/bash-completion/completions/nbuf
  nbuf completions fish >~/.config/fish/completions/nbuf.fish
  nbuf completions zsh >~/.zfunc/_nbuf     # with ~/.zfunc in fpath")]
pub(crate) struct Arguments {
    /// Which shell
    shell: Shell,
}

pub(crate) fn run(arguments: &Arguments) -> Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut cli::definition(), "nbuf", &mut script);
    print(&script)?;
    Ok(0)
}
