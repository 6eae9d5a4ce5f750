//! Exit statuses: the command's own where there is one, else those that shells and `env` use.

use std::io::ErrorKind;
use std::process::ExitCode;

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

/// Prints help, the version or a usage error: 2 when it is an error.
pub(crate) fn usage(usage: &clap::Error) -> ExitCode {
    match usage.print() {
        // Nobody reads on: `nbuf --help | head -1`.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => ExitCode::from(OURS),
        _ => ExitCode::from(u8::try_from(usage.exit_code()).unwrap_or(OURS)),
    }
}
