//! One record of a window: what it does to the stack, and which of its pages count as accesses.

use super::Rolling;
use crate::trace::{CacheEvent, Record};
use crate::units::PAGE_BYTES;

/// A piece of a large page that begins so counts for it, where only a sample of the pages is recorded.
const LARGE_PAGE_BYTES: u64 = 2 << 20;

impl Rolling {
    /// `counts_from_ns` is the time in the recording before which accesses only warm the stack.
    pub(super) fn push(
        &mut self,
        record: &Record,
        file: u64,
        (from_ns, counts_from_ns): (u64, u64),
    ) {
        let first = record.offset_bytes / PAGE_BYTES;
        let end = record.offset_bytes + u64::from(record.length_bytes.max(1));
        let last = (end - 1) / PAGE_BYTES;
        // New data comes from no disc: its pages are not missed, however small the cache is.
        let new_from = if record.op == CacheEvent::Write {
            self.ends.get(&file).map_or(u64::MAX, |end| end.div_ceil(PAGE_BYTES))
        } else {
            u64::MAX
        };
        if record.op == CacheEvent::Write || record.op == CacheEvent::Read {
            let ends = self.ends.entry(file).or_default();
            *ends = (*ends).max(end).max(record.file_bytes);
        }
        let window = &mut self.window;
        match record.op {
            CacheEvent::Fill | CacheEvent::Readahead => {
                let since_ns = u64::try_from(record.time_ns).unwrap_or(0);
                window.filled.add(from_ns + since_ns, last - first + 1);
            }
            // One page of the window was wanted: the fault that follows, or a touch, has it.
            CacheEvent::Map => {}
            CacheEvent::Evict => {
                // Truncated or deleted: the number may be another file's next.
                if let Some(end) = self.ends.get_mut(&file) {
                    *end = (*end).min(record.offset_bytes);
                }
                (first..=last).for_each(|page| self.stack.remove((file, page)));
            }
            op if op.is_demand() => {
                let since_ns = u64::try_from(record.time_ns).unwrap_or(0);
                let (time_ns, counts) = (from_ns + since_ns, since_ns >= counts_from_ns);
                if op == CacheEvent::Touch && last > first {
                    let begins =
                        window.share >= 1.0 || record.offset_bytes.is_multiple_of(LARGE_PAGE_BYTES);
                    return self.push_unit(file, first..=last, (time_ns, counts && begins));
                }
                for page in first..=last {
                    let (depth, before) = self.stack.access((file, page));
                    let depth = depth.map(|depth| scaled(depth, window.share));
                    let before = scaled(before, window.share);
                    if depth.is_none() && page >= new_from || !counts {
                        continue;
                    }
                    window.warm.push_behind(time_ns, depth, before.into());
                    window.mapped += u64::from(op.is_mapped());
                }
            }
            _ => {}
        }
    }

    /// A touch somewhere in a large page: the kernel keeps or evicts it as a whole, so it is one access. It is as deep
    /// as the deepest of its pages.
    fn push_unit(&mut self, file: u64, pages: std::ops::RangeInclusive<u64>, at: (u64, bool)) {
        let mut deepest = Some(0);
        let mut behind = None;
        for page in pages {
            let (depth, before) = self.stack.access((file, page));
            deepest = deepest.zip(depth).map(|(deepest, depth)| depth.max(deepest));
            behind = behind.or(Some(before));
        }
        let (time_ns, counts) = at;
        if counts {
            let window = &mut self.window;
            let share = window.share;
            let depth = deepest.map(|depth| scaled(depth, share));
            window.warm.push_behind(time_ns, depth, scaled(behind.unwrap_or(0), share).into());
            window.mapped += 1;
        }
    }
}

/// A number of pages of a sample, as one of all pages.
fn scaled(pages: u32, share: f64) -> u32 {
    if share < 1.0 {
        u32::try_from(crate::units::whole(f64::from(pages) / share)).unwrap_or(u32::MAX)
    } else {
        pages
    }
}

#[cfg(test)]
mod tests {
    use super::super::*;
    use crate::trace::{CacheEvent, CachedFile, FileId, FolioRun, Looks, Record, Snapshot};

    const SECOND: i64 = 1_000_000_000;

    fn trace(records: Vec<Record>, looks: Looks) -> Trace {
        let mut trace = Trace { files: vec!["/f".to_owned()], ..Trace::default() };
        trace.facts.elapsed_ns = 60 * SECOND.cast_unsigned();
        trace.facts.capture.looks = Some(looks);
        for record in records {
            trace.records.push(record);
        }
        trace
    }

