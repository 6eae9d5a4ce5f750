//! How right the model of a disc is: five measured drives, replayed, into docs/experiments/discs.md.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Runs the example that compares, and puts its table between the marks of the document.
pub fn write(repository: &Path) -> Result<()> {
    let run = Command::new("cargo")
        .args(["run", "--quiet", "--package", "nbuf", "--example", "discs"])
        .current_dir(repository)
        .output()
        .context("running cargo")?;
    let said = String::from_utf8_lossy(&run.stderr);
    ensure!(run.status.success(), "the example `discs` failed; are the drives there? {said}");
    let table = String::from_utf8(run.stdout)?;
    let path = repository.join("docs/experiments/discs.md");
    let document = std::fs::read_to_string(&path)?;
    std::fs::write(path, crate::accuracy::between(&document, "drives", table.trim_end())?)?;
    Ok(())
}
