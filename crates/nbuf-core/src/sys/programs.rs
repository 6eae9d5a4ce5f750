//! Programs of the system's that nbuf runs for itself: by absolute paths, with an environment of nothing
//! but what is named here, so that no caller's `PATH` or `LD_PRELOAD` reaches them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where the system keeps its programs.
const FOLDERS: [&str; 4] = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// Where a program of the system's is.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    FOLDERS.iter().map(|folder| Path::new(folder).join(name)).find(|path| path.is_file())
}

/// A program by its absolute path, about to run without an environment and without input. One that is not
/// there fails when it is run.
pub(crate) fn command(path: &Path) -> Command {
    let mut command = Command::new(path);
    command.env_clear().env("PATH", FOLDERS.join(":")).env("LC_ALL", "C").current_dir("/");
    command.stdin(Stdio::null());
    command
}
