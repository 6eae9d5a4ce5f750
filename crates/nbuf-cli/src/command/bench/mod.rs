//! `nbuf bench`: the I/O paths of this machine.

pub(crate) mod child;

mod advise;
mod arguments;
mod compare;
mod select;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use nbuf::experiment::bench::measure::Effort;
use nbuf::experiment::bench::model;
use nbuf::experiment::bench::pair::Design;
use nbuf::experiment::bench::place::Prepared;
use nbuf::experiment::bench::plan::Plan;
use nbuf::experiment::bench::session::{self, Listener};
use nbuf::experiment::bench::table::COURSE_BYTES;
use nbuf::experiment::bench::versus;
use nbuf::experiment::bench::watch::Watch;
use nbuf::experiment::result::{BenchDocument, BenchSampleLine, PingDocument};
use nbuf::sys::input;
use nbuf::sys::signal::Signals;

pub(crate) use arguments::Arguments;
use arguments::Verb;

use crate::output::{json_lines, keep, must_be_possible, print};
use crate::show::bench as shown;
use crate::show::progress::{self, Bar};
use crate::show::terminal::Terminal;
use crate::voice::note;

/// When `--quick` begins nothing more: what is under way then, and the report, end within the minute.
const QUICK: Duration = Duration::from_secs(54);
/// Ended by Ctrl-C.
const INTERRUPTED: u8 = 130;

pub(crate) fn run(arguments: &Arguments) -> Result<u8> {
    if let Some(Verb::Advise(asked)) = &arguments.verb {
        return advise::run(asked);
    }
    if let Some([a, b]) = arguments.compare.as_deref() {
        return compare::run(a, b, arguments.json);
    }
    if arguments.list {
        print(shown::list(&select::all(), Terminal::of_output().width).as_bytes())?;
        return Ok(0);
    }
    for (path, option) in [(&arguments.html, "--html"), (&arguments.samples_out, "--samples-out")] {
        if let Some(path) = path {
            must_be_possible(path, option)?;
        }
    }
    let pings = match &arguments.ping {
        Some(path) => Some(compare::document(path, PingDocument::SCHEMA, "nbuf ping")?),
        None => None,
    };
    let lent = arguments.file.as_deref().map(lent).transpose()?;
    let plan = plan(arguments, lent.as_ref())?;
    announce(&plan);
    let watch = watch()?;
    let mut told = Told::new(&plan, arguments.samples_out.is_some());
    let document = session::run(&plan, lent, &watch, &mut told);
    told.bar.clear();
    let document = document?;
    tell(arguments, &document, pings.as_ref(), &told)?;
    let is_false = document.refused.iter().any(|refused| refused.is_contradiction);
    let is_ended = document.is_complete || !document.not_reached.is_empty();
    Ok(if is_ended { u8::from(is_false) } else { INTERRUPTED })
}

/// Children of this program, and Ctrl-C.
fn watch() -> Result<Watch> {
    let program = std::env::current_exe().context("cannot find this program to run it again")?;
    let signals = Some(Signals::block()?);
    Ok(Watch { program, verb: child::VERB, signals })
}

/// The directory that was asked for, or one on a disc.
fn directory(asked: Option<&PathBuf>) -> PathBuf {
    let home = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(crate::caller::home()?.join(".local/state")));
    let state = home.map(|home| home.join("nbuf")).filter(|path| path.is_dir());
    let kept = Some(PathBuf::from("/var/tmp")).filter(|path| path.is_dir());
    asked.cloned().or(state).or(kept).unwrap_or_else(std::env::temp_dir)
}

/// A file of the caller's, to be read.
fn lent(path: &Path) -> Result<Prepared> {
    let cannot = || format!("cannot use {} with --file", path.display());
    let file = input::open(path)?;
    if !file.metadata().with_context(cannot)?.is_file() {
        bail!("{} is no regular file; give one with --file", path.display());
    }
    let lent = Prepared::lent(file).with_context(cannot)?;
    if lent.size_bytes < 4096 {
        bail!("{} is smaller than a page; give a larger one with --file", path.display());
    }
    Ok(lent)
}

