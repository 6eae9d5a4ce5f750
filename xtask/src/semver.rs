//! `cargo xtask semver`: breaking changes of the library since its last release, by `cargo semver-checks`.
//!
//! The last release is the last tag such as `v0.1.0` before the commit that is checked out. Without a tag, or without the
//! program, there is nothing to compare, and one line says so.

use std::io;
use std::path::Path;
use std::process::{Command, Output};

use anyhow::Result;

use crate::process::run;

/// The packages whose public items a version promises. The others are programs, or parts of one.
const PACKAGES: [&str; 1] = ["nbuf-core"];

/// What to compare with, or why nothing is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Baseline {
    /// The tag of the last release.
    Tag(String),
    /// One line for the user.
    Missing(String),
}

/// Finds the last tag, and the program that compares.
pub fn baseline(root: &Path) -> Baseline {
    let mut git = Command::new("git");
    let described = git
        .args(["describe", "--tags", "--abbrev=0", "--match", "v[0-9]*"])
        .current_dir(root)
        .output();
    choose(tag(described), || {
        let version = Command::new("cargo").args(["semver-checks", "--version"]).output();
        version.is_ok_and(|output| output.status.success())
    })
}

/// Fails if a version that follows the tag without a new major number would break its users.
pub fn compare(root: &Path, tag: &str) -> Result<()> {
    run(Command::new("cargo").args(arguments(tag)).current_dir(root))
}

fn choose(tag: Option<String>, has_program: impl FnOnce() -> bool) -> Baseline {
    let Some(tag) = tag else {
        let line =
            "the library is compared with no release: there is no tag `v…` before this commit";
        return Baseline::Missing(line.to_owned());
    };
    if has_program() {
        return Baseline::Tag(tag);
    }
    Baseline::Missing(format!(
        "the library is not compared with {tag}: no program `cargo-semver-checks`; install it: \
         `cargo install --locked cargo-semver-checks`"
    ))
}

/// The tag that git has found. Without a repository there is none.
fn tag(described: io::Result<Output>) -> Option<String> {
    let output = described.ok().filter(|output| output.status.success())?;
    let name = String::from_utf8(output.stdout).ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

fn arguments(tag: &str) -> Vec<&str> {
    let mut arguments = vec!["semver-checks", "--baseline-rev", tag];
    arguments.extend(PACKAGES.iter().flat_map(|package| ["--package", package]));
    arguments
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use super::*;

    fn printed(status: i32, text: &str) -> Output {
        let status = ExitStatus::from_raw(status << 8);
        Output { status, stdout: text.into(), stderr: Vec::new() }
    }

    #[test]
    fn the_tag_is_a_line_of_git() {
        assert_eq!(tag(Ok(printed(0, "v0.1.0\n"))).as_deref(), Some("v0.1.0"));
        assert_eq!(tag(Ok(printed(0, "\n"))), None);
        assert_eq!(tag(Ok(printed(128, ""))), None);
        assert_eq!(tag(Err(io::ErrorKind::NotFound.into())), None);
    }

    #[test]
    fn what_is_missing_is_one_line() {
        let line =
            |tag: Option<&str>, has_program| match choose(tag.map(str::to_owned), || has_program) {
                Baseline::Missing(line) => line,
                Baseline::Tag(tag) => format!("tag {tag}"),
            };
        assert_eq!(line(Some("v1"), true), "tag v1");
        assert!(line(None, true).contains("there is no tag `v…`"));
        assert!(line(Some("v1"), false).ends_with("`cargo install --locked cargo-semver-checks`"));
        for missing in [line(None, false), line(Some("v1"), false)] {
            assert_eq!(missing.lines().count(), 1);
        }
    }

    #[test]
    fn the_library_is_compared_with_the_tag() {
        let want = ["semver-checks", "--baseline-rev", "v1", "--package", "nbuf-core"];
        assert_eq!(arguments("v1"), want);
    }
}
