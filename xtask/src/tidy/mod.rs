//! The rules that keep the tree as `ARCHITECTURE.md` describes it, as a test.
//!
//! A rule looks at text, never at the machine, so that each is tested on sources that do not
//! exist. Nothing here understands Rust: comments and literals are blanked, what is left is
//! searched, and rustfmt's layout is relied upon. A rule that this is too coarse for belongs in
//! a lint.

pub mod figures;
mod imports;
mod markdown;
mod passage;
mod paths;
mod plain;
mod program;
mod purity;
mod rights;
mod shape;
mod source;
mod tree;
mod words;

use std::fmt;
use std::path::{Path, PathBuf};

pub(crate) use markdown::joined;
use source::Source;

/// One place that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// File, relative to the root of the repository.
    pub path: String,
    /// Line, from 1.
    pub line: usize,
    /// What is wrong; what to do instead.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// What a rule looks at.
#[derive(Clone, Copy)]
enum Rule {
    /// One file at a time.
    File(fn(&Source) -> Vec<Problem>),
    /// All files, because one answers for another.
    Tree(fn(&[Source]) -> Vec<Problem>),
}

/// Every rule, by the name that a failing canary prints.
const RULES: &[(&str, Rule)] = &[
    ("direction", Rule::File(imports::direction)),
    ("program", Rule::Tree(program::imports)),
    ("purity", Rule::File(purity::purity)),
    ("unsafe", Rule::File(purity::unsafe_only_in_sys)),
    ("rights", Rule::Tree(rights::rights)),
    ("file length", Rule::Tree(shape::file_length)),
    ("function length", Rule::File(shape::function_length)),
    ("module doc", Rule::File(shape::module_doc)),
    ("dead files", Rule::Tree(shape::dead_files)),
    ("banned words", Rule::File(words::banned_words)),
    ("banned names", Rule::File(words::banned_names)),
    ("machine paths", Rule::File(words::machine_paths)),
    ("plain words", Rule::File(plain::plain_words)),
    ("fronted", Rule::File(plain::fronted)),
    ("short sentences", Rule::File(plain::short_sentences)),
    ("one title", Rule::File(markdown::one_title)),
    ("links", Rule::Tree(markdown::links)),
    ("changelog", Rule::Tree(markdown::changelog)),
];

impl Rule {
    fn problems(self, sources: &[Source]) -> Vec<Problem> {
        match self {
            Self::File(check) => sources.iter().flat_map(check).collect(),
            Self::Tree(check) => check(sources),
        }
    }
}

/// The root of the repository this was built in.
pub fn repository() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package).to_path_buf()
}

/// Every problem in the tree below `root`, sorted by file and line.
pub fn check(root: &Path) -> anyhow::Result<Vec<Problem>> {
    let sources = tree::read(root)?;
    let mut problems: Vec<Problem> =
        RULES.iter().flat_map(|(_, rule)| rule.problems(&sources)).collect();
    problems.sort();
    Ok(problems)
}

/// Lines of problems, as a test shows them.
#[cfg(test)]
fn show(problems: &[Problem]) -> String {
    problems.iter().map(|problem| problem.to_string() + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_is_tidy() {
        let problems = check(&repository()).expect("the tree can be read");
        assert!(problems.is_empty(), "\n{}", show(&problems));
    }

    /// A canary: a rule that no longer finds anything in this tree has gone blind.
    #[test]
    fn every_rule_finds_its_problem_in_a_bad_tree() {
        let long = format!("fn f() {{\n{}}}\n", "    g();\n".repeat(301));
        let wordy = format!("# A\n\nIt goes {}.\n", "on and ".repeat(20));
        let bad = [
            ("crates/nbuf-core/src/cache/lru.rs", "use crate::experiment;\n"),
            ("crates/nbuf-core/src/units.rs", "unsafe { Instant::now() }\n"),
            ("crates/nbuf-core/src/clock.rs", long.as_str()),
            ("docs/a.md", "no title, a disk, [gone](b.md), /root/x, nobody. Of a, b\n"),
            ("docs/c.md", wordy.as_str()),
            ("crates/nbuf/src/open.rs", "use nbuf::sys;\nfn f() { File::open(p) }\n"),
            ("xtask/src/util.rs", "//! A junk drawer that nothing declares.\n"),
            ("CHANGELOG.md", "# Changelog\n"),
        ];
        let sources: Vec<Source> =
            bad.into_iter().map(|(path, text)| Source::new(path, text)).collect();
        for (name, rule) in RULES {
            assert!(!rule.problems(&sources).is_empty(), "{name} found nothing");
        }
    }
}
