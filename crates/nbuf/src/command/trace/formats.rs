//! `nbuf trace formats`: the table of formats.

use std::fmt::Write as _;

use anyhow::Result;
use nbuf::experiment::trace::{FORMATS, Unit};

use crate::output::print;

/// List the formats of traces.
#[derive(Debug, clap::Args)]
pub(super) struct Formats {}

pub(super) fn formats() -> Result<u8> {
    let mut text = String::new();
    for format in FORMATS {
        let unit = if format.unit == Unit::Bytes { "bytes" } else { "keys" };
        writeln!(text, "{:15} {unit:5}  {}", format.name, format.summary)?;
        if !format.parameters.is_empty() {
            writeln!(text, "{:23}{}:{}", "", format.name, format.parameters)?;
        }
    }
    print(text.as_bytes())?;
    Ok(0)
}
