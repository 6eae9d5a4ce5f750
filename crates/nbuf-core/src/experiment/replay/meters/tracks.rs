//! Tracks in cache: what of the disc is held, by its place, at the end, as the paper has it at the end of a
//! day.

use super::{Meter, Observer, Subject};
use crate::cache::layer::Layer;
use crate::experiment::result::{FigureTracks, ReplayFigures};
use crate::meter::tracks::{CELLS_MAX, Tracks};
use crate::units::Nanos;

struct Held {
    tracks: Tracks,
    track_bytes: u64,
    is_track: bool,
    /// Where the management space ends, if there is one.
    management_bytes: Option<u64>,
    units_management: u64,
}

pub(super) fn build(subject: &Subject) -> Box<dyn Meter> {
    let &Subject { bytes, track_bytes, management_bytes } = subject;
    let piece_bytes = track_bytes.unwrap_or_else(|| bytes.div_ceil(CELLS_MAX)).max(1);
    Box::new(Held {
        tracks: Tracks::new(bytes, piece_bytes),
        track_bytes: piece_bytes,
        is_track: track_bytes.is_some(),
        management_bytes,
        units_management: 0,
    })
}

impl Meter for Held {
    fn show(&self, figures: &mut ReplayFigures) {
        let cell_bytes = self.tracks.cell_tracks().saturating_mul(self.track_bytes).max(1);
        figures.tracks = FigureTracks {
            tracks: self.tracks.tracks(),
            track_bytes: self.track_bytes,
            is_track: self.is_track,
            tracks_held: self.tracks.tracks_held(),
            units_held: self.tracks.held(),
            units_management: self.management_bytes.map(|_| self.units_management),
            cell_tracks: self.tracks.cell_tracks(),
            cells_management: self.management_bytes.unwrap_or(0).div_ceil(cell_bytes),
            cells: self.tracks.cells().to_vec(),
        };
    }
}

impl Observer for Held {
    fn end(&mut self, _: Nanos, cache: &dyn Layer) {
        let offsets = cache.addresses();
        if let Some(end) = self.management_bytes {
            self.units_management = offsets.iter().filter(|&&offset| offset < end).count() as u64;
        }
        self.tracks.show(offsets);
    }
}
