//! Exit statuses: the command's own where there is one, else those that shells and `env` use.

use std::io::ErrorKind;
use std::process::ExitCode;

use crate::fail;

/// The command line makes no sense, as clap has it.
pub(crate) const SENSELESS: u8 = 2;
/// Something of ours failed.
pub(crate) const OURS: u8 = 125;
/// The command cannot be executed.
pub(crate) const NOT_EXECUTABLE: u8 = 126;
/// The command was not found.
pub(crate) const NOT_FOUND: u8 = 127;

/// The exit status of a command, as a shell gives it.
pub(crate) fn command(status: i32) -> u8 {
    u8::try_from(status).unwrap_or(OURS)
}

/// Prints help, the version or a usage error: 2 when it is an error. Of a value that was refused, the
/// reason says what to write instead, and the line with it is all.
pub(crate) fn usage(usage: &clap::Error) -> ExitCode {
    let status = ExitCode::from(u8::try_from(usage.exit_code()).unwrap_or(OURS));
    if usage.kind() == clap::error::ErrorKind::ValueValidation {
        let text = usage.render().to_string();
        let line = text.split("\n\n").next().unwrap_or_default();
        fail::say(line.trim_start_matches("error: "));
        return status;
    }
    match usage.print() {
        // Nobody reads on: `nbuf --help | head -1`.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => ExitCode::from(OURS),
        _ => status,
    }
}
