//! `nbuf load`: many users, and the certifier.

mod values;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use nbuf::experiment::load::{self, Error, Spec, history};
use nbuf::experiment::output::Readers;
use nbuf::experiment::result::{LoadDocument, LoadHistory, LoadPrice};
use nbuf::experiment::session::Interim;
use nbuf::experiment::{document, load::USERS_MAX};

use crate::console::Console;
use crate::exit;
use crate::fail::{UsageError, say};
use crate::output::{json_lines, keep, must_be_possible, print, write_new};
use crate::show::load as shown;
use crate::show::terminal::Terminal;
use values::{Counts, Limits, Users, server, time};

/// The option that has a line for each interaction.
const LINES: &str = "--lines-out";

/// How many users does this machine carry?
///
/// A script in TOML names classes of users: what they run or request, how long they think, and their share.
/// Each step has more of them. Prints throughput, response and what the users waited for, by the number of
/// users, and the number from which queues begin. Commands get an empty input; their output is discarded.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  nbuf load users.toml
  nbuf load users.toml --users 1..16:5 --duration 1m --html load.html
  nbuf load users.toml --certify 4 --json
  nbuf load users.toml --users 1,4 --limit 1GiB,512MiB,256MiB --cold data.db
  nbuf load users.toml --users 1..32:8 --system-table 4,8
  nbuf load users.toml --cpus 1,2
  nbuf load --from access.log --server http://127.0.0.1:8080 > users.toml
  nbuf load users.toml --history steps.jsonl --label v2

docs/load.md describes scripts.

Exit status:
  0    all steps were made
  2    usage error
  125  nbuf failed; standard error says why, and prints what was measured so far
  126  a command cannot be executed
  127  a command was not found
  130  interrupted by Ctrl-C; prints what was measured so far")]
pub(crate) struct Arguments {
    /// The script
    #[arg(required_unless_present = "from")]
    script: Option<PathBuf>,
    /// Draft a script from a log of nginx or Postgres, or a recording of nbuf watch
    #[arg(long, value_name = "FILE", conflicts_with_all = ["script", "users", "certify", "duration", "warmup", "limit",
        "system_table", "cpus", "cold", "price", "seed", "history", "label", "json", "html", "svg", "lines_out"])]
    from: Option<PathBuf>,
    /// Send the requests of a draft to this server
    #[arg(long, value_name = "URL", conflicts_with = "script", default_value = "http://127.0.0.1", value_parser = server)]
    server: String,
    /// The numbers of users, a step each: 1,2,4,8 or 1..8 or 1..64:9
    #[arg(long, value_name = "N,...", default_value = "1,2,4,8", conflicts_with = "certify")]
    users: Users,
    /// One step of N users who do not think; open arrivals are closed
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(USERS_MAX)))]
    certify: Option<u32>,
    /// How long each step lasts
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = time)]
    duration: Duration,
    /// Leave out this much before each step, instead of a beginning that a test chooses inside it
    #[arg(long, value_name = "TIME", value_parser = time)]
    warmup: Option<Duration>,
    /// Repeat the steps under each memory limit, for all commands together: 1GiB,512MiB,256MiB
    #[arg(long, value_name = "SIZE,...")]
    limit: Option<Limits>,
    /// Admit this number of users at once, as the system table did; repeat the steps under each: 4,8
    #[arg(long, value_name = "N,...")]
    system_table: Option<Counts>,
    /// Repeat the steps on this number of processors, for all commands together: 1,2
    #[arg(long, value_name = "N,...")]
    cpus: Option<Counts>,
    /// Drop this file from the page cache before the steps of each limit; may be repeated
    #[arg(long, value_name = "FILE", requires = "limit")]
    cold: Vec<String>,
    /// Price what commands use, in any currency: cpu=0.04/h,memory=0.005/GiBh,io=0.2/M
    #[arg(long, value_name = "PRICE,...", requires = "limit")]
    price: Option<LoadPrice>,
    /// Seed the choices and think times by this number, not the script's
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Append a line with the figures of this run to this file, and show all lines; refused if it is another's
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
    /// Name this run in the history: a version, a change
    #[arg(long, value_name = "TEXT", requires = "history")]
    label: Option<String>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// Write the curve and the table as one HTML page to this file; it must not exist
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the charts as one SVG picture to this file; it must not exist
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Write one line of JSON per interaction to this file; it must not exist
    #[arg(long, value_name = "FILE")]
    lines_out: Option<PathBuf>,
}

/// Prints a draft, and which lines are not in it.
fn draft(log: &Path, server: &str) -> Result<u8> {
    let draft = load::draft(log, server)?;
    for (line, what) in &draft.problems {
        say(format!("{}: line {line} is left out: {what}", log.display()));
    }
    let more = draft.unread - draft.problems.len();
    if more > 0 {
        say(format!("{}: {more} more lines are left out", log.display()));
    }
    print(draft.script.as_bytes())?;
    Ok(0)
}

/// All runs of the history, this one among them. Where it cannot be written, the table is not lost with it.
fn earlier(arguments: &Arguments, document: &LoadDocument) -> (Vec<LoadHistory>, Result<()>) {
    let runs = match &arguments.history {
        // What was broken off is no run to compare with.
        Some(path) if document.is_complete => {
            history::append(path, document, arguments.label.as_deref())
        }
        Some(path) => history::read(path),
        None => Ok(Vec::new()),
    };
    match runs {
        Ok(runs) => (runs, Ok(())),
        Err(error) => (Vec::new(), Err(error.into())),
    }
}

