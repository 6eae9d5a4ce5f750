//! The tracks of a disc laid out in rows, as text and picture show them.

use nbuf::experiment::result::FigureTracks;

/// Strengths that a reader can distinguish.
pub(super) const STRENGTHS: u64 = 4;

/// Places in rows from the top left, each with the units of some cells.
pub(super) struct Map {
    pub(super) places: Vec<u64>,
    /// Places from the first on that hold management space.
    pub(super) management: usize,
    most: u64,
}

impl Map {
    /// Makes a map of `places` places, or of as many as there are cells.
    pub(super) fn of(tracks: &FigureTracks, places: usize) -> Self {
        let cells = tracks.cells.len();
        let count = places.clamp(1, cells.max(1));
        let place = |cell: usize| cell * count / cells.max(1);
        let mut units = vec![0; count];
        for (cell, &held) in tracks.cells.iter().enumerate() {
            units[place(cell)] += held;
        }
        let management = usize::try_from(tracks.cells_management).unwrap_or(cells).min(cells);
        let management = management.checked_sub(1).map_or(0, |last| place(last) + 1);
        Self { most: units.iter().copied().max().unwrap_or(0), places: units, management }
    }

    /// How strong a place is: 0 for nothing, and [`STRENGTHS`] for the most.
    pub(super) fn strength(&self, units: u64) -> u64 {
        // By the square root: a reader must distinguish few units from none, and from many.
        let share = (units as f64 / self.most.max(1) as f64).sqrt();
        nbuf::units::whole((share * STRENGTHS as f64).ceil())
    }

    /// The most units that a place of this strength holds.
    pub(super) fn units_of(&self, strength: u64) -> u64 {
        let share = strength as f64 / STRENGTHS as f64;
        nbuf::units::whole((share * share * self.most as f64).floor())
    }

    /// Tracks of a place, on average.
    pub(super) fn tracks_of_place(&self, tracks: &FigureTracks) -> f64 {
        tracks.tracks as f64 / self.places.len().max(1) as f64
    }
}
