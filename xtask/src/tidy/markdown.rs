//! Documents: one title each, links that lead somewhere, a changelog that is kept.

use std::collections::BTreeSet;

use super::Problem;
use super::source::Source;

/// A document has one title.
pub(super) fn one_title(source: &Source) -> Vec<Problem> {
    if !source.is("md") {
        return Vec::new();
    }
    let titles: Vec<usize> = prose(&source.text)
        .filter(|(_, line)| line.starts_with("# "))
        .map(|(number, _)| number)
        .collect();
    match titles.as_slice() {
        [_] => Vec::new(),
        [] => vec![source.problem(1, "has no title; begin with `# Title`")],
        [_, more @ ..] => {
            more.iter().map(|&line| source.problem(line, "is a second title; write `##`")).collect()
        }
    }
}

/// A relative link leads to a file or folder of the tree.
pub(super) fn links(sources: &[Source]) -> Vec<Problem> {
    let mut places: BTreeSet<&str> = BTreeSet::from([""]);
    for source in sources {
        places.insert(&source.path);
        places.extend(source.path.match_indices('/').map(|(at, _)| &source.path[..at]));
    }
    let mut problems = Vec::new();
    for source in sources.iter().filter(|source| source.is("md")) {
        for (number, line) in prose(&source.text) {
            for link in relative_links(&line) {
                if !places.contains(joined(&source.path, &link).as_str()) {
                    let message = format!(
                        "the link `{link}` leads nowhere; mend it or write what it should show"
                    );
                    problems.push(source.problem(number, message));
                }
            }
        }
    }
    problems
}

/// What has changed since the last release has a place to be written.
pub(super) fn changelog(sources: &[Source]) -> Vec<Problem> {
    let changelog = sources.iter().find(|source| source.path == "CHANGELOG.md");
    let is_kept = changelog.is_some_and(|source| {
        prose(&source.text).any(|(_, line)| ["## Unreleased", "## [Unreleased]"].contains(&&*line))
    });
    if is_kept {
        return Vec::new();
    }
    vec![Problem {
        path: "CHANGELOG.md".to_owned(),
        line: 1,
        message: "has no section `## Unreleased`; add it and say there what changes".to_owned(),
    }]
}

/// Lines outside fenced code, from 1, with `inline code` taken out.
pub(super) fn prose(text: &str) -> impl Iterator<Item = (usize, String)> {
    let mut fence: Option<&str> = None;
    text.lines().enumerate().filter_map(move |(number, line)| {
        let mark = ["```", "~~~"].into_iter().find(|mark| line.trim_start().starts_with(mark));
        match (fence, mark) {
            (None, None) => Some((number + 1, without_code(line))),
            (None, Some(mark)) => {
                fence = Some(mark);
                None
            }
            (Some(open), mark) => {
                if mark == Some(open) {
                    fence = None;
                }
                None
            }
        }
    })
}

fn without_code(line: &str) -> String {
    let parts: Vec<&str> = line.split('`').collect();
    let last = parts.len() - 1;
    parts
        .iter()
        .enumerate()
        // Every second part is code, except what follows a backquote without its pair.
        .filter(|(at, _)| at % 2 == 0 || *at == last)
        .map(|(_, part)| *part)
        .collect()
}

/// Targets of `[text](target)` and `[name]: target` that are not addresses on the net.
fn relative_links(line: &str) -> Vec<String> {
    let inline = line
        .match_indices("](")
        .filter_map(|(at, _)| line[at + 2..].split_once(')').map(|(target, _)| target));
    let reference =
        line.strip_prefix('[').and_then(|rest| rest.split_once("]: ")).map(|(_, target)| target);
    inline
        .chain(reference)
        .filter_map(|target| {
            let target = target.split_whitespace().next()?;
            let target = target.trim_start_matches('<').trim_end_matches('>');
            let file = target.split('#').next().unwrap_or("");
            let is_elsewhere = file.contains("://") || file.starts_with("mailto:");
            (!file.is_empty() && !is_elsewhere).then(|| file.to_owned())
        })
        .collect()
}

/// Where a link in the file `from` leads, relative to the root.
pub(crate) fn joined(from: &str, link: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "" | "." => {}
            // Above the root there is nothing of ours: kept, so that it is not found.
            ".." if parts.is_empty() => parts.push(".."),
            ".." => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::show;
    use super::*;

    #[test]
    fn a_document_has_one_title() {
        let fine = "# A\n\n## B\n\n```sh\n# a comment\n```\n";
        assert_eq!(show(&one_title(&Source::new("a.md", fine))), "");
        assert_eq!(show(&one_title(&Source::new("a.rs", "//! A."))), "");
        let got = ["no title\n", "# A\n\n# B\n"]
            .map(|text| show(&one_title(&Source::new("a.md", text))))
            .concat();
        expect![[r"
            a.md:1: has no title; begin with `# Title`
            a.md:3: is a second title; write `##`
        "]]
        .assert_eq(&got);
    }

    #[test]
    fn links_that_lead_nowhere_are_found() {
        let text = "# A\n[up](../README.md) [folder](decisions/) [here](b.md#part) [top](#a)\n\
                    [net](https://example.org/x.md) `[code](no.md)` ![plot](plot.svg \"title\")\n\
                    [out](../../x.md)\n\n[gone]: c.md\n```\n[fenced](no.md)\n```\n";
        let sources = [
            ("docs/a.md", text),
            ("docs/b.md", ""),
            ("docs/decisions/0001.md", ""),
            ("README.md", "[a](docs/a.md) [root](.)"),
        ]
        .map(|(path, text)| Source::new(path, text));
        expect![[r"
            docs/a.md:3: the link `plot.svg` leads nowhere; mend it or write what it should show
            docs/a.md:4: the link `../../x.md` leads nowhere; mend it or write what it should show
            docs/a.md:6: the link `c.md` leads nowhere; mend it or write what it should show
        "]]
        .assert_eq(&show(&links(&sources)));
    }

    #[test]
    fn a_changelog_without_a_place_to_write_is_found() {
        let kept = Source::new("CHANGELOG.md", "# Changelog\n\n## Unreleased\n");
        assert_eq!(show(&changelog(&[kept])), "");
        let old = Source::new("CHANGELOG.md", "# Changelog\n\n## 0.1.0\n");
        expect![[r"
            CHANGELOG.md:1: has no section `## Unreleased`; add it and say there what changes
        "]]
        .assert_eq(&show(&changelog(&[old])));
    }
}
