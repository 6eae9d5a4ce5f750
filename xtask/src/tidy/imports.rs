//! Dependencies inside the library point one way.
//!
//! experiment -> workload, path -> cache -> disc -> meter -> trace; all may use units and clock.
//! Only probes, recorders, discs, paths and experiments talk to the kernel.

use super::Problem;
use super::paths::{self, Named};
use super::source::Source;

/// A room of the library, and the other rooms it may import from.
const ROOMS: &[(&str, &[&str])] = &[
    // Shows our own tests the rest.
    (
        "internal",
        &[
            "experiment",
            "workload",
            "path",
            "cache",
            "disc",
            "meter",
            "trace",
            "units",
            "clock",
            "sys",
        ],
    ),
    (
        "experiment",
        &["workload", "path", "cache", "disc", "meter", "trace", "units", "clock", "sys"],
    ),
    ("workload", &["cache", "disc", "meter", "trace", "units", "clock", "sys"]),
    ("path", &["cache", "disc", "meter", "trace", "units", "clock", "sys"]),
    ("cache", &["disc", "meter", "trace", "units", "clock"]),
    ("disc", &["meter", "trace", "units", "clock", "sys"]),
    ("meter", &["trace", "units", "clock", "sys"]),
    ("trace", &["units"]),
    ("sys", &["units"]),
    ("clock", &["units"]),
    ("units", &[]),
];

/// Rooms that are not nouns: they take no hints to the processor.
const BELOW_THE_NOUNS: [&str; 4] = ["sys", "trace", "clock", "units"];

/// Modules that may talk to the kernel.
const OVER_SYS: [&str; 10] = [
    "sys",
    "disc",
    "path",
    "experiment",
    "internal",
    "meter::probe",
    "workload::command",
    "workload::observe",
    "workload::record",
    "workload::source",
];

/// No import goes against the direction, and only the modules in [`OVER_SYS`] use `sys`.
pub(super) fn direction(source: &Source) -> Vec<Problem> {
    let Some(module) = source.library_module() else {
        return Vec::new();
    };
    let Some((room, allowed)) = ROOMS.iter().find(|(room, _)| *room == module[0]) else {
        let message = format!(
            "`{}` is not a room of the library; put the file under one of the nouns, or add the \
             room to the table of this rule and to ARCHITECTURE.md",
            module[0]
        );
        return vec![source.problem(1, message)];
    };
    let mut problems: Vec<Problem> = uses(source, &module)
        .into_iter()
        .filter_map(|(line, target)| {
            let complaint = complaint(&module, room, allowed, &target)?;
            Some(source.problem(line, complaint))
        })
        .collect();
    // `sys::{perf, ring}` is complained of once.
    problems.dedup();
    problems
}

/// Whether the path leads to a part of `sys` that asks nothing of the kernel: a hint to the processor
/// changes no result, and instructions for sixteen numbers give what plain loops give.
pub(super) fn is_hint(target: &[String]) -> bool {
    target.len() >= 2 && target[0] == "sys" && ["prefetch", "wide"].contains(&target[1].as_str())
}

/// The places in the library that the code before the tests names, by line.
pub(super) fn uses(source: &Source, module: &[&str]) -> Vec<(usize, Vec<String>)> {
    let code = source.code_before_tests();
    let mut named: Vec<Named> = paths::starting_with(code, "crate");
    named.extend(paths::starting_with(code, "super"));
    named.into_iter().map(|path| (path.line, paths::resolve(module, &path.words))).collect()
}