fn plan(arguments: &Arguments, lent: Option<&Prepared>) -> Result<Plan> {
    let is_all = arguments.tests.is_empty() && arguments.group.is_empty();
    let mut tests = if !is_all {
        select::chosen(&arguments.tests, &arguments.group)?
    } else if arguments.quick {
        select::chosen(&[], &[arguments::Group::Cs61])?
    } else {
        select::all()
    };
    if lent.is_some() {
        let is_named = !arguments.tests.is_empty();
        if let Some(test) = tests.iter().find(|test| is_named && test.is_write) {
            bail!("{} writes, and --file is only read; leave it out", test.name);
        }
        tests.retain(|test| !test.is_write);
    }
    let size = match (arguments.size, lent) {
        (Some(size), Some(lent)) if size > lent.size_bytes => {
            bail!("--size is more than the {} bytes of --file; give less", lent.size_bytes)
        }
        (size, lent) => size.or(lent.map(|lent| lent.size_bytes)),
    };
    if let Some(size_bytes) = size {
        for test in &mut tests {
            test.size_bytes = size_bytes;
        }
        if let Some(test) = tests.iter().find(|test| test.block_bytes > size_bytes) {
            bail!("{} has blocks of {} bytes; give a larger --size", test.name, test.block_bytes);
        }
    }
    let has_rest = is_all && !arguments.rows && lent.is_none();
    let mut versus = if has_rest { versus::all(arguments.size) } else { Vec::new() };
    let mut models = if has_rest { model::subjects() } else { Vec::new() };
    if arguments.quick {
        versus.retain(|versus| !versus.needs_device());
        models.truncate(4);
    }
    Ok(Plan {
        directory: directory(arguments.dir.as_ref()),
        tests,
        effort: if arguments.quick { Effort::QUICK } else { Effort::FULL },
        has_floor: !arguments.rows && lent.is_none(),
        versus,
        memory: if arguments.quick { Design::MEMORY.brief() } else { Design::MEMORY },
        device: Design::DEVICE,
        models,
        model_bytes: arguments.size.unwrap_or(COURSE_BYTES),
        time_max: arguments.quick.then_some(QUICK),
        slowdown_percent: arguments.slowdown.unwrap_or(0.0),
    })
}

/// What will be written, and for how long, before it begins.
fn announce(plan: &Plan) {
    let price = plan.price();
    let most = match price.seconds_max {
        most if most > price.seconds * 1.1 => format!(" ({most:.0} s on a noisy machine)"),
        _ => String::new(),
    };
    note(format_args!(
        "measures about {:.0} s{most} and writes about {} in all, into files of {} in {}, which have no name and \
         go at the end",
        price.seconds.max(1.0),
        price.written,
        price.files,
        plan.directory.display()
    ));
}

/// What is heard while it runs.
struct Told {
    bar: Bar,
    steps: usize,
    keeps: bool,
    lines: Vec<BenchSampleLine>,
}

impl Told {
    fn new(plan: &Plan, keeps: bool) -> Self {
        let steps = plan.steps();
        Self { bar: progress::bar("measures", steps), steps, keeps, lines: Vec::new() }
    }
}

impl Listener for Told {
    fn step(&mut self, done: usize, _: &str) {
        self.bar.set(done, self.steps);
    }

    fn sample(&mut self, line: &BenchSampleLine) {
        if self.keeps {
            self.lines.push(line.clone());
        }
    }
}

/// Shows the document as was asked: first on standard output, which no full disc takes away.
fn tell(
    arguments: &Arguments,
    document: &BenchDocument,
    pings: Option<&PingDocument>,
    told: &Told,
) -> Result<()> {
    let printed = if arguments.json {
        print((serde_json::to_string_pretty(document)? + "\n").as_bytes())
    } else if arguments.csv {
        print(shown::csv(document).as_bytes())
    } else {
        print(shown::report(document, Terminal::of_output().width).as_bytes())
    };
    let mut kept = Ok(());
    if let Some(path) = &arguments.samples_out {
        kept = keep(path, "--samples-out", &json_lines(&told.lines)?);
    }
    if let Some(path) = &arguments.html {
        let page = keep(path, "--html", shown::page(document, pings).as_bytes());
        if page.is_ok() {
            note(format_args!("the page is {}", path.display()));
        }
        kept = kept.and(page);
    }
    kept.and(printed)
}
