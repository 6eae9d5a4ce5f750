//! One table for terminal and page.
//!
//! Invariant: a column has the same cells everywhere. On a terminal a table that is too wide loses
//! the columns of the highest rank; then its columns move together, and at last it is a list.

mod cell;
mod rows;

use std::fmt::Write as _;

use console::measure_text_width as width_of;

use super::markup::escape;
use super::text::{clean, field, wrap};
pub(super) use cell::{Cell, Column, number, text};
pub(super) use rows::Rows;

/// Spaces between two columns.
const GAP: usize = 2;

/// Rows under columns.
#[derive(Clone, Debug, Default)]
pub(super) struct Table {
    caption: String,
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
    lines: Vec<String>,
}

impl Table {
    pub(super) fn new(
        caption: impl Into<String>,
        columns: impl IntoIterator<Item = Column>,
    ) -> Self {
        let columns = columns.into_iter().collect();
        Self { caption: caption.into(), columns, ..Self::default() }
    }

    /// A table with a row for each item, whose columns follow.
    pub(super) fn of<T: Copy>(
        caption: impl Into<String>,
        items: impl IntoIterator<Item = T>,
    ) -> Rows<T> {
        Rows::of(caption.into(), items.into_iter().collect())
    }

    pub(super) fn row<C: Into<Cell>>(&mut self, cells: impl IntoIterator<Item = C>) {
        let row: Vec<Cell> = cells.into_iter().map(Into::into).collect();
        debug_assert_eq!(row.len(), self.columns.len(), "{}", self.caption);
        self.rows.push(row);
    }

    /// The table with all of these rows.
    pub(super) fn with<R: IntoIterator<Item: Into<Cell>>>(
        mut self,
        rows: impl IntoIterator<Item = R>,
    ) -> Self {
        rows.into_iter().for_each(|row| self.row(row));
        self
    }

    /// What is said of the rows where no table fits.
    pub(super) fn else_lines(self, lines: impl IntoIterator<Item = String>) -> Self {
        Self { lines: lines.into_iter().collect(), ..self }
    }

    pub(super) fn caption(&self) -> &str {
        &self.caption
    }

