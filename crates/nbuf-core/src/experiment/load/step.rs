//! One step: a number of users for a time, and what came of it.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::thread::CpuSet;

use super::charge::{self, Charge, Charged};
use super::condition::{self, Condition};
use super::gauge::{self, Busy, Look};
use super::limit::Limited;
use super::meters::{Metered, Meters};
use super::places::Places;
use super::plan::{Sequence, mix};
use super::script::Arrivals;
use super::stop::Stop;
use super::user::{Kept, Shared, live};
use super::warm_up::{Cut, mser5};
use super::{Error, Spec};
use crate::experiment::session::Session;
use crate::sys::cgroup::{Group, GroupCounts};
use crate::sys::process::monotonic_ns;
use crate::workload::observe::commands::Changes;

/// How often the kernel's counters are read, and its records taken.
const LOOK: Duration = Duration::from_millis(100);
const LOOK_NS: u64 = 100_000_000;
/// What a user's thread needs for its calls.
const STACK_BYTES: usize = 512 << 10;
/// If this many interactions failed, and none did not, a limit is too small.
const FAILURES: usize = 10;
/// Commands have ended this long after the end of a step; a request that is asked for longer is left.
const END: Duration = Duration::from_secs(5);

/// What was seen in a step.
#[derive(Debug)]
pub(super) struct Seen {
    /// Users by class.
    pub(super) users: Vec<u32>,
    pub(super) kept: Vec<Kept>,
    pub(super) not_begun: u64,
    pub(super) busy: Busy,
    pub(super) metered: Metered,
    /// Processors whose idle time was looked at.
    pub(super) processors: usize,
    /// What the private group had, where there is one.
    pub(super) charged: Option<Charged>,
    /// What its processes did in the whole step.
    pub(super) group: Option<GroupCounts>,
    /// Processes of the group that the kernel killed for lack of memory.
    pub(super) killed: u64,
    /// The window of the figures.
    pub(super) begin_ns: u64,
    pub(super) from_ns: u64,
    pub(super) to_ns: u64,
    pub(super) cut: Option<Cut>,
    /// Whether the step came to its end.
    pub(super) is_whole: bool,
}

/// Makes a step with this many users. Progress is reported in seconds from `before`.
pub(super) fn make(
    spec: &Spec,
    users: u32,
    (condition, limited): (Condition, Option<&Limited>),
    session: &Session<'_>,
    progress: &dyn Fn(Duration),
) -> Result<Seen, Error> {
    let by_class = mix(&spec.script.classes, users);
    let changes = Arc::new(Changes::default());
    let used = condition.cpus.map(first);
    let before = Look::now().map_err(Error::Counters)?;
    let mut meters =
        Meters::begin(changes.clone(), spec.script.has_commands(), used.as_deref(), before);
    let total = spec.duration + spec.warm_up.unwrap_or_default();
    let begin_ns = monotonic_ns();
    let end_ns = begin_ns + nanos(total);
    let around = (condition, limited, used.as_deref());
    let ends = (changes, Stop::new().map_err(Error::Counters)?);
    let times = (begin_ns, end_ns);
    let shared = Arc::new(shared(spec, by_class.len(), around, times, ends, session));
    let killed_before = killed(&shared);
    let counted = shared.group.as_deref().map(Group::counts);
    let (threads, kept, refused) = start(&shared, &by_class);
    let watched = match &refused {
        None => watch(&shared, session, &mut meters, progress),
        Some(_) => Ok(Watched::default()),
    };
    shared.end();
    let stopped_ns = monotonic_ns();
    let kept = collect(threads, &kept);
    if let Some(error) = refused {
        return Err(error);
    }
    let Watched { looks, charges } = watched.map_err(Error::Counters)?;
    let metered = meters.finish(monotonic_ns());
    let failure = shared.failure.lock().map(|mut failure| failure.take()).unwrap_or_default();
    if let Some(error) = failure {
        return Err(error.into());
    }
    let to_ns = stopped_ns.min(end_ns);
    let not_begun = not_begun(spec, &shared, to_ns);
    let warmed_up = spec.warm_up.map(|fixed| ((begin_ns + nanos(fixed)).min(to_ns), None));
    let (from_ns, cut) = warmed_up.unwrap_or_else(|| warm_up(&kept, begin_ns));
    let busy = gauge::between(&looks, from_ns, to_ns + LOOK_NS, used.as_deref());
    Ok(Seen {
        users: by_class,
        kept,
        not_begun,
        busy,
        metered,
        processors: looked_at(used.as_deref(), &looks),
        charged: charge::between(&charges, from_ns, to_ns),
        group: counted.zip(shared.group.as_deref()).map(|(from, group)| group.counts().since(from)),
        killed: since(killed_before, killed(&shared)),
        begin_ns,
        from_ns,
        to_ns,
        cut,
        is_whole: stopped_ns >= end_ns,
    })
}

