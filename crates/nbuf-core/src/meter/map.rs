//! Who touched what when, as a picture of fixed size: time across, places in files down.
//!
//! The caller lays files out in rows; accesses come in any order and are counted in cells, apart
//! by kind. Invariant: the size of the map depends on nothing but its rows and columns, and every
//! page that is added is counted in exactly one cell. Cost: one cell an access, and one more for
//! each further row it reaches. Not for figures: a cell says where much happened, not what came of
//! it.

/// How something was touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// By a call that reads.
    Read,
    /// By a call that writes.
    Write,
    /// Through a mapping.
    Fault,
}

impl Kind {
    /// All of them, in the order of [`Cell::pages`].
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Fault];
}

/// Pages touched in one piece of time and one piece of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// In the order of [`Kind::ALL`].
    pub pages: [u64; 3],
}

impl Cell {
    /// The kind that touched most of it; nothing where nothing was touched.
    pub fn kind(&self) -> Option<Kind> {
        let most = self.pages.iter().max().filter(|&&most| most > 0)?;
        let at = self.pages.iter().position(|pages| pages == most)?;
        Some(Kind::ALL[at])
    }

    /// The pages of all kinds.
    pub fn total(&self) -> u64 {
        self.pages.iter().fold(0, |sum, &pages| sum.saturating_add(pages))
    }
}

/// Rows that stand for some pages: those of a file, or of many laid end to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strip {
    /// The first row.
    pub row: usize,
    /// How many.
    pub rows: usize,
    /// The pages that the rows stand for; the last row also counts the pages beyond.
    pub pages: u64,
}

/// The map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessMap {
    columns: usize,
    end_ns: u64,
    strips: Vec<Strip>,
    cells: Vec<Cell>,
}

impl AccessMap {
    /// An empty map of the time from 0 to `end_ns`.
    pub fn new(columns: usize, end_ns: u64, strips: Vec<Strip>) -> Self {
        let rows = strips.iter().map(|strip| strip.row + strip.rows).max().unwrap_or(0);
        Self { columns, end_ns, strips, cells: vec![Cell::default(); columns * rows] }
    }

    /// Counts `pages` pages from `first` on of the strip with this number. Nothing happens where
    /// there is no such strip.
    pub fn add(&mut self, strip: usize, time_ns: u64, first: u64, pages: u64, kind: Kind) {
        let Some(&strip) = self.strips.get(strip) else { return };
        if self.columns == 0 || strip.rows == 0 || pages == 0 {
            return;
        }
        let column = scaled(time_ns, self.end_ns, self.columns);
        let mut page = first;
        let end = first.saturating_add(pages);
        while page < end {
            let row = scaled(page, strip.pages, strip.rows);
            // The first page of the next row; the last row has none.
            let next = (row as u128 + 1) * u128::from(strip.pages);
            let next = u64::try_from(next.div_ceil(strip.rows as u128)).unwrap_or(u64::MAX);
            let next = if row + 1 < strip.rows { next.clamp(page + 1, end) } else { end };
            let cell = &mut self.cells[(strip.row + row) * self.columns + column];
            let count = &mut cell.pages[kind as usize];
            *count = count.saturating_add(next - page);
            page = next;
        }
    }

    /// Pieces of time.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The time that all columns together stand for.
    pub fn end_ns(&self) -> u64 {
        self.end_ns
    }

    /// The strips, in the order they were given.
    pub fn strips(&self) -> &[Strip] {
        &self.strips
    }

    /// The rows from the top, each with a cell a column.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[Cell]> {
        self.cells.chunks(self.columns.max(1))
    }
}

/// Returns which of `count` equal pieces of `whole` contains a place.
fn scaled(place: u64, whole: u64, count: usize) -> usize {
    let piece = u128::from(place) * count as u128 / u128::from(whole.max(1));
    usize::try_from(piece).unwrap_or(usize::MAX).min(count - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(map: &AccessMap, kind: Kind) -> Vec<Vec<u64>> {
        let row = |row: &[Cell]| row.iter().map(|cell| cell.pages[kind as usize]).collect();
        map.rows().map(row).collect()
    }

    #[test]
    fn pages_fall_into_the_rows_and_columns_they_belong_to() {
        let strips =
            vec![Strip { row: 0, rows: 3, pages: 10 }, Strip { row: 3, rows: 1, pages: 100 }];
        let mut map = AccessMap::new(4, 1000, strips);
        map.add(0, 0, 0, 10, Kind::Read);
        map.add(0, 999, 9, 1, Kind::Write);
        map.add(1, 500, 0, 100, Kind::Fault);
        // Beyond every end: time, pages, strips.
        map.add(0, 5000, 10, 7, Kind::Read);
        map.add(7, 0, 0, 1, Kind::Read);
        map.add(1, 0, 5, 0, Kind::Read);
        let reads = [[4, 0, 0, 0], [3, 0, 0, 0], [3, 0, 0, 7], [0; 4]];
        assert_eq!(counts(&map, Kind::Read), reads);
        assert_eq!(counts(&map, Kind::Write)[2], [0, 0, 0, 1]);
        assert_eq!(counts(&map, Kind::Fault)[3], [0, 0, 100, 0]);
        assert_eq!(map.rows().next().unwrap()[0].kind(), Some(Kind::Read));
        assert_eq!(map.rows().next().unwrap()[1].kind(), None);
    }

    #[test]
    fn every_page_is_counted_once_whatever_the_scale() {
        for (rows, pages) in [(1, 1), (7, 3), (120, 1_000_003), (5, 5), (3, u64::MAX)] {
            let mut map = AccessMap::new(1, 0, vec![Strip { row: 0, rows, pages }]);
            map.add(0, 0, 0, pages, Kind::Read);
            assert_eq!(map.rows().map(|row| row[0].total()).sum::<u64>(), pages, "{rows} {pages}");
        }
        AccessMap::default().add(0, 0, 0, 1, Kind::Read);
        assert_eq!(AccessMap::default().rows().len(), 0);
    }
}
