//! Where and how the report for people is shown.

use anyhow::Result;
use nbuf::experiment::result::SizeReport;
use nbuf::experiment::size::Analysis;

use super::Args;
use crate::output::print;
use crate::show::plot;
use crate::show::terminal::Terminal;

/// Its width and colour, and whether it is shown at all.
pub(super) struct Page {
    pub(super) width: usize,
    colour: bool,
    pub(super) silent: bool,
}

impl Page {
    pub(super) fn of(args: &Args) -> Self {
        let Terminal { width, colour } = Terminal::of_output();
        Self { width, colour, silent: args.json }
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
