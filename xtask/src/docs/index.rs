//! mdBook's table of contents, from the index for readers: docs/README.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use anyhow::{Context, Result, ensure};

use super::has_suffix;
use crate::tidy::joined;

const INDEX: &str = "docs/README.md";
/// The pages before the first part.
const FIRST: [(&str, &str); 2] = [("nbuf", "README.md"), ("Documentation", INDEX)];

/// A part for each section of the index, a chapter for each of its items that begins with a link to a document.
///
/// `files` are the documents by their paths. An error names those that the index does not list.
pub(super) fn summary(files: &BTreeMap<String, String>) -> Result<String> {
    let index = files.get(INDEX).with_context(|| format!("no {INDEX}"))?;
    let mut listed = BTreeSet::new();
    let mut summary = String::from("# Summary\n\n");
    for (title, path) in FIRST {
        writeln!(summary, "[{title}]({path})")?;
        listed.insert(path.to_owned());
    }
    for line in index.lines() {
        if let Some(section) = line.strip_prefix("## ") {
            let (part, _) = section.split_once(':').unwrap_or((section, ""));
            writeln!(summary, "\n# {part}\n")?;
        } else if let Some((indent, title, target)) = chapter(line) {
            let path = joined(INDEX, target);
            writeln!(summary, "{indent}- [{title}]({path})")?;
            ensure!(listed.insert(path), "{INDEX} lists {target} twice; keep one");
        }
    }
    let documents = files.keys().filter(|path| has_suffix(path, "md"));
    let missing: Vec<&str> =
        documents.map(String::as_str).filter(|&path| !listed.contains(path)).collect();
    ensure!(missing.is_empty(), "{INDEX} does not list {}; add a line", missing.join(", "));
    Ok(summary)
}

/// `  - [Title](file.md): more` as its indent, title and file.
fn chapter(line: &str) -> Option<(&str, &str, &str)> {
    let item = line.trim_start();
    let indent = &line[..line.len() - item.len()];
    let (title, rest) = item.strip_prefix("- [")?.split_once("](")?;
    let (target, _) = rest.split_once(')')?;
    has_suffix(target, "md").then_some((indent, title, target))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn documents(index: &str) -> BTreeMap<String, String> {
        let paths = ["README.md", "docs/a.md", "docs/b/c.md", "docs/d.svg"];
        let others = paths.map(|path| (path.to_owned(), String::new()));
        others.into_iter().chain([(INDEX.to_owned(), index.to_owned())]).collect()
    }

    #[test]
    fn sections_are_parts_and_items_are_chapters() {
        let index = "# Documentation\n\nSee [a](a.md).\n\n## Tutorials: learn\n\n- [A page](a.md): more,\n  \
                     and [again](a.md).\n  - a recipe;\n\n## Explanation\n\n- [C](b/c.md)\n  - [Net](https://x.org)\n";
        expect![[r"
            # Summary

            [nbuf](README.md)
            [Documentation](docs/README.md)

            # Tutorials

            - [A page](docs/a.md)

            # Explanation

            - [C](docs/b/c.md)
        "]]
        .assert_eq(&summary(&documents(index)).unwrap());
    }

    #[test]
    fn a_document_is_listed_once() {
        let error = |index| summary(&documents(index)).unwrap_err().to_string();
        expect!["docs/README.md does not list docs/b/c.md; add a line"]
            .assert_eq(&error("- [A](a.md)\n"));
        expect!["docs/README.md lists a.md twice; keep one"]
            .assert_eq(&error("- [A](a.md)\n- [B](a.md)\n"));
    }
}
