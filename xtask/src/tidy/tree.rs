//! Reads the text files of the repository.
//!
//! Git's list is best, because it leaves out what `.gitignore` names; an unpacked archive without
//! git is walked.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Context;

use super::source::Source;

/// Folders a walk does not enter.
const NOT_OURS: [&str; 5] = [".git", ".venv", "target", "corpus", "artifacts"];

/// Every file below `root` that is text, by its path relative to `root`, sorted.
pub(super) fn read(root: &Path) -> anyhow::Result<Vec<Source>> {
    let mut paths = match listed_by_git(root) {
        Some(paths) => paths,
        None => walked(root, "")?,
    };
    paths.sort();
    paths.dedup();
    let mut sources = Vec::new();
    for path in paths {
        // Git also lists what was deleted but not yet committed, and links to folders.
        let file = root.join(&path);
        if !file.is_file() {
            continue;
        }
        let bytes = fs::read(&file).with_context(|| format!("reading {path}"))?;
        if let Ok(text) = String::from_utf8(bytes) {
            sources.push(Source::new(&path, &text));
        }
    }
    anyhow::ensure!(
        !sources.is_empty(),
        "no files below {}; run this inside the repository",
        root.display()
    );
    Ok(sources)
}

/// Tracked files and new ones that are not ignored; nothing where git or its folder is missing.
fn listed_by_git(root: &Path) -> Option<Vec<String>> {
    if !root.join(".git").exists() {
        return None;
    }
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others"])
        .arg("--exclude-standard")
        .current_dir(root)
        .output()
        .ok()?;
    if !output.status.success() {
        return None;
    }
    let list = String::from_utf8(output.stdout).ok()?;
    Some(list.split_terminator('\0').map(ToOwned::to_owned).collect())
}

fn walked(root: &Path, folder: &str) -> anyhow::Result<Vec<String>> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(root.join(folder)).with_context(|| format!("listing {folder:?}"))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        let kind = entry.file_type()?;
        if kind.is_file() {
            paths.push(path);
        } else if kind.is_dir() && !NOT_OURS.contains(&name.as_str()) {
            paths.extend(walked(root, &path)?);
        }
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::super::repository;
    use super::*;

    #[test]
    fn git_and_a_walk_both_find_this_file() {
        let here = "xtask/src/tidy/tree.rs".to_owned();
        assert!(walked(&repository(), "").unwrap().contains(&here));
        if let Some(paths) = listed_by_git(&repository()) {
            assert!(paths.contains(&here));
        }
        assert!(read(&repository()).unwrap().iter().any(|s| s.path == here));
    }
}
