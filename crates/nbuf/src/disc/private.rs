//! A disc of one's own: a directory copied to a file system in a file without a name, mounted over
//! the directory where only this process and its children see it.
//!
//! Its readahead can be set and its rate limited without touching the machine's disc. Nothing of it
//! has a name outside: mount and loop device go with the last process that sees them, the file with
//! the loop device. Needs root, `mkfs.ext4`, `mount` and `cp`. What is written to the directory
//! meanwhile is lost, which is the point.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::sys::namespace::enter_private_mounts;
use crate::units::Bytes;

/// Why there is no such disc.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is nothing to copy.
    #[error("cannot use {}: {source}; --data takes a directory", .path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// No mounts of our own.
    #[error("cannot mount where only the command sees it: {0}; --loop takes root")]
    Namespace(io::Error),
    /// No file without a name.
    #[error("cannot make a file of {size} in {}: {source}; --loop takes a file system that has room and O_TMPFILE", .path.display())]
    Image {
        /// Where.
        path: PathBuf,
        /// How large.
        size: Bytes,
        /// Why.
        source: io::Error,
    },
    /// A program failed, with what it said.
    #[error("{program}: {said}; {hint}")]
    Program {
        /// `mkfs.ext4`, `mount`, `cp`
        program: &'static str,
        /// Its last words.
        said: String,
        /// What to do.
        hint: &'static str,
    },
    /// What was mounted is not what the name leads to.
    #[error("{} still leads to the machine's own disc; give another --data", .0.display())]
    Beside(PathBuf),
    /// The readahead was refused.
    #[error("cannot set the readahead of the private disc: {0}")]
    Readahead(io::Error),
}

/// Puts `directory` onto a disc of its own of so many bytes, with this readahead window. To be called
/// before a thread is started.
pub fn enter(directory: &Path, size: Bytes, readahead: Bytes) -> Result<(), Error> {
    let wrong = |source| Error::Directory { path: directory.to_owned(), source };
    let directory = directory.canonicalize().map_err(wrong)?;
    if directory == Path::new("/") {
        // What is mounted over it is below it: its name would lead to the machine's disc as before.
        return Err(wrong(io::Error::other("it is the root of all")));
    }
    let inside = std::env::current_dir().ok().filter(|here| here.starts_with(&directory));
    let flags = libc::O_DIRECTORY | libc::O_CLOEXEC;
    let below = File::options().read(true).custom_flags(flags).open(&directory).map_err(wrong)?;
    let image = image(&directory, size)?;
    enter_private_mounts().map_err(Error::Namespace)?;
    let (image_path, below_path) = (path_of(&image), path_of(&below));
    let format = ["-q", "-F", "-b", "4096", "-m", "0", "-E", "nodiscard,lazy_itable_init=0"];
    run(
        "mkfs.ext4",
        Command::new("mkfs.ext4").args(format).arg(&image_path),
        "give --loop more room",
    )?;
    let mount = "--loop takes root and the kernel's loop devices";
    run(
        "mount",
        Command::new("mount").args(["-o", "loop"]).arg(&image_path).arg(&directory),
        mount,
    )?;
    set_up(private_device(&directory, &below)?, readahead)?;
    let _ = fs::remove_dir(directory.join("lost+found"));
    let copy = Command::new("cp").arg("-a").arg(format!("{below_path}/.")).arg(&directory).output();
    said("cp", copy, "give --loop more room")?;
    let written = Command::new("sync").arg("-f").arg(&directory).output();
    said("sync", written, "give --loop more room")?;
    if let Some(here) = inside {
        // The name leads to the new disc now; the directory we are in is still the old one.
        std::env::set_current_dir(here).map_err(wrong)?;
    }
    Ok(())
}

/// A file that no name leads to, beside the data, and so on the same disc.
fn image(directory: &Path, size: Bytes) -> Result<File, Error> {
    let make = || {
        let flags = libc::O_TMPFILE | libc::O_CLOEXEC;
        let file = File::options().read(true).write(true).custom_flags(flags).open(directory)?;
        file.set_len(size.0)?;
        Ok(file)
    };
    make().map_err(|source| Error::Image { path: directory.to_owned(), size, source })
}

/// Of loop devices (`LOOP_MAJOR`).
const LOOP_MAJOR: u32 = 7;

/// The loop device that the directory lies on now. It is looked at before anything is changed, for
/// nothing may ever be changed on another one.
fn private_device(directory: &Path, below: &File) -> Result<(u32, u32), Error> {
    let beside = |_| Error::Beside(directory.to_owned());
    let now = rustix::fs::stat(directory).map_err(beside)?.st_dev;
    let before = rustix::fs::fstat(below).map_err(beside)?.st_dev;
    let (major, minor) = (rustix::fs::major(now), rustix::fs::minor(now));
    if now == before || major != LOOP_MAJOR {
        return Err(Error::Beside(directory.to_owned()));
    }
    Ok((major, minor))
}

/// Direct I/O, so that nothing is cached twice, and the readahead.
fn set_up((major, minor): (u32, u32), readahead: Bytes) -> Result<(), Error> {
    // A file system that cannot do direct I/O caches twice: slower, and not wrong.
    let loop_device = format!("/dev/block/{major}:{minor}");
    let _ = Command::new("losetup").args(["--direct-io=on", &loop_device]).output();
    let window = format!("/sys/dev/block/{major}:{minor}/queue/read_ahead_kb");
    fs::write(window, (readahead.0 >> 10).to_string()).map_err(Error::Readahead)
}

/// Leads other programs to a file that is open here.
fn path_of(file: &File) -> String {
    format!("/proc/{}/fd/{}", std::process::id(), file.as_raw_fd())
}

fn run(program: &'static str, command: &mut Command, hint: &'static str) -> Result<(), Error> {
    said(program, command.stdin(Stdio::null()).output(), hint)
}

fn said(
    program: &'static str,
    output: io::Result<std::process::Output>,
    hint: &'static str,
) -> Result<(), Error> {
    let said = match output {
        Ok(output) if output.status.success() => return Ok(()),
        Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
        Err(error) => error.to_string(),
    };
    let first = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("failed");
    let said = first.strip_prefix(&format!("{program}: ")).unwrap_or(first).to_owned();
    Err(Error::Program { program, said, hint })
}
