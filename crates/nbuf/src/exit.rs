//! Exit statuses: the command's own where there is one, else those that shells and `env` use.

use std::io;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::fail;

/// Fills were out of band, a budget was exceeded, or a part of the work failed.
pub(crate) const CHECK_FAILED: u8 = 1;
/// The command did something else than when it was recorded.
pub(crate) const NOT_REPEATABLE: u8 = 3;
/// Runs disagree whether the fills are in band, or none proves the size.
pub(crate) const UNDECIDED: u8 = 4;
/// A usage error, with the status of clap.
pub(crate) const USAGE_ERROR: u8 = 2;
/// nbuf failed.
pub(crate) const INTERNAL_ERROR: u8 = 125;
/// The command cannot be executed.
pub(crate) const NOT_EXECUTABLE: u8 = 126;
/// The command was not found.
pub(crate) const NOT_FOUND: u8 = 127;

/// The exit status of a command, as a shell gives it.
pub(crate) fn command(status: i32) -> u8 {
    u8::try_from(status).unwrap_or(INTERNAL_ERROR)
}

/// Prints help, the version or a usage error: 2 when it is an error. If a value was refused, only the
/// line with the reason is printed, which says what to write instead.
pub(crate) fn usage(usage: &clap::Error) -> ExitCode {
    let status = ExitCode::from(u8::try_from(usage.exit_code()).unwrap_or(INTERNAL_ERROR));
    if let ErrorKind::ValueValidation | ErrorKind::InvalidValue = usage.kind() {
        let text = usage.render().to_string();
        let line = text.split("\n\n").next().unwrap_or_default();
        let line = line.split("\n  [possible values").next().unwrap_or_default();
        let line = in_range(line);
        let known = known(usage).map_or_else(String::new, |known| format!(": {known}"));
        fail::say(format_args!("{}{known}", line.trim_start_matches("error: ")));
        return status;
    }
    match usage.print() {
        // No process reads on: `nbuf --help | head -1`.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => ExitCode::from(INTERNAL_ERROR),
        _ => status,
    }
}

/// A range as people write it: clap has `0 is not in 1..18446744073709551615`.
fn in_range(line: &str) -> String {
    let read = |text: &str| text.parse::<u64>().ok();
    let range = line.rsplit_once(" is not in ").and_then(|(before, range)| {
        let (least, most) = range.trim_end().split_once("..")?;
        let most = match most.strip_prefix('=') {
            Some(included) => read(included)?,
            None => read(most)?.checked_sub(1)?,
        };
        Some((before, read(least)?, most))
    });
    match range {
        // No limit at all, as people see it.
        Some((before, least, most)) if most >= u64::MAX - 1 => {
            format!("{before} is less than {least}")
        }
        Some((before, least, most)) => {
            format!("{before} is none of the numbers from {least} to {most}")
        }
        None => line.to_owned(),
    }
}

/// The words that can stand where another one did, the nearest first.
fn known(usage: &clap::Error) -> Option<String> {
    let ContextValue::Strings(all) = usage.get(ContextKind::ValidValue)? else { return None };
    let all = all.join(", ");
    match usage.get(ContextKind::SuggestedValue) {
        _ if all.is_empty() => None,
        Some(ContextValue::String(near)) => {
            Some(format!("did you mean {near}? Write that, or another of {all}"))
        }
        _ => Some(format!("write one of {all}")),
    }
}
