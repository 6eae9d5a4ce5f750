//! mdBook: of the `PATH`, of `target/tools`, or installed there.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::process::{output, run};

/// What is installed. Others of its first two numbers do as well.
const VERSION: &str = "0.5.4";

/// The program; installing it takes some minutes, once.
pub(super) fn mdbook(repository: &Path) -> Result<PathBuf> {
    let root = repository.join("target/tools");
    let own = root.join("bin/mdbook");
    for program in [PathBuf::from("mdbook"), own.clone()] {
        let printed = output(Command::new(&program).arg("--version")).unwrap_or_default();
        if is_compatible(&String::from_utf8_lossy(&printed)) {
            return Ok(program);
        }
    }
    let mut cargo = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()));
    cargo.args(["install", "mdbook", "--locked", "--version", VERSION, "--root"]).arg(&root);
    // Neither a server nor watching of files.
    cargo.args(["--no-default-features", "--features", "search"]);
    run(&mut cargo).with_context(|| {
        format!("no mdBook; install it: `cargo install mdbook --locked --version {VERSION}`")
    })?;
    Ok(own)
}

fn is_compatible(printed: &str) -> bool {
    let numbers = |version: &str| version.split('.').take(2).map(str::to_owned).collect::<Vec<_>>();
    let version = printed.trim().strip_prefix("mdbook v");
    version.is_some_and(|version| numbers(version) == numbers(VERSION))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_fits_by_its_first_two_numbers() {
        for (printed, want) in [
            ("mdbook v0.5.4\n", true),
            ("mdbook v0.5.9\n", true),
            ("mdbook v0.4.52\n", false),
            ("", false),
        ] {
            assert_eq!(is_compatible(printed), want, "{printed:?}");
        }
    }
}
