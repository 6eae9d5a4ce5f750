//! Steps one after the other.

use std::num::NonZero;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::condition::{self, Condition};
use super::limit::{self, Limited};
use super::notes::{note, strangers};
use super::script::{Arrivals, Script};
use super::servers::Servers;
use super::step::Seen;
use super::{Error, bounds, costs, label, lines, plan, price, rows, step, usage, working_set};
use crate::experiment::result::{LoadCurve, LoadDocument, LoadLimit, LoadPrice, LoadStep, Warning};
use crate::experiment::session::Session;
use crate::sys::cgroup::{Hierarchies, sweep};
use crate::sys::process;
use crate::units::Bytes;
use crate::workload::command::end_what_is_left;

/// More users than a machine has threads for.
pub const USERS_MAX: u32 = 10_000;

/// The spec of a load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Who the users are.
    pub script: Script,
    /// The numbers of users, a step each.
    pub users: Vec<u32>,
    /// How long a step lasts, after a fixed warm-up.
    pub duration: Duration,
    /// The beginning of a step that is in no figure. Without one the rule MSER-5 chooses it inside the
    /// duration.
    pub warm_up: Option<Duration>,
    /// Whether users do not think, and all arrivals are closed.
    pub certify: bool,
    /// Memory limits for all commands together; all steps are made under each of them.
    pub limits: Vec<Bytes>,
    /// Places of a system table: how many users are admitted at once. All steps are made under each of them.
    pub tables: Vec<u32>,
    /// Numbers of processors for all commands; all steps are made under each of them.
    pub cpus: Vec<u32>,
    /// Files whose pages leave the page cache before the steps of each limit.
    pub cold: Vec<String>,
    /// What to compute the price of commands from.
    pub price: Option<LoadPrice>,
    /// Whether the observer is given each interaction after its step, as
    /// [`Interim::LoadLine`](crate::experiment::session::Interim::LoadLine).
    #[serde(default)]
    pub lines: bool,
}

impl Spec {
    /// How many steps there are to make.
    pub fn steps(&self) -> usize {
        let varied = [self.limits.len(), self.tables.len(), self.cpus.len()];
        varied.into_iter().fold(self.users.len(), |steps, of| steps.saturating_mul(of.max(1)))
    }
}

/// Makes a step for each number of users. A signal ends it early: what was measured by then is in the
/// document. So does an error after the first step.
pub fn run(spec: &Spec, session: &mut Session<'_>) -> Result<LoadDocument, Error> {
    if let Some(&users) = spec.users.iter().find(|users| !(1..=USERS_MAX).contains(*users)) {
        return Err(Error::Users(users));
    }
    condition::check(spec)?;
    for (option, is_given) in
        [("--limit", !spec.limits.is_empty()), ("--cpus", !spec.cpus.is_empty())]
    {
        if is_given && !spec.script.has_commands() {
            return Err(Error::NoCommand(option));
        }
    }
    session.cancellation.listen().map_err(Error::Signals)?;
    process::become_subreaper().map_err(Error::Signals)?;
    let strangers = process::children();
    let made = steps(spec, session);
    session.observer.stage_over();
    end_what_is_left(&strangers);
    made
}

fn steps(spec: &Spec, session: &Session<'_>) -> Result<LoadDocument, Error> {
    let mut made = Made { notes: limit::outside(spec).into_iter().collect(), ..Made::default() };
    let hierarchies = Hierarchies::of_this_process();
    if spec.limits.is_empty() {
        made.under(spec, None, session)?;
    } else {
        // Groups of ours whose owner was killed together with its watchdog.
        sweep(&hierarchies);
    }
    for &limit in &spec.limits {
        let limited = match limit::set(spec, limit, &hierarchies, &mut made.notes) {
            Ok(limited) => limited,
            Err(error) if made.rows.is_empty() => return Err(error),
            Err(error) => {
                made.stopped = Some(error.to_string());
                break;
            }
        };
        made.under(spec, Some(&limited), session)?;
        if made.stopped.is_some() || session.is_over() {
            break;
        }
    }
    Ok(made.document(spec))
}

/// What was made so far.
#[derive(Debug, Default)]
struct Made {
    rows: Vec<LoadStep>,
    /// Processes that the kernel killed, of each row.
    killed: Vec<u64>,
    notes: Vec<Warning>,
    was_broken_off: bool,
    stopped: Option<String>,
}

