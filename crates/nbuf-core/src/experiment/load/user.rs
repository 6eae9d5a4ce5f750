//! One user: thinks, acts, and notes how long it took.

use std::cell::Cell;
use std::ffi::OsString;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::thread::CpuSet;

use super::places::Places;
use super::plan::{Next, Sequence};
use super::request::Client;
use super::script::{Arrivals, Class, Script, What};
use super::stop::Stop;
use crate::sys::cgroup::Group;
use crate::sys::process::{Account, monotonic_ns};
use crate::workload::command::{Around, Command, Error, brief};
use crate::workload::observe::commands::Changes;

/// Interactions of a step at most, so that their times fit into memory: 96 bytes each.
pub(super) const INTERACTIONS_MAX: usize = 4_000_000;

/// What all users of a step share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) script: Arc<Script>,
    /// Whether users think, and arrivals are as the script says.
    pub(super) thinks: bool,
    pub(super) account: Option<Account>,
    /// What commands join.
    pub(super) group: Option<Arc<Group>>,
    /// Who follows the threads of commands.
    pub(super) changes: Arc<Changes>,
    pub(super) stop: Stop,
    /// The places of the system table.
    pub(super) places: Option<Places>,
    /// What commands may run on.
    pub(super) processors: Option<CpuSet>,
    /// When the step began and ends, on the monotonic clock.
    pub(super) begin_ns: u64,
    pub(super) end_ns: u64,
    /// The open arrivals of each class, and when the last one was that a user took.
    pub(super) arrivals: Vec<Mutex<(Sequence, u64)>>,
    /// Interactions so far.
    pub(super) count: AtomicUsize,
    /// Those of them that did not fail.
    pub(super) answered: AtomicUsize,
    /// Why the step cannot go on.
    pub(super) failure: Mutex<Option<Error>>,
}

/// One interaction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Interaction {
    pub(super) class: usize,
    /// The number of the action in the class.
    pub(super) action: usize,
    /// When it was to begin, when it began and when the answer was there.
    pub(super) intended_ns: u64,
    pub(super) began_ns: u64,
    pub(super) ended_ns: u64,
    /// The think time before it.
    pub(super) think_ns: u64,
    /// The wait for a place.
    pub(super) place_ns: u64,
    /// Processor time of the command and its descendants.
    pub(super) cpu_ns: u64,
    /// Page faults of them that needed I/O.
    pub(super) major_faults: u64,
    /// Page faults of them that needed none.
    pub(super) minor_faults: u64,
    /// Bytes that they read from discs.
    pub(super) bytes_read: u64,
    /// Whether it was a command, and no request.
    pub(super) is_command: bool,
    pub(super) has_failed: bool,
}

/// What one user did.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// The number of the user in the class, from 0.
    pub(super) user: u32,
    pub(super) interactions: Vec<Interaction>,
    /// Interactions that the end of the step broke off.
    pub(super) unfinished: u64,
    /// The first failure: of what, and why.
    pub(super) failure: Option<String>,
}

impl Shared {
    /// Takes the next arrival of a class.
    fn arrive(&self, class_at: usize) -> (Next, u64) {
        let mut arrivals = self.arrivals[class_at].lock().unwrap_or_else(PoisonError::into_inner);
        let next = arrivals.0.next(&self.script.classes[class_at], true);
        arrivals.1 = arrivals.1.saturating_add(next.pause.0);
        (next, arrivals.1)
    }

    /// How many arrivals of a class before this time no user took.
    pub(super) fn waiting(&self, class_at: usize, until_ns: u64) -> u64 {
        (0..INTERACTIONS_MAX as u64)
            .find(|_| self.arrive(class_at).1 >= until_ns)
            .unwrap_or(INTERACTIONS_MAX as u64)
    }

    /// Ends the step because of an error.
    fn fail(&self, error: Error) {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.end();
    }

    /// Ends the step for all users.
    pub(super) fn end(&self) {
        self.stop.now();
        if let Some(places) = &self.places {
            places.close();
        }
    }
}

/// The life of a user until the end of the step.
pub(super) fn live(shared: &Shared, class_at: usize, user: u32) -> Kept {
    let class = &shared.script.classes[class_at];
    let mut kept = Kept { user, ..Kept::default() };
    let mut state = UserState { shared, client: None, next_free_ns: shared.begin_ns };
    let is_open = shared.thinks && class.arrivals != Arrivals::Closed;
    let mut sequence = Sequence::of_user(shared.script.seed, class_at, user);
    loop {
        let (next, intended_ns) = if is_open {
            shared.arrive(class_at)
        } else {
            let next = sequence.next(class, shared.thinks);
            (next, state.next_free_ns.saturating_add(next.pause.0))
        };
        if intended_ns >= shared.end_ns || !shared.stop.comes_not_before(intended_ns) {
            return kept;
        }
        let think_ns = if is_open { 0 } else { next.pause.0 };
        let template = Interaction {
            class: class_at,
            action: next.action,
            intended_ns,
            think_ns,
            ..Interaction::default()
        };
        match state.act(class, next.action, template, &mut kept) {
            Ok(true) => {}
            Ok(false) => {
                kept.unfinished += 1;
                return kept;
            }
            Err(error) => {
                shared.fail(error);
                return kept;
            }
        }
        if shared.count.fetch_add(1, Ordering::Relaxed) >= INTERACTIONS_MAX {
            shared.end();
            return kept;
        }
    }
}

