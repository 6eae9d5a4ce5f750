//! A disc drive as data, the input of [`super::Model`].
//!
//! All differences between drives are here, so that a new drive is a table and no code. Overheads
//! depend on whether the previous request was a read or a write, as in real drives. The words are
//! those of `DiskSim` if it has them.

use super::geometry::Geometry;
use super::queue::Scheduler;
use super::seek::Seek;
use crate::units::Nanos;

/// The mechanism, the controller and the buffer of a drive.
#[derive(Clone, Debug, PartialEq)]
pub struct Drive {
    /// The bytes of a sector.
    pub sector_bytes: u32,
    /// The places of the sectors.
    pub geometry: Geometry,
    /// The time of one turn.
    pub rotation: Nanos,
    /// The time to move the arm, by distance.
    pub seek: Seek,
    /// The time from one head to another of the same cylinder; it overlaps with a seek.
    pub head_switch: Nanos,
    /// The nanoseconds that a write adds to a seek or a head switch. It is negative for measured
    /// drives whose seek curve was taken with writes.
    pub write_settle_ns: i64,
    /// The overheads outside the mechanism.
    pub controller: Controller,
    /// The memory of the drive.
    pub buffer: Buffer,
    /// The model for the mechanism.
    pub way: Way,
    /// The rule for the next of several waiting requests.
    pub scheduler: Scheduler,
}

/// A time that depends on the kind of the previous request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct After {
    /// The time after a read, or with no previous request.
    pub read: Nanos,
    /// The time after a write.
    pub write: Nanos,
}

impl After {
    /// The same time after both.
    pub const fn any(time: Nanos) -> Self {
        Self { read: time, write: time }
    }

    pub(super) fn of(self, after_write: bool) -> Nanos {
        if after_write { self.write } else { self.read }
    }
}

/// The processor of a drive, and the bus to the host.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Controller {
    /// The overhead before a read that starts in the buffer.
    pub read_hit: After,
    /// The overhead before a read from the medium.
    pub read_miss: After,
    /// The overhead before a write.
    pub write: After,
    /// The overhead after a read.
    pub read_end: Nanos,
    /// The overhead after a write.
    pub write_end: Nanos,
    /// The overhead before a data transfer on the bus.
    pub prepare: Nanos,
    /// The time to send a sector to the host.
    pub bus_read_sector: Nanos,
    /// The time to receive a sector from the host.
    pub bus_write_sector: Nanos,
    /// The least time in which the arm is ready for a write, at any place, before it settles.
    pub write_seek_min: Nanos,
    /// The times of releasing the bus while the medium works; `None` if the drive keeps it.
    pub disconnect: Option<Disconnect>,
}

/// A drive that releases the bus while it seeks, and takes it again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disconnect {
    /// The time to release the bus before a read.
    pub read: After,
    /// The time to release the bus once a write is in the buffer.
    pub write: Nanos,
    /// The time to take the bus again.
    pub reselect: Nanos,
    /// The time to take the bus again after a write that has released it twice.
    pub reselect_other: Nanos,
    /// The part of a read that must be in the buffer before the drive takes the bus.
    pub read_watermark: Watermark,
    /// Whether the drive keeps the bus until a read ends, even if the medium is slower.
    pub holds_reads: bool,
    /// Whether a read whose start is in the buffer begins at once, whatever its watermark.
    pub partial_at_once: bool,
    /// A write that does not continue the previous write releases the bus twice, with these times.
    pub extra_write: Option<ExtraWrite>,
}

/// The times of the first release of the bus, before the data of a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExtraWrite {
    /// The time before that release; it replaces the overhead of other writes.
    pub command: Nanos,
    /// The time from the command until the arm may move.
    pub seek: Nanos,
    /// The time of the first release.
    pub disconnect: Nanos,
    /// The time between the first release and taking the bus again.
    pub gap: Nanos,
    /// The time of the second release.
    pub second: Nanos,
}

/// A share of a segment, or of a request if that is shorter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Watermark {
    /// The share, from 0 to 1.
    pub part: f64,
    /// Whether it is a share of the request instead of the segment.
    pub of_request: bool,
}

impl Watermark {
    /// No watermark: the first sector is enough.
    pub const NONE: Self = Self { part: 0.0, of_request: true };

    /// The sectors of a request of this length, at least one and at most all.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a part of a request is no longer than it, and a conversion saturates"
    )]
    pub(super) fn sectors(self, segment: u64, count: u64) -> u64 {
        let sectors = if self.of_request {
            (segment.min(count) as f64 * self.part) as u64
        } else {
            (segment as f64 * self.part).ceil() as u64
        };
        sectors.clamp(1, count.max(1))
    }
}

/// The memory of a drive: segments, each with a run of sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "one for each habit of a drive")]
pub struct Buffer {
    /// The number of segments. Without any, sectors go to the host as they pass the head.
    pub segments: usize,
    /// The number of sectors that a segment keeps, from the end of its run.
    pub segment_sectors: u64,
    /// The extent of the drive's prefetch while no request comes.
    pub ahead: Ahead,
    /// Whether it also prefetches after a read served from the buffer.
    pub ahead_after_hit: bool,
    /// Whether a read at the current place of the prefetch joins it instead of stopping it.
    pub joins: bool,
    /// Whether written data can be read from the buffer.
    pub keeps_writes: bool,
    /// Whether a segment also serves requests other than the one that filled it.
    pub caches: bool,
    /// Whether a write that continues the previous one shares its segment.
    pub combines_writes: bool,
    /// The number of segments for writes that are reported done early; 0 if a write completes on
    /// the medium.
    pub behind_segments: usize,
}

impl Buffer {
    /// A drive without memory.
    pub const NONE: Self = Self {
        segments: 0,
        segment_sectors: 0,
        ahead: Ahead::None,
        ahead_after_hit: false,
        joins: false,
        keeps_writes: false,
        caches: true,
        combines_writes: true,
        behind_segments: 0,
    };
}

/// The extent of a prefetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ahead {
    /// No prefetch.
    None,
    /// This number of sectors.
    Sectors(u64),
    /// This number of sectors, but not beyond the track.
    Track(u64),
    /// This number of sectors, but not beyond the cylinder.
    Cylinder(u64),
    /// To the end of the track, or of the next one if its run started on the previous track.
    NextTrack,
}

/// The model for the mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Tracks the position of the arm and the angle of the disc.
    Turning,
    /// Charges means, as V. Jacobson does in *A MAX-IV Disc Cache*, LBL-15552, 1982, and many data
    /// sheets. Every request that the buffer does not serve costs a mean seek and a mean wait,
    /// which include its first sector. Each further sector costs its time. Prefetch takes no time.
    Mean {
        /// The time of a further sector.
        sector: Nanos,
    },
}

impl Drive {
    /// The mean wait for the first sector: half a turn.
    pub fn wait_mean(&self) -> Nanos {
        Nanos(self.rotation.0 / 2)
    }
}
