//! How large a file was, and when: pieced together from opens, writes and a look at the end.

/// Longer than it takes to look at a queue of files.
const LOOK_NS: u64 = 1_000_000_000;
/// Writes that follow each other so fast are one.
const WRITES_NS: u64 = 1_000_000;

/// A file as the log knows it.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownFile {
    /// Every path the inode has gone by, as observed; the first is its name. Those of a file that had no
    /// name come last.
    pub(super) paths: Vec<String>,
    /// Its size over time.
    pub(super) sizes: Sizes,
    /// Pages that left the cache, as the log has them: first and last time, how far they reached, and
    /// how many sizes had been seen by then.
    went: Vec<(u64, u64, u64, usize)>,
    /// Writes that reached farther than those before them: when, and how far.
    reached: Vec<(u64, u64)>,
}

impl KnownFile {
    /// Pages up to `end` left the cache.
    pub(super) fn went(&mut self, time_ns: u64, end: u64) {
        let seen = self.sizes.seen.len();
        match self.went.last_mut().filter(|went| went.3 == seen) {
            Some((first, last, reached, _)) => {
                *first = (*first).min(time_ns);
                *last = (*last).max(time_ns);
                *reached = (*reached).max(end);
            }
            None => self.went.push((time_ns, time_ns, end, seen)),
        }
    }

    /// A write reached up to `end`.
    pub(super) fn written(&mut self, time_ns: u64, end: u64) {
        match self.reached.last_mut() {
            Some((_, before)) if *before >= end => {}
            Some((last_ns, before)) if time_ns.abs_diff(*last_ns) < WRITES_NS => {
                (*last_ns, *before) = (time_ns.max(*last_ns), end);
            }
            _ => self.reached.push((time_ns, end)),
        }
    }

    /// Puts what was seen of sizes in order, with what was written and what went of the pages, before
    /// the first question.
    pub(super) fn settle(&mut self) {
        self.sizes.seen.sort_by_key(|&(time_ns, _)| time_ns);
        let mut reached = std::mem::take(&mut self.reached);
        reached.sort_unstable();
        self.sizes.explain(&reached);
        for (first_ns, last_ns, end, _) in std::mem::take(&mut self.went) {
            self.sizes.went(first_ns, end);
            self.sizes.went(last_ns, end);
        }
    }

    /// Adds a path unless it is known.
    pub(super) fn add_path(&mut self, path: &[u8]) {
        let path = String::from_utf8_lossy(path).into_owned();
        if self.paths.contains(&path) {
            return;
        }
        let is_deleted = |path: &String| path.ends_with(" (deleted)");
        match self.paths.iter().position(is_deleted).filter(|_| !is_deleted(&path)) {
            Some(at) => self.paths.insert(at, path),
            None => self.paths.push(path),
        }
    }
}

/// Observations of a size.
#[derive(Clone, Debug, Default)]
pub(super) struct Sizes {
    /// Time and size, ascending by time once sorted.
    seen: Vec<(u64, u64)>,
    /// Pages that left the cache, between one observation and the next: which observation comes
    /// next, when the first and the last page went, and how far they reached.
    gone: Vec<Gone>,
}

#[derive(Clone, Copy, Debug)]
struct Gone {
    next: usize,
    first_ns: u64,
    last_ns: u64,
    end: u64,
}

impl Sizes {
    /// Adds an observation, unless it says again what was seen last.
    pub(super) fn push(&mut self, time_ns: u64, bytes: u64) {
        if self.seen.last().is_none_or(|&(last_ns, last)| last != bytes || time_ns < last_ns) {
            self.seen.push((time_ns, bytes));
        }
    }

    /// Moves an observation to the write that made the file so large, if that came right after.
    ///
    /// An observation bears the time before the look, and the file may grow in between. Writes that
    /// reached farther than all before them, in the order of time.
    fn explain(&mut self, ends: &[(u64, u64)]) {
        for at in 1..self.seen.len() {
            let (time_ns, bytes) = self.seen[at];
            let later = ends.partition_point(|&(written_ns, _)| written_ns <= time_ns);
            let known = later.checked_sub(1).map_or(0, |last| ends[last].1);
            let reached = ends[later..].iter().find(|&&(_, end)| end >= bytes);
            if bytes > known.max(self.seen[at - 1].1)
                && let Some(&(written_ns, _)) = reached
                && written_ns - time_ns < LOOK_NS
            {
                self.seen[at].0 = written_ns;
            }
        }
        self.seen.sort_by_key(|&(time_ns, _)| time_ns);
    }

    /// Pages up to `end` left the cache; in the order of time, when all observations are in.
    ///
    /// A file is seen a moment after it was opened, when it may be truncated already. That it
    /// was larger shows in the pages that went.
    fn went(&mut self, time_ns: u64, end: u64) {
        let next = self.next(time_ns);
        match self.gone.last_mut().filter(|gone| gone.next == next) {
            Some(gone) => {
                gone.last_ns = time_ns;
                gone.end = gone.end.max(end);
            }
            None => self.gone.push(Gone { next, first_ns: time_ns, last_ns: time_ns, end }),
        }
    }

    fn next(&self, time_ns: u64) -> usize {
        self.seen.partition_point(|&(seen_ns, _)| seen_ns <= time_ns)
    }

