//! Counts what a grid has numbered: on another thread, while the grid numbers what comes next.
//!
//! A trace is read and numbered by one thread and counted by others. The counts are lent to a job of the
//! pool with all that waits for them, and come back with it. So one job is under way at most, and the
//! order of the accesses is kept.
//!
//! LRU alone has three stages: numbers, depths, counts of depths. The first and the second have a
//! thread each. The third goes to the thread of the numbers where that would have to wait: a job then
//! returns depths in the place of the pages.
//!
//! Invariant: the counts are those of one thread, and in one place at a time. Cost: 4 bytes an access
//! that waits, and handing over once for [`JOB_ACCESSES`].

use std::mem::take;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::thread;

use super::counting::{Cell, Counting};
use super::numbered::Numbered;
use super::stack::{AccessSource, Stack};
use crate::cache::engine::Accesses;
use crate::meter::distance::DepthCounts;

/// Accesses from which on a job is worth handing over. Tests have short traces.
pub(super) const JOB_ACCESSES: usize = if cfg!(test) { 100 } else { 1 << 16 };
/// Accesses that wait at most, in multiples of a job: the grid waits for the counts then.
const JOBS_WAITING: usize = 4;

/// With this number of jobs waiting, the grid counts depths itself, since it would wait for the counts otherwise. With
/// more than [`JOBS_WAITING`] it never does.
const JOBS_BEHIND: usize = 2;

/// What a step costs in memory and time, in accesses.
const STEP_COSTS: usize = if cfg!(test) { 1 } else { 64 };

/// What a job returns; or what it panicked with.
type Returned = thread::Result<(Counting, Vec<Numbered>)>;

/// Lends the counts to jobs.
pub(super) struct Counter {
    /// Absent while a job has them.
    counting: Option<Counting>,
    away: Option<Receiver<Returned>>,
    waiting: Vec<Numbered>,
    waiting_accesses: usize,
    /// The counts of depths, while the grid counts them itself.
    depths: Option<DepthCounts>,
    /// Steps that have depths in the place of pages, which are not counted yet.
    found: Vec<Numbered>,
    /// Steps that were counted: their room is used again.
    spare: Vec<Numbered>,
    /// Whether another thread may count.
    lends: bool,
}

impl Counter {
    /// `parallel`: several processors may be used.
    pub(super) fn new(cells: Vec<Cell>, parallel: bool) -> Self {
        Self {
            counting: Some(Counting { stack: None, cells, parallel }),
            away: None,
            waiting: Vec::new(),
            waiting_accesses: 0,
            depths: None,
            found: Vec::new(),
            spare: Vec::new(),
            // A pool of one thread may be the thread that would wait for it.
            lends: parallel && rayon::current_num_threads() > 1,
        }
    }

    /// The counts of all that was given, when they are there.
    pub(super) fn settle(&mut self) -> &mut Counting {
        while self.away.is_some() || !self.waiting.is_empty() {
            self.take_back();
            self.lend();
        }
        let mut counting = self.counting.take().expect("no job has the counts");
        self.give_depths_back(&mut counting);
        self.counting.insert(counting)
    }

    /// The same after [`Self::settle`].
    pub(super) fn settled(&self) -> &Counting {
        self.counting.as_ref().expect("the counts are settled")
    }

    /// The accesses of a step. Their source is given where parts are counted, which needs the
    /// requests at once. Their keys are given where caches prefetch: then no job is lent, as memory goes by the counts.
    pub(super) fn access(
        &mut self,
        accesses: &Accesses,
        source: Option<AccessSource>,
        keys: Option<&[u64]>,
    ) {
        if source.is_some() || keys.is_some() || !self.lends {
            self.settle().access(accesses, source, keys);
            return;
        }
        self.waiting_accesses += accesses.pages.len();
        match self.waiting.last_mut() {
            // Engines take one long step in less time than many short ones.
            Some(step) if step.takes(accesses) => step.add(accesses),
            _ => {
                let mut step = self.spare.pop().unwrap_or_default();
                step.add(accesses);
                self.waiting_accesses += STEP_COSTS;
                self.waiting.push(step);
            }
        }
        if self.waiting_accesses >= JOB_ACCESSES && self.has_come_back() {
            self.lend();
        } else if self.waiting_accesses >= JOB_ACCESSES * JOBS_WAITING {
            self.take_back();
            self.lend();
        }
    }

    /// These pages leave every cache.
    pub(super) fn remove(&mut self, pages: &[u32]) {
        match self.last() {
            Some(step) => {
                step.gone.extend_from_slice(pages);
                self.waiting_accesses += pages.len();
            }
            None => self.settle().remove(pages),
        }
    }

    /// Forgets the counts so far, and nothing of what the caches hold.
    pub(super) fn start_counting(&mut self) {
        match self.last() {
            Some(step) => step.starts_counting = true,
            None => self.settle().start_counting(),
        }
    }

    /// The step that waits last; an empty one if a job is under way for those before.
    fn last(&mut self) -> Option<&mut Numbered> {
        if self.waiting.is_empty() && self.away.is_some() {
            let step = self.spare.pop().unwrap_or_default();
            self.waiting_accesses += STEP_COSTS;
            self.waiting.push(step);
        }
        self.waiting.last_mut()
    }

    /// Lends the counts, which are here, to a job for all that waits.
    fn lend(&mut self) {
        self.lend_to(self.waiting_accesses >= JOB_ACCESSES * JOBS_BEHIND);
    }

