//! The answer of `nbuf size` with the meaning of its words under each section.

use super::report::Section;
use super::text::wrap;

/// A word of a section, and what it means.
pub(crate) type Word = (&'static str, &'static str);

/// The words of what was seen.
const WORKLOAD: [Word; 5] = [
    ("events", "the reports of what the command asked for; none may be lost"),
    (
        "page accesses",
        "the pages of 4 KiB that it asked for; those that were asked for before can be hits",
    ),
    ("mapped", "pages used through a mapping, such as program code: nbuf sees only the first use"),
    ("other memory", "the memory of the program itself, which it needs whatever the cache"),
    ("accesses  fills", "how often pages of each file were asked for, and read from the disc"),
];

/// The words of the curve.
const CURVE: [Word; 4] = [
    (
        "page fills",
        "the pages that are read from the disc with a cache of each size: less is better",
    ),
    ("floor", "with less cache nearly every block is evicted before it is read again"),
    ("knee", "from here on more cache saves little"),
    ("ceiling", "from here on more cache saves nothing"),
];

/// The words of the answer.
const ANSWER: [Word; 4] = [
    ("Proved", "the runs that verified this limit filled as many pages as predicted"),
    ("much", "what the next smaller limit costs, by a run"),
    ("cache", "the part of the limit that holds pages of files"),
    ("anonymous", "the memory of the program itself, which it needs whatever the cache"),
];

/// The words of the reasons.
const REASONS: [Word; 3] = [
    ("of the fills", "what this size saves against the smallest cache"),
    ("below", "a smaller cache evicts pages before they are read again: it saves nothing"),
    ("above", "a larger cache holds pages that are never asked for again"),
];

/// The words of the time.
const TIME: [Word; 2] = [
    ("of work", "the time of the command when all its pages are in memory"),
    ("the disc", "what a read costs here; with it the time at other sizes is estimated"),
];

/// The words of the table of readahead windows.
const READAHEAD: [Word; 1] =
    [("window", "how much the kernel reads ahead; another window would change the fills so")];

/// The words of the verification.
const VERIFICATION: [Word; 6] = [
    ("Verified", "the command ran again under real limits, each time from a cold cache"),
    ("predicted", "the fills that nbuf fixed before the run"),
    ("measured", "the fills that the kernel counted"),
    ("OUT OF BAND", "the count is outside of the prediction: do not trust the recommendation"),
    ("TOO WIDE", "the count is in the prediction, which spans too much to say anything"),
    ("in band", "the count is in the predicted band, or within 5 % of it"),
];

/// The words of what to paste.
const PASTE: [Word; 1] = [("To paste", "the same limit for a container, a pod, or a service")];

/// The words of a section.
pub(crate) fn words(section: Section) -> &'static [Word] {
    match section {
        Section::Answer => &ANSWER,
        Section::Paste => &PASTE,
        Section::Runs | Section::Search => &VERIFICATION,
        Section::Curve => &CURVE,
        Section::Reasons => &REASONS,
        Section::Time => &TIME,
        Section::Readahead => &READAHEAD,
        Section::Workload => &WORKLOAD,
        Section::Warnings => &[],
    }
}

/// A section, and under it the meaning of the words that are in it.
pub(crate) fn explained(section: &str, words: &[Word], width: usize) -> String {
    if section.is_empty() {
        return String::new();
    }
    let mut text = format!("{section}\n");
    for (word, meaning) in words.iter().filter(|(word, _)| section.contains(word)) {
        wrap(&mut text, &format!("> {word}: {meaning}"), width);
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn the_words_of_a_section_are_explained_and_no_others() {
        expect![[r#"
            To paste
              docker run

              > To paste: the same limit for a
                container, a pod, or a service

        "#]]
        .assert_eq(&explained("To paste\n  docker run\n", &PASTE, 40));
        assert_eq!(explained("", &PASTE, 40), "");
        assert_eq!(explained("nothing of it\n", &PASTE, 40), "nothing of it\n\n\n");
    }
}
