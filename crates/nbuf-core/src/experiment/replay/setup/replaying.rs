//! How much of the replays is done, of all sizes together: they run at once.

use std::sync::{Mutex, PoisonError};

use super::super::Next;
use crate::experiment::session::Session;
use crate::workload::process::Step;

/// Requests of a replay between two reports.
const REQUESTS: u64 = 1 << 12;
/// Requests in a step of a report.
const THOUSAND: u64 = 1000;

/// What one replay has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// A number of requests.
    Requests(u64),
    /// A number of commands of users, whose requests depend on the cache.
    Commands(u64),
    /// As much as there is: a trace that comes once, or what is over at once. It is not reported.
    Unknown,
}

/// The replays of a workload, until this is dropped.
pub(in super::super) struct Replaying<'a> {
    pub(super) session: &'a Session<'a>,
    work: Work,
    replays: u64,
    done: Mutex<u64>,
}

impl<'a> Replaying<'a> {
    /// This number of replays, each with this work.
    pub(super) fn new(session: &'a Session<'a>, work: Work, replays: usize) -> Self {
        let replaying = Self { session, work, replays: replays as u64, done: Mutex::new(0) };
        replaying.report(0);
        replaying
    }

    /// The counter of one replay.
    pub(super) fn counter(&'a self) -> Counter<'a> {
        Counter { replaying: self, count: 0 }
    }

    /// One replay reports at a time, so that reports never go back.
    fn add(&self, count: u64) {
        let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        *done += count;
        self.report(*done);
    }

    fn report(&self, done: u64) {
        let (stage, each, step) = match self.work {
            Work::Requests(each) => ("replaying (thousand requests)", each, THOUSAND),
            Work::Commands(each) => ("replaying (commands)", each, 1),
            Work::Unknown => return,
        };
        let steps = |count: u64| usize::try_from(count / step).unwrap_or(usize::MAX);
        let total = each.saturating_mul(self.replays);
        self.session.observer.progress(stage, steps(done.min(total)), steps(total));
    }
}

impl Drop for Replaying<'_> {
    fn drop(&mut self) {
        self.session.observer.stage_over();
    }
}

/// Counts the work of one replay.
pub(super) struct Counter<'a> {
    replaying: &'a Replaying<'a>,
    /// Not reported yet.
    count: u64,
}

impl Counter<'_> {
    /// Takes in a step of a process.
    pub(super) fn see(&mut self, next: &Next) {
        let most = match (self.replaying.work, next) {
            (Work::Requests(_), Next::Step(Step::Request(_))) => REQUESTS,
            (Work::Commands(_), Next::Step(Step::Done)) => 1,
            _ => return,
        };
        self.count += 1;
        if self.count == most {
            self.flush();
        }
    }

    /// Reports what is left. The replay is over.
    pub(super) fn flush(&mut self) {
        self.replaying.add(std::mem::take(&mut self.count));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use crate::experiment::replay::{self, Spec};
    use crate::experiment::session::{Cancellation, Observer, Session};

    /// Keeps the reports of replays.
    #[derive(Default)]
    struct Seen(Mutex<Vec<(usize, usize)>>);

    impl Observer for Seen {
        fn progress(&self, stage: &str, done: usize, total: usize) {
            if stage.starts_with("replaying") {
                self.0.lock().unwrap().push((done, total));
            }
        }
    }

    fn reports(spec: &Spec) -> Vec<(usize, usize)> {
        let seen = Seen::default();
        let cancellation = Cancellation::without_signals();
        replay::run(spec, &mut Session { cancellation, ..Session::new(&seen) }).unwrap();
        seen.0.into_inner().unwrap()
    }

    #[test]
    fn all_sizes_together_reach_the_total() {
        let traces = vec!["zipf:keys=1000,requests=10000".into()];
        let sizes = Some("100,200".parse().unwrap());
        let seen = reports(&Spec { traces, sizes, ..Spec::default() });
        // No cache is the third.
        assert_eq!((seen.first(), seen.iter().max()), (Some(&(0, 30)), Some(&(30, 30))));
        assert!(seen.len() > 6, "{seen:?}");
    }

    #[test]
    fn the_commands_of_users_are_counted() {
        let (users, commands) = (Some(2), Some(3));
        let traces = vec!["tools".into()];
        let disc = "modcomp-4138".to_owned();
        let seen = reports(&Spec { traces, disc, users, commands, ..Spec::default() });
        assert_eq!(seen, (0..=6).map(|done| (done, 6)).chain([(6, 6)]).collect::<Vec<_>>());
    }
}
