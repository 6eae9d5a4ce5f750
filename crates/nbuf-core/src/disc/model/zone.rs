//! A zone prepared for lookups: the places of its sectors among spares, slips and remapped units.
//!
//! A *place* counts all sectors from the start of the zone; a *number* counts those with data. The
//! schemes are those of `layout_g1` in `DiskSim` 4.0 (CMU-PDL-08-101, 2008).

use super::geometry::{Angle, Spares, Zone};

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ready {
    pub zone: Zone,
    /// The number of its first sector, and the count of its sectors.
    pub first: u64,
    pub sectors: u64,
    /// The sectors of a group, counted as places and as numbers.
    group_span: u64,
    group_sectors: u64,
    /// The sectors of a unit that is slipped as a whole.
    unit: u64,
    /// The spares at the start of a group.
    front: u64,
    /// The slips among the sectors that are no spares. Only for the scheme in which slips move the
    /// whole zone although each cylinder has spares.
    to_end: Option<Vec<u64>>,
    /// The sectors of the unit, a track or a cylinder, in which earlier slips turn a track.
    turned: Option<u64>,
    /// There are no spares and no slips, the usual case: places equal numbers.
    plain: bool,
    pub sector_angle: Angle,
    pub first_angle: Angle,
    pub track_angle: Angle,
    pub cylinder_angle: Angle,
}

/// The layout that a scheme gives a zone.
struct Scheme {
    group_span: u64,
    unit: u64,
    spares: u64,
    front: u64,
    to_end: bool,
    turned: Option<u64>,
}

impl Scheme {
    fn of(spares: Spares, zone: &Zone, span: u64, cylinder: u64) -> Self {
        let per_track = u64::from(zone.sectors_per_track);
        let plain = Self {
            group_span: span,
            unit: 1,
            spares: zone.spares,
            front: 0,
            to_end: false,
            turned: None,
        };
        match spares {
            Spares::None | Spares::End => Self { spares: 0, ..plain },
            Spares::TracksOfZone => Self { unit: per_track, ..plain },
            Spares::Track => Self { group_span: per_track, turned: Some(per_track), ..plain },
            Spares::Cylinders(count) => {
                Self { group_span: u64::from(count).saturating_mul(cylinder), ..plain }
            }
            Spares::Cylinder { at_front, to_end } => {
                let front = if at_front { zone.spares } else { 0 };
                let turned = Some(cylinder);
                Self { group_span: cylinder, front, to_end, turned, ..plain }
            }
            Spares::Zone | Spares::ZoneToEnd => plain,
        }
    }
}

impl Ready {
    pub(super) fn new(mut zone: Zone, surfaces: u32, spares: Spares, first: u64) -> Option<Self> {
        let per_track = u64::from(zone.sectors_per_track);
        let cylinders = u64::from(zone.last_cylinder.checked_sub(zone.first_cylinder)?) + 1;
        let cylinder = u64::from(surfaces) * per_track;
        let span = cylinders.checked_mul(cylinder)?;
        if spares == Spares::None {
            zone.slips.clear();
        }
        let scheme = Scheme::of(spares, &zone, span, cylinder);
        let Scheme { group_span, unit, front, turned, .. } = scheme;
        let group_sectors = group_span.checked_sub(scheme.spares.checked_mul(unit)?)?;
        // A shortened last group has none.
        let groups = span.checked_div(group_span)?;
        let lost = groups * (group_span - group_sectors);
        zone.slips.retain(|&slip| slip < span / unit.max(1));
        let to_end = scheme.to_end.then(|| {
            let among = |&slip: &u64| {
                let on = (slip % group_span).checked_sub(front).filter(|&on| on < group_sectors)?;
                Some(slip / group_span * group_sectors + on)
            };
            zone.slips.iter().filter_map(among).collect::<Vec<u64>>()
        });
        let slipped = match spares {
            Spares::End | Spares::ZoneToEnd => zone.slips.len() as u64,
            _ => to_end.as_ref().map_or(0, |slips| slips.len() as u64),
        };
        let sectors = (span - lost).checked_sub(zone.gap_sectors)?.checked_sub(slipped)?;
        if group_sectors == 0 || sectors == 0 {
            return None;
        }
        zone.remaps.retain(|(from, to)| from != to && *to < span / unit.max(1));
        zone.remaps.sort_unstable();
        Some(Self {
            first,
            sectors,
            group_span,
            group_sectors,
            unit,
            front,
            to_end,
            turned: turned.filter(|_| !zone.slips.is_empty()),
            plain: scheme.spares == 0 && zone.slips.is_empty(),
            sector_angle: u64::MAX / per_track,
            first_angle: angle(zone.first_offset, per_track),
            track_angle: angle(zone.track_skew, per_track),
            cylinder_angle: angle(zone.cylinder_skew, per_track),
            zone,
        })
    }

