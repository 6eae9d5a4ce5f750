//! What a workload asked to read and to write, and what that put into the cache.

use serde::{Deserialize, Serialize};

use crate::trace::{CacheEvent, Facts, Record, Trace};
use crate::units::{Bytes, PAGE_BYTES};

/// Reads and writes of the recorded run, apart; repetitions included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Traffic {
    /// Pages that calls asked to read.
    pub read_pages: u64,
    /// Pages that calls wrote to. One that is filled by several writes in sequence counts once.
    pub written_pages: u64,
    /// Pages touched through mappings, to read or to write, as far as that was seen.
    pub mapped_pages: u64,
    /// Pages put into the cache.
    pub filled_pages: u64,
    /// Those of them that writes put there: they need not be read from the disc.
    pub filled_by_writes_pages: u64,
    /// Read from block devices.
    pub read_bytes: Bytes,
    /// Pages made dirty, counted again each time, and writes past the cache. Block devices must
    /// write them, now or later, unless the file is truncated or removed first.
    pub written_bytes: Bytes,
}

impl Traffic {
    /// The traffic of a trace.
    pub(in crate::experiment) fn of(trace: &Trace) -> Self {
        let Facts { read_bytes, written_bytes, .. } = trace.facts;
        let mut traffic = Self { read_bytes, written_bytes, ..Self::default() };
        // What the kernel did carries the number of the request that it was done for.
        // Requests are numbered from 0: there are no more of them than records.
        let mut writes = vec![false; trace.records.len()];
        for record in trace.records.iter().filter(|record| record.op == CacheEvent::Write) {
            if let Some(written) = writes.get_mut(record.request as usize) {
                *written = true;
            }
        }
        let mut ends = vec![0; trace.files.len()];
        for record in &trace.records {
            let pages = pages(&record);
            match record.op {
                CacheEvent::Read | CacheEvent::Splice => traffic.read_pages += pages,
                CacheEvent::Write => {
                    traffic.written_pages += pages - begun_before(&record, &mut ends);
                }
                CacheEvent::Fault | CacheEvent::Map | CacheEvent::Touch => {
                    traffic.mapped_pages += pages;
                }
                CacheEvent::Fill | CacheEvent::Readahead => {
                    traffic.filled_pages += pages;
                    let written = writes.get(record.request as usize).copied().unwrap_or(false);
                    if record.op == CacheEvent::Fill && written {
                        traffic.filled_by_writes_pages += pages;
                    }
                }
                CacheEvent::Evict | CacheEvent::Advise | CacheEvent::Prefetch => {}
            }
        }
        traffic
    }

    /// The share of writes among the pages that were asked for, from 0 to 1.
    pub fn written_share(&self) -> f64 {
        let asked = self.read_pages + self.written_pages + self.mapped_pages;
        self.written_pages as f64 / asked.max(1) as f64
    }
}

/// How many of a write's pages the write before it counted, 0 or 1, where writes end by file.
fn begun_before(write: &Record, ends: &mut [u64]) -> u64 {
    let Some(end) = ends.get_mut(write.file.0 as usize) else { return 0 };
    let goes_on = *end == write.offset_bytes && !end.is_multiple_of(PAGE_BYTES);
    *end = write.offset_bytes.saturating_add(write.length_bytes.into());
    u64::from(goes_on && write.length_bytes > 0)
}

/// Pages that a record touches.
fn pages(record: &Record) -> u64 {
    if record.length_bytes == 0 {
        return 0;
    }
    let end = record.offset_bytes.saturating_add(u64::from(record.length_bytes));
    end.div_ceil(PAGE_BYTES) - record.offset_bytes / PAGE_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::FileId;

    #[test]
    fn reads_and_writes_are_counted_apart() {
        let record = |op, request, offset_bytes, length_bytes| Record {
            time_ns: 0,
            offset_bytes,
            file_bytes: 0,
            length_bytes,
            file: FileId(0),
            task: 1,
            request,
            op,
        };
        let records = vec![
            record(CacheEvent::Fill, 0, 0, 8192),
            record(CacheEvent::Readahead, 0, 8192, 8192),
            record(CacheEvent::Read, 0, 0, 8192),
            record(CacheEvent::Fill, 3, 16_384, 4096),
            record(CacheEvent::Write, 3, 16_380, 8),
            record(CacheEvent::Map, 4, 0, 4096),
            record(CacheEvent::Evict, 4, 0, 4096),
            record(CacheEvent::Read, 5, 0, 0),
            // These continue in the page where the write before them ended, and one writes it
            // again.
            record(CacheEvent::Write, 6, 16_388, 8),
            record(CacheEvent::Write, 7, 16_396, 4096),
            record(CacheEvent::Write, 8, 16_396, 8),
        ];
        let facts = Facts { written_bytes: Bytes(4096), ..Facts::default() };
        let files = vec![String::new()];
        let traffic = Traffic::of(&Trace { records: records.into(), files, facts });
        let want = Traffic {
            read_pages: 2,
            written_pages: 4,
            mapped_pages: 1,
            filled_pages: 5,
            filled_by_writes_pages: 1,
            read_bytes: Bytes(0),
            written_bytes: Bytes(4096),
        };
        assert_eq!(traffic, want);
        assert!((traffic.written_share() - 4.0 / 7.0).abs() < 1e-9);
    }
}
