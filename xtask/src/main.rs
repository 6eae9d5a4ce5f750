//! `cargo xtask CHORE`: the chores, by name.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use xtask::{accuracy, captures, cost, discs, tidy, truth};

const USAGE: &str = "\
usage: cargo xtask tidy
       cargo xtask discs                  (with the measured drives in ../shared/discs, or NBUF_DISCS)
       cargo xtask cost RUNS COMMAND...   (after cargo build --release)
       cargo xtask truth                  (after cargo build --release)
       cargo xtask captures               (as root, after cargo build --release)
       cargo xtask accuracy [PROGRAM...]  (the same)";

fn main() -> anyhow::Result<ExitCode> {
    match env::args().nth(1).as_deref() {
        Some("tidy") => run_tidy(),
        Some("discs") => {
            discs::write(&tidy::repository())?;
            Ok(ExitCode::SUCCESS)
        }
        Some("cost") => {
            let runs = env::args().nth(2).and_then(|runs| runs.parse().ok());
            let command: Vec<_> = env::args_os().skip(3).collect();
            let runs = runs.context("how many runs? cargo xtask cost 9 sqlite3 ...")?;
            let table = cost::table("target/release/nbuf", runs, &command)?;
            write!(io::stdout(), "{table}")?;
            Ok(ExitCode::SUCCESS)
        }
        Some("truth") => {
            let path = tidy::repository().join("docs/performance.md");
            let table = truth::table(&released())?;
            write!(io::stdout(), "{table}")?;
            fs::write(&path, accuracy::between(&fs::read_to_string(&path)?, "truth", &table)?)?;
            Ok(ExitCode::SUCCESS)
        }
        Some("captures") => {
            let path = tidy::repository().join("docs/capture-calls.md");
            let table = captures::table(&tidy::repository().join("target/release/nbuf"))?;
            fs::write(&path, accuracy::between(&fs::read_to_string(&path)?, "close", &table)?)?;
            Ok(ExitCode::SUCCESS)
        }
        Some("accuracy") => {
            let only: Vec<String> = env::args().skip(2).collect();
            run_accuracy(&only)
        }
        Some("help" | "--help" | "-h") => {
            writeln!(io::stdout(), "{USAGE}")?;
            Ok(ExitCode::SUCCESS)
        }
        _ => {
            writeln!(io::stderr(), "{USAGE}")?;
            Ok(ExitCode::from(2))
        }
    }
}

/// The program that is measured: the released one, or another that `NBUF` names.
fn released() -> PathBuf {
    env::var_os("NBUF")
        .map_or_else(|| tidy::repository().join("target/release/nbuf"), PathBuf::from)
}

/// Of some programs the tables are printed; those of all go into the document.
fn run_accuracy(only: &[String]) -> anyhow::Result<ExitCode> {
    let path = tidy::repository().join("docs/accuracy.md");
    let document = fs::read_to_string(&path)?;
    let (fills, time) = accuracy::measure(&released(), only)?;
    let document = accuracy::replace(&document, &fills, &time)?;
    if only.is_empty() {
        fs::write(path, document)?;
    } else {
        write!(io::stdout(), "{document}")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn run_tidy() -> anyhow::Result<ExitCode> {
    let problems = tidy::check(&tidy::repository())?;
    let mut out = io::stdout().lock();
    for problem in &problems {
        writeln!(out, "{problem}")?;
    }
    Ok(if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
