//! The parts of each thread's life one after the other, as the sums of [`super::Split`] add them up.
//!
//! Cost: 24 bytes a slice, at most as many as are allowed; later ones are counted, not kept.

use std::collections::HashMap;

use super::part::Part;
use super::thread::Change;

/// A thread was in a part for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slice {
    /// Number of the thread.
    pub thread: u32,
    /// What it did.
    pub part: Part,
    /// `CLOCK_MONOTONIC`.
    pub from_ns: u64,
    /// The same.
    pub to_ns: u64,
}

/// The slices so far.
#[derive(Debug)]
pub(crate) struct Slices {
    open: HashMap<u32, (Part, u64)>,
    done: Vec<Slice>,
    most: usize,
    cut: u64,
}

impl Slices {
    /// Keeps this number at most.
    pub(crate) fn at_most(most: usize) -> Self {
        Self { open: HashMap::new(), done: Vec::new(), most, cut: 0 }
    }

    /// Takes what a thread did, in the order of the times.
    pub(super) fn take(&mut self, thread: u32, changes: &[Change]) {
        for change in changes {
            self.close(thread, change.time_ns);
            if let Some(part) = change.to {
                self.open.insert(thread, (part, change.time_ns));
            }
        }
    }

    fn close(&mut self, thread: u32, to_ns: u64) {
        let Some((part, from_ns)) = self.open.remove(&thread) else { return };
        if to_ns <= from_ns {
            return;
        }
        if self.done.len() < self.most {
            self.done.push(Slice { thread, part, from_ns, to_ns });
        } else {
            self.cut += 1;
        }
    }

    /// Ends what lasts. The slices, and how many more there were.
    pub(crate) fn finish(mut self, end_ns: u64) -> (Vec<Slice>, u64) {
        let mut threads: Vec<u32> = self.open.keys().copied().collect();
        threads.sort_unstable();
        for thread in threads {
            self.close(thread, end_ns);
        }
        (self.done, self.cut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_follow_each_other_and_end_with_the_command() {
        let change = |time_ns, from, to| Change { time_ns, from, to };
        let mut slices = Slices::at_most(3);
        slices.take(1, &[change(10, None, Some(Part::Runnable))]);
        slices.take(2, &[change(12, None, Some(Part::OnCpu))]);
        // A wait that is explained later: nothing in between.
        slices.take(
            1,
            &[
                change(20, Some(Part::Runnable), Some(Part::OnCpu)),
                change(30, Some(Part::OnCpu), None),
            ],
        );
        slices.take(
            1,
            &[change(30, None, Some(Part::Disc)), change(50, Some(Part::Disc), Some(Part::OnCpu))],
        );
        let (done, cut) = slices.finish(60);
        let seen: Vec<_> =
            done.iter().map(|it| (it.thread, it.part, it.from_ns, it.to_ns)).collect();
        let want = [(1, Part::Runnable, 10, 20), (1, Part::OnCpu, 20, 30), (1, Part::Disc, 30, 50)];
        assert_eq!((seen.as_slice(), cut), (want.as_slice(), 2));
    }
}
