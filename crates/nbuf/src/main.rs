//! The program `nbuf`.

#![forbid(unsafe_code)]

#[cfg(test)]
mod browser_tests;
mod cli;
mod command;
mod console;
mod exit;
mod fail;
mod output;
mod permission;
mod shell;
mod show;
mod sudo_user;
mod verbosity;

#[cfg(not(target_env = "musl"))]
use std::alloc::System as Allocator;
use std::process::ExitCode;

// docs/decisions/0009-one-static-binary.md
#[cfg(target_env = "musl")]
use mimalloc::MiMalloc as Allocator;
use nbuf::experiment::start::{Heap, prepare};

#[global_allocator]
static HEAP: Heap<Allocator> = Heap(Allocator);

fn main() -> ExitCode {
    prepare();
    fail::say_panics_in_a_line();
    match cli::parse() {
        Ok((verb, as_root)) => {
            let settled = sudo_user::settle(verb.needs(), as_root).map_err(anyhow::Error::from);
            let done = settled.and_then(|()| command::run(&verb));
            done.map_or_else(|error| fail::report(&error), ExitCode::from)
        }
        Err(usage) => exit::usage(&usage),
    }
}
