//! `cargo xtask CHORE`: the chores, by name.

use std::env;
use std::io::{self, Write};
use std::process::ExitCode;

use xtask::tidy;

const USAGE: &str = "usage: cargo xtask tidy";

fn main() -> anyhow::Result<ExitCode> {
    match env::args().nth(1).as_deref() {
        Some("tidy") => run_tidy(),
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
