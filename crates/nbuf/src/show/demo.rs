//! The answer of `nbuf size` with the meaning of its words under each section.

use super::report::Section;
use super::text::wrap;

/// The words of a section, each with its meaning on a line.
pub(crate) fn words(section: Section) -> &'static str {
    match section {
        Section::Answer => {
            "\
Proved: the runs that verified this limit filled as many pages as predicted
much: how much a run with the next smaller limit read
cache: the part of the limit that holds pages of files
anonymous: the memory of the program itself, which it needs whatever the cache"
        }
        Section::Paste => "To paste: the same limit for a container, a pod, or a service",
        Section::Runs | Section::Search => {
            "\
Verified: the command ran again under real limits, each time from a cold cache
predicted: the fills that nbuf fixed before the run
measured: the fills that the kernel counted
OUT OF BAND: the count is outside of the prediction: do not trust the recommendation
TOO WIDE: the count is in the prediction, which spans too much to say anything
in band: the count is in the predicted band, or within 5 % of it"
        }
        Section::Curve => {
            "\
page fills: the pages that are read from the disc with a cache of each size: less is better
floor: with less cache nearly every block is evicted before it is read again
knee: from here on more cache saves little
ceiling: from here on more cache saves nothing"
        }
        Section::Reasons => {
            "\
of the fills: what this size saves against the smallest cache
below: a smaller cache evicts pages before they are read again: it saves nothing
above: a larger cache holds pages that are never asked for again"
        }
        Section::Time => {
            "\
of work: the time of the command when all its pages are in memory
the disc: what a read costs here; with it the time at other sizes is estimated"
        }
        Section::Readahead => {
            "window: how much the kernel reads ahead; another window would change the fills so"
        }
        Section::Workload => {
            "\
events: the reports of what the command asked for; none may be lost
page accesses: the pages of 4 KiB that it asked for; those that were asked for before can be hits
mapped: pages used through a mapping, such as program code: nbuf sees only the first use
other memory: the memory of the program itself, which it needs whatever the cache
accesses  fills: how often pages of each file were asked for, and read from the disc"
        }
        Section::Warnings => {
            "Warning: what to know before you use the number; as root, nbuf size records by \
             tracepoints, and sees more"
        }
    }
}

/// A section, and under it the meaning of the words that are in it.
pub(crate) fn explained(section: &str, words: &str, width: usize) -> String {
    if section.is_empty() {
        return String::new();
    }
    let mut text = format!("{section}\n");
    let words = words.lines().filter_map(|line| line.split_once(": "));
    for (word, meaning) in words.filter(|(word, _)| section.contains(word)) {
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
        .assert_eq(&explained("To paste\n  docker run\n", words(Section::Paste), 40));
        assert_eq!(explained("", words(Section::Paste), 40), "");
        assert_eq!(explained("nothing of it\n", words(Section::Paste), 40), "nothing of it\n\n\n");
    }
}
