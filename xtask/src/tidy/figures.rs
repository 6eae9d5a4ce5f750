//! Figures of the tree, for the last section of `ARCHITECTURE.md`.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::shape::{function_lines, function_name};
use super::source::Source;
use super::tree;
use crate::surface;

/// The pages and reports of the program.
const SHOW: &str = "crates/nbuf/src/show";

/// A table of lines, public items, the longest function and file, and the median file. Tests do not
/// count.
///
/// # Errors
///
/// A file that cannot be read, such as the list of the public surface.
pub fn table(root: &Path) -> anyhow::Result<String> {
    let sources: Vec<Source> = tree::read(root)?
        .into_iter()
        .filter(|source| source.is("rs") && !source.is_test() && source.path.contains("/src/"))
        .collect();
    let lines = |source: &Source| source.lines_before_tests;
    let show: usize =
        sources.iter().filter(|source| source.path.starts_with(SHOW)).map(lines).sum();
    let surface = fs::read_to_string(root.join(surface::KEPT))?;
    let public = surface.lines().filter(|line| is_item(line)).count();
    let mut lengths: Vec<usize> = sources.iter().map(lines).collect();
    lengths.sort_unstable();
    let longest = sources.iter().max_by_key(|source| source.lines_before_tests);
    let functions = sources.iter().flat_map(functions).max();
    let mut text = String::from("| figure | value |\n|---|---|\n");
    let _ = writeln!(text, "| lines of `show` | {show} |");
    let _ = writeln!(text, "| public items of the library | {public} |");
    if let Some((length, name, path)) = functions {
        let _ = writeln!(text, "| longest function | {length} lines, `{name}` in {path} |");
    }
    if let Some(file) = longest {
        let _ =
            writeln!(text, "| longest file | {} lines, {} |", file.lines_before_tests, file.path);
    }
    let median = lengths.get(lengths.len() / 2).copied().unwrap_or(0);
    let _ = writeln!(text, "| median file | {median} lines, of {} files |", lengths.len());
    Ok(text)
}

/// Whether a line of the public surface is an item: fields, variants and implementations are parts of one.
fn is_item(line: &str) -> bool {
    line.starts_with("pub ") && !line.starts_with("pub nbuf::")
}

fn functions(source: &Source) -> Vec<(usize, String, String)> {
    let lines: Vec<&str> = source.code_before_tests().lines().collect();
    let named = lines.iter().enumerate().filter_map(|(at, line)| Some((at, function_name(line)?)));
    named
        .map(|(at, name)| (function_lines(&lines[at..]), name.to_owned(), source.path.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_and_functions_are_counted() {
        let lines =
            ["pub fn nbuf::f(u32)", "pub nbuf::S::x: u8", "impl nbuf::S", "pub struct nbuf::S"];
        assert_eq!(lines.map(is_item), [true, false, false, true]);
        let text = "pub fn f() {\n    g();\n}\npub(crate) struct S {\n    pub x: u8,\n}\n\
                    #[cfg(test)]\nmod tests {\n    pub fn t() {}\n}\n";
        let source = Source::new("crates/nbuf-core/src/a.rs", text);
        assert_eq!(
            functions(&source),
            [(3, "f".to_owned(), "crates/nbuf-core/src/a.rs".to_owned())]
        );
    }
}
