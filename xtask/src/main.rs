//! `cargo xtask CHORE`: the chores, by name.

use std::env;
use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Context;
use xtask::{cost, tidy};

const USAGE: &str = "\
usage: cargo xtask tidy
       cargo xtask cost RUNS COMMAND...   (after cargo build --release)";

fn main() -> anyhow::Result<ExitCode> {
    match env::args().nth(1).as_deref() {
        Some("tidy") => run_tidy(),
        Some("cost") => {
            let runs = env::args().nth(2).and_then(|runs| runs.parse().ok());
            let command: Vec<_> = env::args_os().skip(3).collect();
            let runs = runs.context("how many runs? cargo xtask cost 9 sqlite3 ...")?;
            let table = cost::table("target/release/nbuf", runs, &command)?;
            write!(io::stdout(), "{table}")?;
            Ok(ExitCode::SUCCESS)
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

fn run_tidy() -> anyhow::Result<ExitCode> {
    let problems = tidy::check(&tidy::repository())?;
    let mut out = io::stdout().lock();
    for problem in &problems {
        writeln!(out, "{problem}")?;
    }
    Ok(if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