    /// The same. `is_slow`: jobs take longer than the grid.
    fn lend_to(&mut self, is_slow: bool) {
        if self.waiting.is_empty() {
            return;
        }
        let Some(mut counting) = self.counting.take() else { return };
        if is_slow && counting.is_stack_alone() {
            let stack = counting.stack.as_mut();
            self.depths = self.depths.take().or_else(|| stack.map(Stack::lend_counts));
        } else {
            self.give_depths_back(&mut counting);
        }
        let finds = self.depths.is_some();
        let steps = take(&mut self.waiting);
        self.waiting_accesses = 0;
        let (give, returned) = sync_channel(1);
        self.away = Some(returned);
        rayon::spawn(move || {
            let run = if finds { find } else { count };
            let counted = catch_unwind(AssertUnwindSafe(|| run(counting, steps)));
            // A grid that was dropped meanwhile has no use for them.
            let _ = give.send(counted);
        });
        // While the job runs.
        self.count_found();
    }

    /// Counts the depths that jobs found.
    fn count_found(&mut self) {
        let Some(depths) = &mut self.depths else { return };
        for mut step in self.found.drain(..) {
            depths.add(&step.pages, step.request_ends());
            if step.starts_counting {
                depths.start_counting();
            }
            step.clear();
            self.spare.push(step);
        }
    }

    /// Puts the counts of depths where jobs count them.
    fn give_depths_back(&mut self, counting: &mut Counting) {
        self.count_found();
        if let (Some(depths), Some(stack)) = (self.depths.take(), &mut counting.stack) {
            stack.take_counts(depths);
        }
    }

    /// Whether no job has the counts.
    fn has_come_back(&mut self) -> bool {
        let Some(away) = &self.away else { return true };
        match away.try_recv() {
            Ok(returned) => self.receive(returned),
            Err(TryRecvError::Empty) => return false,
            Err(TryRecvError::Disconnected) => unreachable!("a job sends before it ends"),
        }
        true
    }

    /// Waits for the job that has the counts. A thread of the pool helps with what it finds, perhaps
    /// with this very job.
    fn take_back(&mut self) {
        while !self.has_come_back() {
            if rayon::yield_now() == Some(rayon::Yield::Executed) {
                continue;
            }
            let away = self.away.as_ref().expect("a job has the counts");
            let returned = away.recv().expect("a job sends before it ends");
            self.receive(returned);
        }
    }

    fn receive(&mut self, returned: Returned) {
        self.away = None;
        let (counting, steps) = returned.unwrap_or_else(|panic| resume_unwind(panic));
        self.counting = Some(counting);
        if self.depths.is_some() {
            self.found.extend(steps);
        } else {
            self.spare = steps;
        }
    }
}

fn count(mut counting: Counting, mut steps: Vec<Numbered>) -> (Counting, Vec<Numbered>) {
    for step in &mut steps {
        if !step.pages.is_empty() {
            let accesses = Accesses { pages: &step.pages, request_ends: step.request_ends() };
            counting.access(&accesses, None, None);
        }
        counting.remove(&step.gone);
        if step.starts_counting {
            counting.start_counting();
        }
        step.clear();
    }
    (counting, steps)
}

/// The same of LRU alone, without counting: depths take the place of pages.
fn find(mut counting: Counting, mut steps: Vec<Numbered>) -> (Counting, Vec<Numbered>) {
    if let Some(stack) = &mut counting.stack {
        for step in &mut steps {
            stack.replace_by_depths(&mut step.pages);
            stack.remove(&step.gone);
        }
    }
    (counting, steps)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::experiment::grid::stack::Stacked;

    /// A step, and what happens after it: a job that is or is not slow, or none.
    #[derive(Clone, Debug)]
    struct Event {
        requests: Vec<Vec<u32>>,
        gone: Vec<u32>,
        starts_counting: bool,
        lends: Option<bool>,
        settles: bool,
    }

    fn events() -> impl Strategy<Value = Vec<Event>> {
        let request = prop_oneof![
            5 => prop::collection::vec(0..30_u32, 1),
            1 => prop::collection::vec(0..30_u32, 1..4),
        ];
        let event = (
            prop::collection::vec(request, 0..9),
            prop::collection::vec(0..30_u32, 0..3),
            prop::bool::weighted(0.1),
            prop::option::of(any::<bool>()),
            prop::bool::weighted(0.1),
        );
        let event = event.prop_map(|(requests, gone, starts_counting, lends, settles)| Event {
            requests,
            gone,
            starts_counting,
            lends,
            settles,
        });
        prop::collection::vec(event, 0..40)
    }

    /// What a stack counts, with jobs or without.
    fn counted(events: &[Event], several: bool, lends: bool) -> Stacked {
        let mut counter = Counter::new(Vec::new(), false);
        counter.lends = lends;
        counter.settle().stack = Some(Stack::new(several, &[], None, None));
        for event in events {
            let pages = event.requests.concat();
            let ends = event.requests.iter().scan(0, |end, request| {
                *end += u32::try_from(request.len()).unwrap();
                Some(*end)
            });
            let ends: Vec<u32> = ends.collect();
            let has_several = pages.len() > event.requests.len();
            let request_ends = has_several.then_some(&ends[..]);
            if !pages.is_empty() {
                counter.access(&Accesses { pages: &pages, request_ends }, None, None);
            }
            counter.remove(&event.gone);
            if event.starts_counting {
                counter.start_counting();
            }
            if let Some(is_slow) = event.lends.filter(|_| lends) {
                counter.take_back();
                counter.lend_to(is_slow);
            }
            if event.settles {
                counter.settle();
            }
        }
        counter.settle().stack.take().unwrap().finish()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn it_does_not_matter_which_thread_counts_depths(
            events in events(),
            several in proptest::bool::ANY,
        ) {
            let (jobs, none) = (counted(&events, several, true), counted(&events, several, false));
            prop_assert_eq!(jobs.misses, none.misses);
            prop_assert_eq!(jobs.requests, none.requests);
        }
    }
}
