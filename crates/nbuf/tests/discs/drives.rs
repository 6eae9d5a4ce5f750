//! Five drives that were measured: what `DiskSim` publishes of their controllers and buffers, and their
//! geometry and seek times, read from the files beside the traces.
//!
//! The figures are those of the files `NAME.diskspecs` and `NAME.parv` in the folder `valid` of `DiskSim` 4.0; nothing is
//! fitted here. A transfer time of a sector is the larger of what the drive and the bus need.

use nbuf::disc::model::Scheduler;
use nbuf::disc::model::drive::{After, Ahead, Buffer, Controller, Drive, Way};
use nbuf::disc::model::geometry::{Geometry, Spares, Zone};
use nbuf::disc::model::seek::Seek;
use nbuf::units::Nanos;

use super::blocks::{self, Value};

/// What is published of a drive beside its mechanism.
pub(crate) struct Published {
    pub(crate) name: &'static str,
    pub(crate) drive: &'static str,
    /// What `DiskSim` itself is off, in milliseconds.
    pub(crate) disksim_rms_ms: f64,
    controller: Controller,
    buffer: Buffer,
}

const fn us(micros: u64) -> Nanos {
    Nanos(micros * 1_000)
}

const fn after(read_us: u64, write_us: u64) -> After {
    After { read: us(read_us), write: us(write_us) }
}

pub(crate) const DRIVES: [Published; 5] = [
    Published {
        name: "cheetah9LP",
        drive: "Seagate ST39102LW",
        disksim_rms_ms: 0.107,
        controller: Controller {
            read_hit: after(66, 273),
            read_miss: After { read: Nanos(283_620), write: Nanos(86_730) },
            write: after(748, 500),
            read_end: Nanos::ZERO,
            write_end: Nanos::ZERO,
            bus_sector: us(105),
            whole_reads: false,
        },
        buffer: Buffer {
            segments: 3,
            segment_sectors: 561,
            ahead: Ahead::NextTrack,
            ahead_after_hit: false,
            joins: false,
            keeps_writes: true,
            behind_segments: 3,
        },
    },
    Published {
        name: "barracuda",
        drive: "Seagate ST32171W",
        disksim_rms_ms: 0.349,
        controller: Controller {
            read_hit: after(82, 596),
            read_miss: After { read: Nanos(613_070), write: Nanos(568_130) },
            write: After { read: us(1_010), write: Nanos(929_100) },
            read_end: Nanos::ZERO,
            write_end: Nanos::ZERO,
            bus_sector: us(134),
            whole_reads: false,
        },
        buffer: Buffer {
            segments: 3,
            segment_sectors: 281,
            ahead: Ahead::Sectors(281),
            ahead_after_hit: false,
            joins: false,
            keeps_writes: true,
            behind_segments: 1,
        },
    },
    Published {
        name: "dec_rz26",
        drive: "DEC RZ26",
        disksim_rms_ms: 0.340,
        controller: Controller {
            read_hit: after(1_229, 1_143),
            read_miss: after(1_489, 1_489),
            write: after(2_167, 1_942),
            read_end: Nanos::ZERO,
            write_end: us(113),
            bus_sector: Nanos(70_690),
            whole_reads: false,
        },
        buffer: Buffer {
            segments: 10,
            segment_sectors: 57,
            ahead: Ahead::Track(57),
            ahead_after_hit: true,
            joins: false,
            keeps_writes: true,
            behind_segments: 0,
        },
    },
    Published {
        name: "hp_c2490a",
        drive: "HP C2490A",
        disksim_rms_ms: 0.254,
        controller: Controller {
            read_hit: after(1_419, 0),
            read_miss: after(3_616, 2_275),
            write: After { read: us(3_283), write: Nanos(823_910) },
            read_end: us(81),
            write_end: Nanos::ZERO,
            bus_sector: Nanos(148_410),
            whole_reads: false,
        },
        buffer: Buffer {
            segments: 1,
            segment_sectors: 256,
            ahead: Ahead::Sectors(128),
            ahead_after_hit: true,
            joins: false,
            keeps_writes: true,
            behind_segments: 0,
        },
    },
    Published {
        name: "hp_c3323a",
        drive: "HP C3323A",
        disksim_rms_ms: 0.306,
        controller: Controller {
            read_hit: after(348, 1_387),
            read_miss: after(2_502, 2_502),
            write: after(3_290, 2_920),
            read_end: us(241),
            write_end: Nanos::ZERO,
            bus_sector: Nanos(145_500),
            whole_reads: true,
        },
        buffer: Buffer {
            segments: 2,
            segment_sectors: 512,
            ahead: Ahead::Sectors(256),
            ahead_after_hit: true,
            joins: false,
            keeps_writes: true,
            behind_segments: 0,
        },
    },
];

impl Published {
    /// The drive, with the mechanism that two files describe.
    pub(crate) fn drive(&self, model: &str, seek: &str) -> Option<Drive> {
        let model = blocks::parse(model)?;
        let layout = model.get("Layout Model")?;
        let mechanism = model.get("Mechanical Model")?;
        let surfaces = small(model.count("Number of data surfaces")?)?;
        let cylinders = small(model.count("Number of cylinders")?)?;
        let spares = match layout.count("Sparing scheme used")? {
            1 => Spares::TracksOfZone,
            3 => Spares::Track,
            8 => Spares::Cylinders(small(layout.count("Rangesize for sparing")?)?),
            9 => Spares::Zone,
            _ => return None,
        };
        let zones: Option<Vec<Zone>> = layout.list("Zones").iter().map(zone).collect();
        let ms = |key| mechanism.number(key);
        Some(Drive {
            sector_bytes: 512,
            geometry: Geometry::new(surfaces, spares, zones?),
            rotation: Nanos::from_seconds(60.0 / ms("Rotation speed (in rpms)")?),
            seek: Seek::points(seek_points(seek), cylinders),
            head_switch: Nanos::from_millis(ms("Head switch time")?),
            write_settle_ns: settle_ns(ms("Add. write settling delay")?),
            controller: self.controller,
            buffer: self.buffer,
            way: Way::Turning,
            scheduler: Scheduler::Fifo,
        })
    }
}

fn small(count: u64) -> Option<u32> {
    u32::try_from(count).ok()
}

#[expect(clippy::cast_possible_truncation, reason = "a conversion of floating point saturates")]
fn settle_ns(ms: f64) -> i64 {
    (ms * 1e6).round() as i64
}

fn zone(zone: &Value) -> Option<Zone> {
    let slips = zone.list("slips").iter();
    Some(Zone {
        first_cylinder: small(zone.count("First cylinder number")?)?,
        last_cylinder: small(zone.count("Last cylinder number")?)?,
        sectors_per_track: small(zone.count("Blocks per track")?)?,
        first_offset: zone.number("Offset of first block")?,
        gap_sectors: zone.count("Empty space at zone front")?,
        track_skew: zone.number("Skew for track switch")?,
        cylinder_skew: zone.number("Skew for cylinder switch")?,
        spares: zone.count("Number of spares")?,
        slips: slips
            .filter_map(|slip| match slip {
                Value::Words(words) => words.parse().ok(),
                Value::List(_) | Value::Block(_) => None,
            })
            .collect(),
    })
}

/// `distance, milliseconds` a line, below a heading.
fn seek_points(text: &str) -> impl Iterator<Item = (u32, f64)> {
    text.lines().filter_map(|line| {
        let (distance, ms) = line.split_once(',')?;
        Some((distance.trim().parse().ok()?, ms.trim().parse().ok()?))
    })
}