fn spec(arguments: &Arguments, script: &Path) -> Result<Spec> {
    let mut script = load::open(script)?;
    script.seed = arguments.seed.unwrap_or(script.seed);
    let spec = Spec {
        script,
        users: arguments.certify.map_or_else(|| arguments.users.0.clone(), |users| vec![users]),
        duration: arguments.duration,
        warm_up: arguments.warmup,
        certify: arguments.certify.is_some(),
        limits: arguments.limit.as_ref().map(|limits| limits.0.clone()).unwrap_or_default(),
        tables: arguments.system_table.clone().map_or_else(Vec::new, |counts| counts.0),
        cpus: arguments.cpus.clone().map_or_else(Vec::new, |counts| counts.0),
        cold: arguments.cold.clone(),
        price: arguments.price,
        lines: arguments.lines_out.is_some(),
    };
    if arguments.svg.is_some() && spec.steps() < 2 {
        let text =
            "--svg: there is no chart of one step; give two numbers of --users, or two of --limit";
        return Err(UsageError(text.to_owned()).into());
    }
    Ok(spec)
}

/// A document, the signal that ended the load, and whether the lines were written.
type Measured = (LoadDocument, Option<i32>, Result<()>);

fn measure(spec: &Spec, take: &(dyn Fn(Interim<'_>) -> io::Result<()> + Sync)) -> Result<Measured> {
    let console = Console::new(false, take);
    let mut session = console.session();
    let document = load::run(spec, &mut session).map_err(|error| match error {
        Error::Users(_) | Error::NoCommand(_) | Error::Processors { .. } | Error::Places => {
            UsageError(error.to_string()).into()
        }
        Error::Command(error) => error.into(),
        other => anyhow::Error::from(other),
    })?;
    Ok((document, session.cancellation.signal(), Ok(())))
}

/// The same, with a line for each interaction. The file gets its name once it is whole, also after Ctrl-C. A load
/// without a document leaves no file.
fn measure_with_lines(spec: &Spec, path: &Path) -> Result<Measured> {
    let failed = || format!("cannot write {}; give another place with {LINES}", path.display());
    let mut made = None;
    let write = |file: &File| -> io::Result<()> {
        let out = Mutex::new(BufWriter::new(file));
        let take = |interim: Interim<'_>| -> io::Result<()> {
            let Interim::LoadLine(line) = interim else { return Ok(()) };
            let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
            let text = json_lines(std::slice::from_ref(line)).map_err(io::Error::other)?;
            out.write_all(&text)
                .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", failed())))
        };
        let measured = measure(spec, &take);
        let has_document = measured.is_ok();
        made = Some(measured);
        out.into_inner().unwrap_or_else(PoisonError::into_inner).flush()?;
        if has_document { Ok(()) } else { Err(io::ErrorKind::Interrupted.into()) }
    };
    let written = write_new(path, LINES, Readers::Owner, write).with_context(failed);
    match made {
        Some(measured) => measured.map(|(document, signal, _)| (document, signal, written)),
        None => written.and_then(|()| Err(anyhow::anyhow!(failed()))),
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<u8> {
    let script = match (&arguments.script, &arguments.from) {
        (_, Some(log)) => return draft(log, &arguments.server),
        (Some(script), None) => script,
        (None, None) => return Err(UsageError("name a script".to_owned()).into()),
    };
    let files =
        [(&arguments.html, "--html"), (&arguments.svg, "--svg"), (&arguments.lines_out, LINES)];
    for (path, option) in files {
        path.as_ref().map_or(Ok(()), |path| must_be_possible(path, option))?;
    }
    if let Some(path) = &arguments.history {
        // Before the load: an hour is not to be lost.
        history::must_be_possible(path)?;
    }
    let spec = spec(arguments, script)?;
    let (document, signal, written) = match &arguments.lines_out {
        Some(path) => measure_with_lines(&spec, path)?,
        None => measure(&spec, &|_| Ok(()))?,
    };
    let (runs, kept) = earlier(arguments, &document);
    let text = if arguments.json {
        document::write(&document)?
    } else {
        let terminal = Terminal::of_output();
        shown::table(&document, &runs, terminal.width, terminal.colour)
    };
    let page = |path: &PathBuf| keep(path, "--html", shown::page(&document, &runs).as_bytes());
    let kept = arguments.html.as_ref().map_or(Ok(()), page).and(kept);
    let kept = kept.and_then(|()| match (&arguments.svg, shown::pictures(&document)) {
        (Some(path), Some(drawn)) => keep(path, "--svg", drawn.as_bytes()),
        (Some(_), None) => {
            Err(anyhow::anyhow!("--svg: there is no chart, as fewer than two steps were made"))
        }
        (None, _) => Ok(()),
    });
    kept.and(written).and(print(text.as_bytes()))?;
    if let Some(stopped) = &document.stopped {
        say(stopped);
        return Ok(exit::INTERNAL_ERROR);
    }
    Ok(signal.map_or(0, |signal| exit::command(128 + signal)))
}