    /// The place of a sector of the zone, before remapping.
    pub(super) fn place(&self, within: u64) -> u64 {
        let numbered = within + self.zone.gap_sectors;
        if self.plain {
            return numbered;
        }
        if let Some(slips) = &self.to_end {
            let among = numbered + passed(slips, 0, numbered);
            let group = among / self.group_sectors;
            return group * self.group_span + self.front + among % self.group_sectors;
        }
        let (group, within) = (numbered / self.group_sectors, numbered % self.group_sectors);
        let base = group * self.group_span + self.front_of(group);
        let unit = within / self.unit;
        let slipped = passed(&self.zone.slips, base / self.unit, unit);
        base + (unit + slipped) * self.unit + within % self.unit
    }

    /// The spares at the start of a group, less those that its slips use up.
    fn front_of(&self, group: u64) -> u64 {
        let base = group * self.group_span;
        let mut front = self.front;
        while front > 0 {
            let slipped = between(&self.zone.slips, base + front, base + self.group_span);
            let less = self.front.saturating_sub(slipped);
            if less >= front {
                break;
            }
            front = less;
        }
        front
    }

    /// The numbered sectors from the one at this place to the end of its track.
    pub(super) fn to_end_of(&self, within: u64, place: u64) -> u64 {
        let per_track = u64::from(self.zone.sectors_per_track);
        let end = (place / per_track + 1) * per_track;
        if self.plain {
            return end - place;
        }
        let numbered = within + self.zone.gap_sectors;
        let (end, left) = if self.to_end.is_some() {
            // Slips do not use up the spares of the group, so it ends where the spares start.
            let group = place / self.group_span * self.group_span + self.front;
            (end.min(group + self.group_sectors), u64::MAX)
        } else {
            let group = numbered / self.group_sectors;
            (end, (group + 1) * self.group_sectors - numbered)
        };
        let slipped = if self.unit == 1 { between(&self.zone.slips, place, end) } else { 0 };
        (end - place).saturating_sub(slipped).min(left).max(1)
    }

    /// The place to which `place` is remapped, and the number of consecutive sectors from there.
    pub(super) fn moved(&self, place: u64) -> (u64, u64) {
        let remaps = &self.zone.remaps;
        if remaps.is_empty() {
            return (place, u64::MAX);
        }
        let unit = place / self.unit;
        let at = remaps.partition_point(|&(from, _)| from < unit);
        match remaps.get(at) {
            Some(&(from, to)) if from == unit => {
                let left = self.unit - place % self.unit;
                (to * self.unit + place % self.unit, left)
            }
            Some(&(from, _)) if self.unit == 1 => {
                let slipped = between(&self.zone.slips, place, from);
                (place, (from - place).saturating_sub(slipped).max(1))
            }
            _ => (place, u64::MAX),
        }
    }

    /// The number of sectors by which earlier slips turn a track.
    pub(super) fn turned_by(&self, place: u64) -> u64 {
        let Some(turned) = self.turned else { return 0 };
        between(&self.zone.slips, 0, place / turned.max(1) * turned)
    }
}

/// The number of slips before a unit of a group that starts at `base`.
fn passed(slips: &[u64], base: u64, unit: u64) -> u64 {
    let from = slips.partition_point(|&slip| slip < base);
    let mut count = 0;
    for &slip in &slips[from..] {
        if slip - base > unit + count {
            break;
        }
        count += 1;
    }
    count
}

/// The number of slips from one unit to before another.
fn between(slips: &[u64], from: u64, end: u64) -> u64 {
    let before = |end| slips.partition_point(|&slip| slip < end);
    before(end).saturating_sub(before(from)) as u64
}

/// This number of sectors as a part of a turn, without whole turns.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "what is rounded is below one turn, and a conversion saturates"
)]
fn angle(sectors: f64, per_track: u64) -> Angle {
    let whole = (sectors.floor().rem_euclid(per_track as f64)) as u64;
    let part = (sectors - sectors.floor()) * (u64::MAX / per_track) as f64;
    (u64::MAX / per_track).wrapping_mul(whole).wrapping_add(part as u64)
}