impl Made {
    /// Makes the steps under a limit, or without one. The error is of the first step of all.
    fn under(
        &mut self,
        spec: &Spec,
        limited: Option<&Limited>,
        session: &Session<'_>,
    ) -> Result<(), Error> {
        let limit = limited.map(|limited| limited.limit);
        let conditions = Condition::under(spec, limit).into_iter();
        for condition in conditions {
            if self.stopped.is_some() || session.is_over() {
                break;
            }
            let group = limited.map(|limited| &limited.group);
            let processors = condition.cpus.map(|cpus| step::set(&step::first(cpus)));
            // They run until the last step of this condition.
            let servers = match Servers::start(&spec.script, group, processors, session) {
                Ok(servers) => servers,
                Err(error) if self.rows.is_empty() => return Err(error),
                Err(error) => {
                    self.stopped = Some(error.to_string());
                    break;
                }
            };
            self.under_condition(spec, (condition, limited), session)?;
            if let Some(server) = servers.ended().filter(|_| !session.is_over()) {
                self.stopped
                    .get_or_insert_with(|| Error::ServerGone(server.to_owned()).to_string());
            }
            drop(servers);
        }
        Ok(())
    }

    fn under_condition(
        &mut self,
        spec: &Spec,
        (condition, limited): (Condition, Option<&Limited>),
        session: &Session<'_>,
    ) -> Result<(), Error> {
        let each = spec.duration + spec.warm_up.unwrap_or_default();
        let whole = |time: Duration| usize::try_from(time.as_secs()).unwrap_or(usize::MAX);
        let total = each * u32::try_from(spec.steps()).unwrap_or(u32::MAX);
        for &users in &spec.users {
            let number = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
            let progress = |passed: Duration| {
                session.observer.progress("seconds", whole(each * number + passed), whole(total));
            };
            let made = step::make(spec, users, (condition, limited), session, &progress);
            let seen = made.and_then(|seen| has_room(limited, seen, session.is_over()));
            match seen {
                Ok(seen) => self.add(spec, users, condition, (&seen, session)),
                Err(error) if self.rows.is_empty() => return Err(error),
                Err(error) => self.stopped = Some(error.to_string()),
            }
            if self.stopped.is_some() || session.is_over() {
                break;
            }
        }
        Ok(())
    }

