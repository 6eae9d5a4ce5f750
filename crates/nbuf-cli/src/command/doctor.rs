//! `nbuf doctor`: what works here, what does not, why, and what would change it.

use std::fmt::Write as _;
use std::io::{ErrorKind, Write as _};

use anyhow::{Context, Result};
use nbuf::workload::record::abilities::{Ability, State, abilities};
use serde_json::json;

const AFTER: &str = "\
Exit status:
  0  `nbuf size` can do its whole job here
  1  it can do a part of it";

/// Tell what works here, what does not, why, and what would change it.
///
/// Really tries: opens an event, traces a process, makes, limits and removes a group. Nothing is
/// changed, and nothing is left.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER)]
pub(crate) struct Arguments {
    /// One JSON document on standard output.
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<u8> {
    let found = abilities();
    let whole = found.iter().all(|ability| !ability.needed || ability.state == State::Works);
    let text = if arguments.json { document(&found, whole)? } else { table(&found, whole) };
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        // Without words around it, as everywhere: nobody reads on.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => return Err(error.into()),
        written => written.context("cannot write to standard output; send it elsewhere")?,
    }
    Ok(u8::from(!whole))
}

fn word(state: State) -> &'static str {
    match state {
        State::Works => "works",
        State::Fails => "fails",
        State::Is => "is",
    }
}

fn document(found: &[Ability], whole: bool) -> Result<String> {
    let abilities: Vec<_> = found
        .iter()
        .map(|ability| {
            json!({
                "name": ability.name,
                "needed": ability.needed,
                "state": word(ability.state),
                "why": ability.why,
                "remedy": ability.remedy,
            })
        })
        .collect();
    let document = json!({ "schema": "nbuf.doctor/1", "whole": whole, "abilities": abilities });
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

fn table(found: &[Ability], whole: bool) -> String {
    let mut text = String::new();
    for Ability { name, state, why, remedy, .. } in found {
        let mark = if *state == State::Is { "" } else { word(*state) };
        // A `String` takes everything.
        let _ = writeln!(text, "{name:<26} {mark:<6} {why}");
        if !remedy.is_empty() {
            let _ = writeln!(text, "{:<26} {:<6} -> {remedy}", "", "");
        }
    }
    let works = |name| found.iter().any(|a| a.name == name && a.state == State::Works);
    let verdict = match (whole, works("capture by tracepoints"), works("capture by system calls")) {
        (true, ..) => "nbuf size can do its whole job here",
        (_, true, _) if works("memory limits") => {
            "nbuf size can record, recommend and verify here, but not for files without names"
        }
        (_, true, _) => "nbuf size can record and recommend here, but not verify under limits",
        (_, _, true) if works("memory limits") => {
            "nbuf size can record by system calls, recommend and verify here, by what is read from \
             discs instead of what is filled"
        }
        (_, _, true) => {
            "nbuf size can record by system calls and recommend here, but not verify under limits"
        }
        _ => "nbuf can read traces here, but not record",
    };
    let _ = writeln!(text, "\n{verdict}");
    text
}
