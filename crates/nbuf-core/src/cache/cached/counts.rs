//! What a running cache counts.

use super::ids::Absence;

/// Counts since the cache was made. Pages are counted where a request covers several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Reads.
    pub reads: u64,
    /// Reads that the disc was not asked for.
    pub read_hits: u64,
    /// Bytes that were read.
    pub read_bytes: u64,
    /// Pages that were looked up for reads.
    pub lookups: u64,
    /// Pages of these that were there.
    pub hits: u64,
    /// Misses of pages that were never there, or so long ago that they were forgotten.
    pub misses_new: u64,
    /// Misses of pages that the policy had evicted.
    pub misses_evicted: u64,
    /// Misses of bytes that a write, a discard or a failure had made invalid.
    pub misses_invalidated: u64,
    /// Misses of pages that had been refused, and of reads that went past the cache.
    pub misses_bypassed: u64,
    /// Misses of pages that had been written around the cache.
    pub misses_written: u64,
    /// Misses that joined a read under way.
    pub joined: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes that were written.
    pub write_bytes: u64,
    /// Writes that were complete when the cache had them.
    pub writes_absorbed: u64,
    /// Flushes.
    pub flushes: u64,
    /// Flushes of the disc: concurrent ones share one.
    pub disc_flushes: u64,
    /// Reads of the disc.
    pub disc_reads: u64,
    /// Bytes that these brought.
    pub disc_read_bytes: u64,
    /// Writes of the disc, direct and back.
    pub disc_writes: u64,
    /// Bytes of these.
    pub disc_write_bytes: u64,
    /// Pages that were evicted.
    pub evictions: u64,
    /// Requests that the disc refused.
    pub disc_errors: u64,
    /// Writes that waited because too many pages were dirty.
    pub throttled: u64,
    /// Reads that went past the cache while it was aside.
    pub past_reads: u64,
    /// Bytes of these.
    pub past_read_bytes: u64,
    /// Reads of the disc that no client had asked for. They are in `disc_reads` too.
    pub aheads: u64,
    /// Pages of these. Each becomes used or useless at some time.
    pub ahead_pages: u64,
    /// Pages of these that a read wanted, also before they were there.
    pub ahead_used: u64,
    /// Pages of these that left, or did not come, before a read wanted them.
    pub ahead_useless: u64,
}

impl Counts {
    /// All misses.
    pub fn misses(&self) -> u64 {
        self.lookups - self.hits
    }

    /// Pages that were read ahead, of which it is not known yet whether a read wants them.
    pub fn ahead_waiting(&self) -> u64 {
        self.ahead_pages - self.ahead_used - self.ahead_useless
    }

    pub(super) fn miss(&mut self, absence: Absence) {
        *match absence {
            Absence::New => &mut self.misses_new,
            Absence::Evicted => &mut self.misses_evicted,
            Absence::Invalidated => &mut self.misses_invalidated,
            Absence::Bypassed => &mut self.misses_bypassed,
            Absence::Written => &mut self.misses_written,
        } += 1;
    }
}
