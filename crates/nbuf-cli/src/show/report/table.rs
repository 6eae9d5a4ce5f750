//! Tables of the report: no lines around them, two columns in.

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};
use console::measure_text_width;

/// Whether no line is wider than that.
pub(in crate::show) fn fits(text: &str, width: usize) -> bool {
    text.lines().all(|line| measure_text_width(line) <= width)
}

pub(in crate::show) fn plain() -> Table {
    let mut table = Table::new();
    table.load_preset(NOTHING);
    table
}

pub(in crate::show) fn right(table: &mut Table, columns: &[usize]) {
    for &column in columns {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

pub(in crate::show) fn indent(text: &str) -> String {
    text.lines().fold(String::new(), |out, line| out + " " + line.trim_end() + "\n")
}
