//! What each file has to do with it: its pages, its fills at three sizes, and its accesses on a map
//! of time and place.

use rayon::prelude::*;

use super::result::{FileShare, OtherFiles};
use crate::cache::kernel::{Replacement, Stream, TouchKind, simulate};
use crate::meter::map::{AccessMap, Kind, Strip};
use crate::units::{Bytes, PAGE_BYTES, Pages};
use crate::workload::trace::{Op, Trace};

/// Files that are told apart; the others are summed up.
const FILES_TOP: usize = 25;
/// Pieces of time on the map.
const COLUMNS: usize = 240;
/// Rows of the map, if every file had as many as it deserves.
const ROWS: usize = 120;
/// Files with rows of their own on the map, and the fewest rows that can be told apart.
const MAPPED_TOP: usize = 8;
const ROWS_MIN: usize = 6;

/// All files of a workload.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// Those with the most fills, most first.
    pub top: Vec<FileShare>,
    /// The others together.
    pub others: OtherFiles,
    /// Accesses over time.
    pub map: AccessMap,
    /// Names of the strips of the map; the last one may be that of many files.
    pub strips: Vec<String>,
}

/// The sizes of cache at which fills are counted by file.
#[derive(Clone, Copy, Debug)]
pub(super) struct At {
    /// Below which nothing is saved.
    pub(super) floor: Bytes,
    /// What is recommended.
    pub(super) cache: Bytes,
    /// None where nothing is recommended: every size is then the unlimited one.
    pub(super) recommended: bool,
}

impl Files {
    pub(super) fn of(trace: &Trace, stream: &Stream, at: At) -> Self {
        let shares = shares(trace, stream, at);
        let (map, strips) = map(trace, &shares);
        let mut top: Vec<FileShare> = shares.into_iter().map(|(share, _)| share).collect();
        top.sort_by_key(|file| std::cmp::Reverse((file.fills, file.accesses)));
        top.retain(|file| file.fills + file.accesses > 0);
        let rest = top.split_off(top.len().min(FILES_TOP));
        let mut others = OtherFiles { files: rest.len() as u64, ..OtherFiles::default() };
        for file in &rest {
            others.pages += file.pages;
            others.accesses += file.accesses;
            others.fills += file.fills;
            others.fills_at_floor += file.fills_at_floor;
            others.fills_unlimited += file.fills_unlimited;
        }
        Self { top, others, map, strips }
    }
}

/// Every file with the last page of it that was touched, in the order of the trace.
fn shares(trace: &Trace, stream: &Stream, at: At) -> Vec<(FileShare, u64)> {
    let fills =
        |cache: Bytes| simulate(stream, Replacement::TwoLists, cache.pages_down()).fills_by_file;
    let everything = Pages(u32::MAX.into()).bytes();
    let sizes = if at.recommended { [at.cache, at.floor, everything] } else { [everything; 3] };
    let fills: Vec<Vec<u64>> = sizes.par_iter().map(|&cache| fills(cache)).collect();
    let (pages, extents) = touched(stream, trace.files.len());
    let mut accesses = vec![0; trace.files.len()];
    for record in trace.records.iter().filter(|r| r.op.is_demand() && r.op != Op::Map) {
        if let Some(accesses) = accesses.get_mut(record.file.0 as usize) {
            *accesses += Bytes(u64::from(record.length_bytes)).pages_up().0;
        }
    }
    let number = |of: &[u64], file: usize| of.get(file).copied().unwrap_or(0);
    let share = |(file, name): (usize, &String)| {
        let share = FileShare {
            name: name.clone(),
            pages: pages[file],
            accesses: accesses[file],
            fills: number(&fills[0], file),
            fills_at_floor: number(&fills[1], file),
            fills_unlimited: number(&fills[2], file),
        };
        (share, extents[file])
    };
    trace.files.iter().enumerate().map(share).collect()
}

/// Distinct pages of each file that demand touched, and the end of the last one.
fn touched(stream: &Stream, files: usize) -> (Vec<u64>, Vec<u64>) {
    let mut seen = vec![false; stream.page_numbers()];
    let (mut pages, mut extents) = (vec![0; files], vec![0; files]);
    for touch in stream.touches().filter(|touch| touch.kind != TouchKind::Drop) {
        let file = touch.file as usize;
        extents[file] = extents[file].max(u64::from(touch.first) + u64::from(touch.count));
        for page in touch.first..touch.first + touch.count {
            if let Some(seen) = seen.get_mut(stream.page_number(touch.file, page)) {
                pages[file] += u64::from(!*seen);
                *seen = true;
            }
        }
    }
    (pages, extents)
}

