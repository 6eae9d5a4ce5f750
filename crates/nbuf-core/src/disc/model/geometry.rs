//! The places of sectors on a disc: zones of cylinders, spares, slipped sectors, skews.
//!
//! Sector numbers run along a track, then to the next head of the cylinder, then to the next
//! cylinder. They leave out spares and slipped sectors. Angles are parts of a turn in 64 bits, so
//! that sums wrap as the disc does. The words and the sparing schemes are those of `DiskSim` 4.0
//! (J. Bucy, J. Schindler, S. Schlosser, G. Ganger, CMU-PDL-08-101, 2008). A lookup takes a search
//! among the zones and a few divisions. Do not use it for discs whose numbers run along a surface
//! first, as on many discs of this century.

use super::zone::Ready;

/// A range of cylinders with the same number of sectors on each track.
#[derive(Clone, Debug, PartialEq)]
pub struct Zone {
    /// Its first cylinder.
    pub first_cylinder: u32,
    /// Its last cylinder.
    pub last_cylinder: u32,
    /// The sectors on each track.
    pub sectors_per_track: u32,
    /// The distance of its first sector from the index of the disc, in sectors.
    pub first_offset: f64,
    /// The sectors at its start that hold no data.
    pub gap_sectors: u64,
    /// The angle from one track to the next of a cylinder, in sectors.
    pub track_skew: f64,
    /// The angle to the first track of the next cylinder, in sectors.
    pub cylinder_skew: f64,
    /// The spare units of each group ([`Spares`]).
    pub spares: u64,
    /// The units skipped at manufacture, counted from the start of the zone, ascending.
    pub slips: Vec<u64>,
    /// The units moved elsewhere in the zone after they went bad: the original place and the new
    /// one.
    pub remaps: Vec<(u64, u64)>,
}

/// The place of the spares. Each scheme has [`Zone::spares`] units in each of its groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spares {
    /// There are no spares and no slips.
    None,
    /// Whole tracks at the end of a zone; slips are tracks.
    TracksOfZone,
    /// Sectors at the end of each track.
    Track,
    /// Sectors at the end of each group of this number of cylinders.
    Cylinders(u32),
    /// Sectors of each cylinder. A slipped sector turns the tracks after it.
    Cylinder {
        /// Whether the spares are at the start of the cylinder instead of its end.
        at_front: bool,
        /// Whether a slip moves the rest of the zone instead of the rest of the cylinder.
        to_end: bool,
    },
    /// Sectors at the end of a zone.
    Zone,
    /// Sectors at the end of a zone, which slips do not use up.
    ZoneToEnd,
    /// No spares. A slip moves the rest of the zone.
    End,
}

/// The order of the heads of a cylinder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Heads {
    /// From the first head to the last.
    #[default]
    Upwards,
    /// Alternating: downwards in every second cylinder of a zone.
    InTurnsOfZone,
    /// Alternating: downwards in cylinders with an odd number.
    InTurns,
}

/// A part of a turn: 2^64 of them are a whole turn.
pub(super) type Angle = u64;

/// Consecutive sectors on a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub cylinder: u32,
    pub head: u32,
    /// The angle of the first sector's start.
    pub angle: Angle,
    /// The number of requested sectors.
    pub sectors: u64,
    /// The number of sectors that pass from the start of the first to the end of the last.
    pub span: u64,
    /// All sectors on this track, including spares.
    pub per_track: u32,
    /// Whether the next sector is on the same track.
    pub more: bool,
}

/// The zones, prepared for lookups.
#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    zones: Vec<Ready>,
    surfaces: u32,
    sectors: u64,
    heads: Heads,
}