/// What all users of a step share.
fn shared(
    spec: &Spec,
    classes: usize,
    (condition, limited, used): (Condition, Option<&Limited>, Option<&[usize]>),
    (begin_ns, end_ns): (u64, u64),
    (changes, stop): (Arc<Changes>, Stop),
    session: &Session<'_>,
) -> Shared {
    Shared {
        script: Arc::new(spec.script.clone()),
        thinks: !spec.certify,
        account: session.account.clone(),
        group: limited.map(|limited| limited.group.clone()),
        changes,
        stop,
        places: condition.table.map(Places::new),
        processors: used.map(set),
        begin_ns,
        end_ns,
        arrivals: arrivals(spec, classes, begin_ns),
        count: AtomicUsize::new(0),
        answered: AtomicUsize::new(0),
        failure: Mutex::new(None),
    }
}

/// How many processors idle time is of.
fn looked_at(used: Option<&[usize]>, looks: &[Look]) -> usize {
    let all = || looks.first().map_or(1, |look| look.counts.idle_by_processor.len());
    used.map_or_else(all, <[usize]>::len)
}

/// Arrivals of open classes that no thread has begun to serve.
fn not_begun(spec: &Spec, shared: &Shared, to_ns: u64) -> u64 {
    let classes = spec.script.classes.iter().enumerate();
    let open = classes.filter(|(_, class)| shared.thinks && class.arrivals != Arrivals::Closed);
    open.map(|(at, _)| shared.waiting(at, to_ns)).sum()
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX / 2)
}

/// When each class arrives, from its own seed.
fn arrivals(spec: &Spec, classes: usize, begin_ns: u64) -> Vec<Mutex<(Sequence, u64)>> {
    let seed = spec.script.seed;
    (0..classes).map(|at| Mutex::new((Sequence::of_arrivals(seed, at), begin_ns))).collect()
}

/// The first of the processors that nbuf may use.
pub(super) fn first(cpus: u32) -> Vec<usize> {
    let mut processors = condition::processors();
    processors.truncate(usize::try_from(cpus).unwrap_or(usize::MAX));
    processors
}

pub(super) fn set(processors: &[usize]) -> CpuSet {
    let mut set = CpuSet::new();
    for &processor in processors {
        set.set(processor);
    }
    set
}

/// Starts a thread for each user; how many there are, and where they hand in what they did. The error is of
/// the first one that could not be started.
fn start(shared: &Arc<Shared>, by_class: &[u32]) -> (usize, Receiver<Kept>, Option<Error>) {
    let (hand_in, kept) = mpsc::channel();
    let mut threads = 0;
    for (class_at, &users) in by_class.iter().enumerate() {
        for user in 0..users {
            let (shared, hand_in) = (shared.clone(), hand_in.clone());
            // A receiver that is gone waits for no user any more.
            let life = move || drop(hand_in.send(live(&shared, class_at, user)));
            let started = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(life);
            if let Err(cause) = started {
                return (threads, kept, Some(Error::Thread { user: threads + 1, cause }));
            }
            threads += 1;
        }
    }
    (threads, kept, None)
}

/// What was read of the kernel's counters.
#[derive(Debug, Default)]
struct Watched {
    looks: Vec<Look>,
    charges: Vec<Charge>,
}

