//! The program `nbuf`.

mod caller;
mod command;
mod permission;
mod show;

use clap::Parser;

#[derive(Parser)]
enum Verb {
    Size(command::size::Args),
}

fn main() -> std::process::ExitCode {
    let Verb::Size(args) = Verb::parse();
    match command::size::run(&args) {
        Ok(status) => status.into(),
        Err(error) => {
            command::size::say(&format!("{error:#}"));
            125.into()
        }
    }
}
