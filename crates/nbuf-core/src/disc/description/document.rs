//! The document of a drive: `nbuf.disc.v1`, in TOML.
//!
//! Names end in their unit: `_ms` for times, `_sectors` or `_cylinders` for distances unless the
//! name already contains it. A missing value is zero, and an unknown one is an error.

use serde::{Deserialize, Serialize};

use super::buffer::BufferTable;
use super::seek::SeekTable;
use super::times::{BusTable, DisconnectTable, OverheadTable, controller, time};
use super::zone::{SparingTable, ZoneTable};
use super::{DescriptionError, wrong};
use crate::disc::model::Scheduler;
use crate::disc::model::drive::{Drive, Way};
use crate::disc::model::geometry::{Geometry, Heads};
use crate::units::Nanos;

/// The schema that every document names.
pub(crate) const SCHEMA: &str = "nbuf.disc.v1";

/// No drive has more surfaces.
const SURFACES_MAX: u32 = 1_024;
const SECTOR_BYTES_MAX: u32 = 1 << 20;
const RPM_MAX: f64 = 1e6;

/// A rotating drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// The name of the drive.
    pub what: String,
    /// The source of the figures.
    #[serde(default)]
    pub source: String,
    /// The bytes of a sector.
    pub sector_bytes: u32,
    /// The number of surfaces with data.
    pub surfaces: u32,
    /// The number of turns a minute.
    pub rotation_rpm: f64,
    /// The time from one head to another.
    #[serde(default)]
    pub head_switch_ms: f64,
    /// The time that a write adds to a seek; may be negative.
    #[serde(default)]
    pub write_settle_ms: f64,
    /// The order of the heads of a cylinder.
    #[serde(default)]
    pub heads: HeadsName,
    /// The rule for the next of several waiting requests.
    #[serde(default)]
    pub scheduler: SchedulerName,
    /// The time of a seek, by distance.
    pub seek: SeekTable,
    /// The overheads before and after requests.
    #[serde(default)]
    pub overhead: OverheadTable,
    /// The bus to the host.
    #[serde(default)]
    pub bus: BusTable,
    /// The times of releasing the bus, for a drive that does.
    pub disconnect: Option<DisconnectTable>,
    /// The drive's memory.
    #[serde(default)]
    pub buffer: BufferTable,
    /// The place of the spares.
    #[serde(default)]
    pub sparing: SparingTable,
    /// The zones, in the order of their cylinders.
    pub zone: Vec<ZoneTable>,
}

/// The order of the heads of a cylinder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeadsName {
    /// From the first head to the last.
    #[default]
    Upwards,
    /// Downwards in every second cylinder of a zone.
    InTurnsOfZone,
    /// Downwards in cylinders with an odd number.
    InTurns,
}

/// The rule for the next request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SchedulerName {
    /// The earliest request.
    #[default]
    Fifo,
    /// The nearest request.
    Sstf,
    /// The next request in the current direction.
    Elevator,
}

impl Document {
    /// Parses and checks a document.
    pub fn parse(text: &str) -> Result<Self, DescriptionError> {
        let document: Self = toml::from_str(text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start));
            let line = before.map_or(0, |before| before.matches('\n').count() + 1);
            let what = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
            DescriptionError::at("", line, what)
        })?;
        if document.schema != SCHEMA {
            return wrong(format!("`schema` is \"{}\": write \"{SCHEMA}\"", document.schema));
        }
        Ok(document)
    }

    /// Writes the document as TOML.
    pub fn text(&self) -> Result<String, DescriptionError> {
        toml::to_string(self).or_else(|error| wrong(error.to_string()))
    }

    /// Makes the drive that the document describes.
    pub fn drive(&self) -> Result<Drive, DescriptionError> {
        let rpm = self.rotation_rpm;
        if !(1.0..=RPM_MAX).contains(&rpm) {
            return wrong(format!("`rotation_rpm` is {rpm}: write turns a minute"));
        }
        if !(1..=SECTOR_BYTES_MAX).contains(&self.sector_bytes) {
            return wrong(format!("`sector_bytes` is {}", self.sector_bytes));
        }
        let settle = self.write_settle_ms;
        let settle_size = time("write_settle_ms", settle.abs())?.0.cast_signed();
        Ok(Drive {
            sector_bytes: self.sector_bytes,
            geometry: self.geometry()?,
            rotation: Nanos::from_seconds(60.0 / rpm),
            seek: self.seek.seek(self.cylinders())?,
            head_switch: time("head_switch_ms", self.head_switch_ms)?,
            write_settle_ns: if settle < 0.0 { -settle_size } else { settle_size },
            controller: controller(&self.overhead, &self.bus, self.disconnect.as_ref())?,
            buffer: self.buffer.buffer()?,
            way: Way::Turning,
            scheduler: match self.scheduler {
                SchedulerName::Fifo => Scheduler::Fifo,
                SchedulerName::Sstf => Scheduler::Sstf,
                SchedulerName::Elevator => Scheduler::Elevator,
            },
        })
    }

    fn cylinders(&self) -> u32 {
        self.zone.iter().map(|zone| zone.last_cylinder.saturating_add(1)).max().unwrap_or(0)
    }

    fn geometry(&self) -> Result<Geometry, DescriptionError> {
        if !(1..=SURFACES_MAX).contains(&self.surfaces) {
            return wrong(format!("`surfaces` is {}: write 1 to {SURFACES_MAX}", self.surfaces));
        }
        let mut next = 0;
        for (at, zone) in self.zone.iter().enumerate() {
            zone.check(at, next)?;
            next = zone.last_cylinder + 1;
        }
        let zones = self.zone.iter().map(ZoneTable::zone);
        let geometry = Geometry::new(self.surfaces, self.sparing.spares()?, zones);
        if geometry.sectors() == 0 {
            return wrong(
                "no zone has sectors that hold data: give one more sectors, or fewer spares",
            );
        }
        Ok(geometry.with_heads(match self.heads {
            HeadsName::Upwards => Heads::Upwards,
            HeadsName::InTurnsOfZone => Heads::InTurnsOfZone,
            HeadsName::InTurns => Heads::InTurns,
        }))
    }
}
