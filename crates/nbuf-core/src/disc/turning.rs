//! The rotating discs of the table, as data.
//!
//! A comment says "assumed" if the source does not give a figure. If only the three figures of a
//! seek are known, the curve goes through them. If the skew is unknown, a track starts where the
//! previous one ends. This costs nothing with a head switch that takes no time.

use super::model::Scheduler;
use super::model::drive::{After, Ahead, Buffer, Controller, Drive, Way};
use super::model::geometry::{Geometry, Spares, Zone};
use super::model::seek::Seek;
use super::table::Shape;
use crate::units::Nanos;

/// A rotating disc.
#[derive(Debug)]
pub(super) struct Turning {
    pub cylinders: u32,
    pub surfaces: u32,
    /// The sectors of a track in the first and in the last zone; the zones between are interpolated
    /// linearly.
    pub track_sectors: (u32, u32),
    pub zones: u32,
    pub sector_bytes: u32,
    /// The bytes of an access unit: a sector, or several.
    pub block_bytes: u32,
    pub rotation: Nanos,
    /// The seek over one cylinder, the mean, and the full stroke, in milliseconds; `None` if every
    /// track has a head.
    pub seek_ms: Option<(f64, f64, f64)>,
    pub head_switch: Nanos,
    pub write_settle_ns: i64,
    pub controller: Controller,
    pub buffer: Buffer,
    /// Bytes a second while a sector passes, without the gaps between sectors.
    pub bytes_per_second: u64,
    pub scheduler: Scheduler,
}

const BARE: Controller = Controller {
    read_hit: After::any(Nanos::ZERO),
    read_miss: After::any(Nanos::ZERO),
    write: After::any(Nanos::ZERO),
    read_end: Nanos::ZERO,
    write_end: Nanos::ZERO,
    prepare: Nanos::ZERO,
    bus_read_sector: Nanos::ZERO,
    bus_write_sector: Nanos::ZERO,
    write_seek_min: Nanos::ZERO,
    disconnect: None,
};

/// V. Jacobson, *A MAX-IV Disc Cache*, LBL-15552, 1982, section 1: 80 MB, 28 ms mean and 56 ms
/// maximum seek, 8 ms mean wait, 800 kB/s. A buffer holds the rest of a track, and each of its
/// sectors takes about 100 us. Short seeks take 10 to 15 ms, and a track has 42 sectors of 128
/// words. Ten surfaces are assumed, the number of cylinders follows.
pub(super) const MODCOMP_4138: Turning = Turning {
    cylinders: 744,
    surfaces: 10,
    track_sectors: (42, 42),
    zones: 1,
    sector_bytes: 256,
    block_bytes: 256,
    rotation: Nanos::from_micros(16_000),
    seek_ms: Some((10.0, 28.0, 56.0)),
    head_switch: Nanos::ZERO,
    write_settle_ns: 0,
    controller: Controller {
        bus_read_sector: Nanos::from_micros(100),
        bus_write_sector: Nanos::from_micros(100),
        ..BARE
    },
    buffer: Buffer {
        segments: 1,
        segment_sectors: 42,
        ahead: Ahead::Track(42),
        joins: true,
        ..Buffer::NONE
    },
    bytes_per_second: 800_000,
    scheduler: Scheduler::Fifo,
};

/// The same paper: 40 MB, 32 and 58 ms, 16 ms mean wait, 300 kB/s, no buffer. It does not describe
/// the tracks: 36 sectors are the data of 32 ms, less a gap. Ten surfaces and a shortest seek of 12
/// ms are assumed.
pub(super) const MODCOMP_4134: Turning = Turning {
    cylinders: 434,
    track_sectors: (36, 36),
    rotation: Nanos::from_micros(32_000),
    seek_ms: Some((12.0, 32.0, 58.0)),
    controller: BARE,
    buffer: Buffer::NONE,
    bytes_per_second: 300_000,
    ..MODCOMP_4138
};

/// IBM 2314: 200 cylinders of 20 tracks of 7,294 bytes, 312 kB/s, 2,400 turns a minute; seeks of
/// 25 ms, 60 ms in the mean, 130 ms at most (IBM 2314 Direct Access Storage Facility, A26-3599).
/// Its records have any length; here they have 256 bytes, 28 on a track.
pub(super) const IBM_2314: Turning = Turning {
    cylinders: 200,
    surfaces: 20,
    track_sectors: (28, 28),
    rotation: Nanos::from_micros(25_000),
    seek_ms: Some((25.0, 60.0, 130.0)),
    bytes_per_second: 312_000,
    ..MODCOMP_4134
};

/// DEC RS11 on an RF11: a head for each of 128 tracks of 2,048 words, 1,800 turns a minute at 60
/// Hz, 16.9 ms mean access (Computer History Wiki, *RS11 disc drive*, from DEC's figures). A
/// sector is a word: transfers begin anywhere.
pub(super) const RS11: Turning = Turning {
    cylinders: 1,
    surfaces: 128,
    track_sectors: (2_048, 2_048),
    sector_bytes: 2,
    block_bytes: 512,
    rotation: Nanos(33_333_333),
    seek_ms: None,
    bytes_per_second: 2 * 2_048 * 30,
    ..MODCOMP_4134
};

