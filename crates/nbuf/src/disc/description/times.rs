//! The times of a description that are not mechanical: overheads, the bus, letting go of it.

use serde::{Deserialize, Serialize};

use super::DescriptionError;
use crate::disc::model::drive::{After, Controller, Disconnect, ExtraWrite, Watermark};
use crate::units::Nanos;

/// No time of a drive is longer: a minute.
const MS_MAX: f64 = 60_000.0;

/// Before and after requests, in milliseconds; of two times, the first is after a read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
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

/// A drive that lets go of the bus while it seeks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DisconnectTable {
    /// Letting go before a read, after a read and after a write.
    pub read_ms: (f64, f64),
    /// Letting go when a write is in the buffer.
    pub write_ms: f64,
    /// Taking the bus again.
    pub reselect_ms: f64,
    /// Taking it again after a write that has let go twice.
    pub reselect_other_ms: f64,
    /// Which part of a read is in the buffer when the bus is taken.
    pub read_watermark: f64,
    /// Of what it is a part.
    pub watermark_of: WatermarkOf,
    /// The bus is kept until a read is over.
    pub holds_reads: bool,
    /// The beginning of a read that is in the buffer goes at once.
    pub partial_at_once: bool,
    /// A write that follows one it does not continue lets go twice.
    pub extra_write: Option<ExtraWriteTable>,
}

/// Of what a watermark is a part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WatermarkOf {
    /// The request.
    #[default]
    Request,
    /// The segment.
    Segment,
}

/// The first of two times that a write lets go.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ExtraWriteTable {
    /// Before it.
    pub command_ms: f64,
    /// From the command to when the arm may move.
    pub seek_ms: f64,
    /// Letting go the first time.
    pub disconnect_ms: f64,
    /// From then to taking the bus again.
    pub gap_ms: f64,
    /// Letting go the second time.
    pub second_ms: f64,
}

/// A time of a drive.
pub(super) fn time(name: &str, ms: f64) -> Result<Nanos, DescriptionError> {
    if (0.0..=MS_MAX).contains(&ms) {
        return Ok(Nanos::from_millis(ms));
    }
    Err(DescriptionError::whole(format!("`{name}` is {ms}: write a time from 0 to {MS_MAX} ms")))
}

fn after(name: &str, (read, write): (f64, f64)) -> Result<After, DescriptionError> {
    Ok(After { read: time(name, read)?, write: time(name, write)? })
}

/// The controller of three tables.
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