/// Waits for the end of the step, for a signal or for a user who ends it.
fn watch(
    shared: &Shared,
    session: &Session<'_>,
    meters: &mut Meters,
    progress: &dyn Fn(Duration),
) -> io::Result<Watched> {
    let signals = session.cancellation.listen()?;
    let charge = || shared.group.as_deref().map(Charge::now);
    let mut charges: Vec<Charge> = charge().into_iter().collect();
    let mut looks = vec![Look::now()?];
    loop {
        let now_ns = monotonic_ns();
        progress(Duration::from_nanos(now_ns - shared.begin_ns));
        let left = Duration::from_nanos(shared.end_ns.saturating_sub(now_ns)).min(LOOK);
        let left = Timespec::try_from(left).map_err(io::Error::other)?;
        let over = shared.stop.descriptor();
        let mut waiting = [
            PollFd::new(signals.descriptor(), PollFlags::IN),
            PollFd::from_borrowed_fd(over, PollFlags::IN),
        ];
        match poll(&mut waiting, Some(&left)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let look = Look::now()?;
        meters.take(&look);
        looks.push(look);
        charges.extend(charge());
        let is_over = !waiting[1].revents().is_empty();
        let is_over = is_over || has_no_room(shared) || session.cancellation.poll().is_some();
        if is_over || monotonic_ns() >= shared.end_ns {
            return Ok(Watched { looks, charges });
        }
    }
}

/// Processes that the kernel killed for lack of memory in the group so far.
fn killed(shared: &Shared) -> Option<u64> {
    Some(shared.group.as_ref()?.limiter().usage().ok()?.oom_kills)
}

/// How many more there are than before; none where one of the two could not be read.
fn since(before: Option<u64>, now: Option<u64>) -> u64 {
    before.zip(now).map_or(0, |(before, now)| now.saturating_sub(before))
}

/// Whether memory is too small for every command so far.
fn has_no_room(shared: &Shared) -> bool {
    let count = shared.count.load(Ordering::Relaxed);
    shared.group.is_some()
        && count >= FAILURES
        && shared.answered.load(Ordering::Relaxed) == 0
        && killed(shared).is_some_and(|killed| killed >= FAILURES as u64)
}

/// What all users did; those who still ask for something are left after a while.
fn collect(threads: usize, kept: &Receiver<Kept>) -> Vec<Kept> {
    let mut all = Vec::new();
    while all.len() < threads {
        let Ok(one) = kept.recv_timeout(END) else { break };
        all.push(one);
    }
    all
}

/// Where the figures begin: at the last answer that the rule leaves out.
fn warm_up(kept: &[Kept], begin_ns: u64) -> (u64, Option<Cut>) {
    let mut ended: Vec<(u64, f64)> = kept
        .iter()
        .flat_map(|kept| &kept.interactions)
        .map(|one| (one.ended_ns, one.ended_ns.saturating_sub(one.intended_ns) as f64))
        .collect();
    ended.sort_unstable_by_key(|&(ended_ns, _)| ended_ns);
    let responses: Vec<f64> = ended.iter().map(|&(_, response)| response).collect();
    let cut = mser5(&responses);
    let last = cut.values().checked_sub(1).and_then(|at| ended.get(at));
    (last.map_or(begin_ns, |&(ended_ns, _)| ended_ns), Some(cut))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_states_how_often_memory_is_sampled() {
        assert_eq!((LOOK.as_nanos(), LOOK * 10), (LOOK_NS.into(), Duration::from_secs(1)));
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/load.md");
        let page = std::fs::read_to_string(page).unwrap();
        assert!(page.contains("page cache included, over time; ten samples a second"));
    }

    #[test]
    fn a_count_that_cannot_be_read_is_no_count() {
        for (before, now, want) in [
            (Some(2), Some(5), 3),
            (Some(2), None, 0),
            (None, Some(5), 0),
            (Some(5), Some(2), 0),
            (None, None, 0),
        ] {
            assert_eq!(since(before, now), want, "{before:?} {now:?}");
        }
    }
}
