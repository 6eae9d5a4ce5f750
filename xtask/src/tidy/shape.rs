//! The shape of source files: how long, how documented, how reached.

use std::collections::BTreeMap;

use super::Problem;
use super::source::{Source, find_words};

/// Lines a file may have before its tests.
const FILE_LINES: usize = 300;
/// Lines a file of tests may have, and an exception at most.
const FILE_LINES_CAP: usize = 500;
/// Lines a function may have.
const FUNCTION_LINES: usize = 70;

/// A ratchet: files that are longer, with the length they have. A row only ever goes down.
const LONG_FILES: &[(&str, usize)] = &[];

/// Files are short, and the ones that are not do not grow.
pub(super) fn file_length(sources: &[Source]) -> Vec<Problem> {
    file_length_with(sources, LONG_FILES)
}

fn file_length_with(sources: &[Source], exceptions: &[(&str, usize)]) -> Vec<Problem> {
    let mut left: BTreeMap<&str, usize> = exceptions.iter().copied().collect();
    let mut problems = Vec::new();
    for source in sources.iter().filter(|source| source.is("rs")) {
        let lines = source.lines_before_tests;
        let ordinary = if source.is_test() { FILE_LINES_CAP } else { FILE_LINES };
        let message = match left.remove(source.path.as_str()) {
            None if lines > ordinary => {
                format!("{lines} lines, {ordinary} at most; move one of its subjects out")
            }
            Some(_) if lines > FILE_LINES_CAP => {
                format!("{lines} lines, an exception ends at {FILE_LINES_CAP}; split the file")
            }
            Some(row) if lines > row => {
                format!("grew from {row} to {lines} lines; move something out rather than in")
            }
            Some(_) if lines <= ordinary => {
                "is short enough by now; take its row out of LONG_FILES".to_owned()
            }
            Some(row) if lines < row => {
                format!("shrank to {lines} lines; lower its row in LONG_FILES from {row}")
            }
            _ => continue,
        };
        problems.push(source.problem(1, message));
    }
    problems.extend(left.into_keys().map(|path| Problem {
        path: path.to_owned(),
        line: 1,
        message: "does not exist; take its row out of LONG_FILES".to_owned(),
    }));
    problems
}

/// Functions fit on a screen. Counted from the line with `fn` to the brace below it.
pub(super) fn function_length(source: &Source) -> Vec<Problem> {
    let lines: Vec<&str> = source.code.lines().collect();
    let mut problems = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(name) = function_name(line) else {
            continue;
        };
        let length = function_lines(&lines[at..]);
        if length > FUNCTION_LINES {
            let message = format!(
                "`{name}` has {length} lines, {FUNCTION_LINES} at most; give its steps names"
            );
            problems.push(source.problem(at + 1, message));
        }
    }
    problems
}

/// The function that a line begins to define.
pub(super) fn function_name(line: &str) -> Option<&str> {
    let at = find_words(line, "fn").next()?;
    let before = line[..at].split_whitespace().all(|word| {
        let word = word.split('(').next().unwrap_or(word);
        let ends_pub_in = word.ends_with(')');
        ["pub", "const", "async", "unsafe", "extern", "default"].contains(&word) || ends_pub_in
    });
    let name = line[at + 2..].trim_start();
    let end = name.find(['(', '<'])?;
    (before && end > 0).then(|| &name[..end])
}

/// Lines from the first, which has `fn`, to the brace that closes it.
pub(super) fn function_lines(lines: &[&str]) -> usize {
    let first = lines[0].trim_end();
    if first.ends_with(['}', ';']) {
        return 1;
    }
    let indentation = &first[..first.len() - first.trim_start().len()];
    let body = lines[1..].iter().position(|line| {
        let Some(text) = line.strip_prefix(indentation) else {
            return false;
        };
        let is_same_indentation = !text.starts_with(char::is_whitespace);
        // The declaration of a trait's method has no body and ends in `;`.
        let is_declaration = text.trim_end().ends_with(';');
        is_same_indentation && (text.trim_end() == "}" || is_declaration)
    });
    body.map_or(lines.len(), |last| last + 2)
}

/// A source file says what it is before it says anything else.
pub(super) fn module_doc(source: &Source) -> Vec<Problem> {
    if !source.is("rs") || source.text.starts_with("//!") {
        return Vec::new();
    }
    vec![source.problem(1, "does not begin with `//!`; say in a sentence what the file is")]
}

/// Every file below a `src` is declared by the module above it.
pub(super) fn dead_files(sources: &[Source]) -> Vec<Problem> {
    let by_path: BTreeMap<&str, &Source> =
        sources.iter().map(|source| (source.path.as_str(), source)).collect();
    sources
        .iter()
        .filter_map(|source| {
            let (name, parents) = module_and_parents(&source.path)?;
            let is_declared = parents.iter().any(|parent| {
                by_path.get(parent.as_str()).is_some_and(|parent| declares(&parent.code, name))
            });
            (!is_declared).then(|| {
                let parents = parents.join(" or ");
                source.problem(
                    1,
                    format!(
                        "is never compiled; declare `mod {name};` in {parents}, or delete the file"
                    ),
                )
            })
        })
        .collect()
}

