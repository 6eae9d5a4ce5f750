//! Where the report for people goes, and how wide it is.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use anyhow::Result;
use nbuf::experiment::output::Readers;
use nbuf::experiment::result::SizeReport;

use super::Args;
use crate::output::{print, print_error, write_new};
use crate::show::report;
use crate::show::terminal::Terminal;

/// Its width and colour, and where it goes.
pub(super) struct Page {
    pub(super) width: usize,
    colour: bool,
    place: Place,
}

/// Where a report goes.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    /// To standard output: a terminal, or nothing else goes there.
    Output,
    /// To standard error, where standard output is the command's.
    Error,
    /// To a new file.
    File(PathBuf),
    /// Nowhere: the document has everything.
    Nowhere,
}

impl Page {
    pub(super) fn of(args: &Args) -> Self {
        let Terminal { width, colour } = Terminal::of_output();
        let place = Place::of(args);
        let (width, colour) = match &place {
            Place::Output | Place::Nowhere => (width, colour),
            Place::Error => (Terminal::error_width().unwrap_or(width), false),
            Place::File(_) => (width, false),
        };
        Self { width, colour, place }
    }

    /// Whether the document alone is wanted.
    pub(super) fn is_silent(&self) -> bool {
        self.place == Place::Nowhere
    }

    /// Prints a section and an empty line after it; nothing for an empty section.
    pub(super) fn show(&self, section: &str) -> Result<()> {
        if section.is_empty() {
            return Ok(());
        }
        self.put(format!("{section}\n").as_bytes())
    }

    /// Shows the whole report.
    pub(super) fn report(&self, report: &SizeReport) -> Result<()> {
        self.put(report::whole(report, self.width, self.colour).as_bytes())
    }

    fn put(&self, text: &[u8]) -> Result<()> {
        match &self.place {
            Place::Output => print(text),
            Place::Error => print_error(text),
            Place::File(path) => {
                write_new(path, "-o", Readers::All, |mut file| file.write_all(text))
            }
            Place::Nowhere => Ok(()),
        }
    }
}

impl Place {
    /// As `perf stat` does: the report leaves standard output to a command that may write there.
    fn of(args: &Args) -> Self {
        let runs_nothing = args.trace.is_some() || !args.compare.is_empty();
        match &args.output {
            Some(path) if path.as_os_str() == "-" => Self::Output,
            Some(path) => Self::File(path.clone()),
            None if args.json => Self::Nowhere,
            None if runs_nothing || io::stdout().is_terminal() => Self::Output,
            None => Self::Error,
        }
    }
}
