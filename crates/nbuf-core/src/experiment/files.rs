//! What each file has to do with it: its pages, its fills at three sizes, and its accesses on a map
//! of time and place.

use rayon::prelude::*;

use super::result::{FileShare, OtherFiles};
use super::survey::{Survey, Used};
use crate::cache::kernel::{Stream, simulate};
use crate::meter::map::AccessMap;
use crate::units::{Bytes, Pages};

/// Files that are distinguished; the others are summed up.
const FILES_TOP: usize = 25;

/// All files of a workload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// Those with the most fills, most first.
    pub top: Vec<FileShare>,
    /// The others together.
    pub others: OtherFiles,
    /// Accesses over time.
    pub map: AccessMap,
    /// Names of the strips of the map; the last one may be of many files.
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
    pub(super) fn of(survey: Survey, names: &[String], stream: &Stream, at: At) -> Self {
        let Survey { files, map, strips } = survey;
        let mut top = shares(&files, names, stream, at);
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

/// Every file, in the order of the trace.
fn shares(used: &[Used], names: &[String], stream: &Stream, at: At) -> Vec<FileShare> {
    let fills =
        |cache: Bytes| simulate(stream, stream.kernel_order(), cache.pages_down()).fills_by_file;
    let everything = Pages(u32::MAX.into()).bytes();
    let sizes = if at.recommended { [at.cache, at.floor, everything] } else { [everything; 3] };
    let fills: Vec<Vec<u64>> = sizes.par_iter().map(|&cache| fills(cache)).collect();
    let number = |of: &[u64], file: usize| of.get(file).copied().unwrap_or(0);
    let share = |(file, (name, used)): (usize, (&String, &Used))| FileShare {
        name: name.clone(),
        pages: used.pages,
        accesses: used.accesses,
        fills: number(&fills[0], file),
        fills_at_floor: number(&fills[1], file),
        fills_unlimited: number(&fills[2], file),
    };
    names.iter().zip(used).enumerate().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::survey::{COLUMNS, MAPPED_TOP, ROWS, ROWS_MIN};
    use crate::trace::{CacheEvent, FileId, Record, Trace};
    use crate::units::PAGE_BYTES;

    fn read(time_ns: i64, file: u32, page: u64, pages: u32) -> Record {
        Record {
            time_ns,
            offset_bytes: page * PAGE_BYTES,
            file_bytes: u64::from(pages) * PAGE_BYTES,
            length_bytes: pages * 4096,
            file: FileId(file),
            task: 1,
            request: 0,
            op: CacheEvent::Read,
        }
    }

    /// 400 pages read twice, and 30 files of a page each.
    fn trace() -> Trace {
        let mut records = vec![read(0, 0, 0, 400), read(500, 0, 0, 400)];
        records.extend((1..31).map(|file| read(600 + i64::from(file), file, 0, 1)));
        let files = (0..31).map(|file| format!("/f{file}")).collect();
        Trace { records: records.into(), files, ..Trace::default() }
    }

    #[test]
    fn a_file_shows_what_it_gains_and_loses() {
        let trace = trace();
        let stream = Stream::of(trace.records.clone(), &trace.files, &trace.facts, &[]);
        let (floor, cache) = (Pages(100).bytes(), Pages(420).bytes());
        let files = Files::of(
            Survey::of(&trace),
            &trace.files,
            &stream,
            At { floor, cache, recommended: true },
        );
        let FileShare { name, pages, accesses, fills, fills_at_floor, fills_unlimited } =
            files.top[0].clone();
        assert_eq!((name.as_str(), pages, accesses), ("/f0", 400, 800));
        assert_eq!((fills, fills_unlimited), (400, 400));
        assert!(fills_at_floor > 600, "{fills_at_floor}");
        assert_eq!(files.top.len(), FILES_TOP);
        assert_eq!((files.others.files, files.others.pages, files.others.fills), (6, 6, 6));

        let none = At { floor, cache, recommended: false };
        let share = &Files::of(Survey::of(&trace), &trace.files, &stream, none).top[0];
        assert_eq!((share.fills, share.fills_at_floor), (400, 400));
    }

    #[test]
    fn the_map_has_every_access_and_a_strip_for_what_is_large() {
        let trace = trace();
        let Survey { map, strips: names, .. } = Survey::of(&trace);
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
