//! How large a file was, and when: pieced together from opens, writes and a look at the end.

/// A file as the log knows it.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownFile {
    /// Every path the inode has gone by, as observed; the first is its name.
    pub(super) paths: Vec<String>,
    /// Its size over time.
    pub(super) sizes: Sizes,
}

impl KnownFile {
    /// Adds a path unless it is known.
    pub(super) fn add_path(&mut self, path: &[u8]) {
        let path = String::from_utf8_lossy(path).into_owned();
        if !self.paths.contains(&path) {
            self.paths.push(path);
        }
    }
}

/// Observations of a size.
#[derive(Clone, Debug, Default)]
pub(super) struct Sizes {
    /// Time and size, ascending by time once sorted.
    seen: Vec<(u64, u64)>,
}

impl Sizes {
    /// Adds an observation, unless it says again what was seen last.
    pub(super) fn push(&mut self, time_ns: u64, bytes: u64) {
        if self.seen.last().is_none_or(|&(last_ns, last)| last != bytes || time_ns < last_ns) {
            self.seen.push((time_ns, bytes));
        }
    }

    /// Puts the observations in order, before the first question.
    pub(super) fn sort(&mut self) {
        self.seen.sort_by_key(|&(time_ns, _)| time_ns);
    }

    /// The size at a time: what was seen last before it, or else first after it. At least `floor`
    /// if anything is known, since a page there was touched; 0 when nothing is known.
    pub(super) fn at(&self, time_ns: u64, floor: u64) -> u64 {
        let later = self.seen.partition_point(|&(seen_ns, _)| seen_ns <= time_ns);
        let seen = self.seen.get(later.saturating_sub(1)).or_else(|| self.seen.first());
        let size = seen.map_or(0, |&(_, bytes)| bytes);
        if size >= floor || self.seen.is_empty() {
            return size;
        }
        // Touched beyond the size we believed in: it had grown by then, to what was seen next.
        let next = self.seen[later..].iter().map(|&(_, bytes)| bytes).find(|&b| b >= floor);
        next.unwrap_or(floor)
    }

    /// A write ended at `end`: the file is at least that large from now on. Nobody asks for a time
    /// before that any more, so a file that grows all the time needs no more room.
    pub(super) fn grow(&mut self, time_ns: u64, end: u64) {
        if self.seen.is_empty() || self.at(time_ns, 0) < end {
            let at = self.seen.partition_point(|&(seen_ns, _)| seen_ns <= time_ns);
            match at.checked_sub(1).and_then(|before| self.seen.get_mut(before)) {
                Some(before) => *before = (time_ns, end),
                None => self.seen.insert(0, (time_ns, end)),
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
        sizes.push(20, 9000);
        sizes.push(10, 5000);
        sizes.sort();
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
}
