//! The program `nbuf`.

mod caller;
mod cli;
mod command;
mod exit;
mod fail;
mod output;
mod patience;
mod permission;
mod shell;
mod show;
mod voice;

use std::process::ExitCode;

fn main() -> ExitCode {
    match cli::parse() {
        Ok(verb) => command::run(&verb).map_or_else(|error| fail::report(&error), ExitCode::from),
        Err(usage) => exit::usage(&usage),
    }
}
