//! What of a disc is in a cache, by its place: tracks in cache.
//!
//! Invariant: every unit that is shown is counted in exactly one cell, whatever the disc's size; one
//! beyond its end is in the last. Cost: a cell for each track up to [`CELLS_MAX`], a few nanoseconds a
//! unit. After the first figure of V. Jacobson, *A MAX-IV Disc Cache*, LBL-15552, 1982.

/// Cells at most: a picture has no more places.
pub(crate) const CELLS_MAX: u64 = 4096;

/// The number of cached units at each place of the disc.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tracks {
    track_bytes: u64,
    count: u64,
    each_cell: u64,
    units: Vec<u64>,
    units_held: u64,
    count_held: u64,
}

impl Tracks {
    /// Returns empty counts for a disc of `disc_bytes`, with `track_bytes` to a track (0 is taken
    /// for 1).
    pub(crate) fn new(disc_bytes: u64, track_bytes: u64) -> Self {
        let track_bytes = track_bytes.max(1);
        let count = disc_bytes.div_ceil(track_bytes).max(1);
        let each_cell = count.div_ceil(CELLS_MAX);
        let cells = usize::try_from(count.div_ceil(each_cell)).unwrap_or(usize::MAX);
        let units = vec![0; cells];
        Self { track_bytes, count, each_cell, units, units_held: 0, count_held: 0 }
    }

    /// Forgets what was, and counts the units that begin at these bytes.
    pub(crate) fn show(&mut self, mut offsets_bytes: Vec<u64>) {
        offsets_bytes.sort_unstable();
        self.units.fill(0);
        self.units_held = offsets_bytes.len() as u64;
        self.count_held = 0;
        let mut before = None;
        for offset in offsets_bytes {
            let track = (offset / self.track_bytes).min(self.count - 1);
            self.count_held += u64::from(before.replace(track) != Some(track));
            let cell = usize::try_from(track / self.each_cell).unwrap_or(usize::MAX);
            let last = self.units.len() - 1;
            self.units[cell.min(last)] += 1;
        }
    }

    /// Units by cell, from the beginning of the disc.
    pub(crate) fn cells(&self) -> &[u64] {
        &self.units
    }

    /// Tracks of a cell; the last may have fewer.
    pub(crate) fn cell_tracks(&self) -> u64 {
        self.each_cell
    }

    /// Tracks of the disc.
    pub(crate) fn tracks(&self) -> u64 {
        self.count
    }

    /// Tracks of which something is held.
    pub(crate) fn tracks_held(&self) -> u64 {
        self.count_held
    }

    /// Units that are held.
    pub(crate) fn held(&self) -> u64 {
        self.units_held
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_unit_is_in_one_cell(
            disc_bytes in 0..1_u64 << 50,
            track_bytes in 0..1_u64 << 20,
            offsets in proptest::collection::vec(0..1_u64 << 51, 0..100),
        ) {
            let mut tracks = Tracks::new(disc_bytes, track_bytes);
            tracks.show(offsets.clone());
            prop_assert_eq!(tracks.cells().iter().sum::<u64>(), offsets.len() as u64);
            prop_assert!(tracks.cells().len() as u64 <= CELLS_MAX);
            prop_assert!(tracks.cells().len() as u64 * tracks.cell_tracks() >= tracks.tracks());
            prop_assert!(tracks.tracks_held() <= tracks.held());
        }
    }

    #[test]
    fn units_lie_where_their_tracks_lie() {
        let mut tracks = Tracks::new(10 * 42, 42);
        tracks.show(vec![41, 0, 42, 9 * 42, 10 * 42 + 7]);
        assert_eq!(tracks.cells(), [2, 1, 0, 0, 0, 0, 0, 0, 0, 2]);
        assert_eq!((tracks.held(), tracks.tracks_held(), tracks.cell_tracks()), (5, 3, 1));
        tracks.show(Vec::new());
        assert_eq!((tracks.held(), tracks.tracks_held()), (0, 0));
    }
}
