//! Pure code stays pure, and unsafe code stays in one folder.

use super::imports::uses;
use super::paths;
use super::source::{Source, find_words, line_of};
use super::{Problem, imports};

/// Beginnings of module names whose code is a function of its arguments.
const PURE: [&str; 9] = [
    "units",
    "trace",
    "cache",
    "disc::description",
    "disc::model",
    "meter",
    "workload::format",
    "workload::record::log",
    "workload::record::normalise",
];

/// The exception: what looks at the machine.
const PROBES: &str = "meter::probe";

/// Words that reach the machine, and what to do instead.
const IMPURE: [(&str, &str); 5] = [
    ("libc", "make the call in sys/ and take its result as an argument"),
    ("rustix", "make the call in sys/ and take its result as an argument"),
    ("File::open", "take `impl Read`"),
    ("Instant", "take the time as an argument; ask clock.rs above"),
    ("SystemTime", "take the date as an argument; ask clock.rs above"),
];

/// Parts of the standard library that reach the machine, and what to do instead.
const IMPURE_STD: [(&str, &str); 3] = [
    ("fs", "take `impl Read`, `impl Write` or bytes"),
    ("net", "take bytes"),
    ("process", "run the process in workload/record or experiment"),
];

/// Pure code opens no file or socket, starts no process and asks for no time.
pub(super) fn purity(source: &Source) -> Vec<Problem> {
    let Some(module) = source.library_module() else {
        return Vec::new();
    };
    let name = module.join("::");
    if !is_pure(&name) {
        return Vec::new();
    }
    let wrong = |line: usize, what: &str, instead: &str| {
        source.problem(line, format!("pure code mentions `{what}`; {instead}"))
    };
    let code = source.code_before_tests();
    let mut problems = Vec::new();
    for (word, instead) in IMPURE {
        for at in find_words(code, word) {
            problems.push(wrong(line_of(code, at), word, instead));
        }
    }
    for named in paths::starting_with(code, "std") {
        let part = named.words.get(1).map_or("", String::as_str);
        for (_, instead) in IMPURE_STD.iter().filter(|(impure, _)| *impure == part) {
            problems.push(wrong(named.line, &format!("std::{part}"), instead));
        }
    }
    for (line, target) in uses(source, &module) {
        if target.first().is_some_and(|room| room == "sys") && !imports::is_hint(&target) {
            problems.push(wrong(line, "crate::sys", "take what it found as an argument"));
        }
    }
    // `fs::{self, File}` is one mention.
    problems.dedup();
    problems
}

fn is_pure(name: &str) -> bool {
    let is_below = |room: &str| {
        name.strip_prefix(room).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    };
    // `normalise` may become several files: normalise_names, normalise::clip.
    let normalises = name.starts_with("workload::record::normalise");
    !is_below(PROBES) && (normalises || PURE.iter().any(|room| is_below(room)))
}

/// `unsafe` stands only in files below a folder `sys`.
pub(super) fn unsafe_only_in_sys(source: &Source) -> Vec<Problem> {
    if source.path.contains("/sys/") {
        return Vec::new();
    }
    find_words(&source.code, "unsafe")
        .map(|at| {
            let line = line_of(&source.code, at);
            source.problem(
                line,
                "`unsafe` outside sys/; put a safe function for it into crates/nbuf-core/src/sys/",
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::show;
    use super::*;

    fn check(path: &str, text: &str) -> String {
        show(&purity(&Source::new(&format!("crates/nbuf-core/src/{path}"), text)))
    }

    #[test]
    fn pure_code_that_reaches_the_machine_is_found() {
        let wrong = [
            ("cache/lru.rs", "use std::{\n    collections::HashMap,\n    fs::{self, File},\n};"),
            ("workload/format/native.rs", "fn f() { File::open(p); std::process::exit(1) }"),
            ("workload/record/log.rs", "use std::time::Instant;"),
            ("workload/record/normalise_names.rs", "use crate::sys::map;"),
            ("meter/distance.rs", "use std::net::TcpStream; use libc::c_int;"),
            ("units.rs", "type Then = SystemTime;"),
        ];
        let got: String = wrong.into_iter().map(|(p, text)| check(p, text)).collect();
        expect![[r"
            crates/nbuf-core/src/cache/lru.rs:3: pure code mentions `std::fs`; take `impl Read`, `impl Write` or bytes
            crates/nbuf-core/src/workload/format/native.rs:1: pure code mentions `File::open`; take `impl Read`
            crates/nbuf-core/src/workload/format/native.rs:1: pure code mentions `std::process`; run the process in workload/record or experiment
            crates/nbuf-core/src/workload/record/log.rs:1: pure code mentions `Instant`; take the time as an argument; ask clock.rs above
            crates/nbuf-core/src/workload/record/normalise_names.rs:1: pure code mentions `crate::sys`; take what it found as an argument
            crates/nbuf-core/src/meter/distance.rs:1: pure code mentions `libc`; make the call in sys/ and take its result as an argument
            crates/nbuf-core/src/meter/distance.rs:1: pure code mentions `std::net`; take bytes
            crates/nbuf-core/src/units.rs:1: pure code mentions `SystemTime`; take the date as an argument; ask clock.rs above
        "]].assert_eq(&got);
    }

    #[test]
    fn probes_recorders_and_tests_may_look() {
        let fine = [
            ("meter/probe/memory.rs", "use std::fs; use std::time::Instant;"),
            ("workload/record/run.rs", "use std::process::Command;"),
            ("cache/lru.rs", "//! Not std::fs.\nuse std::io::Read; struct Instantly;"),
            ("cache/lru.rs", "fn f() {}\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}\n"),
            ("cache/kernel/tests.rs", "use std::fs;"),
        ];
        for (path, text) in fine {
            assert_eq!(check(path, text), "", "{path}");
        }
    }

    #[test]
    fn unsafe_outside_sys_is_found_in_tests_too() {
        let text =
            "//! unsafe\n#![expect(unsafe_code)]\n\n#[cfg(test)]\nmod tests {\n    unsafe {}\n}\n";
        let check = |path: &str| show(&unsafe_only_in_sys(&Source::new(path, text)));
        assert_eq!(check("crates/nbuf-core/src/sys/perf.rs"), "");
        expect![[r"
            crates/nbuf-core/src/units.rs:6: `unsafe` outside sys/; put a safe function for it into crates/nbuf-core/src/sys/
        "]].assert_eq(&check("crates/nbuf-core/src/units.rs"));
    }
}
