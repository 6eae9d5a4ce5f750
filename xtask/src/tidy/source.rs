//! One file, and its Rust with comments and literals blanked.
//!
//! Blanking keeps every line where it was, so a line found in `code` is the line in the file.

use std::ops::Range;

use super::Problem;

/// One text file of the repository.
pub(super) struct Source {
    /// Relative to the root, with `/`.
    pub(super) path: String,
    /// As it is in the file.
    pub(super) text: String,
    /// Rust with comments and literals blanked; empty for any other file.
    pub(super) code: String,
    /// How many lines come before the test module at the end; all of them if there is none.
    pub(super) lines_before_tests: usize,
}

impl Source {
    pub(super) fn new(path: &str, text: &str) -> Self {
        let code = if has_extension(path, "rs") { blank(text) } else { String::new() };
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
            lines_before_tests: lines_before_tests(&code).unwrap_or(text.lines().count()),
            code,
        }
    }

    pub(super) fn is(&self, extension: &str) -> bool {
        has_extension(&self.path, extension)
    }

    /// Whether the whole file is tests: an integration test, or a test module in its own file.
    pub(super) fn is_test(&self) -> bool {
        let (folder, file) = self.path.rsplit_once('/').unwrap_or(("", &self.path));
        folder.split('/').any(|part| part == "tests")
            || file == "tests.rs"
            || file.ends_with("_test.rs")
            || file.ends_with("_tests.rs")
    }

    /// The blanked code without its tests.
    pub(super) fn code_before_tests(&self) -> &str {
        if self.is_test() {
            return "";
        }
        let end: usize =
            self.code.split_inclusive('\n').take(self.lines_before_tests).map(str::len).sum();
        &self.code[..end]
    }

    /// `crates/nbuf-core/src/cache/kernel/mod.rs` is `["cache", "kernel"]`; `None` outside the library
    /// and for its root.
    pub(super) fn library_module(&self) -> Option<Vec<&str>> {
        let inside = self.path.strip_prefix("crates/nbuf-core/src/")?;
        let inside = inside.strip_suffix(".rs")?;
        let inside = inside.strip_suffix("/mod").unwrap_or(inside);
        (inside != "lib").then(|| inside.split('/').collect())
    }

    pub(super) fn problem(&self, line: usize, message: impl Into<String>) -> Problem {
        Problem { path: self.path.clone(), line, message: message.into() }
    }
}

/// Where `word` stands in `text` as a whole word, as byte offsets.
pub(super) fn find_words<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    text.match_indices(word).map(|(at, _)| at).filter(move |&at| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The line, from 1, of a byte offset.
pub(super) fn line_of(text: &str, offset: usize) -> usize {
    text[..offset].matches('\n').count() + 1
}

pub(super) fn has_extension(path: &str, extension: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, found)| found == extension)
}

/// Lines before an unindented `#[cfg(test)]` whose item is a module with a body.
fn lines_before_tests(code: &str) -> Option<usize> {
    let lines: Vec<&str> = code.lines().collect();
    (0..lines.len()).find(|&at| {
        let is_test_only =
            lines[at].starts_with("#[cfg(test)]") || lines[at].starts_with("#[cfg(all(test");
        let item = lines[at..].iter().find(|line| !line.starts_with("#["));
        is_test_only && item.is_some_and(|item| item.contains("mod ") && item.ends_with('{'))
    })
}

fn blank(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut end = 0;
    for opaque in opaque(text) {
        code.push_str(&text[end..opaque.start]);
        let blanked = text[opaque.clone()].chars();
        code.extend(blanked.map(|c| if c == '\n' { '\n' } else { ' ' }));
        end = opaque.end;
    }
    code.push_str(&text[end..]);
    code
}

/// The comments and literals of Rust, as ranges of bytes.
pub(super) fn opaque(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let (mut at, mut after_word) = (0, false);
    while let Some(first) = text[at..].chars().next() {
        let length = opaque_length(&text[at..], after_word);
        if length > 0 {
            found.push(at..at + length);
        }
        after_word = length == 0 && is_word(first);
        at += if length > 0 { length } else { first.len_utf8() };
    }
    found
}

