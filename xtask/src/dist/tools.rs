//! What a release is made with, and how to install what is missing: before an hour of compiling, not after.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::Parts;

/// Compiles the C of dependencies for musl.
pub(super) const MUSL_COMPILER: &str = "musl-gcc";

/// Programs on the `PATH`: for which parts, and the command that installs each.
const PROGRAMS: [(&str, Parts, &str); 4] = [
    (MUSL_COMPILER, Parts::Binary, "apt-get install musl-tools"),
    ("cargo-deb", Parts::All, "cargo install --locked cargo-deb"),
    ("cargo-generate-rpm", Parts::All, "cargo install --locked cargo-generate-rpm"),
    // It finds what the .deb depends on.
    ("dpkg-shlibdeps", Parts::All, "apt-get install dpkg-dev"),
];

/// One line about the first thing that is missing.
pub(super) fn missing(parts: Parts, musl: &str) -> Result<Option<String>> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<_> = std::env::split_paths(&path).collect();
    let has_program = |name: &str| folders.iter().any(|folder| folder.join(name).is_file());
    Ok(first_missing(parts, musl, has_target(musl)?, has_program))
}

fn first_missing(
    parts: Parts,
    musl: &str,
    has_target: bool,
    has_program: impl Fn(&str) -> bool,
) -> Option<String> {
    if !has_target {
        return Some(format!(
            "no standard library for {musl}; install it: `rustup target add {musl}`"
        ));
    }
    let mut needed = PROGRAMS.iter().filter(|&&(_, of, _)| of == Parts::Binary || of == parts);
    let (program, _, install) = needed.find(|(name, ..)| !has_program(name))?;
    Some(format!("no program `{program}`; install it: `{install}`"))
}

/// Whether the compiler has a standard library for this target.
fn has_target(target: &str) -> Result<bool> {
    let mut rustc = Command::new("rustc");
    let printed = rustc.args(["--print", "target-libdir", "--target", target]).output();
    let printed = printed.context("cannot run rustc")?.stdout;
    Ok(Path::new(String::from_utf8_lossy(&printed).trim()).is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_missing_thing_is_one_line_with_a_command() {
        let check = |parts, has_target, programs: &[&str], want: &str| {
            let line = first_missing(parts, "t-musl", has_target, |name| programs.contains(&name));
            assert_eq!(line.as_deref().unwrap_or(""), want);
        };
        check(
            Parts::Binary,
            false,
            &[],
            "no standard library for t-musl; install it: `rustup target add t-musl`",
        );
        check(
            Parts::Binary,
            true,
            &[],
            "no program `musl-gcc`; install it: `apt-get install musl-tools`",
        );
        check(Parts::Binary, true, &["musl-gcc"], "");
        check(
            Parts::All,
            true,
            &["musl-gcc"],
            "no program `cargo-deb`; install it: `cargo install --locked cargo-deb`",
        );
    }
}
