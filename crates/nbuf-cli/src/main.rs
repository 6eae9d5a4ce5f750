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
mod spool;
mod voice;

use std::process::ExitCode;

#[global_allocator]
static HEAP: nbuf::sys::heap::Heap = nbuf::sys::heap::Heap;

fn main() -> ExitCode {
    nbuf::sys::start::prepare();
    fail::say_panics_in_a_line();
    match cli::parse() {
        Ok((verb, as_root)) => {
            let done = caller::settle(verb.needs(), as_root).and_then(|()| command::run(&verb));
            done.map_or_else(|error| fail::report(&error), ExitCode::from)
        }
        Err(usage) => exit::usage(&usage),
    }
}
