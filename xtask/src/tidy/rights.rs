//! Who opens, renames, removes, mounts, kills and executes: only the modules of a table, which
//! docs/security.md has with the identity that each works under.

use super::Problem;
use super::source::{Source, find_words, has_extension, line_of};

/// Where each module has its identity.
const DOCUMENT: &str = "docs/security.md";

/// Calls that reach files, mounts and processes by a name or a number.
const CALLS: [&str; 33] = [
    "Command::new",
    "File::create",
    "File::open",
    "File::options",
    "OpenOptions::new",
    "fs::canonicalize",
    "fs::copy",
    "fs::create_dir",
    "fs::create_dir_all",
    "fs::hard_link",
    "fs::read",
    "fs::read_to_string",
    "fs::remove_dir",
    "fs::remove_dir_all",
    "fs::remove_file",
    "fs::rename",
    "fs::write",
    "fsmount",
    "fsopen",
    "libc::execve",
    "libc::kill",
    "libc::mount",
    "libc::open",
    "linkat",
    "mkdirat",
    "mknodat",
    "move_mount",
    "openat",
    "openat2",
    "renameat",
    "renameat_with",
    "rustix::fs::open",
    "unlinkat",
];

/// Modules that may, relative to `crates/`: a file, or all below a folder.
const MODULES: &[&str] = &[
    // The caller's files, with the caller's rights.
    "nbuf-core/src/sys/files/",
    // Files of the kernel's, devices, and processes of our own.
    "nbuf-core/src/experiment/run/symbols.rs",
    "nbuf-core/src/meter/probe/",
    "nbuf-core/src/sys/bpf/description.rs",
    "nbuf-core/src/sys/cgroup/",
    "nbuf-core/src/sys/handle.rs",
    "nbuf-core/src/sys/loop_device.rs",
    "nbuf-core/src/sys/memory.rs",
    "nbuf-core/src/sys/namespace.rs",
    "nbuf-core/src/sys/probe/",
    "nbuf-core/src/sys/process.rs",
    "nbuf-core/src/sys/programs.rs",
    "nbuf-core/src/sys/ptrace.rs",
    "nbuf-core/src/sys/supervise/",
    "nbuf-core/src/sys/tracefs.rs",
    "nbuf-core/src/workload/command/",
    "nbuf-core/src/workload/observe/discs.rs",
    "nbuf-core/src/workload/observe/keys.rs",
    "nbuf-core/src/workload/observe/timeline.rs",
    "nbuf-core/src/workload/record/",
    "nbuf/src/permission.rs",
    // The private disc.
    "nbuf-core/src/disc/private.rs",
    // Verbs that watch no command, and so have become the caller.
    "nbuf-core/src/disc/choice/files.rs",
    "nbuf-core/src/disc/file.rs",
    "nbuf-core/src/disc/measured.rs",
    "nbuf-core/src/experiment/bench/",
    "nbuf-core/src/experiment/child.rs",
    "nbuf-core/src/experiment/course.rs",
    "nbuf-core/src/experiment/demo.rs",
    "nbuf-core/src/experiment/fleet/engine.rs",
    "nbuf-core/src/experiment/fleet/folder.rs",
    "nbuf-core/src/experiment/ping/",
    "nbuf-core/src/experiment/shell/",
    "nbuf-core/src/path/",
    "nbuf-python/src/fleet.rs",
    "nbuf-sqlite/src/files.rs",
    "nbuf/src/command/demo.rs",
    "nbuf/src/command/fleet/draft.rs",
    "nbuf/src/command/run/shell.rs",
    "nbuf/src/command/watch/live.rs",
];

/// Only modules of the table reach out, and the document has each of them.
pub(super) fn rights(sources: &[Source]) -> Vec<Problem> {
    let mut problems: Vec<Problem> = sources.iter().flat_map(reaching).collect();
    let document = sources.iter().find(|source| source.path == DOCUMENT);
    if let Some(document) = document {
        let missing = MODULES.iter().filter(|module| !document.text.contains(**module));
        problems.extend(missing.map(|module| {
            document.problem(1, format!("`{module}` and the identity it works under are missing"))
        }));
    }
    problems
}

fn reaching(source: &Source) -> Vec<Problem> {
    let Some(path) = source.path.strip_prefix("crates/") else { return Vec::new() };
    let is_code = path.contains("/src/") && has_extension(path, "rs") && !path.contains("/tests");
    if !is_code || path.ends_with("tests.rs") || MODULES.iter().any(|m| path.starts_with(m)) {
        return Vec::new();
    }
    let code = source.code_before_tests();
    let found = CALLS.iter().flat_map(|call| find_words(code, call).map(move |at| (at, *call)));
    let said = found.map(|(at, call)| {
        source.problem(
            line_of(code, at),
            format!(
                "`{call}` here works with the rights of the whole process; call sys::files for a file \
                 that the caller names, or put the module into the table of this rule and into {DOCUMENT}"
            ),
        )
    });
    said.collect()
}

#[cfg(test)]
mod tests {
    use super::super::show;
    use super::*;

    fn check(path: &str, text: &str) -> String {
        show(&rights(&[Source::new(path, text)]))
    }

    #[test]
    fn a_new_place_that_opens_is_found() {
        let text = "//! A.\nfn f() { std::fs::File::open(p); std::fs::rename(a, b) }\n";
        for (path, count) in [
            ("crates/nbuf-core/src/units.rs", 2),
            ("crates/nbuf/src/output.rs", 2),
            ("crates/nbuf-core/src/sys/files/perform.rs", 0),
            ("crates/nbuf-core/src/workload/record/mounts.rs", 0),
            ("crates/nbuf/tests/size.rs", 0),
            ("crates/nbuf-core/src/sys/files/tests.rs", 0),
            ("xtask/src/main.rs", 0),
        ] {
            assert_eq!(check(path, text).lines().count(), count, "{path}: {}", check(path, text));
        }
    }

    #[test]
    fn the_document_has_every_module() {
        let all = MODULES.join("\n");
        assert_eq!(check(DOCUMENT, &all), "");
        let count = check(DOCUMENT, "# Security\n").lines().count();
        assert_eq!(count, MODULES.len());
    }
}
