//! A file system of our own in an image file, mounted where only this process sees it.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const INSIDE: &str = "NBUF_TEST_PRIVATE_MOUNTS";

/// Starts this program over in a private mount namespace, unless that was done already. Whatever
/// it mounts there goes when it ends, however it ends.
pub(crate) fn enter_private_mounts() -> io::Result<()> {
    if std::env::var_os(INSIDE).is_some() {
        return Ok(());
    }
    let mut unshare = Command::new("unshare");
    unshare.args(["--mount", "--propagation", "private", "--"]);
    unshare.arg(std::env::current_exe()?).args(std::env::args_os().skip(1)).env(INSIDE, "1");
    Err(unshare.exec())
}

/// A mounted image.
#[derive(Debug)]
pub(crate) struct Volume {
    pub(crate) root: PathBuf,
}

impl Volume {
    /// Makes and mounts a file system of this kind; the error says what is missing.
    pub(crate) fn new(kind: &str, directory: &Path) -> Result<Self, String> {
        // Blocks as large as pages: smaller ones make a page that is ready in part, and reading it
        // hides the pages before it from the tracepoint.
        let (mebibytes, options): (u64, &[&str]) = match kind {
            "xfs" => (320, &["-q"]),
            "btrfs" => (256, &["-q"]),
            "fuse" => (64, &["-qF", "-b", "4096"]),
            _ => (256, &["-qF", "-b", "4096"]),
        };
        let image = directory.join(format!("{kind}.image"));
        let file = std::fs::File::create(&image).map_err(|error| error.to_string())?;
        file.set_len(mebibytes << 20).map_err(|error| error.to_string())?;
        let root = directory.join(kind);
        std::fs::create_dir(&root).map_err(|error| error.to_string())?;
        let format = if kind == "fuse" { "mkfs.ext4".into() } else { format!("mkfs.{kind}") };
        run(Command::new(format).args(options).arg(&image))?;
        if kind == "fuse" {
            // A file system in user space, which has no tracepoint for writes. It goes with its mount.
            run(Command::new("fuse2fs").arg(&image).arg(&root))?;
            return Ok(Self { root });
        }
        // The loop device is set to go with its mount.
        run(Command::new("mount").args(["-t", kind, "-o", "loop"]).arg(&image).arg(&root))?;
        Ok(Self { root })
    }
}

impl Drop for Volume {
    fn drop(&mut self) {
        let _ = run(Command::new("umount").arg("--lazy").arg(&self.root));
    }
}

/// Runs a tool to its end; the error is what it said.
pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    let tool = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{tool}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{tool}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}