/// The name of the module in a file, and the files that could declare it; `None` for the root of
/// a crate and outside `src`.
fn module_and_parents(path: &str) -> Option<(&str, Vec<String>)> {
    let in_crates = path.starts_with("crates/") || path.starts_with("xtask/");
    let (package, inside) = path.split_once("/src/").filter(|_| in_crates)?;
    let module = inside.strip_suffix(".rs")?;
    let module = module.strip_suffix("/mod").unwrap_or(module);
    let is_root = ["lib", "main"].contains(&module) || module.starts_with("bin/");
    if is_root {
        return None;
    }
    Some(match module.rsplit_once('/') {
        None => {
            let roots = ["lib", "main"].map(|root| format!("{package}/src/{root}.rs"));
            (module, roots.to_vec())
        }
        Some((above, name)) => {
            let above = format!("{package}/src/{above}");
            (name, vec![format!("{above}/mod.rs"), format!("{above}.rs")])
        }
    })
}

fn declares(code: &str, name: &str) -> bool {
    find_words(code, "mod").any(|at| {
        let declared = code[at + 3..].trim_start().strip_prefix(name);
        declared.is_some_and(|rest| rest.trim_start().starts_with(';'))
    })
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::show;
    use super::*;

    fn lines(count: usize) -> String {
        "f();\n".repeat(count)
    }

    #[test]
    fn long_files_are_found_and_the_ratchet_turns_one_way() {
        let tested = format!("{}#[cfg(test)]\nmod tests {{\n{}}}\n", lines(300), lines(99));
        let files = [
            ("a/src/fits.rs", tested),
            ("a/src/long.rs", lines(301)),
            ("a/tests/fits.rs", lines(500)),
            ("a/tests/long.rs", lines(501)),
            ("a/src/row.rs", lines(400)),
            ("a/src/grew.rs", lines(401)),
            ("a/src/shrank.rs", lines(399)),
            ("a/src/mended.rs", lines(10)),
            ("a/src/huge.rs", lines(501)),
        ];
        let sources: Vec<Source> =
            files.iter().map(|(path, text)| Source::new(path, text)).collect();
        let rows = [
            ("a/src/row.rs", 400),
            ("a/src/grew.rs", 400),
            ("a/src/shrank.rs", 400),
            ("a/src/mended.rs", 400),
            ("a/src/huge.rs", 501),
            ("a/src/gone.rs", 400),
        ];
        expect![[r"
            a/src/long.rs:1: 301 lines, 300 at most; move one of its subjects out
            a/tests/long.rs:1: 501 lines, 500 at most; move one of its subjects out
            a/src/grew.rs:1: grew from 400 to 401 lines; move something out rather than in
            a/src/shrank.rs:1: shrank to 399 lines; lower its row in LONG_FILES from 400
            a/src/mended.rs:1: is short enough by now; take its row out of LONG_FILES
            a/src/huge.rs:1: 501 lines, an exception ends at 500; split the file
            a/src/gone.rs:1: does not exist; take its row out of LONG_FILES
        "]]
        .assert_eq(&show(&file_length_with(&sources, &rows)));
    }

    #[test]
    fn long_functions_are_found() {
        let body = |count: usize| "        g();\n".repeat(count);
        let text = format!(
            "trait T {{\n    fn declared(\n        x: u8,\n    );\n    fn short(&self) {{}}\n}}\n\
             impl T {{\n    pub(crate) const fn fits(&self) {{\n{}    }}\n\
             \x20   pub async fn long<T>(\n        x: T,\n    ) where\n        T: Copy,\n    {{\n{}    }}\n}}\n\
             type F = fn(u8);\n// fn comment() {{\n",
            body(68),
            body(66),
        );
        let source = Source::new("a.rs", &text);
        expect![[r"
            a.rs:78: `long` has 72 lines, 70 at most; give its steps names
        "]]
        .assert_eq(&show(&function_length(&source)));
    }

    #[test]
    fn a_file_without_its_sentence_is_found() {
        assert_eq!(show(&module_doc(&Source::new("a.rs", "//! A.\n"))), "");
        assert_eq!(show(&module_doc(&Source::new("a.md", "A.\n"))), "");
        expect![[r"
            a.rs:1: does not begin with `//!`; say in a sentence what the file is
        "]]
        .assert_eq(&show(&module_doc(&Source::new("a.rs", "use b;\n//! A.\n"))));
    }

    #[test]
    fn files_that_nothing_declares_are_found() {
        let sources = [
            ("crates/a/src/lib.rs", "pub mod b;\nmod c { }\n// mod dead;\n"),
            ("crates/a/src/b/mod.rs", "#[cfg(test)]\nmod tests;\nmod e;\n"),
            ("crates/a/src/b/tests.rs", ""),
            ("crates/a/src/b/e.rs", "pub(super) mod f;"),
            ("crates/a/src/b/e/f.rs", ""),
            ("crates/a/src/c.rs", ""),
            ("crates/a/src/dead.rs", ""),
            ("crates/a/src/b/old.rs", ""),
            ("crates/a/src/bin/tool.rs", ""),
            ("crates/a/tests/t.rs", ""),
            ("xtask/src/main.rs", "mod g;"),
            ("xtask/src/g.rs", ""),
        ]
        .map(|(path, text)| Source::new(path, text));
        expect![[r"
            crates/a/src/c.rs:1: is never compiled; declare `mod c;` in crates/a/src/lib.rs or crates/a/src/main.rs, or delete the file
            crates/a/src/dead.rs:1: is never compiled; declare `mod dead;` in crates/a/src/lib.rs or crates/a/src/main.rs, or delete the file
            crates/a/src/b/old.rs:1: is never compiled; declare `mod old;` in crates/a/src/b/mod.rs or crates/a/src/b.rs, or delete the file
        "]].assert_eq(&show(&dead_files(&sources)));
    }
}
