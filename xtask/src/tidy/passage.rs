//! The words that people read: paragraphs of documents, comments and string literals of Rust.
//!
//! A passage keeps its lines, so that a phrase that breaks over two of them is found and the line of
//! a word is the line in the file. Names of code are blanked: between backquotes, and between the
//! braces of a literal. Literals of tests are left out, since they quote others.

use super::markdown::prose;
use super::source::{Source, line_of, opaque};

/// Escapes of a literal that stand between words.
const ESCAPES: [&str; 3] = ["\\n", "\\t", "\\\""];

/// Neighbouring lines that belong together.
pub(super) struct Passage {
    /// The line, from 1, that it begins on.
    line: usize,
    /// Its lines, without the marks of comments and literals.
    text: String,
}

impl Passage {
    fn new(line: usize, text: &str) -> Self {
        Self { line, text: text.to_owned() }
    }

    /// As one line, whose bytes are at the offsets that [`Self::line_at`] takes.
    pub(super) fn joined(&self) -> String {
        self.text.replace('\n', " ")
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The line in the file of a byte of the text.
    pub(super) fn line_at(&self, offset: usize) -> usize {
        self.line - 1 + line_of(&self.text, offset)
    }

    fn push(&mut self, line: &str) {
        self.text.push('\n');
        self.text.push_str(line);
    }

    fn blank(mut self, marks: &[(char, char)]) -> Self {
        self.text = blanked(&self.text, marks);
        self
    }
}

/// The passages of a document outside of generated tables, or of Rust; none of other files.
pub(super) fn passages(source: &Source) -> Vec<Passage> {
    if source.is("rs") {
        return in_rust(source);
    }
    if !source.is("md") && !source.is("trycmd") {
        return Vec::new();
    }
    let mut passages: Vec<Passage> = Vec::new();
    let (mut is_generated, mut before) = (false, 0);
    for (number, line) in prose(&source.text) {
        if line.starts_with("<!-- ") {
            is_generated = !line.starts_with("<!-- end");
        }
        if is_generated {
            continue;
        }
        match passages.last_mut() {
            Some(passage) if number == before + 1 => passage.push(&line),
            _ => passages.push(Passage::new(number, &line)),
        }
        before = number;
    }
    passages
}

/// Neighbouring comments are one passage, a literal is one.
fn in_rust(source: &Source) -> Vec<Passage> {
    let text = &source.text;
    let (mut comments, mut literals): (Vec<Passage>, Vec<Passage>) = (Vec::new(), Vec::new());
    // Where the last comment ended, and the line on which the last comment or literal ended.
    let (mut comment_end, mut end, mut line) = (0, 0, 1);
    for range in opaque(text) {
        line += text[end..range.start].matches('\n').count();
        let piece = &text[range.clone()];
        if piece.starts_with("//") {
            let body = comment(piece);
            let between = &text[comment_end..range.start];
            let is_next = between.trim().is_empty() && between.matches('\n').count() == 1;
            match comments.last_mut() {
                Some(passage) if is_next => passage.push(body),
                _ => comments.push(Passage::new(line, body)),
            }
            comment_end = range.end;
        } else if piece.starts_with("/*") {
            comments.push(Passage::new(line, piece));
        } else if line <= source.lines_before_tests && !source.is_test() {
            literals.extend(literal(piece).map(|text| Passage::new(line, &text)));
        }
        line += piece.matches('\n').count();
        end = range.end;
    }
    let comments = comments.into_iter().map(|passage| passage.blank(&[('`', '`')]));
    let literals = literals.into_iter().map(|passage| passage.blank(&[('`', '`'), ('{', '}')]));
    comments.chain(literals).collect()
}

/// A line of comment without its marks.
fn comment(piece: &str) -> &str {
    let body = piece.trim_start_matches('/');
    body.strip_prefix('!').unwrap_or(body).trim()
}

/// The lines of a string literal, each trimmed, without escapes; nothing of a character.
fn literal(piece: &str) -> Option<String> {
    let (prefix, body) = piece.split_once('"')?;
    if prefix.contains('\'') {
        return None;
    }
    let body = body.trim_end_matches('#');
    let body = body.strip_suffix('"').unwrap_or(body);
    let lines = body.split('\n').map(|line| {
        let line = line.strip_suffix('\\').unwrap_or(line);
        let line = ESCAPES.iter().fold(line.to_owned(), |line, escape| line.replace(escape, "  "));
        line.trim().to_owned()
    });
    Some(lines.collect::<Vec<_>>().join("\n"))
}

/// A text with blanks for what stands between the marks; a mark without its pair reaches to the end.
fn blanked(text: &str, marks: &[(char, char)]) -> String {
    let mut close = None;
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        let is_hidden = close.is_some();
        if close == Some(c) {
            close = None;
        } else if !is_hidden {
            close = marks.iter().find(|(open, _)| *open == c).map(|(_, close)| *close);
        }
        if is_hidden && c != '\n' {
            plain.push_str(&" ".repeat(c.len_utf8()));
        } else {
            plain.push(c);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn show(path: &str, text: &str) -> String {
        let passages = passages(&Source::new(path, text));
        let show = |passage: &Passage| format!("{}: {}\n", passage.line, passage.joined());
        passages.iter().map(show).collect()
    }

    #[test]
    fn comments_and_literals_are_passages() {
        let text = r##"//! One
//! sentence of `code`.

/// A doc.
fn f() { // behind
    // and below
    let (c, s) = ('a', "a {name} \
                        on two\n\"lines\"");
    let r = r#"raw "q""#;
} /* block */
#[cfg(test)]
mod tests {
    // A comment.
    const S: &str = "left out";
}
"##;
        expect![[r#"
            1: One sentence of `     .
            4: A doc.
            5: behind and below
            10: /* block */
            13: A comment.
            7: a {      on two    lines
            9: raw "q"
        "#]]
        .assert_eq(&show("a/src/b.rs", text));
        assert_eq!(show("a/tests/b.rs", "f(\"left out\");\n"), "");
    }

    #[test]
    fn paragraphs_are_passages() {
        let text = "One\nparagraph.\n```\ncode\n```\n<!-- table -->\n| a |\n<!-- end -->\n`b` c\n";
        expect![[r"
            1: One paragraph.
            8: <!-- end -->  c
        "]]
        .assert_eq(&show("a.md", text));
        assert_eq!(show("a.toml", text), "");
    }

    #[test]
    fn a_byte_has_its_line() {
        let source = Source::new("a.rs", "\n// one\n// two\n");
        let passage = &passages(&source)[0];
        assert_eq!((passage.line_at(0), passage.line_at(4)), (2, 3));
    }
}
