//! The document of a drive: `nbuf.disc.v1`, in TOML.
//!
//! Every time ends in `_ms`, every distance in `_sectors` or `_cylinders` where its word does not say it. What is
//! left out is nothing, and what is not known is an error.

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

/// What a document says it is.
pub const SCHEMA: &str = "nbuf.disc.v1";

/// More of these no drive has.
const SURFACES_MAX: u32 = 1_024;
const SECTOR_BYTES_MAX: u32 = 1 << 20;
const RPM_MAX: f64 = 1e6;

/// A drive that turns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// [`SCHEMA`].
    pub schema: String,
    /// Which drive it is.
    pub what: String,
    /// Where the figures come from.
    #[serde(default)]
    pub source: String,
    /// Bytes of a sector.
    pub sector_bytes: u32,
    /// Surfaces with data.
    pub surfaces: u32,
    /// Turns a minute.
    pub rotation_rpm: f64,
    /// From one head to another.
    #[serde(default)]
    pub head_switch_ms: f64,
    /// What a write adds to a seek; may be negative.
    #[serde(default)]
    pub write_settle_ms: f64,
    /// In which order the heads of a cylinder follow.
    #[serde(default)]
    pub heads: HeadsName,
    /// Who of those that wait is next.
    #[serde(default)]
    pub scheduler: SchedulerName,
    /// How the arm moves.
    pub seek: SeekTable,
    /// Before and after requests.
    #[serde(default)]
    pub overhead: OverheadTable,
    /// To the host.
    #[serde(default)]
    pub bus: BusTable,
    /// Whether it lets go of the bus.
    pub disconnect: Option<DisconnectTable>,
    /// Its memory.
    #[serde(default)]
    pub buffer: BufferTable,
    /// Where its spares are.
    #[serde(default)]
    pub sparing: SparingTable,
    /// Its zones, in the order of their cylinders.
    pub zone: Vec<ZoneTable>,
}

/// In which order heads follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HeadsName {
    /// From the first to the last.
    #[default]
    Upwards,
    /// Downwards in every second cylinder of a zone.
    InTurnsOfZone,
    /// Downwards in cylinders with an odd number.
    InTurns,
}

/// Who is next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SchedulerName {
    /// Who came first.
    #[default]
    Fifo,
    /// Who is nearest.
    Sstf,
    /// On in one direction.
    Elevator,
}

impl Document {
    /// Reads one.
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

    /// The text of it.
    pub fn text(&self) -> Result<String, DescriptionError> {
        toml::to_string(self).or_else(|error| wrong(error.to_string()))
    }

    /// The drive that it describes.
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