    fn touch(at: i64, page: u64, pages: u32) -> Record {
        Record {
            time_ns: at * SECOND / 1_000,
            offset_bytes: page * PAGE_BYTES,
            file_bytes: 1 << 30,
            length_bytes: pages * 4096,
            file: FileId(0),
            task: 1,
            request: 0,
            op: CacheEvent::Touch,
        }
    }

    #[test]
    fn a_large_page_is_one_access_as_deep_as_all_of_it() {
        // Two large pages in turn, and a page between them; before, others that do not come again.
        let others = (0..3_000_i64).map(|at| touch(0, 10_000 + at.cast_unsigned(), 1));
        let records = (0..30_000_i64).map(|at| match at % 3 {
            0 => touch(at, 0, 512),
            1 => touch(at, 5_000, 1),
            _ => touch(at, 512, 512),
        });
        let looks = Looks { rounds: 9, large_pages: 1_024, ..Looks::default() };
        let live = analyse(
            &Spec::default(),
            &trace(others.chain(records).collect(), looks),
            LiveMemory::default(),
        );
        assert!((live.accesses_per_second - 550.0).abs() < 1.0, "{live:?}");
        assert_eq!(live.touched_bytes, Bytes(4_025 * PAGE_BYTES));
        // Which pages of a large one are touched is not known, so no smaller cache is.
        assert!(
            live.points.iter().all(|point| point.cache_bytes.0 >= 1_024 * PAGE_BYTES),
            "{live:?}"
        );
        let fits = live.points.iter().find(|point| point.cache_bytes.0 > 1_100 * PAGE_BYTES);
        assert!(fits.is_some_and(|point| point.misses_per_second < 110.0), "{live:?}");
    }

    #[test]
    fn pages_that_another_group_has_count_as_the_programs_own() {
        let records = (0..30_000_i64).map(|at| touch(at, (at.cast_unsigned() * 7) % 3_000, 1));
        let mut trace = trace(records.collect(), Looks::default());
        let without = analyse(&Spec::default(), &trace, LiveMemory::default());
        let foreign =
            FolioRun { first: 1_000, count: 2_000, is_foreign: true, ..FolioRun::default() };
        let file = CachedFile { file: Some(0), runs: vec![foreign], ..CachedFile::default() };
        trace.facts.capture.snapshot = Some(Snapshot { files: vec![file], is_whole: true });
        let live = analyse(&Spec::default(), &trace, LiveMemory::default());
        assert_eq!(live.touched_bytes, Bytes(3_000 * PAGE_BYTES));
        assert_eq!(live.snapshot.unwrap().foreign_bytes, Bytes(2_000 * PAGE_BYTES));
        assert_eq!(live.points, without.points);
    }

    #[test]
    fn what_came_before_the_first_look_does_not_count() {
        // A read each millisecond; touches begin after ten seconds.
        let records = (0..60_000_i64).flat_map(|at| {
            let read =
                Record { op: CacheEvent::Read, ..touch(at, (at.cast_unsigned() * 7) % 900, 1) };
            let page = 1_000 + (at.cast_unsigned() * 11) % 900;
            [Some(read), (at >= 10_000).then(|| touch(at, page, 1))].into_iter().flatten()
        });
        let waited_ns = 10 * SECOND.cast_unsigned();
        let looks = Looks { rounds: 9, waited_ns, ..Looks::default() };
        let live =
            analyse(&Spec::default(), &trace(records.collect(), looks), LiveMemory::default());
        assert!((live.accesses_per_second - 2_000.0).abs() < 5.0, "{live:?}");
        assert!((live.mapped_share - 0.5).abs() < 0.01 && (live.seconds - 60.0).abs() < 1e-9);
    }

    #[test]
    fn a_first_look_near_the_end_leaves_the_window_whole() {
        let read = |at| Record { op: CacheEvent::Read, ..touch(at, 3, 1) };
        let records =
            (0..60_000_i64).map(|at| if at < 50_000 { read(at) } else { touch(at, 4, 1) });
        let waited_ns = 50 * SECOND.cast_unsigned();
        let looks = Looks { rounds: 9, waited_ns, ..Looks::default() };
        let live =
            analyse(&Spec::default(), &trace(records.collect(), looks), LiveMemory::default());
        assert!((live.accesses_per_second - 1_000.0).abs() < 5.0, "{live:?}");
    }
}