impl Geometry {
    /// Prepares zones that are in the order of their cylinders. A zone without sectors, or only
    /// with spares, is left out.
    pub fn new(surfaces: u32, spares: Spares, zones: impl IntoIterator<Item = Zone>) -> Self {
        let mut geometry = Self {
            zones: Vec::new(),
            surfaces: surfaces.max(1),
            sectors: 0,
            heads: Heads::Upwards,
        };
        for zone in zones {
            if let Some(ready) = Ready::new(zone, geometry.surfaces, spares, geometry.sectors) {
                geometry.sectors += ready.sectors;
                geometry.zones.push(ready);
            }
        }
        geometry
    }

    /// Sets the order of the heads.
    #[must_use]
    pub fn with_heads(self, heads: Heads) -> Self {
        Self { heads, ..self }
    }

    /// Makes one zone without spares. Each track starts where the previous one ended, turned by
    /// `skew` sectors.
    pub fn even(cylinders: u32, surfaces: u32, sectors_per_track: u32, skew: f64) -> Self {
        let zone = Zone {
            first_cylinder: 0,
            last_cylinder: cylinders.max(1) - 1,
            sectors_per_track,
            first_offset: 0.0,
            gap_sectors: 0,
            track_skew: skew,
            cylinder_skew: skew,
            spares: 0,
            slips: Vec::new(),
            remaps: Vec::new(),
        };
        Self::new(surfaces, Spares::Zone, [zone])
    }

    /// The number of sectors that have numbers.
    pub fn sectors(&self) -> u64 {
        self.sectors
    }

    /// The number of the last cylinder plus one.
    pub fn cylinders(&self) -> u32 {
        self.zones.last().map_or(0, |ready| ready.zone.last_cylinder + 1)
    }

    /// The sectors of a track in the first zone.
    pub fn track_sectors(&self) -> u32 {
        self.zones.first().map_or(0, |ready| ready.zone.sectors_per_track)
    }

    /// The number of surfaces with data.
    pub fn surfaces(&self) -> u32 {
        self.surfaces
    }

    /// The cylinder of a sector.
    pub(super) fn cylinder(&self, sector: u64) -> u32 {
        let Some((ready, within)) = self.find(sector) else { return 0 };
        let (place, _) = ready.moved(ready.place(within));
        let track = place / u64::from(ready.zone.sectors_per_track);
        ready.zone.first_cylinder + narrow(track / u64::from(self.surfaces))
    }

    /// The run from this sector on, of at most `count` sectors on one track.
    pub(super) fn run(&self, sector: u64, count: u64) -> Option<Run> {
        let (ready, within) = self.find(sector)?;
        let per_track = u64::from(ready.zone.sectors_per_track);
        let numbered = ready.place(within);
        let on_this = (ready.sectors - within).min(ready.to_end_of(within, numbered));
        let (place, until_moved) = ready.moved(numbered);
        let on_this = on_this.min(until_moved);
        let sectors = count.min(on_this);
        let more = sectors < on_this;
        let span = if ready.zone.slips.is_empty() {
            sectors
        } else {
            ready.place(within + sectors - 1) + 1 - numbered
        };
        let (track, on_track) = (place / per_track, place % per_track);
        let (cylinder, head) = (track / u64::from(self.surfaces), track % u64::from(self.surfaces));
        let switches = head + u64::from(self.surfaces - 1) * cylinder;
        let angle = ready
            .first_angle
            .wrapping_add(ready.track_angle.wrapping_mul(switches))
            .wrapping_add(ready.cylinder_angle.wrapping_mul(cylinder))
            .wrapping_add(ready.sector_angle.wrapping_mul(on_track + ready.turned_by(place)));
        let on_zone = narrow(cylinder);
        let cylinder = ready.zone.first_cylinder + on_zone;
        let downwards = match self.heads {
            Heads::Upwards => false,
            Heads::InTurnsOfZone => on_zone % 2 == 1,
            Heads::InTurns => cylinder % 2 == 1,
        };
        let head = if downwards { self.surfaces - 1 - narrow(head) } else { narrow(head) };
        let per_track = ready.zone.sectors_per_track;
        Some(Run { cylinder, head, angle, sectors, span, per_track, more })
    }

