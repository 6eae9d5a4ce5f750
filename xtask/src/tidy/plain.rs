//! Plain English, as far as text can show it: words to avoid and the length of a sentence (CONTRIBUTING.md).

use super::Problem;
use super::markdown::prose;
use super::source::{Source, find_words};

/// Words in any case, and what to write instead.
const AVOIDED: [(&str, &str); 14] = [
    ("nobody", "no user, no process"),
    ("somebody", "a user, another process"),
    ("whoever", "a user who"),
    ("anew", "again"),
    ("so many", "the number"),
    ("but for", "except"),
    ("for want of", "without"),
    ("beside", "next to, compared with, other"),
    ("that of", "the noun again"),
    ("told", "printed, reported, notified"),
    ("hear", "receive"),
    ("hears", "receives"),
    ("heard", "received"),
    ("lies", "is"),
];

/// Words of a sentence; a colon or semicolon ends one here.
const WORDS_MAX: usize = 25;

/// The prose of documents and the comments of code avoid the words; code, and tables between generated
/// marks, may have them.
pub(super) fn plain_words(source: &Source) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (number, line) in written(source) {
        let line = line.to_ascii_lowercase();
        let found = AVOIDED.iter().filter(|(word, _)| find_words(&line, word).next().is_some());
        problems.extend(found.map(|(word, instead)| {
            source.problem(number, format!("`{word}`; write plainly, such as: {instead}"))
        }));
    }
    problems
}

/// What people wrote for people: prose outside of generated tables, or comments.
fn written(source: &Source) -> Vec<(usize, String)> {
    if source.is("rs") {
        let lines = source.text.lines().enumerate();
        let comments = lines.filter(|(_, line)| line.trim_start().starts_with("//"));
        return comments.map(|(number, line)| (number + 1, without_code(line))).collect();
    }
    if !source.is("md") {
        return Vec::new();
    }
    let mut is_generated = false;
    let lines = prose(&source.text).filter(|(_, line)| {
        if line.starts_with("<!-- ") {
            is_generated = !line.starts_with("<!-- end");
        }
        !is_generated
    });
    lines.collect()
}

/// A line without what stands between backquotes.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("`")
}

/// A sentence that needs no second reading is short. Tables and code are not counted.
pub(super) fn short_sentences(source: &Source) -> Vec<Problem> {
    if !source.is("md") {
        return Vec::new();
    }
    let mut problems = Vec::new();
    // The line on which a sentence began, its words, and the line before.
    let (mut begun, mut words, mut before) = (0, 0, 0);
    let mut end = |begun: usize, words: usize| {
        if words > WORDS_MAX {
            let message = format!("a sentence of {words} words; make two, of {WORDS_MAX} at most");
            problems.push(source.problem(begun, message));
        }
    };
    for (number, line) in prose(&source.text) {
        if number != before + 1 || begins_a_block(&line) {
            end(begun, std::mem::take(&mut words));
        }
        before = number;
        if line.starts_with('|') {
            continue;
        }
        for word in line.split_whitespace() {
            if words == 0 {
                begun = number;
            }
            words += 1;
            if word.trim_end_matches([')', '*', '"']).ends_with(['.', '?', '!', ':', ';']) {
                end(begun, std::mem::take(&mut words));
            }
        }
    }
    end(begun, words);
    problems
}

/// Whether a line cannot go on with the sentence before it.
fn begins_a_block(line: &str) -> bool {
    let line = line.trim_start();
    let is_numbered =
        line.split_once(". ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
    line.is_empty()
        || is_numbered
        || ["- ", "* ", "> ", "|", "#", "<!--"].iter().any(|mark| line.starts_with(mark))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::show;
    use super::*;

    #[test]
    fn avoided_words_are_found_in_prose_alone() {
        let text = "# A\n\nNobody heard of it, but for `nobody`.\nbesides, shear, a belies\n\
                    ```\nanew\n```\n<!-- table -->\n| whoever |\n<!-- end of table -->\nIt lies.\n";
        expect![[r"
            docs/a.md:3: `nobody`; write plainly, such as: no user, no process
            docs/a.md:3: `but for`; write plainly, such as: except
            docs/a.md:3: `heard`; write plainly, such as: received
            docs/a.md:11: `lies`; write plainly, such as: is
        "]]
        .assert_eq(&show(&plain_words(&Source::new("docs/a.md", text))));
        let code = "/// Nobody but `nobody`.\nlet told = 1;\n    // It lies.\n";
        expect![[r"
            a.rs:1: `nobody`; write plainly, such as: no user, no process
            a.rs:3: `lies`; write plainly, such as: is
        "]]
        .assert_eq(&show(&plain_words(&Source::new("a.rs", code))));
    }

    #[test]
    fn long_sentences_are_found() {
        let five = "one two three four five ";
        let text = format!(
            "# A\n\n{}end.\n\n{}\n{}.\n\n- {}\n- {}\n| {} |\n```\n{}\n```\n",
            five.repeat(5),
            five.repeat(3),
            five.repeat(2).trim_end(),
            five.repeat(3),
            five.repeat(3),
            five.repeat(6),
            five.repeat(6),
        );
        expect![[r"
            docs/a.md:3: a sentence of 26 words; make two, of 25 at most
        "]]
        .assert_eq(&show(&short_sentences(&Source::new("docs/a.md", &text))));
        assert_eq!(show(&short_sentences(&Source::new("a.rs", &text))), "");
    }
}
