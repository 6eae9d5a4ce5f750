//! The program parses, asks and shows; the library experiments.
//!
//! So the program imports `experiment`, `units` and errors of the library, and nothing else. What its
//! files import besides is in a table, so that a row goes when its verb moves. The Python package also takes
//! the words of traces, which its tables become; it reaches no cache and no meter.

use super::Problem;
use super::paths;
use super::source::Source;

/// The program.
const PROGRAM: &str = "crates/nbuf/src/";
/// The rooms of the library that are for it.
const OPEN: [&str; 2] = ["experiment", "units"];

/// The Python package.
const PYTHON: &str = "crates/nbuf-python/src/";
/// The rooms of the library that are for it.
const OPEN_TO_PYTHON: [&str; 5] = ["experiment", "units", "trace", "workload", "disc"];

/// Files or folders of the program, and a room that each imports all the same.
const EXCEPTIONS: &[(&str, &str)] = &[];

/// The program imports no more of the library than it should, and no exception outlives its use.
pub(super) fn imports(sources: &[Source]) -> Vec<Problem> {
    let mut problems = of_python(sources);
    let mut used = [false; EXCEPTIONS.len()];
    for source in sources.iter().filter(|source| source.path.starts_with(PROGRAM)) {
        for named in paths::starting_with(source.code_before_tests(), "nbuf") {
            let path = named.words[1..].join("::");
            if is_open(&named.words[1..], &OPEN) {
                continue;
            }
            let file = &source.path[PROGRAM.len()..];
            let room = named.words.get(1).map_or("", String::as_str);
            let is_excepted = |&(of, excepted): &(&str, &str)| is_in(file, of) && excepted == room;
            match EXCEPTIONS.iter().position(is_excepted) {
                Some(row) => used[row] = true,
                None => problems.push(source.problem(
                    named.line,
                    format!(
                        "the program imports `{path}`; have an experiment do it, and show that"
                    ),
                )),
            }
        }
    }
    for ((place, room), _) in EXCEPTIONS.iter().zip(used).filter(|(_, is_used)| !is_used) {
        let is_there =
            |source: &&Source| source.path.strip_prefix(PROGRAM).is_some_and(|f| is_in(f, place));
        if let Some(source) = sources.iter().find(is_there) {
            let message =
                format!("nothing in `{place}` imports `{room}`; take the row out of tidy");
            problems.push(source.problem(1, message));
        }
    }
    problems
}

/// The Python package imports no more of it than it should.
fn of_python(sources: &[Source]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for source in sources.iter().filter(|source| source.path.starts_with(PYTHON)) {
        let all = paths::starting_with(source.code_before_tests(), "nbuf");
        for named in all.into_iter().filter(|named| !is_open(&named.words[1..], &OPEN_TO_PYTHON)) {
            let path = named.words[1..].join("::");
            let message = format!("the Python package imports `{path}`; have an experiment do it");
            problems.push(source.problem(named.line, message));
        }
    }
    problems
}

/// Whether this part of the library is for a face, by its rooms. The name of an error ends so.
fn is_open(words: &[String], rooms: &[&str]) -> bool {
    let first = words.first().map_or("", String::as_str);
    rooms.contains(&first) || words.last().is_some_and(|last| last.ends_with("Error"))
}

/// Whether a file is this one, or in this folder.
fn is_in(file: &str, place: &str) -> bool {
    file == place || place.ends_with('/') && file.starts_with(place)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::show;
    use super::*;

    #[test]
    fn a_cache_is_not_for_python() {
        let source = |text: &str| Source::new("crates/nbuf-python/src/verbs.rs", text);
        let both = "use nbuf::trace::Record;\nuse nbuf::cache::kernel::Model;\n";
        let problems = show(&imports(&[source(both)]));
        expect![[r#"
            crates/nbuf-python/src/verbs.rs:2: the Python package imports `cache::kernel::Model`; have an experiment do it
        "#]]
        .assert_eq(&problems);
    }

    fn check(path: &str, text: &str) -> String {
        show(&imports(&[Source::new(&format!("crates/nbuf/src/{path}"), text)]))
    }

    #[test]
    fn experiments_units_and_errors_are_for_the_program() {
        let fine = "use nbuf::experiment::size::{self, Spec};\nuse nbuf::units::Bytes;\n\
                    use nbuf::cache::policy::ChoiceError;\nuse crate::sys;\n";
        assert_eq!(check("shown.rs", fine), "");
        let tests = "fn f() {}\n#[cfg(test)]\nmod tests {\n    use nbuf::workload::trace;\n}\n";
        assert_eq!(check("shown.rs", tests), "");
    }

    #[test]
    fn other_imports_are_found() {
        let wrong = "use nbuf::{\n    units::Bytes,\n    sys::signal::Signals,\n};\n\
                     fn f() { nbuf::clock::unix_time(); }\n";
        expect![[r"
            crates/nbuf/src/shown.rs:3: the program imports `sys::signal::Signals`; have an experiment do it, and show that
            crates/nbuf/src/shown.rs:5: the program imports `clock::unix_time`; have an experiment do it, and show that
        "]]
        .assert_eq(&check("shown.rs", wrong));
    }

    #[test]
    fn exceptions_end_with_their_use() {
        let is_file = |&&(place, _): &&(&str, &str)| !place.ends_with('/');
        let Some(&(place, room)) = EXCEPTIONS.iter().find(is_file) else { return };
        let said = check(place, "");
        assert!(said.contains(&format!("nothing in `{place}` imports `{room}`")), "{said}");
        assert!(!check(place, &format!("use nbuf::{room};\n")).contains(&format!("`{room}`")));
    }
}
