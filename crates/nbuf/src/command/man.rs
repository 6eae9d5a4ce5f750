//! `nbuf man`: the manual pages, made of the definition that help comes from.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Command;
use clap_mangen::Man;

use crate::cli;
use crate::output::{keep, must_be_free, print};
use crate::verbosity::note;

/// Print the manual page, or write those of all verbs into a directory
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  nbuf man | man -l -
  nbuf man /usr/local/share/man/man1")]
pub(crate) struct Arguments {
    /// An existing directory; no file in it is overwritten
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<u8> {
    let mut definition = cli::definition().disable_help_subcommand(true);
    definition.build();
    let Some(directory) = &arguments.directory else {
        print(&page(&definition)?)?;
        return Ok(0);
    };
    let mut verbs = Vec::new();
    collect(&definition, &mut verbs);
    let pages: Vec<(PathBuf, Vec<u8>)> = verbs
        .iter()
        .map(|verb| {
            let path = directory.join(Man::new((*verb).clone()).get_filename());
            must_be_free(&path, "DIR")?;
            Ok((path, page(verb)?))
        })
        .collect::<Result<_>>()?;
    for (path, page) in &pages {
        keep(path, "DIR", page)?;
        note(format_args!("{}", path.display()));
    }
    Ok(0)
}

fn page(verb: &Command) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(verb.clone()).render(&mut page).context("cannot make the manual page")?;
    Ok(page)
}

/// A verb and all below it.
fn collect<'a>(verb: &'a Command, into: &mut Vec<&'a Command>) {
    into.push(verb);
    for below in verb.get_subcommands().filter(|below| !below.is_hide_set()) {
        collect(below, into);
    }
}