fn complaint(module: &[&str], room: &str, allowed: &[&str], target: &[String]) -> Option<String> {
    let target_room = target.first()?.as_str();
    if target_room == "*" {
        return Some("a glob of the whole library hides what is used; name it".to_owned());
    }
    let is_room = ROOMS.iter().any(|(name, _)| *name == target_room);
    if !is_room || target_room == room {
        return None;
    }
    if is_hint(target) && !BELOW_THE_NOUNS.contains(&room) {
        return None;
    }
    if !allowed.contains(&target_room) {
        let may = if allowed.is_empty() {
            "nothing of the library".to_owned()
        } else {
            allowed.join(", ")
        };
        return Some(format!(
            "`{room}` imports `{}`; {room} may use {may}: hand the value in, or move the code up",
            target.join("::")
        ));
    }
    let here = module.join("::");
    let is_over_sys =
        OVER_SYS.iter().any(|over| here == *over || here.starts_with(&format!("{over}::")));
    (target_room == "sys" && !is_over_sys).then(|| {
        format!(
            "`{here}` talks to the kernel; do it under {} and hand the result in",
            OVER_SYS[1..].join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::show;
    use super::*;

    fn check(path: &str, text: &str) -> String {
        show(&direction(&Source::new(path, text)))
    }

    #[test]
    fn the_direction_is_kept() {
        let fine = [
            ("experiment/curve.rs", "use crate::{cache::kernel, sys, workload::record};"),
            ("workload/record/run.rs", "use crate::sys::perf; use crate::meter::count;"),
            ("workload/command/watch.rs", "use crate::sys::{process, signal::Signals};"),
            ("cache/kernel/model.rs", "use crate::trace::{Op, Trace};"),
            ("cache/kernel/model.rs", "use super::super::Policy;"),
            ("cache/kernel/folio.rs", "use crate::sys::prefetch::prefetch;"),
            ("cache/engine/arc.rs", "use crate::sys::wide::above;"),
            ("cache/lru.rs", "//! crate::experiment\n// crate::sys\nlet s = \"crate::sys\";"),
            ("cache/lru.rs", "#[cfg(test)]\nmod tests {\n    use crate::workload;\n}\n"),
            ("meter/probe/residency.rs", "use crate::sys::cachestat; use crate::units::Pages;"),
            ("clock.rs", "use crate::units::Nanos;"),
            ("lib.rs", "pub use crate::experiment::result;"),
            ("disc/mod.rs", "use crate::SomethingAtTheRoot;"),
        ];
        for (path, text) in fine {
            assert_eq!(check(&format!("crates/nbuf-core/src/{path}"), text), "");
        }
    }

    #[test]
    fn imports_against_the_direction_are_found() {
        let wrong = [
            ("cache/kernel/mod.rs", "use crate::{\n    units,\n    workload::{pages, record},\n};"),
            ("cache/kernel/model.rs", "fn f() { super::super::super::experiment::g() }"),
            ("disc/file.rs", "use crate::cache::lru;"),
            ("workload/mod.rs", "use crate::trace; use crate::experiment;"),
            ("meter/distance.rs", "use crate::sys;"),
            ("units.rs", "use crate::sys::prefetch::prefetch;"),
            ("workload/format/native.rs", "use crate::sys::{map, ring};"),
            ("units.rs", "use crate::trace::Op;"),
            ("sys/perf.rs", "use crate::trace::Op;"),
            ("error.rs", ""),
            ("path/mod.rs", "use super::*;"),
        ];
        let got: String = wrong
            .into_iter()
            .map(|(path, text)| check(&format!("crates/nbuf-core/src/{path}"), text))
            .collect();
        expect![[r#"
            crates/nbuf-core/src/cache/kernel/mod.rs:3: `cache` imports `workload::pages`; cache may use disc, meter, trace, units, clock: hand the value in, or move the code up
            crates/nbuf-core/src/cache/kernel/mod.rs:3: `cache` imports `workload::record`; cache may use disc, meter, trace, units, clock: hand the value in, or move the code up
            crates/nbuf-core/src/cache/kernel/model.rs:1: `cache` imports `experiment::g`; cache may use disc, meter, trace, units, clock: hand the value in, or move the code up
            crates/nbuf-core/src/disc/file.rs:1: `disc` imports `cache::lru`; disc may use meter, trace, units, clock, sys: hand the value in, or move the code up
            crates/nbuf-core/src/workload/mod.rs:1: `workload` imports `experiment`; workload may use cache, disc, meter, trace, units, clock, sys: hand the value in, or move the code up
            crates/nbuf-core/src/meter/distance.rs:1: `meter::distance` talks to the kernel; do it under disc, path, experiment, internal, meter::probe, workload::command, workload::observe, workload::record, workload::source and hand the result in
            crates/nbuf-core/src/units.rs:1: `units` imports `sys::prefetch::prefetch`; units may use nothing of the library: hand the value in, or move the code up
            crates/nbuf-core/src/workload/format/native.rs:1: `workload::format::native` talks to the kernel; do it under disc, path, experiment, internal, meter::probe, workload::command, workload::observe, workload::record, workload::source and hand the result in
            crates/nbuf-core/src/units.rs:1: `units` imports `trace::Op`; units may use nothing of the library: hand the value in, or move the code up
            crates/nbuf-core/src/sys/perf.rs:1: `sys` imports `trace::Op`; sys may use units: hand the value in, or move the code up
            crates/nbuf-core/src/error.rs:1: `error` is not a room of the library; put the file under one of the nouns, or add the room to the table of this rule and to ARCHITECTURE.md
            crates/nbuf-core/src/path/mod.rs:1: a glob of the whole library hides what is used; name it
        "#]].assert_eq(&got);
    }
}
