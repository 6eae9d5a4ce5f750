//! The times of a description that are not mechanical: overheads, the bus, and its release.

use serde::{Deserialize, Serialize};

use super::DescriptionError;
use crate::disc::model::drive::{After, Controller, Disconnect, ExtraWrite, Watermark};
use crate::units::Nanos;

/// No time of a drive is longer than a minute.
const MS_MAX: f64 = 60_000.0;

/// The overheads before and after requests, in milliseconds; the first of two times is after a
/// read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_field_names, reason = "units end the name")]
pub struct OverheadTable {
    /// Before a read that the buffer serves.
    pub read_hit_ms: (f64, f64),
    /// Before a read from the medium.
    pub read_miss_ms: (f64, f64),
    /// Before a write.
    pub write_ms: (f64, f64),
    /// After a read.
    pub read_end_ms: f64,
    /// After a write.
    pub write_end_ms: f64,
    /// Before data goes over the bus.
    pub prepare_ms: f64,
    /// The shortest time in which the arm is ready for a write.
    pub write_seek_min_ms: f64,
}

/// The bus to the host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BusTable {
    /// A sector to the host.
    pub read_sector_ms: f64,
    /// A sector from the host.
    pub write_sector_ms: f64,
}

/// A drive that releases the bus while it seeks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DisconnectTable {
    /// The time to release the bus before a read, after a read and after a write.
    pub read_ms: (f64, f64),
    /// The time to release the bus once a write is in the buffer.
    pub write_ms: f64,
    /// The time to take the bus again.
    pub reselect_ms: f64,
    /// The time to take the bus again after a write that has released it twice.
    pub reselect_other_ms: f64,
    /// The part of a read that must be in the buffer before the drive takes the bus.
    pub read_watermark: f64,
    /// The whole to which the watermark refers.
    pub watermark_of: WatermarkOf,
    /// Whether the drive keeps the bus until a read ends.
    pub holds_reads: bool,
    /// Whether a read whose start is in the buffer begins at once.
    pub partial_at_once: bool,
    /// A write that does not continue the previous one releases the bus twice, with these times.
    pub extra_write: Option<ExtraWriteTable>,
}

/// The whole to which a watermark refers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WatermarkOf {
    /// The request.
    #[default]
    Request,
    /// The segment.
    Segment,
}

/// The times of the first of two releases in a write.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_field_names, reason = "units end the name")]
pub struct ExtraWriteTable {
    /// The time before that release.
    pub command_ms: f64,
    /// The time from the command until the arm may move.
    pub seek_ms: f64,
    /// The time of the first release.
    pub disconnect_ms: f64,
    /// The time between the first release and taking the bus again.
    pub gap_ms: f64,
    /// The time of the second release.
    pub second_ms: f64,
}

/// Checks and converts a time.
pub(super) fn time(name: &str, ms: f64) -> Result<Nanos, DescriptionError> {
    if (0.0..=MS_MAX).contains(&ms) {
        return Ok(Nanos::from_millis(ms));
    }
    Err(DescriptionError::whole(format!("`{name}` is {ms}: write a time from 0 to {MS_MAX} ms")))
}

fn after(name: &str, (read, write): (f64, f64)) -> Result<After, DescriptionError> {
    Ok(After { read: time(name, read)?, write: time(name, write)? })
}

/// Combines three tables into a controller.
pub(super) fn controller(
    overhead: &OverheadTable,
    bus: &BusTable,
    disconnect: Option<&DisconnectTable>,
) -> Result<Controller, DescriptionError> {
    Ok(Controller {
        read_hit: after("read_hit_ms", overhead.read_hit_ms)?,
        read_miss: after("read_miss_ms", overhead.read_miss_ms)?,
        write: after("write_ms", overhead.write_ms)?,
        read_end: time("read_end_ms", overhead.read_end_ms)?,
        write_end: time("write_end_ms", overhead.write_end_ms)?,
        prepare: time("prepare_ms", overhead.prepare_ms)?,
        bus_read_sector: time("read_sector_ms", bus.read_sector_ms)?,
        bus_write_sector: time("write_sector_ms", bus.write_sector_ms)?,
        write_seek_min: time("write_seek_min_ms", overhead.write_seek_min_ms)?,
        disconnect: disconnect.map(DisconnectTable::disconnect).transpose()?,
    })
}

impl DisconnectTable {
    fn disconnect(&self) -> Result<Disconnect, DescriptionError> {
        let part = self.read_watermark;
        if !(0.0..=1.0).contains(&part) {
            let what = format!("`read_watermark` is {part}: write a part from 0 to 1");
            return Err(DescriptionError::whole(what));
        }
        Ok(Disconnect {
            read: after("read_ms", self.read_ms)?,
            write: time("write_ms", self.write_ms)?,
            reselect: time("reselect_ms", self.reselect_ms)?,
            reselect_other: time("reselect_other_ms", self.reselect_other_ms)?,
            read_watermark: Watermark {
                part,
                of_request: self.watermark_of == WatermarkOf::Request,
            },
            holds_reads: self.holds_reads,
            partial_at_once: self.partial_at_once,
            extra_write: self.extra_write.as_ref().map(ExtraWriteTable::extra).transpose()?,
        })
    }
}

impl ExtraWriteTable {
    fn extra(&self) -> Result<ExtraWrite, DescriptionError> {
        Ok(ExtraWrite {
            command: time("command_ms", self.command_ms)?,
            seek: time("seek_ms", self.seek_ms)?,
            disconnect: time("disconnect_ms", self.disconnect_ms)?,
            gap: time("gap_ms", self.gap_ms)?,
            second: time("second_ms", self.second_ms)?,
        })
    }
}
