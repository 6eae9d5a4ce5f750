//! `nbuf demo`: the answer of `nbuf size` to a small workload of our own, explained.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use std::os::unix::process::CommandExt;

use anyhow::{Context, Result, bail};
use nbuf::experiment::capture::Capture;
use nbuf::experiment::demo;
use nbuf::experiment::session::Interim;
use nbuf::experiment::size::{self, Spec};

use super::size::failed;
use crate::console::Console;
use crate::exit;
use crate::output::print;
use crate::show::demo::{explained, words};
use crate::show::report;
use crate::show::terminal::Terminal;
use crate::show::text::wrap;

/// The process that keeps the files, which is not for typing.
const KEEPER: &str = "demo-keeper";
/// The process that reads them.
const WORK: &str = "demo-work";
/// No run of it takes longer.
const TIME_MAX: Duration = Duration::from_mins(2);

/// Size a small workload of nbuf's own, and explain each line of the answer
///
/// Makes files of 64 MiB in a temporary directory, records a program that reads them, recommends a
/// memory limit, and verifies it by running the program again. The files are removed at the end.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  nbuf demo                # as root: everything, in some seconds
  TMPDIR=/data nbuf demo   # with its files on another disc

Exit status:
  0    the workload is sized
  2    usage error
  125  nbuf failed; standard error says why
  130  interrupted by Ctrl-C")]
pub(crate) struct Args {}

/// Keeps the files until standard input ends.
#[derive(Debug, clap::Args)]
pub(crate) struct KeeperArgs {
    directory: PathBuf,
}

/// Reads the files once.
#[derive(Debug, clap::Args)]
pub(crate) struct WorkArgs {
    directory: PathBuf,
}

pub(crate) fn run(_: &Args) -> Result<u8> {
    let Terminal { width, colour } = Terminal::of_output();
    let program = std::env::current_exe().context("cannot find this program to run it again")?;
    // Without it the counts differ a little from run to run, and the answer stands.
    let _held = demo::Held::program();
    let keeper = Keeper::start(&program, &place())?;
    print(introduction(&keeper.directory, width).as_bytes())?;
    let take = |_: Interim<'_>| Ok(());
    let console = Console::new(true, &take);
    let mut session = console.session();
    let command = [program.into(), WORK.into(), keeper.directory.clone().into()].to_vec();
    // Anybody may use this capture: all see the same.
    let spec =
        Spec { command, capture: Capture::Calls, time_max: Some(TIME_MAX), ..Spec::default() };
    let report = match size::run(&spec, &mut session) {
        Ok(report) => report,
        Err(error) => return failed(error),
    };
    for (section, text) in report::sections(&report, width, colour) {
        print(explained(&text, words(section), width).as_bytes())?;
    }
    drop(keeper);
    let mut end = String::new();
    wrap(&mut end, "The files are removed. Now your own: nbuf size -- YOUR COMMAND", width);
    print(end.as_bytes())?;
    Ok(session.cancellation.signal().map_or(0, |signal| exit::command(128 + signal)))
}

fn introduction(directory: &Path, width: usize) -> String {
    let mut text = String::from("A demonstration of nbuf size\n");
    let (index, log) = (demo::INDEX_BYTES >> 20, demo::LOG_BYTES >> 20);
    for line in [
        format!(
            "a program reads {index} MiB of an index at random, {} times, and a log of {log} MiB once",
            demo::ROUNDS
        ),
        format!("its files are in {}, and are removed at the end", directory.display()),
        "how much memory does it need for its cache? nbuf records it by system calls, as every \
         user may, computes, and verifies"
            .to_owned(),
    ] {
        wrap(&mut text, &line, width);
    }
    text + "\n"
}

/// Returns the directory of its files. The page cache must serve it, which often fails for /tmp.
fn place() -> PathBuf {
    let given = std::env::var_os("TMPDIR").map(PathBuf::from);
    let usual = Some(PathBuf::from("/var/tmp")).filter(|path| path.is_dir());
    given.or(usual).unwrap_or_else(|| PathBuf::from("/tmp"))
}

/// A process that makes the files with the rights of the caller, and removes them when this one has
/// ended, in whatever way.
struct Keeper {
    child: Child,
    /// Its end is the end of the files.
    open: Option<ChildStdin>,
    directory: PathBuf,
}

impl Keeper {
    fn start(program: &Path, place: &Path) -> Result<Self> {
        let mut command = Command::new(program);
        command.arg(KEEPER).arg(place).stdin(Stdio::piped()).stdout(Stdio::piped());
        // Ctrl-C is for us: the files go when we have ended.
        command.process_group(0);
        let mut child = command.spawn().context("cannot start this program again")?;
        let (open, output) = (child.stdin.take(), child.stdout.take());
        let mut line = String::new();
        if let Some(output) = output {
            BufReader::new(output)
                .read_line(&mut line)
                .context("cannot read from our own child")?;
        }
        let directory = PathBuf::from(line.trim_end_matches('\n'));
        let keeper = Self { child, open, directory };
        if keeper.directory.as_os_str().is_empty() {
            bail!(
                "no demonstration: its files cannot be made; set TMPDIR to a directory with 64 MiB of room"
            );
        }
        Ok(keeper)
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.open.take());
        // It has nothing to do but to remove the files, and says itself what fails.
        let _ = self.child.wait();
    }
}

pub(crate) fn keep(arguments: &KeeperArgs) -> Result<u8> {
    let place = &arguments.directory;
    let files = demo::Files::make(place)
        .with_context(|| format!("cannot make files in {}", place.display()))?;
    let mut output = io::stdout().lock();
    // A reader that is gone has closed standard input too.
    let _ = writeln!(output, "{}", files.directory().display()).and_then(|()| output.flush());
    drop(output);
    let mut rest = Vec::new();
    io::stdin().lock().read_to_end(&mut rest).context("cannot wait for the end")?;
    Ok(0)
}

pub(crate) fn work(arguments: &WorkArgs) -> Result<u8> {
    demo::work(&arguments.directory).context("this is a part of `nbuf demo`; run that")?;
    Ok(0)
}