/// A user between two interactions.
struct UserState<'a> {
    shared: &'a Shared,
    client: Option<Client>,
    /// When the user had the last answer.
    next_free_ns: u64,
}

impl UserState<'_> {
    /// Acts once. Whether the answer came before the end of the step.
    fn act(
        &mut self,
        class: &Class,
        action: usize,
        interaction: Interaction,
        kept: &mut Kept,
    ) -> Result<bool, Error> {
        let what = &class.actions[action].what;
        let came_ns = monotonic_ns();
        if self.shared.places.as_ref().is_some_and(|places| !places.enter()) {
            return Ok(false);
        }
        let place_ns = monotonic_ns().saturating_sub(came_ns);
        let interaction = Interaction { place_ns, ..interaction };
        let done = match what {
            What::Command { run } => self.run(run, interaction),
            What::Request { get, timeout } => Ok(self.request(get, *timeout, interaction)),
        };
        if let Some(places) = &self.shared.places {
            places.leave();
        }
        let done = done?;
        let Some((done, failure)) = done else { return Ok(false) };
        self.next_free_ns = done.ended_ns;
        if kept.failure.is_none() {
            kept.failure = failure.map(|failure| format!("{}: {failure}", what.name()));
        }
        self.shared.answered.fetch_add(usize::from(!done.has_failed), Ordering::Relaxed);
        kept.interactions.push(done);
        Ok(true)
    }

    fn run(
        &self,
        run: &[String],
        interaction: Interaction,
    ) -> Result<Option<(Interaction, Option<String>)>, Error> {
        let arguments = run.iter().map(OsString::from).collect();
        let command =
            Command { arguments, account: self.shared.account.clone(), ..Command::default() };
        let (shared, thread) = (self.shared, Cell::new(None));
        let begins = |pid: i32, time_ns| {
            thread.set(Some(pid.unsigned_abs()));
            shared.changes.begins(pid.unsigned_abs(), time_ns);
        };
        let over = shared.stop.descriptor();
        let (group, processors) = (shared.group.as_deref(), shared.processors);
        let around = Around { group, processors, over, begins: &begins };
        let ran = brief(&command, around)?;
        if let Some(thread) = thread.get() {
            let (ended_ns, counts, used_disc) = ran.as_ref().map_or_else(
                || (monotonic_ns(), false, false),
                |ran| (ran.ended_ns, ran.exit_status == 0, ran.bytes_read > 0),
            );
            shared.changes.ends(thread, ended_ns, counts, used_disc);
        }
        let Some(ran) = ran else { return Ok(None) };
        let failure = (ran.exit_status != 0).then(|| format!("exit status {}", ran.exit_status));
        let done = Interaction {
            began_ns: ran.began_ns,
            ended_ns: ran.ended_ns,
            cpu_ns: ran.cpu_ns,
            major_faults: ran.major_faults,
            minor_faults: ran.minor_faults,
            bytes_read: ran.bytes_read,
            is_command: true,
            has_failed: failure.is_some(),
            ..interaction
        };
        Ok(Some((done, failure)))
    }

    fn request(
        &mut self,
        get: &str,
        timeout: Duration,
        interaction: Interaction,
    ) -> Option<(Interaction, Option<String>)> {
        let client = self.client.get_or_insert_with(Client::new);
        let began_ns = monotonic_ns();
        // The end of the step ends it, too.
        let left = Duration::from_nanos(self.shared.end_ns.saturating_sub(began_ns));
        let answer = client.get(get, timeout.min(left));
        let ended_ns = monotonic_ns();
        if answer.is_err() && ended_ns >= self.shared.end_ns {
            return None;
        }
        let has_failed = answer.is_err();
        Some((Interaction { began_ns, ended_ns, has_failed, ..interaction }, answer.err()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interactions_of_a_step_fit_into_a_known_amount_of_memory() {
        assert_eq!(size_of::<Interaction>(), 96);
        assert_eq!(INTERACTIONS_MAX * size_of::<Interaction>(), 384_000_000);
    }
}
