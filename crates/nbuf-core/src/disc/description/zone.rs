//! Zones and spares in a description.

use serde::{Deserialize, Serialize};

use super::{DescriptionError, wrong};
use crate::disc::model::geometry::{Spares, Zone};

/// No drive has more cylinders.
const CYLINDERS_MAX: u32 = 1 << 20;
const TRACK_SECTORS_MAX: u32 = 1 << 20;
const UNITS_MAX: u64 = 1 << 40;

/// A range of cylinders with the same number of sectors on each track.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ZoneTable {
    /// Its first cylinder.
    pub first_cylinder: u32,
    /// Its last cylinder.
    pub last_cylinder: u32,
    /// The sectors on each track.
    pub sectors_per_track: u32,
    /// The distance from the index to its first sector.
    #[serde(default)]
    pub first_offset_sectors: f64,
    /// The sectors at its start that hold no data.
    #[serde(default)]
    pub gap_sectors: u64,
    /// The angle to the next track, in sectors.
    #[serde(default)]
    pub track_skew_sectors: f64,
    /// The angle to the next cylinder, in sectors.
    #[serde(default)]
    pub cylinder_skew_sectors: f64,
    /// The spare units of each group.
    #[serde(default)]
    pub spares: u64,
    /// The units skipped at manufacture.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slips: Vec<u64>,
    /// The remapped units: the original place and the new one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remaps: Vec<(u64, u64)>,
}

/// The place of the spares.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SparingTable {
    /// The sparing scheme.
    pub scheme: SchemeName,
    /// The cylinders of a group, with `cylinders`.
    pub cylinders: Option<u32>,
}

/// A sparing scheme, with its number in `DiskSim`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SchemeName {
    /// 0: none.
    #[default]
    None,
    /// 1: whole tracks of a zone.
    TracksOfZone,
    /// 2: sectors at the end of a cylinder.
    Cylinder,
    /// 3: sectors of each track.
    Track,
    /// 4: as 2, but slips move the rest of the zone.
    CylinderToEnd,
    /// 5: sectors at the beginning of a cylinder.
    CylinderFront,
    /// 6: as 5, but slips move the rest of the zone.
    CylinderFrontToEnd,
    /// 7: slips move the rest of the zone.
    End,
    /// 8: sectors at the end of each group of cylinders.
    Cylinders,
    /// 9: sectors at the end of a zone.
    Zone,
    /// 10: as 9, but slips do not use them up.
    ZoneToEnd,
}

impl SchemeName {
    /// The schemes in the order of `DiskSim`'s numbers.
    pub(super) const NUMBERED: [Self; 11] = [
        Self::None,
        Self::TracksOfZone,
        Self::Cylinder,
        Self::Track,
        Self::CylinderToEnd,
        Self::CylinderFront,
        Self::CylinderFrontToEnd,
        Self::End,
        Self::Cylinders,
        Self::Zone,
        Self::ZoneToEnd,
    ];
}

impl ZoneTable {
    /// Returns an error for an impossible zone, or one that does not start at cylinder `next`.
    pub(super) fn check(&self, at: usize, next: u32) -> Result<(), DescriptionError> {
        let (first, last) = (self.first_cylinder, self.last_cylinder);
        if first > last || first < next || last >= CYLINDERS_MAX {
            return wrong(format!(
                "zone {at}: cylinders {first} to {last} do not follow those before, or are beyond {CYLINDERS_MAX}"
            ));
        }
        if !(1..=TRACK_SECTORS_MAX).contains(&self.sectors_per_track) {
            return wrong(format!("zone {at}: `sectors_per_track` is {}", self.sectors_per_track));
        }
        let units = self.remaps.iter().flat_map(|&(from, to)| [from, to]);
        let units = units.chain(self.slips.iter().copied()).chain([self.spares, self.gap_sectors]);
        let turns =
            [self.first_offset_sectors, self.track_skew_sectors, self.cylinder_skew_sectors];
        let fits = turns.iter().all(|turn| turn.abs() <= f64::from(TRACK_SECTORS_MAX));
        if units.max() > Some(UNITS_MAX) || !fits {
            return wrong(format!("zone {at}: a number of it is beyond any disc"));
        }
        let ascends = self.slips.windows(2).all(|two| two[0] < two[1]);
        if !ascends {
            return wrong(format!("zone {at}: `slips` do not ascend"));
        }
        Ok(())
    }

    pub(super) fn zone(&self) -> Zone {
        Zone {
            first_cylinder: self.first_cylinder,
            last_cylinder: self.last_cylinder,
            sectors_per_track: self.sectors_per_track,
            first_offset: self.first_offset_sectors,
            gap_sectors: self.gap_sectors,
            track_skew: self.track_skew_sectors,
            cylinder_skew: self.cylinder_skew_sectors,
            spares: self.spares,
            slips: self.slips.clone(),
            remaps: self.remaps.clone(),
        }
    }
}

impl SparingTable {
    pub(super) fn spares(&self) -> Result<Spares, DescriptionError> {
        let cylinder = |at_front, to_end| Spares::Cylinder { at_front, to_end };
        Ok(match self.scheme {
            SchemeName::None => Spares::None,
            SchemeName::TracksOfZone => Spares::TracksOfZone,
            SchemeName::Cylinder => cylinder(false, false),
            SchemeName::Track => Spares::Track,
            SchemeName::CylinderToEnd => cylinder(false, true),
            SchemeName::CylinderFront => cylinder(true, false),
            SchemeName::CylinderFrontToEnd => cylinder(true, true),
            SchemeName::End => Spares::End,
            SchemeName::Cylinders => match self.cylinders {
                Some(count) if count > 0 => Spares::Cylinders(count),
                _ => return wrong("`scheme` is \"cylinders\": say of how many, with `cylinders`"),
            },
            SchemeName::Zone => Spares::Zone,
            SchemeName::ZoneToEnd => Spares::ZoneToEnd,
        })
    }
}
