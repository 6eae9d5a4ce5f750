//! A grid of characters to draw on, four dots high and two wide each, as Unicode braille has them.
//!
//! Every line that comes out is at most as wide as the canvas. Dots lie under text: a cell that
//! has a character shows that.

/// Dots across a cell.
pub(super) const CELL_DOTS_WIDE: usize = 2;
/// Dots down a cell.
pub(super) const CELL_DOTS_HIGH: usize = 4;

/// Colours by meaning; a plain terminal loses nothing but them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Ink {
    /// Text as it comes.
    #[default]
    Plain,
    /// Axes: in the background.
    Faint,
    /// The curve.
    Curve,
    /// The three sizes.
    Mark,
    /// What was measured.
    Measured,
    /// Curves besides the first.
    Second,
    Third,
    Fourth,
}

impl Ink {
    fn escape(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Faint => "\x1b[2m",
            Self::Curve => "\x1b[36m",
            Self::Mark => "\x1b[33m",
            Self::Measured => "\x1b[1;32m",
            Self::Second => "\x1b[35m",
            Self::Third => "\x1b[32m",
            Self::Fourth => "\x1b[34m",
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Cell {
    dots: u8,
    line: Ink,
    character: Option<char>,
    ink: Ink,
}

/// Characters and dots, from the top left.
pub(super) struct Canvas {
    pub(super) width: usize,
    cells: Vec<Cell>,
}

impl Canvas {
    pub(super) fn new(width: usize, height: usize) -> Self {
        let cells = vec![Cell::default(); width * height];
        Self { width, cells }
    }

    /// Sets a dot; a dot outside of the canvas is left out. A cell has the colour of its last dot.
    pub(super) fn dot(&mut self, x: usize, y: usize, ink: Ink) {
        // Dots 1 2 3 7 go down the left of a cell, 4 5 6 8 down its right.
        const BITS: [[u8; CELL_DOTS_WIDE]; CELL_DOTS_HIGH] = [[0, 3], [1, 4], [2, 5], [6, 7]];
        let bit = BITS[y % CELL_DOTS_HIGH][x % CELL_DOTS_WIDE];
        if let Some(cell) = self.cell(x / CELL_DOTS_WIDE, y / CELL_DOTS_HIGH) {
            cell.dots |= 1 << bit;
            cell.line = ink;
        }
    }

    /// Puts a character over whatever is there.
    pub(super) fn put(&mut self, column: usize, row: usize, character: char, ink: Ink) {
        if let Some(cell) = self.cell(column, row) {
            cell.character = Some(character);
            cell.ink = ink;
        }
    }

    /// Puts a character where there is nothing yet.
    pub(super) fn put_under(&mut self, column: usize, row: usize, character: char, ink: Ink) {
        let is_free = |cell: &mut Cell| cell.dots == 0 && cell.character.is_none();
        if self.cell(column, row).is_some_and(is_free) {
            self.put(column, row, character, ink);
        }
    }

    /// Writes from a column on, as far as the canvas goes.
    pub(super) fn write(&mut self, column: usize, row: usize, text: &str, ink: Ink) {
        for (offset, character) in text.chars().enumerate() {
            self.put(column + offset, row, character, ink);
        }
    }

    fn cell(&mut self, column: usize, row: usize) -> Option<&mut Cell> {
        (column < self.width).then(|| self.cells.get_mut(row * self.width + column))?
    }

    /// The lines, without spaces at their ends.
    pub(super) fn render(&self, colour: bool) -> String {
        let mut out = String::new();
        for line in self.cells.chunks(self.width.max(1)) {
            let shown = |cell: &Cell| cell.dots != 0 || cell.character.is_some_and(|c| c != ' ');
            let end = line.iter().rposition(shown).map_or(0, |last| last + 1);
            for run in line[..end].chunk_by(|a, b| a.ink() == b.ink()) {
                let ink = run[0].ink();
                let escape = if colour { ink.escape() } else { "" };
                out.push_str(escape);
                out.extend(run.iter().copied().map(Cell::shown));
                if !escape.is_empty() {
                    out.push_str("\x1b[0m");
                }
            }
            out.push('\n');
        }
        out
    }
}

impl Cell {
    fn ink(self) -> Ink {
        match (self.character, self.dots) {
            (None, dots) if dots != 0 => self.line,
            _ => self.ink,
        }
    }

    fn shown(self) -> char {
        match (self.character, self.dots) {
            (Some(character), _) => character,
            (None, 0) => ' ',
            (None, dots) => char::from_u32(0x2800 + u32::from(dots)).expect("256 braille patterns"),
        }
    }
}