    /// An empty line, the caption and the table; nothing without rows.
    pub(super) fn under_caption(&self, width: usize) -> String {
        let draw = || format!("\n{}\n{}", self.caption, self.draw(width));
        if self.is_empty() { String::new() } else { draw() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Lines of at most `width` columns.
    pub(super) fn draw(&self, width: usize) -> String {
        if let Some(table) = self.fitting(width) {
            return table;
        }
        let mut out = String::new();
        if self.lines.is_empty() {
            let least = self.columns.iter().map(|column| column.rank).min().unwrap_or(0);
            let tight = self.lay(&self.ranked(least), 1);
            if fits(&tight, width) {
                return tight;
            }
            self.rows.iter().for_each(|row| wrap(&mut out, &self.line(row), width));
        }
        self.lines.iter().for_each(|line| wrap(&mut out, line, width));
        out
    }

    /// The same as rows and columns, with as many of these as there is room for.
    pub(super) fn fitting(&self, width: usize) -> Option<String> {
        let mut ranks: Vec<u8> = self.columns.iter().map(|column| column.rank).collect();
        ranks.sort_unstable();
        ranks.dedup();
        let tables = ranks.into_iter().rev().map(|rank| self.lay(&self.ranked(rank), GAP));
        tables.into_iter().find(|table| fits(table, width))
    }

    /// Lines of at most `width` columns in which the first `keys` columns stand before as many of
    /// the others as fit, and before the next in another block.
    pub(super) fn blocks(&self, keys: usize, width: usize) -> String {
        let ahead: Vec<usize> = (0..keys).collect();
        let wide = |&at: &usize| self.wide(at) + GAP;
        let room = width.saturating_sub(1 + ahead.iter().map(wide).sum::<usize>());
        let others: Vec<usize> = (keys..self.columns.len()).collect();
        let mut left = others.as_slice();
        let mut blocks = Vec::new();
        while !left.is_empty() {
            let mut taken = 0;
            let fitting = left.iter().take_while(|at| {
                taken += wide(at);
                taken <= room
            });
            let (block, others) = left.split_at(fitting.count().clamp(1, left.len()));
            blocks.push(self.lay(&[&ahead, block].concat(), GAP));
            left = others;
        }
        blocks.join("\n")
    }

    /// Returns the whole table, with `gap` spaces between two columns.
    pub(super) fn whole(&self, gap: usize) -> String {
        self.lay(&self.ranked(u8::MAX), gap)
    }

    fn ranked(&self, most: u8) -> Vec<usize> {
        (0..self.columns.len()).filter(|&at| self.columns[at].rank <= most).collect()
    }

    /// The width of a column.
    fn wide(&self, at: usize) -> usize {
        let cells = self.rows.iter().map(|row| width_of(&clean(&row[at].text)));
        cells.fold(width_of(&self.columns[at].name), usize::max)
    }

    /// The table with these columns, two columns in, without a line of names where there is none.
    fn lay(&self, columns: &[usize], gap: usize) -> String {
        let wide: Vec<usize> = columns.iter().map(|&at| self.wide(at)).collect();
        let line = |cells: &mut dyn Iterator<Item = &str>| {
            let mut line = String::from(" ");
            for ((cell, &at), &wide) in cells.zip(columns).zip(&wide) {
                line.push_str(if line.len() > 1 { &"  "[..gap] } else { " " });
                let cell = clean(cell);
                let pad = " ".repeat(wide - width_of(&cell));
                let is_text = self.columns[at].is_text;
                line.extend(if is_text { [cell, pad] } else { [pad, cell] });
            }
            line.trim_end().to_owned() + "\n"
        };
        let mut out = String::new();
        if columns.iter().any(|&at| !self.columns[at].name.is_empty()) {
            out += &line(&mut columns.iter().map(|&at| self.columns[at].name.as_str()));
        }
        for row in &self.rows {
            out += &line(&mut columns.iter().map(|&at| row[at].text.as_str()));
        }
        out
    }

    /// A row in words: `64 MiB: hit % 52.0, misses 548,606`.
    fn line(&self, row: &[Cell]) -> String {
        let cells = row.iter().zip(&self.columns).skip(1);
        let cells = cells.filter(|(cell, _)| !cell.text.trim().is_empty());
        let said = cells.map(|(cell, column)| format!("{} {}", column.name, cell.text.trim()));
        let said = said.map(|said| said.trim().to_owned());
        let first = row.first().map_or("", |cell| cell.text.trim());
        format!("{first}: {}", said.collect::<Vec<_>>().join(", "))
    }

    /// The same as comma-separated values (RFC 4180), under the names of the columns.
    pub(super) fn csv(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        let cells = |row: &[Cell]| row.iter().map(|cell| field(&cell.text)).collect::<Vec<_>>();
        let mut out = names.join(",") + "\n";
        for row in &self.rows {
            out += &(cells(row).join(",") + "\n");
        }
        out
    }

    /// A table in a box of its own, which scrolls where the page is too narrow for it.
    pub(super) fn html(&self) -> String {
        let caption = escape(&self.caption);
        let mut out = format!(
            "<div class=\"box\" role=\"region\" tabindex=\"0\" aria-label=\"{caption}\"><table>\
             <caption>{caption}</caption>\n<thead><tr>"
        );
        for column in &self.columns {
            let (class, name) = (column.class(), escape(column.label_text()));
            let _ = write!(out, "<th scope=\"col\"{class}>{name}</th>");
        }
        out.push_str("</tr></thead>\n<tbody>\n");
        for row in &self.rows {
            out.push_str("<tr>");
            for (at, (cell, column)) in row.iter().zip(&self.columns).enumerate() {
                let (class, cell) = (column.class(), cell.html());
                let (open, close) = if at == 0 { ("th scope=\"row\"", "th") } else { ("td", "td") };
                let _ = write!(out, "<{open}{class}>{cell}</{close}>");
            }
            out.push_str("</tr>\n");
        }
        out + "</tbody></table></div>\n"
    }
}

/// Whether no line is wider than that.
pub(super) fn fits(text: &str, width: usize) -> bool {
    text.lines().all(|line| width_of(line) <= width)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn table() -> Table {
        let columns = [text("name"), number("size"), number("hit %").rank(1), text("").rank(2)];
        let rows = [["a", "64.0 MiB", "52.0", "good"], ["<b>", "1.03 GiB", "71.6", ""]];
        Table::new("A & B", columns).with(rows)
    }

    #[test]
    fn a_narrow_table_loses_columns_then_gaps_then_its_form() {
        let mut all = String::new();
        for width in [30, 26, 20, 15, 14] {
            let drawn = table().draw(width);
            assert!(fits(&drawn, width), "{width}:\n{drawn}");
            let _ = write!(all, "{width} columns\n{drawn}");
        }
        expect![[r#"
            30 columns
              name      size  hit %
              a     64.0 MiB   52.0  good
              <b>   1.03 GiB   71.6
            26 columns
              name      size  hit %
              a     64.0 MiB   52.0
              <b>   1.03 GiB   71.6
            20 columns
              name      size
              a     64.0 MiB
              <b>   1.03 GiB
            15 columns
              name     size
              a    64.0 MiB
              <b>  1.03 GiB
            14 columns
              a: size 64.0
                MiB, hit %
                52.0, good
              <b>: size
                1.03 GiB,
                hit % 71.6
        "#]]
        .assert_eq(&all);
    }

    #[test]
    fn other_columns_go_on_in_another_block() {
        expect![[r#"
            20 columns
              name      size
              a     64.0 MiB
              <b>   1.03 GiB

              name  hit %
              a      52.0  good
              <b>    71.6
        "#]]
        .assert_eq(&format!("20 columns\n{}", table().blocks(1, 20)));
    }

    #[test]
    fn a_page_has_a_caption_scopes_and_no_markup_of_others() {
        let html = table().html();
        for part in [
            "<caption>A &amp; B</caption>",
            "<th scope=\"col\" class=\"text\">name</th><th scope=\"col\">size</th>",
            "<th scope=\"row\" class=\"text\">&lt;b&gt;</th><td>1.03 GiB</td>",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }
}
