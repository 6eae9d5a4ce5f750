//! `cargo xtask docs`: the documents as a site, in `target/docs`.
//!
//! mdBook draws it. The index docs/README.md gives the parts and the order, so there is one index. A document
//! that it does not list, or a link that leads nowhere, is an error.

mod index;
mod links;
mod tools;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::process::run;

/// The documents and what they show: these folders and files of the repository, with their places.
const SOURCES: [&str; 7] = [
    "docs",
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
];

/// Makes the site. What target/docs held before goes.
pub fn make(repository: &Path) -> Result<()> {
    let mdbook = tools::mdbook(repository)?;
    let book = repository.join("target/book");
    let site = repository.join("target/docs");
    for folder in [&book, &site] {
        if folder.exists() {
            fs::remove_dir_all(folder)
                .with_context(|| format!("cannot remove {}", folder.display()))?;
        }
    }
    for source in SOURCES {
        copy(&repository.join(source), &book.join("src").join(source))?;
    }
    for setting in ["book.toml", "plots.js"] {
        fs::rename(book.join("src/docs").join(setting), book.join(setting))?;
    }
    let summary = index::summary(&files(&book.join("src"))?)?;
    fs::write(book.join("src/SUMMARY.md"), summary)?;
    run(Command::new(mdbook).arg("build").arg("--dest-dir").arg(&site).arg(&book))?;
    let broken = links::broken(&files(&site)?);
    ensure!(broken.is_empty(), "links of the site lead nowhere:\n{}", broken.join("\n"));
    Ok(())
}

/// Copies a file, or a folder with all that is in it.
fn copy(from: &Path, to: &Path) -> Result<()> {
    if !from.is_dir() {
        let parent = to.parent().context("a source has a folder")?;
        fs::create_dir_all(parent)?;
        fs::copy(from, to).with_context(|| format!("cannot copy {}", from.display()))?;
        return Ok(());
    }
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

/// Every file below a folder by its path there; those that are no text are empty.
fn files(folder: &Path) -> Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    let mut left = BTreeSet::from([String::new()]);
    while let Some(path) = left.pop_first() {
        let place = folder.join(&path);
        if !place.is_dir() {
            found.insert(path, String::from_utf8(fs::read(place)?).unwrap_or_default());
            continue;
        }
        for entry in fs::read_dir(place)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            left.insert(if path.is_empty() { name } else { format!("{path}/{name}") });
        }
    }
    Ok(found)
}

/// Whether a path ends in a dot and this.
fn has_suffix(path: &str, suffix: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == suffix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::repository;

    #[test]
    fn the_index_lists_every_document_in_four_parts() {
        let mut documents = BTreeMap::new();
        for source in SOURCES {
            let place = repository().join(source);
            if place.is_dir() {
                let below = files(&place).unwrap();
                documents.extend(
                    below.into_iter().map(|(path, text)| (format!("{source}/{path}"), text)),
                );
            } else {
                documents.insert(source.to_owned(), fs::read_to_string(place).unwrap());
            }
        }
        let summary = index::summary(&documents).unwrap();
        let parts: Vec<&str> =
            summary.lines().filter_map(|line| line.strip_prefix("# ")).skip(1).collect();
        assert_eq!(parts, ["Tutorials", "How-to", "Reference", "Explanation"]);
    }
}