    /// The size at a time, by what was seen before and after it and by what went between.
    fn believed(&self, time_ns: u64) -> u64 {
        let later = self.next(time_ns);
        let before = later.checked_sub(1).and_then(|at| self.seen.get(at));
        let after = self.seen.get(later);
        let gone = self.gone.iter().find(|gone| gone.next == later);
        match (before, after, gone) {
            (None, Some(&(_, bytes)), Some(gone)) if time_ns <= gone.last_ns => bytes.max(gone.end),
            (Some(&(_, before)), Some(&(_, after)), Some(gone))
                if after < before && time_ns >= gone.first_ns =>
            {
                after
            }
            // No process saw it, for it was removed too soon: its pages all went then.
            (None, None, Some(gone)) if time_ns <= gone.last_ns => gone.end,
            _ => before.or(after).map_or(0, |&(_, bytes)| bytes),
        }
    }

    /// The size at a time: what was seen last before it, or else first after it. At least `floor`
    /// if anything is known, since a page there was touched; 0 when nothing is known.
    pub(super) fn at(&self, time_ns: u64, floor: u64) -> u64 {
        let size = self.believed(time_ns);
        if size >= floor {
            return size;
        }
        if self.seen.is_empty() {
            return 0;
        }
        // Touched beyond the size we believed in: it had grown by then, to what was seen next.
        let next =
            self.seen[self.next(time_ns)..].iter().map(|&(_, bytes)| bytes).find(|&b| b >= floor);
        next.unwrap_or(floor)
    }

    /// A write ended at `end`: the file is at least that large from now on. No process asks for a time
    /// before that any more, so a file that grows all the time needs no more room.
    pub(super) fn grow(&mut self, time_ns: u64, end: u64) {
        if self.seen.is_empty() || self.at(time_ns, 0) < end {
            let before = self.next(time_ns).checked_sub(1);
            if let Some(before) = before.and_then(|before| self.seen.get_mut(before)) {
                *before = (time_ns, end);
            } else {
                self.seen.insert(0, (time_ns, end));
                self.gone.iter_mut().for_each(|gone| gone.next += 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_size_seen_counts_unless_a_touch_belies_it() {
        let mut sizes = Sizes::default();
        assert_eq!(sizes.at(5, 1), 0, "nothing known");
        sizes.push(10, 5000);
        sizes.push(20, 9000);
        let cases = [(5, 1, 5000), (10, 1, 5000), (19, 1, 5000), (25, 1, 9000), (15, 6000, 9000)];
        for (time, floor, want) in cases {
            assert_eq!(sizes.at(time, floor), want, "at {time}");
        }
        assert_eq!(sizes.at(30, 10_000), 10_000, "touched beyond anything seen");
        assert_eq!(sizes.at(11, 1), 5000);
        sizes.grow(12, 7000);
        assert_eq!((sizes.at(13, 1), sizes.at(21, 1)), (7000, 9000));
        sizes.grow(14, 8000);
        assert_eq!((sizes.at(14, 1), sizes.at(21, 1), sizes.seen.len()), (8000, 9000, 2));
    }

    #[test]
    fn a_size_seen_too_early_is_that_of_the_write_that_made_it() {
        let mut sizes = Sizes::default();
        for (time, bytes) in [(0, 0), (15, 8192), (40, 8192)] {
            sizes.push(time, bytes);
        }
        sizes.explain(&[(10, 4096), (20, 8192)]);
        sizes.grow(10, 4096);
        assert_eq!((sizes.at(16, 1), sizes.at(20, 1)), (4096, 8192));

        let mut sizes = Sizes::default();
        for (time, bytes) in [(0, 0), (15, 8192)] {
            sizes.push(time, bytes);
        }
        sizes.explain(&[(10, 4096), (20 + LOOK_NS, 8192)]);
        assert_eq!(sizes.at(16, 1), 8192, "somebody else made it so large");
    }

    #[test]
    fn a_file_that_nobody_saw_was_as_large_as_the_pages_that_went() {
        let mut sizes = Sizes::default();
        sizes.went(20, 40_960);
        assert_eq!((sizes.at(10, 1), sizes.at(10, 40_960)), (40_960, 40_960));
        assert_eq!((sizes.at(10, 50_000), sizes.at(21, 1)), (0, 0), "unknown");
        sizes.grow(15, 8192);
        assert_eq!(sizes.at(16, 1), 8192);
    }

    #[test]
    fn pages_that_went_tell_of_a_size_that_nobody_saw() {
        let mut sizes = Sizes::default();
        sizes.push(30, 0);
        sizes.went(20, 4096);
        sizes.went(21, 40_960);
        assert_eq!((sizes.at(10, 1), sizes.at(21, 8193)), (40_960, 40_960));
        assert_eq!((sizes.at(22, 0), sizes.at(30, 0)), (0, 0), "truncated by then");

        let mut sizes = Sizes::default();
        for (time, bytes) in [(10, 40_960), (30, 5000)] {
            sizes.push(time, bytes);
        }
        sizes.went(20, 40_960);
        assert_eq!((sizes.at(15, 1), sizes.at(25, 1)), (40_960, 5000), "truncated and rewritten");
        assert_eq!(sizes.at(25, 9000), 9000, "unless it was touched beyond");
        sizes.grow(15, 50_000);
        assert_eq!((sizes.at(16, 1), sizes.at(25, 1)), (50_000, 5000));
    }
}
