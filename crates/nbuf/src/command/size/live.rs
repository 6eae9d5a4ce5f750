//! `nbuf size --pid`, `--cgroup`, `--container`, `--unit` and `--pod`: programs that run already.

use std::io::Write as _;

use anyhow::{Error, Result};
use nbuf::experiment::document;
use nbuf::experiment::live::{self, Spec};
use nbuf::experiment::output::Readers;
use nbuf::experiment::record::Running;
use nbuf::experiment::target::Target;

use super::arguments::Args;
use super::outputs;
use crate::console::Console;
use crate::fail::UsageError;
use crate::output::{print, write_new};
use crate::show::live::{page, report};
use crate::show::terminal::Terminal;
use crate::verbosity::note;
use crate::{exit, permission};

/// Watches them, and shows what they need.
pub(super) fn run(args: &Args, running: Running) -> Result<u8> {
    let defaults = Spec::default();
    let (hit, fills_per_second) = match args.target {
        None => (defaults.hit, None),
        Some(Target::Hit(share)) => (share, None),
        Some(Target::Fills(rate)) => (defaults.hit, Some(rate)),
        Some(_) => {
            let only =
                "programs that run already are sized by --target hit=0.99 or fills=100/s only";
            return Err(UsageError(only.to_owned()).into());
        }
    };
    outputs::check(args)?;
    let duration = args.running.duration.or(defaults.duration);
    let spec = Spec { running, hit, fills_per_second, duration, ..defaults };
    let console = Console::plain();
    let mut session = console.session();
    let document = live::run(&spec, &mut session).map_err(|error| match error {
        live::Error::Record(error) => permission::explain(error),
        other => Error::from(other),
    })?;
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
    Ok(if document.lost > 0 { exit::NOT_HELD } else { 0 })
}
