//! When a limit is enough: by fills, by elapsed time, or by time spent waiting for memory.

use crate::experiment::result::{SearchGoal, SearchOutcome, SearchRun, Verified};
use crate::experiment::search::enough;
use crate::experiment::target::Target;

/// How far a run may miss a goal of time for the next one to meet it.
const NOISE: f64 = 1.25;

/// The goal of a search, and its figures.
#[derive(Clone, Copy, Debug)]
pub(super) struct Enough {
    pub(super) goal: SearchGoal,
    pub(super) fills: u64,
}

impl Default for Enough {
    /// Anything is.
    fn default() -> Self {
        Self { goal: SearchGoal::Fills, fills: u64::MAX }
    }
}

impl Enough {
    /// What `target` wants, compared with a run without a limit.
    pub(super) fn of(target: Option<Target>, unlimited: &SearchRun) -> Self {
        let goal = match target {
            Some(Target::Slowdown(times)) => SearchGoal::Seconds(unlimited.seconds * times),
            Some(Target::Stall(share)) => SearchGoal::Stall(share),
            _ => SearchGoal::Fills,
        };
        Self { goal, fills: enough(unlimited.fills) }
    }

    /// A run that came to its end may have missed the goal.
    pub(super) fn judged(&self, run: SearchRun) -> SearchRun {
        if run.outcome != SearchOutcome::Enough || run.limit_bytes.is_none() {
            return run;
        }
        let outcome = match self.goal {
            SearchGoal::Fills if run.fills > self.fills => SearchOutcome::TooManyFills,
            SearchGoal::Seconds(most) if run.seconds > most => SearchOutcome::TooSlow,
            SearchGoal::Stall(most) if run.stall_share() > most => SearchOutcome::Stalled,
            _ => SearchOutcome::Enough,
        };
        SearchRun { outcome, ..run }
    }

    /// A run that filled too much for another goal. Where events were lost it filled more than was counted, and stays
    /// so.
    pub(super) fn judged_again(&self, run: &SearchRun) -> SearchRun {
        if run.outcome != SearchOutcome::TooManyFills || run.lost_events > 0 {
            return run.clone();
        }
        self.judged(SearchRun { outcome: SearchOutcome::Enough, ..run.clone() })
    }

    /// Whether a run says something of this goal. One that was stopped at fewer fills than are enough does not: it may
    /// have come to its end with no more.
    pub(super) fn is_decided(&self, run: &SearchRun) -> bool {
        let is_stopped = run.outcome == SearchOutcome::Stopped && self.goal == SearchGoal::Fills;
        !is_stopped || run.fills > self.fills
    }

    /// Whether a run that was stopped had missed the goal by then.
    pub(super) fn is_missed(&self, run: &SearchRun) -> bool {
        match self.goal {
            SearchGoal::Fills => run.fills > self.fills,
            SearchGoal::Seconds(most) => run.seconds > most,
            SearchGoal::Stall(most) => run.stall_share() > most,
        }
    }

    /// A run that verified a prediction, as one of the search.
    pub(super) fn of_verified(&self, run: &Verified) -> Option<SearchRun> {
        let searched = SearchRun::from(run);
        // With lost events there were more fills than were counted.
        let is_counted = run.lost_events == 0 || searched.outcome != SearchOutcome::Enough;
        is_counted.then(|| self.judged(searched))
    }

    /// Whether a run filled so little too much that the run without a limit may have filled too little.
    pub(super) fn is_doubtful(&self, run: &SearchRun) -> bool {
        run.outcome == SearchOutcome::TooManyFills && run.fills <= self.fills.saturating_mul(2)
    }

    /// Whether a run missed a goal of time by so little that the next one may meet it.
    pub(super) fn is_close(&self, run: &SearchRun) -> bool {
        match self.goal {
            SearchGoal::Fills => false,
            SearchGoal::Seconds(most) => {
                run.outcome == SearchOutcome::TooSlow && run.seconds <= most * NOISE
            }
            SearchGoal::Stall(most) => {
                run.outcome == SearchOutcome::Stalled && run.stall_share() <= most * NOISE
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    #[test]
    fn each_goal_has_its_figure() {
        let unlimited = SearchRun { fills: 10_000, seconds: 2.0, ..SearchRun::default() };
        let limit_bytes = Some(Bytes(1 << 20));
        let run = |fills, seconds, memory_pressure_seconds| SearchRun {
            limit_bytes,
            fills,
            seconds,
            memory_pressure_seconds,
            ..SearchRun::default()
        };
        let check = |target, run: SearchRun, want: (SearchOutcome, bool)| {
            let enough = Enough::of(target, &unlimited);
            let judged = enough.judged(run);
            assert_eq!((judged.outcome, enough.is_close(&judged)), want, "{target:?} {judged:?}");
        };
        let (slower, stall) = (Some(Target::Slowdown(1.5)), Some(Target::Stall(0.01)));
        check(None, run(11_000, 99.0, 9.0), (SearchOutcome::Enough, false));
        check(None, run(11_001, 1.0, 0.0), (SearchOutcome::TooManyFills, false));
        check(slower, run(99_000, 3.0, 2.0), (SearchOutcome::Enough, false));
        check(slower, run(10_000, 3.1, 0.0), (SearchOutcome::TooSlow, true));
        check(slower, run(10_000, 3.8, 0.0), (SearchOutcome::TooSlow, false));
        check(stall, run(99_000, 9.0, 0.09), (SearchOutcome::Enough, false));
        check(stall, run(99_000, 9.0, 0.10), (SearchOutcome::Stalled, true));
        check(stall, run(99_000, 9.0, 0.20), (SearchOutcome::Stalled, false));
        let fills = Enough::of(None, &unlimited);
        let doubtful = [11_000, 11_001, 22_000, 22_001]
            .map(|it| fills.is_doubtful(&fills.judged(run(it, 1.0, 0.0))));
        assert_eq!(doubtful, [false, true, true, false]);
        let less = Enough::of(None, &SearchRun { fills: 20_000, ..unlimited.clone() });
        let lost = |run| SearchRun { lost_events: 1, ..run };
        let stopped = |run| SearchRun { outcome: SearchOutcome::Stopped, ..run };
        let again = |run| less.judged_again(&fills.judged(run)).outcome;
        assert_eq!(again(run(15_000, 1.0, 0.0)), SearchOutcome::Enough);
        assert_eq!(again(run(22_001, 1.0, 0.0)), SearchOutcome::TooManyFills);
        assert_eq!(again(lost(run(15_000, 1.0, 0.0))), SearchOutcome::TooManyFills);
        assert_eq!(again(stopped(run(15_000, 1.0, 0.0))), SearchOutcome::Stopped);
        let decided = [15_000, 22_001].map(|it| less.is_decided(&stopped(run(it, 1.0, 0.0))));
        assert_eq!(decided, [false, true]);
        assert!(less.is_decided(&run(15_000, 1.0, 0.0)));
        let missed = |target, run| Enough::of(target, &unlimited).is_missed(&stopped(run));
        assert_eq!([11_000, 11_001].map(|it| missed(None, run(it, 9.0, 9.0))), [false, true]);
        assert_eq!([2.9, 3.1].map(|it| missed(slower, run(1, it, 0.0))), [false, true]);
        assert_eq!([0.09, 0.10].map(|it| missed(stall, run(1, 9.0, it))), [false, true]);
        check(
            slower,
            SearchRun { limit_bytes: None, ..run(1, 9.0, 0.0) },
            (SearchOutcome::Enough, false),
        );
    }
}
