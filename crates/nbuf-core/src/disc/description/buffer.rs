//! The memory of a drive in a description.

use serde::{Deserialize, Serialize};

use super::DescriptionError;
use crate::disc::model::drive::{Ahead, Buffer};

/// No drive has more segments, or longer ones.
const SEGMENTS_MAX: usize = 4_096;
const SECTORS_MAX: u64 = 1 << 24;

/// The table `[buffer]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "one for each word of the document")]
pub struct BufferTable {
    /// The number of segments for reads; 0 for no memory.
    pub segments: usize,
    /// The sectors that a segment keeps.
    pub segment_sectors: u64,
    /// The number of writes reported done before they are on the medium.
    pub behind_segments: usize,
    /// The end of a prefetch.
    pub ahead: AheadName,
    /// The most sectors of a prefetch, with `sectors`, `track` and `cylinder`.
    pub ahead_sectors: u64,
    /// Whether the drive also prefetches after a read served from the buffer.
    pub ahead_after_hit: bool,
    /// Whether a read at the current place of the prefetch joins it.
    pub joins: bool,
    /// Whether written data can be read from it.
    pub keeps_writes: bool,
    /// Whether it is more than a stage between bus and medium.
    pub caches: bool,
    /// Whether consecutive writes share a segment.
    pub combines_writes: bool,
}

/// The end of a prefetch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AheadName {
    /// There is no prefetch.
    #[default]
    None,
    /// After `ahead_sectors` sectors.
    Sectors,
    /// At the end of the track.
    Track,
    /// At the end of the cylinder.
    Cylinder,
    /// At the end of the track, or of the next one if the run started on the previous track.
    NextTrack,
}

impl Default for BufferTable {
    fn default() -> Self {
        Self {
            segments: 0,
            segment_sectors: 0,
            behind_segments: 0,
            ahead: AheadName::None,
            ahead_sectors: 0,
            ahead_after_hit: false,
            joins: false,
            keeps_writes: false,
            caches: true,
            combines_writes: true,
        }
    }
}

impl BufferTable {
    pub(super) fn buffer(&self) -> Result<Buffer, DescriptionError> {
        let (sectors, ahead) = (self.segment_sectors, self.ahead_sectors);
        if self.segments.max(self.behind_segments) > SEGMENTS_MAX {
            let what = format!("a buffer has {SEGMENTS_MAX} segments at most");
            return Err(DescriptionError::whole(what));
        }
        if sectors.max(ahead) > SECTORS_MAX {
            let what = format!("a segment has {SECTORS_MAX} sectors at most");
            return Err(DescriptionError::whole(what));
        }
        if self.segments > 0 && sectors == 0 {
            let what = "the buffer has segments of no sectors: give it `segment_sectors`";
            return Err(DescriptionError::whole(what));
        }
        Ok(Buffer {
            segments: self.segments,
            segment_sectors: sectors,
            ahead: match self.ahead {
                AheadName::None => Ahead::None,
                AheadName::Sectors => Ahead::Sectors(ahead),
                AheadName::Track => Ahead::Track(ahead),
                AheadName::Cylinder => Ahead::Cylinder(ahead),
                AheadName::NextTrack => Ahead::NextTrack,
            },
            ahead_after_hit: self.ahead_after_hit,
            joins: self.joins,
            keeps_writes: self.keeps_writes,
            caches: self.caches,
            combines_writes: self.combines_writes,
            behind_segments: self.behind_segments,
        })
    }
}