    fn find(&self, sector: u64) -> Option<(&Ready, u64)> {
        let at = self.zones.partition_point(|ready| ready.first + ready.sectors <= sector);
        let ready = self.zones.get(at)?;
        Some((ready, sector - ready.first))
    }
}

fn narrow(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn zone(first: u32, last: u32, per_track: u32, spares: u64, slips: Vec<u64>) -> Zone {
        Zone {
            first_cylinder: first,
            last_cylinder: last,
            sectors_per_track: per_track,
            first_offset: 1.5,
            gap_sectors: 3,
            track_skew: 2.0,
            cylinder_skew: 3.0,
            spares,
            slips,
            remaps: Vec::new(),
        }
    }

    proptest! {
        /// For every sparing scheme, no two sectors share a place, none is on a slip, and runs add
        /// up.
        #[test]
        fn every_sector_has_a_place_of_its_own(
            kind in 0..10_usize,
            surfaces in 1..4_u32,
            spares in 0..3_u64,
            mut slips in prop::collection::btree_set(0..60_u64, 0..3),
        ) {
            let cylinder = |at_front, to_end| Spares::Cylinder { at_front, to_end };
            let spare = [
                Spares::TracksOfZone, Spares::Track, Spares::Cylinders(2), Spares::Zone,
                cylinder(false, false), cylinder(false, true), cylinder(true, false),
                cylinder(true, true), Spares::ZoneToEnd, Spares::End,
            ][kind];
            // Keeps at most as many slips as spares, because a group has at least as many as the
            // zone.
            while slips.len() as u64 > spares { slips.pop_last(); }
            if matches!(spare, Spares::Track) { slips.clear(); }
            let limit = if matches!(spare, Spares::TracksOfZone) { 8 } else { 60 };
            let slips: Vec<u64> = slips.into_iter().filter(|&slip| slip < limit).collect();
            let zones = [zone(0, 5, 9, spares, slips.clone()), zone(6, 9, 7, spares, Vec::new())];
            let geometry = Geometry::new(surfaces, spare, zones);
            let mut seen = HashSet::new();
            let mut at = 0;
            let mut before = None;
            while at < geometry.sectors() {
                let run = geometry.run(at, u64::MAX).unwrap();
                prop_assert!(run.sectors >= 1 && run.span >= run.sectors);
                prop_assert!(run.cylinder < 10 && run.head < surfaces);
                prop_assert!(before < Some((run.cylinder, run.head)), "runs go up, a track at a time");
                before = Some((run.cylinder, run.head));
                for one in at..at + run.sectors {
                    let single = geometry.run(one, 1).unwrap();
                    prop_assert_eq!((single.cylinder, single.head, single.span), (run.cylinder, run.head, 1));
                    prop_assert!(seen.insert((single.cylinder, single.head, single.angle)));
                    prop_assert_eq!(geometry.cylinder(one), run.cylinder);
                }
                at += run.sectors;
            }
            prop_assert_eq!(geometry.run(at, 1), None);
        }
    }

    #[test]
    fn a_track_is_turned_by_its_skew() {
        let geometry = Geometry::even(4, 2, 16, 4.0);
        let turn = |sector| geometry.run(sector, 1).unwrap().angle / (u64::MAX / 16);
        assert_eq!([turn(0), turn(1), turn(16), turn(32), turn(33)], [0, 1, 4, 8, 9]);
        assert_eq!(geometry.sectors(), 128);
        assert_eq!(geometry.run(30, 100).unwrap().sectors, 2);
    }

    #[test]
    fn a_zone_of_nothing_is_left_out() {
        let geometry =
            Geometry::new(1, Spares::Zone, [zone(3, 2, 9, 0, vec![]), zone(0, 1, 0, 0, vec![])]);
        assert_eq!(geometry.sectors(), 0);
        assert_eq!(geometry.run(0, 1), None);
        assert_eq!(Geometry::new(1, Spares::Track, [zone(0, 1, 9, 9, vec![])]).sectors(), 0);
    }
}
