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
    /// Pages that left the cache, as the log has them, and how many sizes had been seen by then.
    went: Vec<(usize, Went)>,
    /// Writes that reached farther than those before them: when, and how far.
    reached: Vec<(u64, u64)>,
}

impl KnownFile {
    /// Pages up to `end` left the cache.
    pub(super) fn went(&mut self, time_ns: u64, end: u64) {
        let seen = self.sizes.seen.len();
        match self.went.last_mut().filter(|(by_then, _)| *by_then == seen) {
            Some((_, went)) => went.push(time_ns, end),
            None => self.went.push((seen, Went::new(time_ns, end))),
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
        for (_, went) in std::mem::take(&mut self.went) {
            self.sizes.went(went.first_ns, went.farthest());
            went.steps.iter().for_each(|&(time_ns, end)| self.sizes.went(time_ns, end));
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
    /// When it was seen last, of whatever size.
    last_seen_ns: u64,
    /// Pages that left the cache between one observation and the next, and which observation comes next.
    gone: Vec<(usize, Went)>,
}

/// Pages that left the cache.
#[derive(Clone, Debug)]
struct Went {
    first_ns: u64,
    /// When, and how far they reached: only those after which none reached so far, so the ends descend.
    steps: Vec<(u64, u64)>,
}

impl Went {
    fn new(time_ns: u64, end: u64) -> Self {
        Self { first_ns: time_ns, steps: vec![(time_ns, end)] }
    }

    /// More pages left, later than those before them or a moment earlier.
    fn push(&mut self, time_ns: u64, end: u64) {
        self.first_ns = self.first_ns.min(time_ns);
        let time_ns = time_ns.max(self.last_ns());
        while self.steps.pop_if(|&mut (_, before)| before <= end).is_some() {}
        self.steps.push((time_ns, end));
    }

    fn last_ns(&self) -> u64 {
        self.steps.last().map_or(0, |&(time_ns, _)| time_ns)
    }

    fn farthest(&self) -> u64 {
        self.steps.first().map_or(0, |&(_, end)| end)
    }

    /// How far the pages reached that left at a time or later.
    fn end_from(&self, time_ns: u64) -> Option<u64> {
        let at = self.steps.partition_point(|&(went_ns, _)| went_ns < time_ns);
        self.steps.get(at).map(|&(_, end)| end)
    }
}

impl Sizes {
    /// Adds an observation, unless it says again what was seen last.
    pub(super) fn push(&mut self, time_ns: u64, bytes: u64) {
        self.last_seen_ns = self.last_seen_ns.max(time_ns);
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
        match self.gone.last_mut().filter(|(before, _)| *before == next) {
            Some((_, went)) => went.push(time_ns, end),
            None => self.gone.push((next, Went::new(time_ns, end))),
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
        let gone = self.gone.iter().find(|(next, _)| *next == later).map(|(_, went)| went);
        match (before, after, gone) {
            (None, Some(&(_, bytes)), Some(gone)) if time_ns <= gone.last_ns() => {
                bytes.max(gone.farthest())
            }
            (Some(&(_, before)), Some(&(_, after)), Some(gone))
                if after < before && time_ns >= gone.first_ns =>
            {
                after
            }
            // It was removed before it was looked at again: its pages all went then.
            (Some(&(_, before)), None, Some(gone)) if self.was_truncated(gone, before, time_ns) => {
                gone.end_from(time_ns).map_or(before, |end| end.min(before))
            }
            (None, None, Some(gone)) => gone.end_from(time_ns).unwrap_or(0),
            _ => before.or(after).map_or(0, |&(_, bytes)| bytes),
        }
    }

    /// Whether all its pages had gone by then, and pages went after it was seen last.
    fn was_truncated(&self, gone: &Went, bytes: u64, time_ns: u64) -> bool {
        time_ns >= gone.first_ns && gone.farthest() >= bytes && gone.last_ns() > self.last_seen_ns
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
                self.gone.iter_mut().for_each(|(next, _)| *next += 1);
            }
        }
    }
}

#[cfg(test)]
mod tests;
