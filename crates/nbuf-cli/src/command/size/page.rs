//! Where and how the report for people is shown.

use std::io::IsTerminal;

use anyhow::Result;
use nbuf::experiment::result::SizeReport;
use nbuf::experiment::size::Analysis;

use super::Args;
use crate::output::print;
use crate::show::plot;

/// Its width and colour, and whether it is shown at all.
pub(super) struct Page {
    pub(super) width: usize,
    colour: bool,
    pub(super) silent: bool,
}

impl Page {
    pub(super) fn of(args: &Args) -> Self {
        let terminal = console::Term::stdout();
        let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let width = terminal.size_checked().map(|(_, columns)| usize::from(columns));
        let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        Self {
            width: width.filter(|&width| width > 0).or(columns).unwrap_or(80).clamp(20, 120),
            colour: std::io::stdout().is_terminal() && !dumb && !is_set("NO_COLOR"),
            silent: args.json,
        }
    }

    /// Prints a section and an empty line behind it; nothing for an empty section.
    pub(super) fn show(&self, section: &str) -> Result<()> {
        if self.silent || section.is_empty() {
            return Ok(());
        }
        print(format!("{section}\n").as_bytes())
    }

    pub(super) fn curve(&self, analysis: &Analysis, report: &SizeReport) -> String {
        if analysis.curve.accesses == 0 {
            return String::new();
        }
        plot::curve(&analysis.curve, report.recommend.as_ref(), &[], self.width, self.colour)
    }
}