/// DEC RK05 on an RK11: 203 cylinders of 2 tracks of 12 sectors of 256 words, 1,500 turns a
/// minute, 11.1 us a word; 10 ms to the next cylinder, 50 ms in the mean, 85 ms at most (Computer
/// History Wiki, *RK05 disc drive*).
pub(super) const RK05: Turning = Turning {
    cylinders: 203,
    surfaces: 2,
    track_sectors: (12, 12),
    sector_bytes: 512,
    block_bytes: 512,
    rotation: Nanos::from_micros(40_000),
    seek_ms: Some((10.0, 50.0, 85.0)),
    bytes_per_second: 180_180,
    ..MODCOMP_4134
};

/// DEC RK03 on an RK11-C: as the RK05, but 90 ms mean access, including 20 ms for half a turn (DEC,
/// *Disc Cartridge System RK11-C/RK02, RK03*). One cylinder in 15 ms and all in 135 ms are the
/// figures of the Diablo 31, the same drive.
pub(super) const RK03: Turning = Turning { seek_ms: Some((15.0, 70.0, 135.0)), ..RK05 };

/// Hitachi Deskstar 7K500 of 2005: 76.3 to 36.5 MB/s from the outermost to the innermost zone, 64.8
/// MB/s over the tracks of a cylinder (OEM specification, table 10). From these follow switches of
/// 1.48 ms and 1,242 to 594 sectors a track. Mean seek 8.5 ms, 16 MB of buffer (The Tech Report,
/// August 2005). Assumed: sixteen zones; sixteen segments, half of them for writes; 0.1 ms
/// overhead. The full stroke of 15 ms and 1 ms more for a write are those of its successor
/// 7K1000.C.
pub(super) const SATA_HDD: Turning = Turning {
    cylinders: 106_400,
    surfaces: 10,
    track_sectors: (1_242, 594),
    zones: 16,
    sector_bytes: 512,
    block_bytes: 512,
    rotation: Nanos(8_333_333),
    seek_ms: Some((1.48, 8.5, 15.0)),
    head_switch: Nanos::from_micros(1_480),
    write_settle_ns: 1_000_000,
    controller: Controller {
        read_hit: After::any(Nanos::from_micros(100)),
        read_miss: After::any(Nanos::from_micros(100)),
        write: After::any(Nanos::from_micros(100)),
        bus_read_sector: Nanos(1_707),
        bus_write_sector: Nanos(1_707),
        ..BARE
    },
    buffer: Buffer {
        segments: 16,
        segment_sectors: 2_048,
        ahead: Ahead::Sectors(1_024),
        ahead_after_hit: true,
        joins: true,
        keeps_writes: true,
        behind_segments: 8,
        ..Buffer::NONE
    },
    bytes_per_second: 76_300_000,
    scheduler: Scheduler::Elevator,
};

impl Turning {
    /// The sectors of a track in a zone.
    const fn zone_sectors(&self, zone: u32) -> u32 {
        let (first, last) = self.track_sectors;
        if self.zones < 2 {
            return first;
        }
        first - (first - last) * zone / (self.zones - 1)
    }

    pub(super) const fn size_bytes(&self) -> u64 {
        let (mut tracks_sectors, mut zone) = (0, 0);
        while zone < self.zones {
            tracks_sectors += self.zone_sectors(zone) as u64;
            zone += 1;
        }
        let tracks = (self.cylinders / self.zones * self.surfaces) as u64;
        tracks_sectors * tracks * self.sector_bytes as u64
    }

    pub(super) const fn shape(&self) -> Shape {
        let track_bytes = self.track_sectors.0 as u64 * self.sector_bytes as u64;
        Shape {
            sector_bytes: self.block_bytes,
            track_bytes,
            cylinder_bytes: track_bytes * self.surfaces as u64,
        }
    }

    pub(super) fn drive(&self, mean: bool, scheduler: Option<Scheduler>) -> Drive {
        let zone_cylinders = self.cylinders / self.zones;
        let zones = (0..self.zones).map(|zone| {
            let sectors_per_track = self.zone_sectors(zone);
            // The rotation of the disc during a head switch, up to the next sector.
            let part = self.head_switch.0 as f64 / self.rotation.0 as f64;
            let skew = (part * f64::from(sectors_per_track)).ceil();
            Zone {
                first_cylinder: zone * zone_cylinders,
                last_cylinder: (zone + 1) * zone_cylinders - 1,
                sectors_per_track,
                first_offset: 0.0,
                gap_sectors: 0,
                track_skew: skew,
                cylinder_skew: skew,
                spares: 0,
                slips: Vec::new(),
                remaps: Vec::new(),
            }
        });
        let sector_seconds = f64::from(self.sector_bytes) / self.bytes_per_second as f64;
        let sector = Nanos::from_seconds(sector_seconds);
        let seek =
            self.seek_ms.map(|(one, mean, full)| Seek::curve(one, mean, full, self.cylinders));
        Drive {
            sector_bytes: self.sector_bytes,
            geometry: Geometry::new(self.surfaces, Spares::Zone, zones),
            rotation: self.rotation,
            seek: seek.unwrap_or_else(Seek::none),
            head_switch: self.head_switch,
            write_settle_ns: self.write_settle_ns,
            controller: self.controller,
            buffer: self.buffer,
            way: if mean { Way::Mean { sector } } else { Way::Turning },
            scheduler: scheduler.unwrap_or(self.scheduler),
        }
    }
}