/// Bytes of the comment or literal that `rest` begins with; 0 if it begins with code.
fn opaque_length(rest: &str, after_word: bool) -> usize {
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return block_comment_length(rest);
    }
    if after_word {
        // A quote cannot follow a word but in a macro; a prefix such as `r` would be its end.
        return 0;
    }
    let prefix = ["br", "cr", "b", "c", "r", ""]
        .into_iter()
        .find(|prefix| {
            rest.strip_prefix(prefix).is_some_and(|body| body.starts_with(['"', '#', '\'']))
        })
        .unwrap_or("");
    let body = &rest[prefix.len()..];
    let length = if prefix.ends_with('r') {
        raw_string_length(body)
    } else if body.starts_with('"') {
        Some(quoted_length(body, '"'))
    } else if body.starts_with('\'') {
        char_length(body)
    } else {
        None
    };
    length.map_or(0, |length| prefix.len() + length)
}

fn block_comment_length(rest: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

fn raw_string_length(body: &str) -> Option<usize> {
    let hashes = body.len() - body.trim_start_matches('#').len();
    let inside = body[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let closed = inside.find(&end).map_or(inside.len(), |at| at + end.len());
    Some(hashes + 1 + closed)
}

fn quoted_length(body: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in body.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    body.len()
}

/// A character literal, but not a lifetime or a label.
fn char_length(body: &str) -> Option<usize> {
    let mut inside = body[1..].chars();
    match (inside.next()?, inside.next()) {
        ('\\', _) => Some(quoted_length(body, '\'')),
        (c, Some('\'')) => Some(1 + c.len_utf8() + 1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn comments_and_literals_are_blanked_and_lines_stay() {
        let text = r##"use a; // disc
/* one /* two
*/ three */ fn f<'a>(x: &'a str) -> char { 'x' }
let s = "a \" b"; let r = r#"unsafe "q" "#; let b = b'\''; let n = '\n'; r#type;
'label: loop {}
"##;
        let blanked = blank(text);
        let got: Vec<&str> = blanked.lines().map(str::trim_end).collect();
        expect![[r"
            use a;

                        fn f<'a>(x: &'a str) -> char {     }
            let s =         ; let r =                 ; let b =      ; let n =     ; r#type;
            'label: loop {}"]]
        .assert_eq(&got.join("\n"));
    }

    #[test]
    fn the_test_module_at_the_end_is_left_out() {
        let text = "fn a() {}\n\n#[cfg(test)]\nmod tests;\n\n#[cfg(test)]\nmod t {\n}\n";
        let source = Source::new("a/src/lib.rs", text);
        assert_eq!(source.lines_before_tests, 5);
        assert_eq!(source.code_before_tests().lines().count(), 5);
        assert_eq!(Source::new("a.rs", "fn a() {}\n").lines_before_tests, 1);
        assert_eq!(Source::new("a/tests/b.rs", "fn a() {}\n").code_before_tests(), "");
    }

    #[test]
    fn a_path_names_its_module() {
        let module =
            |path: &str| Source::new(path, "").library_module().map(|parts| parts.join("::"));
        let cases = [
            ("crates/nbuf-core/src/units.rs", Some("units")),
            ("crates/nbuf-core/src/cache/mod.rs", Some("cache")),
            ("crates/nbuf-core/src/cache/kernel/model.rs", Some("cache::kernel::model")),
            ("crates/nbuf-core/src/lib.rs", None),
            ("crates/nbuf/src/main.rs", None),
        ];
        for (path, want) in cases {
            assert_eq!(module(path).as_deref(), want, "{path}");
        }
    }

    #[test]
    fn words_are_whole() {
        let found: Vec<usize> = find_words("unsafe unsafe_code (unsafe)", "unsafe").collect();
        assert_eq!(found, [0, 20]);
    }
}
