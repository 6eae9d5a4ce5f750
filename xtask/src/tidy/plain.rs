//! Plain English, as far as text can show it: words to avoid and the length of a sentence (CONTRIBUTING.md).

use super::Problem;
use super::markdown::prose;
use super::passage::passages;
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

/// A literal with the name of another program's user.
const NAMES: [&str; 1] = ["--reuid=nobody"];

/// Documents, the prose of transcripts, comments and string literals avoid the words; code, and tables
/// between generated marks, may have them.
pub(super) fn plain_words(source: &Source) -> Vec<Problem> {
    let mut problems = Vec::new();
    for passage in passages(source) {
        if NAMES.contains(&passage.text()) {
            continue;
        }
        let text = passage.joined().to_ascii_lowercase();
        // A literal that is one of the words and no more is a name.
        for (word, instead) in AVOIDED.into_iter().filter(|(word, _)| *word != text) {
            problems.extend(find_words(&text, word).map(|at| {
                let message = format!("`{word}`; write plainly, such as: {instead}");
                source.problem(passage.line_at(at), message)
            }));
        }
    }
    problems.sort();
    problems
}

/// A sentence begins with its subject, not with a phrase such as "of a mapping that was warm".
pub(super) fn fronted(source: &Source) -> Vec<Problem> {
    let mut problems = Vec::new();
    for passage in passages(source) {
        let text = passage.text();
        // A literal that is the word alone is no sentence.
        let is_front = |at: &usize| text != "Of" && begins_a_sentence(&text[..*at]);
        let fronted = find_words(text, "Of").filter(is_front);
        problems.extend(fronted.map(|at| {
            let message = "a sentence begins with `Of`; name its subject first";
            source.problem(passage.line_at(at), message)
        }));
    }
    problems
}

/// Whether a sentence can begin behind this text.
fn begins_a_sentence(before: &str) -> bool {
    let trimmed = before.trim_end();
    let last = trimmed.rsplit('\n').next().unwrap_or("").trim_start();
    before.ends_with("\n\n")
        || trimmed.is_empty()
        || trimmed.ends_with(['.', '?', '!', ':', ';', '-', '*'])
        || last.starts_with('#')
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
            docs/a.md:3: `but for`; write plainly, such as: except
            docs/a.md:3: `heard`; write plainly, such as: received
            docs/a.md:3: `nobody`; write plainly, such as: no user, no process
            docs/a.md:11: `lies`; write plainly, such as: is
        "]]
        .assert_eq(&show(&plain_words(&Source::new("docs/a.md", text))));
        let transcript = "It is told.\n```console\n$ nbuf told\n```\n";
        expect![[r"
            a.trycmd:1: `told`; write plainly, such as: printed, reported, notified
        "]]
        .assert_eq(&show(&plain_words(&Source::new("a.trycmd", transcript))));
    }

    #[test]
    fn avoided_words_are_found_in_comments_and_literals() {
        let code = r#"/// Nobody but `nobody`.
let told = "told"; // told
    // All, but
    // for one.
format!("{told}, \
         anew: {}", "is told");
bail!("it is so \
       many");
let user = ["nobody", "--reuid=nobody"];
#[cfg(test)]
mod tests {
    const TEXT: &str = "whoever";
}
"#;
        expect![[r"
            a.rs:1: `nobody`; write plainly, such as: no user, no process
            a.rs:2: `told`; write plainly, such as: printed, reported, notified
            a.rs:3: `but for`; write plainly, such as: except
            a.rs:6: `anew`; write plainly, such as: again
            a.rs:6: `told`; write plainly, such as: printed, reported, notified
            a.rs:7: `so many`; write plainly, such as: the number
        "]]
        .assert_eq(&show(&plain_words(&Source::new("a.rs", code))));
    }

    #[test]
    fn sentences_that_begin_with_of_are_found() {
        let code = "//! Of a file, the name.\n\n/// One. Of\n/// two, one: that of Of.\n///\n\
                    /// # Errors\n/// Of it.\nf(\"Of all, one\"); // Kind Of\n";
        expect![[r"
            a.rs:1: a sentence begins with `Of`; name its subject first
            a.rs:3: a sentence begins with `Of`; name its subject first
            a.rs:7: a sentence begins with `Of`; name its subject first
            a.rs:8: a sentence begins with `Of`; name its subject first
        "]]
        .assert_eq(&show(&fronted(&Source::new("a.rs", code))));
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
