//! What a report for people may take of the terminal.

use std::io::IsTerminal;

/// Its width, and whether colours help.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terminal {
    pub(crate) width: usize,
    pub(crate) colour: bool,
}

impl Terminal {
    /// The width of standard error, if it is a terminal.
    pub(crate) fn error_width() -> Option<usize> {
        let columns = console::Term::stderr().size_checked()?.1;
        (columns > 0).then(|| usize::from(columns).clamp(20, 120))
    }

    /// The terminal of standard output; 80 columns without colour where that is no terminal.
    pub(crate) fn of_output() -> Self {
        let terminal = console::Term::stdout();
        let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let width = terminal.size_checked().map(|(_, columns)| usize::from(columns));
        let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        Self {
            width: width.filter(|&width| width > 0).or(columns).unwrap_or(80).clamp(20, 120),
            colour: std::io::stdout().is_terminal() && !dumb && !is_set("NO_COLOR"),
        }
    }
}
