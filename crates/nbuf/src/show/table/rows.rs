//! A table whose columns come one by one, each next to the cells below it.

use super::{Cell, Column, Table};

/// A table with a row for each item, which gets its columns.
pub(in crate::show) struct Rows<T> {
    table: Table,
    items: Vec<T>,
}

impl<T: Copy> Rows<T> {
    pub(super) fn of(caption: String, items: Vec<T>) -> Self {
        let rows = vec![Vec::new(); items.len()];
        Self { table: Table { caption, rows, ..Table::default() }, items }
    }

    /// Another column, with the cell of each item.
    pub(in crate::show) fn column<C: Into<Cell>>(
        self,
        column: Column,
        cell: impl Fn(T) -> C,
    ) -> Self {
        self.columns([column], |item| [cell(item)])
    }

    /// As [`Rows::column`], in tables that have this column.
    pub(in crate::show) fn column_if<C: Into<Cell>>(
        self,
        is_shown: bool,
        column: Column,
        cell: impl Fn(T) -> C,
    ) -> Self {
        if is_shown { self.column(column, cell) } else { self }
    }

    /// More columns, with as many cells of each item.
    pub(in crate::show) fn columns<R: IntoIterator<Item: Into<Cell>>>(
        mut self,
        columns: impl IntoIterator<Item = Column>,
        cells: impl Fn(T) -> R,
    ) -> Self {
        self.table.columns.extend(columns);
        for (row, &item) in self.table.rows.iter_mut().zip(&self.items) {
            row.extend(cells(item).into_iter().map(Into::<Cell>::into));
            debug_assert_eq!(row.len(), self.table.columns.len(), "{}", self.table.caption);
        }
        self
    }

    pub(in crate::show) fn done(self) -> Table {
        self.table
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Table, number, text};

    #[test]
    fn columns_next_to_their_cells_are_the_table_by_rows() {
        let items = [("a", 1), ("b", 22)];
        let columns = || [text("name"), number("size").rank(1), number("x"), number("y")];
        let row = |(name, size): (&str, i32)| {
            [name.to_owned(), size.to_string(), "2".to_owned(), "3".to_owned()]
        };
        let by_rows = Table::new("T", columns()).with(items.map(row));
        let [name, size, x, y] = columns();
        let by_columns = Table::of("T", items)
            .column(name, |(name, _)| name)
            .column(size, |(_, size)| size.to_string())
            .column_if(false, number("hidden"), |_| "1")
            .columns([x, y], |_| ["2", "3"])
            .done();
        assert_eq!(by_columns.whole(2), by_rows.whole(2));
        assert_eq!(by_columns.html(), by_rows.html());
        assert!(Table::of("T", [0; 0]).column(text("name"), |_| "").done().is_empty());
    }
}
