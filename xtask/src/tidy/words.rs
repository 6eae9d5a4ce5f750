//! Words that do not stand in this tree, each with the word that does.

use super::Problem;
use super::source::{Source, find_words, is_word, line_of};

/// Parts of words, in any case, and what to write instead.
const BANNED: [(&str, &str); 2] = [("disk", "disc"), ("utiliz", "use")];

/// Names of other programs, of the kernel and of papers that we must spell as they do.
const QUOTED: [&str; 11] = [
    "/proc/diskstats",
    "/dev/disk/",
    "gendisk",
    "fdisk",
    "diskread",
    "diskwrite",
    "dm_disk",
    "disksim_disk",
    "disksim",
    "diskspecs",
    "disk drive modeling",
];

/// Whole words that mean the work is not done.
const UNFINISHED: [&str; 3] = ["TODO", "FIXME", "XXX"];

/// Modules that say nothing about what is in them.
const JUNK_DRAWERS: [&str; 5] = ["util", "utils", "common", "misc", "helpers"];

/// This file, which has to name them.
const HERE: &str = "xtask/src/tidy/words.rs";
/// And the file with the tree that must not pass.
const CANARY: &str = "xtask/src/tidy/mod.rs";

/// Text that others wrote, or that no person reads.
fn is_ours(source: &Source) -> bool {
    let is_licence = source.path.starts_with("LICENSE");
    !is_licence && source.path != "Cargo.lock" && ![HERE, CANARY].contains(&source.path.as_str())
}

/// One language: British, plain, and finished.
pub(super) fn banned_words(source: &Source) -> Vec<Problem> {
    if !is_ours(source) {
        return Vec::new();
    }
    let mut problems = Vec::new();
    for (number, line) in source.text.lines().enumerate() {
        let mut plain = line.to_ascii_lowercase();
        for quoted in QUOTED {
            plain = plain.replace(quoted, "");
        }
        for (word, instead) in BANNED {
            if plain.contains(word) {
                let message = format!("`{word}`; write `{instead}`");
                problems.push(source.problem(number + 1, message));
            }
        }
        for word in UNFINISHED {
            if find_words(line, word).next().is_some() {
                let message = format!("`{word}`; do it now, or write an issue and say why not");
                problems.push(source.problem(number + 1, message));
            }
        }
    }
    problems
}

/// Names of types and modules that say nothing, and tests that are switched off.
pub(super) fn banned_names(source: &Source) -> Vec<Problem> {
    let mut problems = Vec::new();
    let drawer = |name: &str| {
        format!("a module `{name}` says nothing about what is in it; name it after its subject")
    };
    if source.is("rs") {
        let parts = source.path.trim_end_matches(".rs").split('/');
        let in_package = parts.skip_while(|part| !["src", "tests"].contains(part));
        let junk = in_package.filter(|part| JUNK_DRAWERS.contains(part));
        problems.extend(junk.map(|part| source.problem(1, drawer(part))));
    }
    for (number, line) in source.code.lines().enumerate() {
        let mut words = line.split(|c| !is_word(c)).filter(|word| !word.is_empty());
        while let Some(word) = words.next() {
            let name = words.clone().next().unwrap_or("");
            let is_type = ["struct", "enum", "trait", "type"].contains(&word);
            let message = if is_type && name.ends_with("Manager") {
                format!("`{name}` manages; name the type after the thing it is")
            } else if word == "mod" && JUNK_DRAWERS.contains(&name) {
                drawer(name)
            } else {
                continue;
            };
            problems.push(source.problem(number + 1, message));
        }
        if line.contains("#[ignore") {
            let message = "`#[ignore]` hides a test; assert what happens today and say why, or \
                           skip aloud when the machine lacks what it needs";
            problems.push(source.problem(number + 1, message));
        }
    }
    problems
}

/// Nothing in the tree knows where it was written.
pub(super) fn machine_paths(source: &Source) -> Vec<Problem> {
    if !is_ours(source) {
        return Vec::new();
    }
    let text = &source.text;
    let mut problems = Vec::new();
    for folder in ["/work/", "/root/", "/home/"] {
        for (at, _) in text.match_indices(folder) {
            // `docs/work/x` and `~/work/x` are no absolute paths; `/home/` alone names no user.
            let before = text[..at].chars().next_back();
            let is_relative = before.is_some_and(|c| is_word(c) || ".-~}$*".contains(c));
            let names_somebody = text[at + folder.len()..].starts_with(is_word);
            if !is_relative && (names_somebody || folder != "/home/") {
                let message = format!(
                    "`{folder}` is a path of one machine; write it relative to the repository"
                );
                problems.push(source.problem(line_of(text, at), message));
            }
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::show;
    use super::*;

    #[test]
    fn banned_words_are_found_wherever_they_stand() {
        let text = "An on-disk file.\nlet DiskStats = 1; // TODO\n/proc/diskstats is quoted\n\
                    We utilize it.\nFIXME: XXX\nnbuf.XXXXXX, TODOs\n";
        expect![[r"
            docs/a.md:1: `disk`; write `disc`
            docs/a.md:2: `disk`; write `disc`
            docs/a.md:2: `TODO`; do it now, or write an issue and say why not
            docs/a.md:4: `utiliz`; write `use`
            docs/a.md:5: `FIXME`; do it now, or write an issue and say why not
            docs/a.md:5: `XXX`; do it now, or write an issue and say why not
        "]]
        .assert_eq(&show(&banned_words(&Source::new("docs/a.md", text))));
        for path in ["Cargo.lock", "LICENSE-MIT"] {
            assert_eq!(show(&banned_words(&Source::new(path, text))), "");
        }
    }

    #[test]
    fn names_that_say_nothing_are_found() {
        let text = "//! struct DocManager\nmod util;\nmod utility;\npub struct CacheManager<T>(T);\n\
                    struct Managerial;\n#[ignore = \"slow\"]\nfn f(m: Manager) {}\n";
        let files = [
            ("crates/a/src/lib.rs", text),
            ("crates/a/src/misc/b.rs", ""),
            ("crates/a/src/common.rs", ""),
            ("crates/common/src/lib.rs", ""),
            ("docs/common.md", ""),
        ];
        let got: String = files
            .into_iter()
            .map(|(path, text)| show(&banned_names(&Source::new(path, text))))
            .collect();
        expect![[r"
            crates/a/src/lib.rs:2: a module `util` says nothing about what is in it; name it after its subject
            crates/a/src/lib.rs:4: `CacheManager` manages; name the type after the thing it is
            crates/a/src/lib.rs:6: `#[ignore]` hides a test; assert what happens today and say why, or skip aloud when the machine lacks what it needs
            crates/a/src/misc/b.rs:1: a module `misc` says nothing about what is in it; name it after its subject
            crates/a/src/common.rs:1: a module `common` says nothing about what is in it; name it after its subject
        "]].assert_eq(&got);
    }

    #[test]
    fn paths_of_a_machine_are_found() {
        let text = "cd /work/there\n(/root/x)\n`/home/ann/t`\n/home/<name>, ~/work/x, docs/work/x\n\
                    https://example.org/work/x\n";
        expect![[r"
            docs/a.md:1: `/work/` is a path of one machine; write it relative to the repository
            docs/a.md:2: `/root/` is a path of one machine; write it relative to the repository
            docs/a.md:3: `/home/` is a path of one machine; write it relative to the repository
        "]]
        .assert_eq(&show(&machine_paths(&Source::new("docs/a.md", text))));
    }
}
