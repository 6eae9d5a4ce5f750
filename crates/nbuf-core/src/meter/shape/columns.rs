//! Counts in columns of equal width over a clock whose end is not known.
//!
//! When the columns run out, each two become one. Invariant: nothing that was added is lost, and a column
//! is a power of two wide. Cost: one addition a count.

/// Columns at the most; at the end of a long clock at least half of them are in use.
pub(super) const COLUMNS: u64 = 64;

/// Counts by column and row.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    rows: usize,
    shift: u32,
    /// Column after column.
    cells: Vec<u64>,
}

impl Columns {
    /// No columns yet, of this many rows.
    pub(crate) fn new(rows: usize) -> Self {
        Self { rows: rows.max(1), shift: 0, cells: Vec::new() }
    }

    /// Counts something at a tick of the clock.
    pub(crate) fn add(&mut self, tick: u64, row: usize) {
        while tick >> self.shift >= COLUMNS {
            self.merge();
        }
        let column = usize::try_from(tick >> self.shift).unwrap_or(0);
        if column >= self.len() {
            self.cells.resize((column + 1) * self.rows, 0);
        }
        self.cells[column * self.rows + row.min(self.rows - 1)] += 1;
    }

    /// Ticks of a column.
    pub(crate) fn width(&self) -> u64 {
        1 << self.shift
    }

    /// Columns so far.
    pub(crate) fn len(&self) -> usize {
        self.cells.len() / self.rows
    }

    /// The counts of a row, by column.
    pub(crate) fn row(&self, row: usize) -> Vec<u64> {
        self.cells.iter().skip(row).step_by(self.rows).copied().collect()
    }

    fn merge(&mut self) {
        self.shift += 1;
        let rows = self.rows;
        for column in 0..self.len() {
            for row in 0..rows {
                let count = std::mem::take(&mut self.cells[column * rows + row]);
                self.cells[column / 2 * rows + row] += count;
            }
        }
        self.cells.truncate(self.len().div_ceil(2) * rows);
    }
}
