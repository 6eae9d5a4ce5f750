//! What a trace says of its files before it is made ready for simulation: how much of each is
//! touched, how often, and when, on a map of time and place.
//!
//! Two passes over the records, which are not needed any more afterwards. Cost: a bit for each page
//! of the files, up to the last one touched.

use crate::meter::map::{AccessMap, Kind, Strip};
use crate::trace::{CacheEvent, Record, Trace};
use crate::units::{Bytes, PAGE_BYTES};

/// Pieces of time on the map.
pub(super) const COLUMNS: usize = 240;
/// Rows of the map, if every file had as many as it deserves.
pub(super) const ROWS: usize = 120;
/// Files with rows of their own on the map, and the fewest rows that can be distinguished.
pub(super) const MAPPED_TOP: usize = 8;
pub(super) const ROWS_MIN: usize = 6;

/// The files of a trace.
#[derive(Clone, Debug, Default)]
pub(super) struct Survey {
    /// In the order of the trace.
    pub(super) files: Vec<Used>,
    /// Accesses over time.
    pub(super) map: AccessMap,
    /// Names of the strips of the map; the last strip may stand for many files.
    pub(super) strips: Vec<String>,
}

/// How a file is used.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Used {
    /// Distinct pages that demand touched.
    pub(super) pages: u64,
    /// The end of the last of them, in pages.
    pub(super) extent: u64,
    /// Pages accessed, repetitions included; what fault-around mapped is not counted.
    pub(super) accesses: u64,
    /// Whether its last record evicts pages of it, as when the file is removed.
    gone: bool,
}

impl Survey {
    pub(super) fn of(trace: &Trace) -> Self {
        let (files, end_ns) = used(trace);
        let (map, strips) = map(trace, &files, end_ns);
        Self { files, map, strips }
    }

    /// Returns the share of all distinct pages that is in these files and was not evicted in the
    /// end.
    pub(super) fn share_of(&self, files: &[u32]) -> f64 {
        let kept = files.iter().filter_map(|&file| self.files.get(file as usize));
        let kept: u64 = kept.filter(|used| !used.gone).map(|used| used.pages).sum();
        let all: u64 = self.files.iter().map(|used| used.pages).sum();
        kept as f64 / all.max(1) as f64
    }
}

/// How each file is used, and when the last record was.
fn used(trace: &Trace) -> (Vec<Used>, u64) {
    let mut files = vec![(Used::default(), Vec::new()); trace.files.len()];
    let mut end_ns = 0;
    for record in &trace.records {
        end_ns = end_ns.max(nanos(record.time_ns));
        let Some((used, seen)) = files.get_mut(record.file.0 as usize) else { continue };
        used.gone = record.op == CacheEvent::Evict;
        if !record.op.is_demand() {
            continue;
        }
        if record.op != CacheEvent::Map {
            used.accesses += Bytes(u64::from(record.length_bytes)).pages_up().0;
        }
        // No user has files of 8 TiB and more; a trace with one must not cost us the memory.
        let Some((first, end)) = pages(&record).filter(|&(_, end)| end <= 1 << 31) else {
            continue;
        };
        used.extent = used.extent.max(end);
        for page in first..end {
            let Ok(word) = usize::try_from(page / 64) else { break };
            if word >= seen.len() {
                seen.resize(word + 1, 0_u64);
            }
            let bit = 1 << (page % 64);
            used.pages += u64::from(seen[word] & bit == 0);
            seen[word] |= bit;
        }
    }
    (files.into_iter().map(|(used, _)| used).collect(), end_ns)
}

/// First page of a record and the end of its last one; nothing for an empty one.
fn pages(record: &Record) -> Option<(u64, u64)> {
    let end = record.offset_bytes.checked_add(record.length_bytes.into())?.div_ceil(PAGE_BYTES);
    (record.length_bytes > 0).then_some((record.offset_bytes / PAGE_BYTES, end))
}

/// Lays the files out, the one with most pages on top, and counts the accesses.
fn map(trace: &Trace, files: &[Used], end_ns: u64) -> (AccessMap, Vec<String>) {
    let mut order: Vec<usize> = (0..files.len()).filter(|&file| files[file].extent > 0).collect();
    order.sort_by_key(|&file| std::cmp::Reverse(files[file].pages));
    let total: u64 = order.iter().map(|&file| files[file].pages).sum();
    let deserved = |pages: u64| {
        let rows = u128::from(pages) * ROWS as u128 / u128::from(total.max(1));
        usize::try_from(rows).unwrap_or(ROWS)
    };
    let own = order.iter().take(MAPPED_TOP);
    let own = own.take_while(|&&file| deserved(files[file].pages) * 2 >= ROWS_MIN).count();
    // A single file left over is itself.
    let own = if order.len() == own + 1 && own < MAPPED_TOP { own + 1 } else { own };
    let (named, merged) = order.split_at(own);
    let mut strips = Vec::new();
    let mut titles = Vec::new();
    // Strip and first page of each file.
    let mut places = vec![(usize::MAX, 0); files.len()];
    let mut row = 0;
    let mut strip = |weight: u64, pages: u64, name: String| {
        let rows = deserved(weight).max(ROWS_MIN);
        strips.push(Strip { row, rows, pages });
        titles.push(name);
        row += rows;
    };
    for (at, &file) in named.iter().enumerate() {
        let Used { pages, extent, .. } = files[file];
        strip(pages, extent, trace.files[file].clone());
        places[file] = (at, 0);
    }
    if !merged.is_empty() {
        // In order of first use: what walks a directory twice draws the same line twice.
        let mut merged = merged.to_vec();
        merged.sort_unstable();
        let (mut weight, mut pages) = (0, 0);
        for &file in &merged {
            places[file] = (own, pages);
            pages += files[file].extent;
            weight += files[file].pages;
        }
        let others = if own == 0 { "" } else { "other " };
        strip(weight, pages, format!("{} {others}files, end to end", merged.len()));
    }
    let mut map = AccessMap::new(COLUMNS, end_ns + 1, strips);
    for record in trace.records.iter().filter(|record| record.length_bytes > 0) {
        let kind = match record.op {
            CacheEvent::Read | CacheEvent::Splice => Kind::Read,
            CacheEvent::Write => Kind::Write,
            CacheEvent::Fault | CacheEvent::Map | CacheEvent::Touch => Kind::Fault,
            CacheEvent::Fill
            | CacheEvent::Readahead
            | CacheEvent::Evict
            | CacheEvent::Advise
            | CacheEvent::Prefetch => continue,
        };
        let Some(&(strip, base)) = places.get(record.file.0 as usize) else { continue };
        let first = record.offset_bytes / PAGE_BYTES;
        let end = record.offset_bytes.saturating_add(u64::from(record.length_bytes));
        let pages = end.div_ceil(PAGE_BYTES) - first;
        map.add(strip, nanos(record.time_ns), base.saturating_add(first), pages, kind);
    }
    (map, titles)
}

fn nanos(time: i64) -> u64 {
    u64::try_from(time).unwrap_or(0)
}
