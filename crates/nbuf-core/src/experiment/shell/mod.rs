//! The ready message after every command of an interactive shell: a helper process for each session.
//!
//! The shell writes a line into one FIFO at each prompt and reads the answer from another, so that a prompt starts
//! no process. The helper reads what the kernel counts of the shell and of the children that it waited for. It ends
//! with the shell, by whatever signal.
//! Cost: one read of a few files and counters for each prompt, about 1 ms with the shell's own part (docs/run.md).

mod counts;

use std::fs::{self, DirBuilder, File};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, open};
use rustix::process::{Pid, PidfdFlags, pidfd_open, setsid};

use counts::Counts;
pub use counts::Figures;

/// The FIFO that the shell writes to, and the one that it reads from.
const REQUESTS: &str = "to";
const ANSWERS: &str = "from";

/// Makes a directory for a session, which no other user may enter, with its two FIFOs: in `XDG_RUNTIME_DIR`, or where
/// temporary files are.
///
/// # Errors
/// What the kernel says.
pub fn prepare(shell: i32) -> io::Result<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let place = runtime.filter(|path| path.is_dir()).unwrap_or_else(std::env::temp_dir);
    let ours = std::process::id();
    let directory = std::path::absolute(place)?.join(format!("nbuf-shell-{shell}-{ours}"));
    // Fails where anything has this name.
    DirBuilder::new().mode(0o700).create(&directory)?;
    for name in [REQUESTS, ANSWERS] {
        let path = directory.join(name);
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
    }
    Ok(directory)
}

/// Answers the shell with this number until it ends, and removes the directory then. `line` makes the text. `ready`
/// is called when the counters count.
///
/// # Errors
/// What the kernel says.
pub fn serve(
    shell: i32,
    directory: &Path,
    ready: impl FnOnce() -> io::Result<()>,
    line: impl Fn(&Figures) -> String,
) -> io::Result<()> {
    let served = answer(shell, directory, ready, line);
    for name in [REQUESTS, ANSWERS] {
        let _ = fs::remove_file(directory.join(name));
    }
    let _ = fs::remove_dir(directory);
    served
}

fn answer(
    shell: i32,
    directory: &Path,
    ready: impl FnOnce() -> io::Result<()>,
    line: impl Fn(&Figures) -> String,
) -> io::Result<()> {
    // Keys and the end of the terminal are for the shell.
    setsid()?;
    std::env::set_current_dir("/")?;
    let pid = Pid::from_raw(shell).ok_or(io::ErrorKind::InvalidInput)?;
    let process = pidfd_open(pid, PidfdFlags::empty())?;
    // For both directions: so no end is ever missing, and none blocks.
    let fifo = |name: &str| -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CLOEXEC;
        Ok(open(directory.join(name), flags, Mode::empty())?.into())
    };
    let (requests, mut answers) = (fifo(REQUESTS)?, fifo(ANSWERS)?);
    let mut requests = BufReader::new(requests);
    let counts = Counts::open(shell);
    let mut before = counts.now()?;
    ready()?;
    let mut request = String::new();
    loop {
        if requests.buffer().is_empty() {
            let mut ready = [
                PollFd::new(&process, PollFlags::IN),
                PollFd::new(requests.get_ref(), PollFlags::IN),
            ];
            match poll(&mut ready, None) {
                Err(rustix::io::Errno::INTR) => continue,
                other => other?,
            };
            if !ready[0].revents().is_empty() {
                return Ok(());
            }
        }
        request.clear();
        requests.read_line(&mut request)?;
        let Ok(now) = counts.now() else { return Ok(()) };
        // `b` when a command begins; `p MICROSECONDS` at the prompt after it.
        if let Some(us) = request.trim().strip_prefix("p ").and_then(|us| us.parse().ok()) {
            let text = line(&now.since(&before, us)).replace('\n', " ");
            answers.write_all(format!("{text}\n").as_bytes())?;
        }
        before = now;
    }
}
