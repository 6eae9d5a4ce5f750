//! SQLite's own tests (`veryquick`) with the VFS of `nbuf-sqlite` as the default, next to the plain VFS.
//!
//! The caller names a folder with SQLite's sources, such as `apt-get source sqlite3` unpacks. They are built in
//! `nbuf-sqlite-tests` below the directory for temporary files, and not changed. The suite refuses to run as root, so root
//! runs it as `nobody`. A test that fails with the cache and not without it is ours.

use std::collections::BTreeSet;
use std::env;
use std::fmt::Write;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use anyhow::{Context, Result, ensure};

use crate::process::{output, run};

/// How the suite runs: its name in the table, and the variables of the environment.
const WAYS: [(&str, &[(&str, &str)]); 3] = [
    ("plain", &[]),
    ("nbuf, 64 MiB", &[("NBUF_SIZE", "64MiB")]),
    ("nbuf, 64 KiB", &[("NBUF_SIZE", "64KiB")]),
];

/// Runs the suite in each way, and gives a table of the failures.
pub fn table(repository: &Path, sources: &Path) -> Result<String> {
    let sources = fs::canonicalize(sources).context("cannot find the folder of sources")?;
    run(Command::new("cargo").current_dir(repository).args(["build", "-p", "nbuf-sqlite"]))?;
    // What it has, root will execute: it is made here and now.
    let folder = env::temp_dir().join(format!("nbuf-sqlite-tests-{}", std::process::id()));
    fs::create_dir(&folder).with_context(|| format!("{}", folder.display()))?;
    let program = built(&sources, &folder)?;
    let library = folder.join("libnbuf_sqlite.so");
    fs::copy(repository.join("target/debug/libnbuf_sqlite.so"), &library)?;
    let mut children = Vec::new();
    for (name, variables) in WAYS {
        children.push((name, begun(&program, &sources, &folder, &library, name, variables)?));
    }
    let mut outcomes = Vec::new();
    for (name, (mut child, log)) in children {
        // It fails if a test fails.
        child.0.wait().with_context(|| format!("cannot wait for the tests of {name}"))?;
        let text = fs::read(&log).with_context(|| format!("reading {}", log.display()))?;
        outcomes.push((name, outcome(&String::from_utf8_lossy(&text))?));
    }
    Ok(shown(&outcomes))
}

/// Builds the program of the tests.
fn built(sources: &Path, folder: &Path) -> Result<PathBuf> {
    let program = folder.join("testfixture");
    let shim = folder.join("shim.o");
    run(Command::new(sources.join("configure"))
        .current_dir(folder)
        .args(["--enable-all", "--disable-debug"])
        .arg("CFLAGS=-O1 -DSQLITE_EXTRA_INIT=nbuf_extra_init"))?;
    run(Command::new("make").current_dir(folder).arg("sqlite3.c"))?;
    fs::write(folder.join("shim.c"), include_str!("shim.c"))?;
    run(Command::new("cc")
        .current_dir(folder)
        .args(["-O1", "-I.", "-I"])
        .arg(sources.join("src"))
        .args(["-c", "shim.c", "-o"])
        .arg(&shim))?;
    let libraries = format!("LIBS={} -lm -ldl -lpthread -lz", shim.display());
    run(Command::new("make").current_dir(folder).args(["testfixture", &libraries]))?;
    Ok(program)
}

/// A suite at work, which ends with the chore.
struct Suite(Child);

impl Drop for Suite {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts the suite in a folder of its own.
fn begun(
    program: &Path,
    sources: &Path,
    folder: &Path,
    library: &Path,
    name: &str,
    variables: &[(&str, &str)],
) -> Result<(Suite, PathBuf)> {
    let folder = folder.join(name.replace([' ', ','], "-"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let log = folder.join("log");
    let out = File::create(&log)?;
    let mut suite = if output(Command::new("id").arg("-u"))? == b"0\n" {
        run(Command::new("chown").arg("nobody").arg(&folder))?;
        let mut suite = Command::new("setpriv");
        suite.args(["--reuid=nobody", "--regid=nogroup", "--clear-groups"]).arg(program);
        suite
    } else {
        Command::new(program)
    };
    suite
        .env("HOME", &folder)
        .current_dir(&folder)
        .arg(sources.join("test/veryquick.test"))
        .arg("--verbose=0");
    suite.stdout(out.try_clone()?).stderr(out).envs(variables.iter().copied());
    if !variables.is_empty() {
        suite.env("NBUF_SQLITE_LIBRARY", library);
    }
    Ok((Suite(suite.spawn().context("cannot run testfixture")?), log))
}

/// What a run of the suite said at its end.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    tests: u64,
    failed: BTreeSet<String>,
}

fn outcome(log: &str) -> Result<Outcome> {
    let number = |line: &str| -> Option<u64> {
        let (_, rest) = line.split_once(" errors out of ")?;
        rest.split(' ').next()?.parse().ok()
    };
    let tests = log.lines().rev().find_map(number).context("the tests did not end: see the log")?;
    let failures = log.lines().filter_map(|line| line.strip_prefix("!Failures on these tests:"));
    let failed = failures.flat_map(str::split_whitespace).map(ToOwned::to_owned).collect();
    Ok(Outcome { tests, failed })
}

fn shown(outcomes: &[(&str, Outcome)]) -> String {
    let plain = outcomes.first().map(|(_, outcome)| &outcome.failed);
    let mut table = "| VFS | tests | failed | failed only here |\n|---|---|---|---|\n".to_owned();
    for (name, outcome) in outcomes {
        let own: Vec<&str> = outcome
            .failed
            .iter()
            .filter(|test| plain.is_none_or(|plain| !plain.contains(*test)))
            .map(String::as_str)
            .collect();
        let own = if own.is_empty() { "none".to_owned() } else { own.join(", ") };
        let _ =
            writeln!(table, "| {name} | {} | {} | {own} |", outcome.tests, outcome.failed.len());
    }
    table
}

/// Fails if the folder has no such suite.
pub fn check(sources: &Path) -> Result<()> {
    let is_there = sources.join("test/veryquick.test").is_file();
    ensure!(is_there, "{} has no test/veryquick.test: name SQLite's sources", sources.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn failures_of_the_plain_run_are_no_failures_of_ours() {
        let plain = "x\n2 errors out of 250 tests on a Linux\n!Failures on these tests: a-1 b-2\n";
        let ours = "2 errors out of 249 tests on a Linux\n!Failures on these tests: a-1 c-3\n";
        let none = "0 errors out of 249 tests on a Linux\n";
        let outcomes = [("plain", plain), ("ours", ours), ("none", none)]
            .map(|(n, log)| (n, outcome(log).unwrap()));
        expect![[r"
            | VFS | tests | failed | failed only here |
            |---|---|---|---|
            | plain | 250 | 2 | none |
            | ours | 249 | 2 | c-3 |
            | none | 249 | 0 | none |
        "]]
        .assert_eq(&shown(&outcomes));
        assert!(outcome("killed\n").is_err());
    }
}
