//! What a caller wants of programs that run. For how long clearing marks may hold them up, that it waits while their
//! memory is reclaimed, and whether their cache is looked at.

use super::super::running::{MappedWatch, MappedWhen, Quiet};
use crate::trace::Looks;

/// With looks at any time, faults are counted for this long before the first one.
const BEFORE_NS: u64 = 2_000_000_000;
/// Slow clears in a row, each with a longer interval, after which a process is left out.
const SLOW_MAX: u32 = 4;

/// What a caller allows.
#[derive(Debug)]
pub(in crate::workload::record) struct Care {
    watch: MappedWatch,
    quiet: Quiet,
    has_snapshot: bool,
    began_ns: Option<u64>,
    has_looked: bool,
    /// Since when marks are left alone.
    rests_ns: Option<u64>,
}

impl Care {
    pub(in crate::workload::record) fn new(watch: MappedWatch, quiet: Quiet) -> Self {
        let (began_ns, rests_ns) = (None, None);
        Self { watch, quiet, has_snapshot: false, began_ns, has_looked: false, rests_ns }
    }

    /// Whether what is cached at the beginning is seen.
    #[must_use]
    pub(in crate::workload::record) fn with_snapshot(mut self, is_wanted: bool) -> Self {
        self.has_snapshot = is_wanted;
        self
    }

    pub(super) fn has_snapshot(&self) -> bool {
        self.has_snapshot
    }

    /// For how long clearing may hold up a process.
    pub(super) fn pause_ns(&self) -> u64 {
        self.watch.pause_ns()
    }

    /// Whether mapped files are watched at all.
    pub(super) fn is_off(&self) -> bool {
        self.watch.when == MappedWhen::Off
    }

    /// Whether marks may be cleared now.
    pub(super) fn may_look(&mut self, now_ns: u64, looks: &mut Looks) -> bool {
        let began_ns = *self.began_ns.get_or_insert(now_ns);
        let may = match self.watch.when {
            MappedWhen::Off => false,
            MappedWhen::On => now_ns.saturating_sub(began_ns) >= BEFORE_NS,
            MappedWhen::Auto => self.quiet.is_quiet(now_ns),
        };
        if !may {
            self.rests_ns = self.rests_ns.or(Some(now_ns));
        } else if self.has_looked {
            self.end_rest(now_ns, looks);
        } else {
            self.has_looked = true;
            self.rests_ns = None;
            looks.waited_ns = now_ns.saturating_sub(began_ns);
            self.quiet.note();
        }
        may
    }

    /// The recording ends.
    pub(super) fn finish(&mut self, now_ns: u64, looks: &mut Looks) {
        if self.has_looked {
            self.end_rest(now_ns, looks);
        } else {
            looks.waited_ns = self.began_ns.map_or(0, |began_ns| now_ns.saturating_sub(began_ns));
        }
    }

    fn end_rest(&mut self, now_ns: u64, looks: &mut Looks) {
        if let Some(since_ns) = self.rests_ns.take() {
            looks.rested_ns += now_ns.saturating_sub(since_ns);
        }
    }
}

/// How slowly the marks of one process are cleared.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slow(u32);

impl Slow {
    /// Clearing them took this long, and may take `pause_ns`.
    pub(super) fn took(&mut self, took_ns: u64, pause_ns: u64) {
        self.0 = if took_ns > pause_ns { self.0 + 1 } else { 0 };
    }

    /// How many times longer than others it is left alone.
    pub(super) fn times(self) -> u64 {
        1 << self.0.min(SLOW_MAX)
    }

    /// Whether it is to be left out.
    pub(super) fn is_over(self) -> bool {
        self.0 >= SLOW_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn care(when: MappedWhen) -> Care {
        Care::new(MappedWatch { when, ..MappedWatch::default() }, Quiet::default())
    }

    #[test]
    fn a_process_that_is_slow_again_and_again_is_left_out() {
        let pause_ns = MappedWatch::default().pause_ns();
        assert_eq!(pause_ns, 5_000_000);
        let mut slow = Slow::default();
        let mut times = Vec::new();
        for took_ns in [pause_ns, pause_ns + 1, 9 * pause_ns, 1, 9 * pause_ns] {
            slow.took(took_ns, pause_ns);
            times.push(slow.times());
        }
        assert_eq!((times, slow.is_over()), (vec![1, 2, 4, 1, 2], false));
        (1..SLOW_MAX).for_each(|_| slow.took(pause_ns + 1, pause_ns));
        assert!(slow.is_over());
        // A command has no limit.
        let mut slow = Slow::default();
        (0..9).for_each(|_| slow.took(u64::MAX, u64::MAX));
        assert_eq!((slow.times(), slow.is_over()), (1, false));
    }

    #[test]
    fn without_a_wish_marks_wait_until_nothing_was_reclaimed_for_a_while() {
        let (mut care, mut looks) = (care(MappedWhen::Auto), Looks::default());
        assert!(!care.is_off() && !care.may_look(100 * SECOND, &mut looks));
        care.finish(103 * SECOND, &mut looks);
        assert_eq!((looks.waited_ns, looks.rested_ns), (3 * SECOND, 0));
    }

    #[test]
    fn on_request_marks_are_cleared_after_faults_were_counted_without() {
        let (mut care, mut looks) = (care(MappedWhen::On), Looks::default());
        let may: Vec<bool> =
            (0..4).map(|second| care.may_look(second * SECOND, &mut looks)).collect();
        assert_eq!(may, [false, false, true, true]);
        care.finish(9 * SECOND, &mut looks);
        assert_eq!((looks.waited_ns, looks.rested_ns), (2 * SECOND, 0));
        assert_eq!(care.quiet.noted().len(), 1, "the faults at the first look");
    }

    #[test]
    fn a_rest_in_between_is_counted() {
        let (mut care, mut looks) = (care(MappedWhen::On), Looks::default());
        for second in [0, 2] {
            care.may_look(second * SECOND, &mut looks);
        }
        care.watch.when = MappedWhen::Off;
        assert!(care.is_off() && !care.may_look(5 * SECOND, &mut looks));
        assert!(!care.may_look(6 * SECOND, &mut looks));
        care.watch.when = MappedWhen::On;
        assert!(care.may_look(8 * SECOND, &mut looks));
        assert_eq!((looks.waited_ns, looks.rested_ns), (2 * SECOND, 3 * SECOND));
    }
}