/// Lays the files out, the one with most pages on top, and counts the accesses.
fn map(trace: &Trace, shares: &[(FileShare, u64)]) -> (AccessMap, Vec<String>) {
    let mut order: Vec<usize> = (0..shares.len()).filter(|&file| shares[file].1 > 0).collect();
    order.sort_by_key(|&file| std::cmp::Reverse(shares[file].0.pages));
    let total: u64 = order.iter().map(|&file| shares[file].0.pages).sum();
    let deserved = |pages: u64| {
        let rows = u128::from(pages) * ROWS as u128 / u128::from(total.max(1));
        usize::try_from(rows).unwrap_or(ROWS)
    };
    let own = order.iter().take(MAPPED_TOP);
    let own = own.take_while(|&&file| deserved(shares[file].0.pages) * 2 >= ROWS_MIN).count();
    // A single file left over is itself.
    let own = if order.len() == own + 1 && own < MAPPED_TOP { own + 1 } else { own };
    let (named, merged) = order.split_at(own);
    let mut strips = Vec::new();
    let mut titles = Vec::new();
    // Strip and first page of each file.
    let mut places = vec![(usize::MAX, 0); shares.len()];
    let mut row = 0;
    let mut strip = |weight: u64, pages: u64, name: String| {
        let rows = deserved(weight).max(ROWS_MIN);
        strips.push(Strip { row, rows, pages });
        titles.push(name);
        row += rows;
    };
    for (at, &file) in named.iter().enumerate() {
        let (share, extent) = &shares[file];
        strip(share.pages, *extent, share.name.clone());
        places[file] = (at, 0);
    }
    if !merged.is_empty() {
        // In order of first use: what walks a directory twice draws the same line twice.
        let mut merged = merged.to_vec();
        merged.sort_unstable();
        let (mut weight, mut pages) = (0, 0);
        for &file in &merged {
            places[file] = (own, pages);
            pages += shares[file].1;
            weight += shares[file].0.pages;
        }
        let others = if own == 0 { "" } else { "other " };
        strip(weight, pages, format!("{} {others}files, end to end", merged.len()));
    }
    let end = trace.records.iter().map(|record| record.time_ns).max().unwrap_or(0);
    let mut map = AccessMap::new(COLUMNS, nanos(end) + 1, strips);
    for record in trace.records.iter().filter(|record| record.length_bytes > 0) {
        let kind = match record.op {
            Op::Read => Kind::Read,
            Op::Write => Kind::Write,
            Op::Fault | Op::Map => Kind::Fault,
            Op::Fill | Op::Readahead | Op::Evict => continue,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::trace::{FileId, Record};

    fn read(time_ns: i64, file: u32, page: u64, pages: u32) -> Record {
        Record {
            time_ns,
            offset_bytes: page * PAGE_BYTES,
            file_bytes: u64::from(pages) * PAGE_BYTES,
            length_bytes: pages * 4096,
            file: FileId(file),
            task: 1,
            request: 0,
            op: Op::Read,
        }
    }

    /// 400 pages read twice, and 30 files of a page each.
    fn trace() -> Trace {
        let mut records = vec![read(0, 0, 0, 400), read(500, 0, 0, 400)];
        records.extend((1..31).map(|file| read(600 + i64::from(file), file, 0, 1)));
        let files = (0..31).map(|file| format!("/f{file}")).collect();
        Trace { records, files, ..Trace::default() }
    }

    #[test]
    fn a_file_shows_what_it_gains_and_loses() {
        let trace = trace();
        let stream = Stream::of(&trace, &[]);
        let (floor, cache) = (Pages(100).bytes(), Pages(420).bytes());
        let files = Files::of(&trace, &stream, At { floor, cache, recommended: true });
        let FileShare { name, pages, accesses, fills, fills_at_floor, fills_unlimited } =
            files.top[0].clone();
        assert_eq!((name.as_str(), pages, accesses), ("/f0", 400, 800));
        assert_eq!((fills, fills_unlimited), (400, 400));
        assert!(fills_at_floor > 600, "{fills_at_floor}");
        assert_eq!(files.top.len(), FILES_TOP);
        assert_eq!((files.others.files, files.others.pages, files.others.fills), (6, 6, 6));

        let none = At { floor, cache, recommended: false };
        let share = &Files::of(&trace, &stream, none).top[0];
        assert_eq!((share.fills, share.fills_at_floor), (400, 400));
    }

    #[test]
    fn the_map_has_every_access_and_a_strip_for_what_is_large() {
        let trace = trace();
        let shares = shares(
            &trace,
            &Stream::of(&trace, &[]),
            At { floor: Bytes(0), cache: Bytes(0), recommended: false },
        );
        let (map, names) = map(&trace, &shares);
        assert_eq!(names, ["/f0", "30 other files, end to end"]);
        let total: u64 = map.rows().flatten().map(crate::meter::map::Cell::total).sum();
        assert_eq!(total, 830);
        assert!(map.rows().len() <= ROWS + (MAPPED_TOP + 1) * ROWS_MIN);
        // The last 30 accesses are in the last strip, at its end in time.
        let last = map.strips()[1];
        let late: u64 = map
            .rows()
            .skip(last.row)
            .flat_map(|row| &row[COLUMNS / 2..])
            .map(crate::meter::map::Cell::total)
            .sum();
        assert_eq!(late, 30);
    }
}
