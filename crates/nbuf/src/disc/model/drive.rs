//! A disc drive as data: what [`super::Model`] needs to know of it.
//!
//! Everything in which drives differ is here, so that a new one is a table and no code. Overheads are
//! told apart by whether the request before was a read or a write, because drives do. The words are
//! those of `DiskSim` where it has them.

use super::geometry::Geometry;
use super::queue::Scheduler;
use super::seek::Seek;
use crate::units::Nanos;

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Drive {
    /// Bytes of a sector.
    pub sector_bytes: u32,
    /// Where the sectors are.
    pub geometry: Geometry,
    /// A turn.
    pub rotation: Nanos,
    /// How the arm moves.
    pub seek: Seek,
    /// From one head to another of the same cylinder; beside a seek it takes no time of its own.
    pub head_switch: Nanos,
    /// What a write adds to a seek or a head switch, in nanoseconds; measured drives have negative ones
    /// where their seek curve was taken with writes.
    pub write_settle_ns: i64,
    /// What is not mechanical.
    pub controller: Controller,
    /// The memory of the drive.
    pub buffer: Buffer,
    /// How the mechanism is reckoned with.
    pub way: Way,
    /// Who of those that wait is next.
    pub scheduler: Scheduler,
}

/// A time after a read, and after a write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct After {
    /// When the request before was a read, or there was none.
    pub read: Nanos,
    /// When it was a write.
    pub write: Nanos,
}

impl After {
    /// The same after both.
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
    /// Before a read that the buffer serves, in whole or from its beginning.
    pub read_hit: After,
    /// Before a read from the medium.
    pub read_miss: After,
    /// Before a write.
    pub write: After,
    /// After a read.
    pub read_end: Nanos,
    /// After a write.
    pub write_end: Nanos,
    /// Before data goes over the bus.
    pub prepare: Nanos,
    /// A sector to the host.
    pub bus_read_sector: Nanos,
    /// A sector from the host.
    pub bus_write_sector: Nanos,
    /// The shortest time in which the arm is ready for a write, wherever it is, before it settles.
    pub write_seek_min: Nanos,
    /// How it lets go of the bus while the medium works, if it does.
    pub disconnect: Option<Disconnect>,
}

/// A drive that leaves the bus to others while it seeks, and takes it again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disconnect {
    /// Letting go of it before a read.
    pub read: After,
    /// Letting go of it when a write is in the buffer.
    pub write: Nanos,
    /// Taking it again.
    pub reselect: Nanos,
    /// Taking it again after a write that has let go of it twice.
    pub reselect_other: Nanos,
    /// How much of a read is in the buffer when the bus is taken for it.
    pub read_watermark: Watermark,
    /// It keeps the bus until a read is over, even where the medium is slower.
    pub holds_reads: bool,
    /// A read of which the buffer has the beginning begins at once, however little that is.
    pub partial_at_once: bool,
    /// A write that follows one it does not continue lets go of the bus twice.
    pub extra_write: Option<ExtraWrite>,
}

/// The first of the two times that a write lets go of the bus: before its data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExtraWrite {
    /// Before it, in place of what is before other writes.
    pub command: Nanos,
    /// From the command to when the arm may move.
    pub seek: Nanos,
    /// Letting go the first time.
    pub disconnect: Nanos,
    /// From then to taking the bus again.
    pub gap: Nanos,
    /// Letting go the second time.
    pub second: Nanos,
}

/// A part of a segment, or of a request where that is shorter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Watermark {
    /// From 0 to 1.
    pub part: f64,
    /// Of the request; else of the segment.
    pub of_request: bool,
}

impl Watermark {
    /// As soon as there is a sector.
    pub const NONE: Self = Self { part: 0.0, of_request: true };

    /// Sectors of a request of so many; one at least, and no more than it has.
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
    /// How many; with none there is no memory, and what passes under the head goes to the host at once.
    pub segments: usize,
    /// How much of a run a segment keeps: its end.
    pub segment_sectors: u64,
    /// How far the drive reads on when nobody asks.
    pub ahead: Ahead,
    /// Whether it reads on after a read that the buffer has served, too.
    pub ahead_after_hit: bool,
    /// Whether a read that begins where it is reading just now joins in, or stops it.
    pub joins: bool,
    /// Whether what was written can be read from the buffer.
    pub keeps_writes: bool,
    /// Whether a segment is for more than the request that it was filled for.
    pub caches: bool,
    /// Whether a write that goes on where the one before it ended shares its segment.
    pub combines_writes: bool,
    /// Segments of writes that are reported done before they are on the medium; 0 where a write is
    /// done when it is there.
    pub behind_segments: usize,
}

impl Buffer {
    /// No memory.
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

/// How far a drive reads on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ahead {
    /// Not at all.
    None,
    /// So many sectors.
    Sectors(u64),
    /// So many, but not beyond the track.
    Track(u64),
    /// So many, but not beyond the cylinder.
    Cylinder(u64),
    /// To the end of the track; of the next one, when its run began on the track before.
    NextTrack,
}

/// How the mechanism is reckoned with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The arm and the disc are somewhere at any moment.
    Turning,
    /// Every request that the buffer does not serve costs a mean seek and a mean wait, at whose end its
    /// first sector is there, and this for each further one; reading on takes no time. It is the
    /// arithmetic of V. Jacobson, *A MAX-IV Disc Cache*, LBL-15552, 1982, and of many data sheets.
    Mean {
        /// A further sector.
        sector: Nanos,
    },
}

impl Drive {
    /// A mean wait for the first sector: half a turn.
    pub fn wait_mean(&self) -> Nanos {
        Nanos(self.rotation.0 / 2)
    }
}
