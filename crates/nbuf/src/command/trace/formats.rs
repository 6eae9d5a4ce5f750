//! `nbuf trace formats`: the table of formats.

use std::fmt::Write as _;

use anyhow::Result;
use nbuf::experiment::trace::{FORMATS, Unit};

use crate::output::print;
use crate::show::terminal::Terminal;
use crate::show::text::wrap_behind;

/// A terminal with fewer columns has no room for three of text.
const COLUMNS_MIN: usize = 60;

/// List the formats of traces.
#[derive(Debug, clap::Args)]
pub(super) struct Formats {}

pub(super) fn formats() -> Result<u8> {
    print(table(Terminal::of_output().width).as_bytes())?;
    Ok(0)
}

fn table(width: usize) -> String {
    let mut text = String::new();
    for format in FORMATS {
        let unit = if format.unit == Unit::Bytes { "bytes" } else { "keys" };
        let parameters = format!("{}:{}", format.name, format.parameters);
        let has_parameters = !format.parameters.is_empty();
        if width < COLUMNS_MIN {
            let line = format!("{} ({unit}): {}", format.name, format.summary);
            wrap_behind(&mut text, &line, width, ["-", " "]);
            if has_parameters {
                wrap_behind(&mut text, &parameters, width, [" ", " "]);
            }
            continue;
        }
        // A `String` takes everything.
        let _ = writeln!(text, "{:15} {unit:5}  {}", format.name, format.summary);
        if has_parameters {
            let _ = writeln!(text, "{:23}{parameters}", "");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_terminal_has_lines_that_fit() {
        let narrow = table(40);
        assert!(narrow.lines().all(|line| line.chars().count() <= 40), "{narrow}");
        assert!(FORMATS.iter().all(|format| narrow.contains(format.name)));
    }
}
