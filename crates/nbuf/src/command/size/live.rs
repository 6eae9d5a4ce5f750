//! `nbuf size --pid`, `--cgroup`, `--container`, `--unit` and `--pod`: one program that runs already, or several.

use std::io::Write as _;

use anyhow::{Error, Result};
use nbuf::experiment::capture::Capture;
use nbuf::experiment::document;
use nbuf::experiment::live::{self, Spec, Target as Program};
use nbuf::experiment::output::Readers;
use nbuf::experiment::target::Target;

use super::arguments::Args;
use super::outputs;
use super::probe::is_whole;
use crate::console::Console;
use crate::fail::UsageError;
use crate::output::{print, write_new};
use crate::show::live::{machine, page, report};
use crate::show::terminal::Terminal;
use crate::verbosity::note;
use crate::{exit, permission};

/// Watches them, and shows what they need.
pub(super) fn run(args: &Args) -> Result<u8> {
    let probe = args.probing.wanted(args.running.are_several())?;
    let spec = Spec { probe, ..spec(args)? };
    outputs::check(args)?;
    if args.following.follow {
        return super::follow::run(args, spec);
    }
    let are_several = args.running.are_several();
    if are_several && args.html.is_some() {
        let only = "--html is a page of one program; give one, or --json for all";
        return Err(UsageError(only.to_owned()).into());
    }
    let mut targets = args.running.targets()?;
    match targets.pop() {
        Some(target) if !are_several => one(args, &Spec { running: target.running, ..spec }),
        last => {
            targets.extend(last);
            several(args, targets, spec)
        }
    }
}

/// What is asked, without the programs.
fn spec(args: &Args) -> Result<Spec> {
    let defaults = Spec::default();
    let (hit, fills_per_second, stall) = match args.target {
        None => (defaults.hit, None, None),
        Some(Target::Hit(share)) => (share, None, None),
        Some(Target::Fills(rate)) => (defaults.hit, Some(rate), None),
        Some(Target::Stall(share)) => (defaults.hit, None, Some(share)),
        Some(_) => {
            let only = "programs that run already are sized by --target hit=0.99, fills=100/s or stall=1% only";
            return Err(UsageError(only.to_owned()).into());
        }
    };
    let duration = args.running.duration.or(defaults.duration);
    let capture = args.capture.of_running()?;
    let overhead = args.overhead;
    if overhead.is_some() && capture == Capture::Perf {
        let only = "--overhead is for recording by BPF: leave out --capture perf, or --overhead";
        return Err(UsageError(only.to_owned()).into());
    }
    let mapped = args.running.mapped();
    Ok(Spec { hit, fills_per_second, stall, duration, capture, overhead, mapped, ..defaults })
}

fn one(args: &Args, spec: &Spec) -> Result<u8> {
    let console = Console::new(args.yes, &|_| Ok(()));
    let document = live::run(spec, &mut console.session()).map_err(explain)?;
    if args.json {
        print(document::write(&document)?.as_bytes())?;
    } else {
        print(report(&document, Terminal::of_output().width).as_bytes())?;
    }
    if let Some(path) = &args.html {
        let page = page(&document);
        write_new(path, "--html", Readers::All, |mut file| file.write_all(page.as_bytes()))?;
        note(format!("the page is in {}", path.display()));
    }
    let is_whole = document.probe.as_ref().is_none_or(is_whole);
    Ok(if is_whole { status(document.lost) } else { exit::CHECK_FAILED })
}

fn several(args: &Args, targets: Vec<Program>, each: Spec) -> Result<u8> {
    let console = Console::plain();
    let spec = live::several::Spec { targets, each };
    let document = live::several::run(&spec, &mut console.session()).map_err(explain)?;
    if args.json {
        print(document::write(&document)?.as_bytes())?;
    } else {
        print(machine(&document, Terminal::of_output().width).as_bytes())?;
    }
    let seen = document.targets.iter().filter_map(|target| target.live.as_ref());
    let lost = seen.clone().map(|live| live.lost).sum();
    Ok(if seen.count() == 0 { exit::INTERNAL_ERROR } else { status(lost) })
}

fn status(lost: u64) -> u8 {
    if lost > 0 { exit::CHECK_FAILED } else { 0 }
}

pub(super) fn explain(error: live::Error) -> Error {
    match error {
        live::Error::Record(error) => permission::explain(error),
        other => Error::from(other),
    }
}
