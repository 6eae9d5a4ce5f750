//! What a replay needs: made by hand, from a command line, or read from a file.

use std::path::PathBuf;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::Cpu;
use crate::cache::layer::Writes;
use crate::units::{Nanos, Size, SizeList};
use crate::workload::format::Parameters;

/// The spec of a replay. The default replays nothing: it takes `traces`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// The trace, in one or several files; `-` is standard input. Or one synthetic workload: `zipf`,
    /// `uniform`, `loop`, `scan` with options, `tools` or `shot`.
    pub traces: Vec<PathBuf>,
    /// The trace's format, instead of the detected one.
    pub format: Option<Parameters>,
    /// Records that may be unreadable.
    pub problems_max: u64,
    /// Memory to use at most; by default half of what is available.
    pub memory: Option<Size>,
    /// The cache's policy; by default `lru`, or `none` without a size.
    pub policy: Option<String>,
    /// Cache sizes, of which 0 is no cache; several draw a curve.
    #[serde(deserialize_with = "sizes_or_none")]
    pub sizes: Option<SizeList>,
    /// The cache's unit; by default a chunk of 4 KiB, and with `max-iv` a sector.
    pub unit: Option<CachingUnit>,
    /// What a write does to the cache.
    pub writes: Option<Writes>,
    /// The disc: a name, a file with a description, or `file:PATH`.
    pub disc: String,
    /// Whether to overwrite the file of `disc`.
    pub destroy: bool,
    /// Number of processes.
    pub processes: u32,
    /// Whether a process sends its next request at the reply.
    pub closed: bool,
    /// The same with this think time.
    pub think: Option<Nanos>,
    /// Processor times; by default `modern`, and with `max-iv` `modcomp-320us`.
    pub cpu: Option<Cpu>,
    /// With `max-iv`: the layout of a sector's address.
    pub address: Option<Order>,
    /// With `max-iv`: number of hash lists.
    pub lists: Option<u32>,
    /// With `max-iv`: only sectors before this position of their file are cached.
    pub positions: Option<u32>,
    /// With `tools`: number of users.
    pub users: Option<u32>,
    /// With `tools`: commands per user.
    pub commands: Option<u32>,
    /// With `tools`: parameters of the users' work.
    pub set: Vec<(String, u32)>,
    /// Whether the six figures are measured.
    pub has_figures: bool,
}

/// Reads sizes, of which the first may be 0.
fn sizes_or_none<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SizeList>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    text.map(|text| SizeList::with_none(&text)).transpose().map_err(D::Error::custom)
}

impl Default for Spec {
    fn default() -> Self {
        Self {
            traces: Vec::new(),
            format: None,
            problems_max: 1000,
            memory: None,
            policy: None,
            sizes: None,
            unit: None,
            writes: None,
            disc: "nvme-ssd".to_owned(),
            destroy: false,
            processes: 1,
            closed: false,
            think: None,
            cpu: None,
            address: None,
            lists: None,
            positions: None,
            users: None,
            commands: None,
            set: Vec::new(),
            has_figures: false,
        }
    }
}

/// The unit of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CachingUnit {
    /// A sector of the disc.
    Sector,
    /// A track of the disc.
    Track,
    /// A cylinder of the disc.
    Cylinder,
    /// A number of bytes.
    Chunk(u32),
}

impl CachingUnit {
    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sector => "sector",
            Self::Track => "track",
            Self::Cylinder => "cylinder",
            Self::Chunk(_) => "chunk",
        }
    }
}

/// The layout of a sector's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Track over sector, as in the paper.
    SectorLow,
    /// Sector over track, which spreads the hash better.
    TrackLow,
    /// The sector's number.
    Plain,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_is_read_from_a_file_and_written_again() {
        let text = r#"
            traces = ["tools"]
            policy = "max-iv"
            sizes = "0..768:128"
            unit = "sector"
            disc = "modcomp-4138"
            cpu = "modcomp-900us"
            address = "track-low"
            think = 500000000
            set = [["think_ms", 2000]]
        "#;
        let spec: Spec = toml::from_str(text).unwrap();
        assert_eq!((spec.unit, spec.address), (Some(CachingUnit::Sector), Some(Order::TrackLow)));
        assert_eq!(spec.cpu, Cpu::named("modcomp-900us"));
        let json = serde_json::to_string(&spec).unwrap();
        let again: Spec = serde_json::from_str(&json).unwrap();
        assert_eq!(serde_json::to_string(&again).unwrap(), json);
    }
}