    fn add(
        &mut self,
        spec: &Spec,
        users: u32,
        condition: Condition,
        (seen, session): (&Seen, &Session<'_>),
    ) {
        let row = rows::row(spec, users, condition, seen);
        note(&row, seen, &mut self.notes);
        if spec.lines {
            let number = self.rows.len() as u64 + 1;
            let given = lines::hand_over(&spec.script, number, (&row, seen), session.observer);
            self.stopped = given.err().map(|error| error.to_string());
        }
        self.was_broken_off |= !seen.is_whole;
        self.rows.push(row);
        self.killed.push(seen.killed);
    }

    fn document(self, spec: &Spec) -> LoadDocument {
        let Self { mut rows, killed, mut notes, was_broken_off, stopped } = self;
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        let processors = u32::try_from(processors).unwrap_or(u32::MAX);
        label::all(&mut rows, processors, !spec.script.servers.is_empty());
        notes.extend(rows.iter().filter_map(|row| strangers(row, processors)));
        let mut classes = spec.script.classes.iter();
        // Without think times N* is of other users than the script's.
        let has_knee = !spec.certify && classes.all(|class| class.arrivals == Arrivals::Closed);
        let knee = |rows: &[LoadStep]| {
            let mut knee = bounds::knee(rows, processors).filter(|_| has_knee)?;
            knee.classes = plan::carried(&spec.script.classes, knee.users);
            Some(knee)
        };
        let by_limit = rows.chunk_by(|a, b| a.limit_bytes == b.limit_bytes);
        let mut killed = killed.into_iter();
        let mut limits: Vec<LoadLimit> = by_limit
            .filter_map(|rows| {
                Some(LoadLimit {
                    limit_bytes: rows.first()?.limit_bytes?,
                    used: usage::of_steps(rows.iter(), spec.price.as_ref()),
                    is_cheapest: false,
                    knee: knee(of_first_condition(rows)),
                    killed: killed.by_ref().take(rows.len()).sum(),
                })
            })
            .collect();
        if let Some(at) = price::cheapest(&limits) {
            limits[at].is_cheapest = true;
        }
        let curves: Vec<LoadCurve> = rows
            .chunk_by(|a, b| Condition::of(a) == Condition::of(b))
            .map(|rows| {
                let Condition { limit, table, cpus } = Condition::of(&rows[0]);
                LoadCurve { limit_bytes: limit, table, cpus, knee: knee(rows) }
            })
            .filter(|curve| (curve.limit_bytes, curve.table, curve.cpus) != (None, None, None))
            .collect();
        let costs = rows
            .chunk_by(|a, b| Condition::of(a) == Condition::of(b))
            .flat_map(|rows| costs::of(rows, knee(rows).as_ref(), processors, spec.price.as_ref()))
            .collect();
        let first = curves.first().map(|curve| curve.knee.clone());
        LoadDocument {
            schema: LoadDocument::SCHEMA.to_owned(),
            seed: spec.script.seed,
            thinks: !spec.certify,
            processors,
            price: spec.price,
            knee: first.unwrap_or_else(|| knee(&rows)),
            is_complete: !was_broken_off && stopped.is_none() && rows.len() == spec.steps(),
            limits,
            curves,
            working_set: working_set::of(&rows),
            steps: rows,
            stopped,
            costs,
            notes,
        }
    }
}

/// The steps before the first with other conditions: demands on one processor are not those on two.
fn of_first_condition(rows: &[LoadStep]) -> &[LoadStep] {
    rows.chunk_by(|a, b| Condition::of(a) == Condition::of(b)).next().unwrap_or_default()
}

/// What was seen, if the limit has room for one command.
fn has_room(limited: Option<&Limited>, seen: Seen, is_over: bool) -> Result<Seen, Error> {
    let answers = seen.kept.iter().flat_map(|kept| &kept.interactions);
    let has_answer = answers.clone().any(|one| one.is_command && !one.has_failed);
    match limited {
        Some(Limited { limit, .. }) if seen.killed > 0 && !has_answer && !is_over => {
            Err(Error::TooSmall { limit: *limit, killed: seen.killed })
        }
        _ => Ok(seen),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::result::LoadTimes;

    const SCRIPT: &str = "
        [[class]]
        name = 'heavy'
        think = { kind = 'fixed', seconds = 1 }
        command = [{ run = ['true'] }]
        [[class]]
        name = 'light'
        share = 2
        command = [{ run = ['true'] }]";

    fn spec(certify: bool) -> Spec {
        Spec {
            script: Script::parse(SCRIPT).unwrap(),
            users: vec![1],
            duration: Duration::from_secs(1),
            warm_up: None,
            certify,
            limits: vec![Bytes(1 << 30)],
            tables: Vec::new(),
            cpus: vec![1, 2],
            cold: Vec::new(),
            price: None,
            lines: false,
        }
    }

    /// One user, alone, whose commands need this much of a processor.
    fn row(cpus: u32, cpu_seconds: f64) -> LoadStep {
        LoadStep {
            users: 1,
            limit_bytes: Some(Bytes(1 << 30)),
            cpus: Some(cpus),
            interactions: 100,
            throughput_per_second: 0.8,
            think_seconds: Some(1.0),
            cpu_seconds_per_interaction: Some(cpu_seconds),
            response: Some(LoadTimes { mean_seconds: 0.2, ..LoadTimes::default() }),
            ..LoadStep::default()
        }
    }

    fn document(certify: bool) -> LoadDocument {
        let rows = vec![row(1, 0.2), row(2, 0.1)];
        Made { rows, killed: vec![0, 3], ..Made::default() }.document(&spec(certify))
    }

    #[test]
    fn the_knee_of_a_limit_is_of_its_first_condition() {
        let made = document(false);
        assert_eq!((made.limits.len(), made.curves.len(), made.limits[0].killed), (1, 2, 3));
        let users = |at: usize| made.curves[at].knee.as_ref().unwrap().users;
        assert!((users(0) - 6.0).abs() < 1e-9 && (users(1) - 24.0).abs() < 1e-9, "{made:?}");
        // Six users: one third of them is heavy.
        let classes = &made.curves[0].knee.as_ref().unwrap().classes;
        let of: Vec<_> = classes.iter().map(|one| (one.name.as_str(), one.users)).collect();
        assert_eq!(of, [("heavy", 2), ("light", 4)]);
        assert_eq!(made.limits[0].knee, made.curves[0].knee);
        assert_eq!(made.knee, made.curves[0].knee);
    }

    #[test]
    fn users_who_do_not_think_have_no_knee() {
        let made = document(true);
        let curves = made.curves.iter().map(|curve| &curve.knee);
        let limits = made.limits.iter().map(|limit| &limit.knee);
        assert!(curves.chain(limits).chain([&made.knee]).all(Option::is_none), "{made:?}");
    }
}
