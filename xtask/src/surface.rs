//! The public surface of the library, one line an item, as `docs/public-surface.txt` keeps it.
//!
//! rustdoc describes the surface as JSON on a nightly toolchain alone, in a format that changes from
//! month to month. So one nightly is pinned, and where it is absent nothing is compared.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

/// The release of the toolchain `nightly` whose JSON the crate `public-api` reads.
const NIGHTLY: &str = "1.97.0-nightly";
/// Where the surface is kept.
pub(crate) const KEPT: &str = "docs/public-surface.txt";
/// Differing lines that a failed comparison prints at most.
const LINES_MAX: usize = 40;

/// Why nothing can be compared here, if so.
pub fn missing() -> Option<String> {
    let output = Command::new("rustup").args(["run", "nightly", "rustc", "--version"]).output();
    let version = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    let is_there = version.is_ok_and(|version| version.contains(NIGHTLY));
    (!is_there).then(|| format!("the public surface is not compared: no toolchain {NIGHTLY}"))
}

/// Writes the surface of the library to its file.
pub fn write(root: &Path) -> anyhow::Result<()> {
    fs::write(root.join(KEPT), surface(root)?).with_context(|| format!("writing {KEPT}"))
}

/// Fails if the surface of the library is not the one in its file.
pub fn compare(root: &Path) -> anyhow::Result<()> {
    let kept = fs::read_to_string(root.join(KEPT)).with_context(|| format!("reading {KEPT}"))?;
    let differing = differing(&kept, &surface(root)?);
    ensure!(
        differing.is_empty(),
        "the public surface is not the one in {KEPT}; if that is intended, run \
         `cargo xtask surface write` and say so in CHANGELOG.md:\n{}",
        differing.join("\n")
    );
    Ok(())
}

/// One line for each public item, in the order of their paths. Derived and blanket implementations are
/// left out.
fn surface(root: &Path) -> anyhow::Result<String> {
    let surface = public_api::Builder::from_rustdoc_json(described(root)?)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build()
        .context("reading what rustdoc wrote")?;
    let lines: Vec<String> = surface.items().map(ToString::to_string).collect();
    Ok(lines.join("\n") + "\n")
}

/// Has rustdoc describe the library with all its features.
fn described(root: &Path) -> anyhow::Result<PathBuf> {
    let target = root.join("target/surface");
    let status = Command::new("cargo")
        .args(["+nightly", "rustdoc", "--quiet", "--locked", "--lib", "-p", "nbuf-core"])
        .args(["--all-features", "--target-dir"])
        .arg(&target)
        .args(["--", "-Z", "unstable-options", "--output-format", "json", "--cap-lints", "allow"])
        .current_dir(root)
        // Set by the toolchain that runs this chore.
        .env_remove("RUSTUP_TOOLCHAIN")
        .env_remove("CARGO")
        .status()
        .context("running cargo +nightly rustdoc")?;
    ensure!(status.success(), "cargo +nightly rustdoc failed: {status}");
    Ok(target.join("doc/nbuf.json"))
}

/// The lines that only one of the two has, with `-` before those that are gone.
fn differing(kept: &str, made: &str) -> Vec<String> {
    let only_in = |one: &str, other: &str, mark: &str| -> Vec<String> {
        let others: std::collections::HashSet<&str> = other.lines().collect();
        let only = one.lines().filter(|line| !others.contains(line));
        only.map(|line| format!("{mark}{line}")).collect()
    };
    let mut lines = only_in(kept, made, "-");
    lines.extend(only_in(made, kept, "+"));
    let more = lines.len().saturating_sub(LINES_MAX);
    if more > 0 {
        lines.truncate(LINES_MAX);
        lines.push(format!("... and {more} more"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_one_side_alone_differ() {
        assert_eq!(differing("a\nb\n", "b\nc\n"), ["-a", "+c"]);
        assert_eq!(differing("a\n", "a\n"), Vec::<String>::new());
        let many: Vec<String> = (0..50).map(|n| n.to_string()).collect();
        let lines = differing("", &many.join("\n"));
        assert_eq!((lines.len(), lines[40].as_str()), (41, "... and 10 more"));
    }
}
