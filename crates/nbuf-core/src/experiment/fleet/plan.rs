//! The plan: inputs become tasks, the largest first.
//!
//! A volume with more accesses than the whole divided by four times the workers is split: by time, which is
//! exact, or by the hash of its pages where its pages may not fit into memory. Invariant: the plan follows from
//! the inputs and the spec alone; the hash of a task names all that changes its result.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};

use super::cuts::{memory_of, pieces};
use super::folder::{Folder, VERSION};
use super::inputs::{self, Found, Inputs, must_go_on};
use super::{Error, Spec, Split, hosts, objects};
use crate::experiment::memory::bound;
use crate::experiment::result::{FleetBy, FleetInput, FleetPiece, FleetTask};
use crate::experiment::session::Session;
use crate::sys::input;
use crate::workload::format::native;
use crate::workload::source::{CancellationToken, object::is_object};

/// Bytes of a record, in an estimate, of a text and of a file that is packed.
const RECORD_BYTES: u64 = 32;
const PACKED_RECORD_BYTES: u64 = 6;
/// The stage in which inputs are looked into, for their accesses and beginnings.
const PLANNING: &str = "planning (inputs)";
/// Tasks for each worker that no volume alone may exceed.
const TASKS_PER_WORKER: u64 = 4;

/// A plan, and what is not in it.
#[derive(Clone, Debug, Default)]
pub struct Planned {
    /// The tasks, the largest first.
    pub tasks: Vec<FleetTask>,
    /// Files of directories that are of no known format.
    pub unknown: Vec<PathBuf>,
    /// Other names of inputs, such as hard links.
    pub doubles: Vec<PathBuf>,
}

/// Inputs that are read together, with an estimate.
#[derive(Clone)]
pub(super) struct Candidate {
    pub(super) input: FleetInput,
    /// Further inputs, of a host.
    pub(super) others: Vec<FleetInput>,
    pub(super) later_seconds: Vec<u64>,
    pub(super) group: String,
    pub(super) accesses: u64,
}

/// Makes the plan, and writes it into the folder of the spec.
pub(super) fn plan(spec: &Spec, session: &Session<'_>) -> Result<Planned, Error> {
    let Inputs { files, unknown, doubles } = inputs::find(spec, session)?;
    let until_us = spec.until.map(|until| inputs::until_us(&files, spec, until, session));
    let until_us = until_us.transpose()?;
    let (token, mut steps) = (session.cancellation.token(), session.steps(PLANNING, files.len()));
    let partitions = spec.partitions.map(|by| (spec_of_partitions(spec, by), files.clone()));
    let own = if spec.by == FleetBy::Host {
        hosts::candidates(files, &token, || steps.next())?
    } else {
        candidates(files, spec, &token, || steps.next())?
    };
    drop(steps);
    let mut planned = checked_tasks(&own, spec, until_us)?;
    if let Some((spec, files)) = partitions {
        let parts = candidates(files, &spec, &token, || ())?;
        planned.extend(checked_tasks(&parts, &spec, None)?);
        largest_first(&mut planned);
    }
    // What could not be looked into is guessed, so this would be another plan.
    must_go_on(&token)?;
    Folder::make(&spec.out)?.write_tasks(&planned)?;
    Ok(Planned { tasks: planned, unknown, doubles })
}

/// What the volumes of hosts are planned by, each with memory of its own.
fn spec_of_partitions(spec: &Spec, by: FleetBy) -> Spec {
    Spec { by, policies: Vec::new(), until: None, partitions: None, ..spec.clone() }
}

/// A candidate for each file. Calls `step` for each. A signal ends it.
fn candidates(
    files: Vec<Found>,
    spec: &Spec,
    token: &CancellationToken,
    mut step: impl FnMut(),
) -> Result<Vec<Candidate>, Error> {
    let mut directories = BTreeMap::new();
    let one = |file| {
        must_go_on(token)?;
        step();
        candidate(file, spec, token, &mut directories)
    };
    files.into_iter().map(one).collect()
}

/// The tasks, unless objects of a directory are numbered by each of its files: the hash of a page would not be the
/// same.
fn checked_tasks(
    candidates: &[Candidate],
    spec: &Spec,
    until_us: Option<i64>,
) -> Result<Vec<FleetTask>, Error> {
    let groups: BTreeSet<&str> = candidates.iter().map(|candidate| &*candidate.group).collect();
    let has_many = groups.len() < candidates.len();
    if matches!(spec.split, Split::Hash(_)) && spec.by == FleetBy::Directory && has_many {
        return Err(Error::HashOfDirectory);
    }
    Ok(tasks(candidates, spec, until_us))
}

/// An input with its volume. A directory has the name by which it is first given.
fn candidate(
    file: Found,
    spec: &Spec,
    token: &CancellationToken,
    directories: &mut BTreeMap<PathBuf, String>,
) -> Result<Candidate, Error> {
    let Found { named, input } = file;
    let name = text(&named)?;
    let group = match spec.by {
        FleetBy::File | FleetBy::Host => name,
        FleetBy::Directory => {
            let own = named.parent().filter(|parent| !parent.as_os_str().is_empty());
            let own = text(own.unwrap_or(Path::new(".")))?;
            let parent = Path::new(&input.path).parent().unwrap_or(Path::new("/"));
            directories.entry(parent.to_owned()).or_insert(own).clone()
        }
        FleetBy::Volume => "all".to_owned(),
    };
    let accesses = accesses(&named, input.bytes, token);
    Ok(Candidate { input, others: Vec::new(), later_seconds: Vec::new(), group, accesses })
}

fn text(path: &Path) -> Result<String, Error> {
    path.to_str().map(str::to_owned).ok_or_else(|| Error::Name(path.into()))
}

/// Accesses of an input, by its footer or its length.
pub(super) fn accesses(path: &Path, bytes: u64, token: &CancellationToken) -> u64 {
    native_of(path, token, native::rows).unwrap_or_else(|| {
        let packed = ["gz", "xz", "zst", "zstd", "parquet"];
        let is_packed = path.extension().is_some_and(|end| packed.iter().any(|one| end == *one));
        bytes / if is_packed { PACKED_RECORD_BYTES } else { RECORD_BYTES }
    })
}

/// What the footer of a native trace says.
pub(super) fn native_of(
    path: &Path,
    token: &CancellationToken,
    read: fn(&File) -> Result<u64, native::ReadError>,
) -> Option<u64> {
    let is_native = path.extension().is_some_and(|end| end == "parquet");
    let open = || {
        if is_object(path) { objects::footer(path, token) } else { input::open(path).ok() }
    };
    is_native.then(|| read(&open()?).ok()).flatten()
}

/// The tasks, the largest first.
fn tasks(candidates: &[Candidate], spec: &Spec, until_us: Option<i64>) -> Vec<FleetTask> {
    let all: u64 = candidates.iter().map(|candidate| candidate.accesses).sum();
    let workers = u64::from(spec.workers.max(1));
    let share = (all / (TASKS_PER_WORKER * workers)).max(1);
    let memory = bound(spec.memory, "").allowed.0 / workers;
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    for candidate in candidates {
        *sizes.entry(&candidate.group).or_default() += 1;
    }
    let mut tasks = Vec::new();
    for (at, candidate) in candidates.iter().enumerate() {
        let in_group = sizes[&*candidate.group];
        // Pieces of one input follow each other; those of a later input come behind them.
        let first = u32::try_from(at).unwrap_or(u32::MAX).saturating_mul(1 << 10);
        let pieces = pieces(candidate, share, memory, spec, in_group);
        for (sequence, &(piece, part)) in (first..).zip(&pieces) {
            let mut task = task(candidate, (piece, part), memory, spec);
            task.sequence = sequence;
            task.is_alone =
                in_group == 1 && (pieces.len() == 1 || matches!(piece, FleetPiece::Hash { .. }));
            task.until_us = until_us;
            tasks.push(task);
        }
    }
    if !spec.policies.is_empty() {
        tasks.extend(together(candidates).iter().map(|group| of_policies(group, memory, spec)));
    }
    for task in &mut tasks {
        task.task = hash(task);
    }
    largest_first(&mut tasks);
    tasks
}

fn largest_first(tasks: &mut [FleetTask]) {
    tasks.sort_by_key(|task| std::cmp::Reverse(task.estimated_accesses));
}

/// A task without its name and its place.
fn task(
    candidate: &Candidate,
    (piece, part): (FleetPiece, u64),
    memory: u64,
    spec: &Spec,
) -> FleetTask {
    FleetTask {
        schema: FleetTask::SCHEMA.to_owned(),
        version: VERSION.to_owned(),
        task: String::new(),
        volume: candidate.group.clone(),
        by: spec.by,
        input: candidate.input.clone(),
        others: candidate.others.clone(),
        later_seconds: candidate.later_seconds.clone(),
        format: spec.format.as_ref().map(ToString::to_string),
        page_bytes: spec.page_bytes,
        piece,
        policies: Vec::new(),
        policy_size: None,
        until_us: None,
        sequence: 0,
        is_alone: true,
        estimated_accesses: candidate.accesses / part.max(1),
        estimated_bytes: memory_of(candidate.accesses) / part.max(1),
        memory_bytes: memory,
    }
}

/// All inputs of each group: policies do not merge.
fn together(candidates: &[Candidate]) -> Vec<Candidate> {
    let mut groups: BTreeMap<&str, Candidate> = BTreeMap::new();
    for candidate in candidates {
        match groups.entry(&candidate.group) {
            Entry::Vacant(place) => {
                place.insert(candidate.clone());
            }
            Entry::Occupied(mut place) => {
                let group = place.get_mut();
                group.others.push(candidate.input.clone());
                group.accesses += candidate.accesses;
            }
        }
    }
    groups.into_values().collect()
}

/// The task that simulates policies on a group.
fn of_policies(group: &Candidate, memory: u64, spec: &Spec) -> FleetTask {
    let mut task = task(group, (FleetPiece::Policies, 1), memory, spec);
    task.policies = spec.policies.iter().map(ToString::to_string).collect();
    task.policy_size = Some(spec.policy_size.to_string());
    task
}

/// FNV-1a, of 64 bits.
pub(in crate::experiment) fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// What [`fnv`] begins with.
pub(in crate::experiment) const FNV: u64 = 0xcbf2_9ce4_8422_2325;

/// The name of a task: a hash of all that changes what it leaves.
pub(super) fn hash(task: &FleetTask) -> String {
    let FleetTask { version, volume, by, input, format, page_bytes, piece, is_alone, .. } = task;
    let FleetTask { others, later_seconds, policies, policy_size, until_us, .. } = task;
    let text = format!(
        "{version}\n{volume}\n{by:?}\n{input:?}\n{format:?}\n{page_bytes}\n{piece:?}\n{is_alone}\n{others:?}\n\
         {later_seconds:?}\n{policies:?}\n{policy_size:?}\n{until_us:?}"
    );
    format!("{:016x}", fnv(FNV, text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Mutex, OnceLock};

    use super::*;
    use crate::experiment::session::{Observer, Stopper};
    use crate::units::Nanos;

    fn candidate(group: &str, path: &str, accesses: u64) -> Candidate {
        let (modified_seconds, modified_nanoseconds) = (2, 3);
        let path = path.to_owned();
        let tag = None;
        let input = FleetInput { path, bytes: 1, modified_seconds, modified_nanoseconds, tag };
        let (others, later_seconds) = (Vec::new(), Vec::new());
        Candidate { input, others, later_seconds, group: group.to_owned(), accesses }
    }

    fn spec(split: Split) -> Spec {
        Spec { workers: 2, split, memory: Some("1GiB".parse().unwrap()), ..Spec::default() }
    }

    /// Keeps the reports of a plan.
    #[derive(Default)]
    struct Seen(Mutex<Vec<(String, usize, usize)>>);

    impl Observer for Seen {
        fn progress(&self, stage: &str, done: usize, total: usize) {
            self.0.lock().unwrap().push((stage.to_owned(), done, total));
        }
    }

    #[test]
    fn each_file_is_a_step_of_each_stage() {
        let place = tempfile::tempdir().unwrap();
        let traces = place.path().join("traces");
        std::fs::create_dir(&traces).unwrap();
        // An empty file may be of any format.
        for name in ["a.csv", "b.csv"] {
            File::create(traces.join(name)).unwrap();
        }
        for by in [FleetBy::File, FleetBy::Volume] {
            let inputs = vec![traces.to_str().unwrap().to_owned()];
            let out = place.path().join("out");
            let spec = Spec { inputs, out, by, ..spec(Split::Auto) };
            let seen = Seen::default();
            assert_eq!(plan(&spec, &Session::new(&seen)).unwrap().tasks.len(), 2);
            let seen = seen.0.into_inner().unwrap();
            let stages = ["recognising (files)", PLANNING];
            let want =
                stages.map(|stage| [0, 1, 2].map(|done: usize| (stage.to_owned(), done, 2_usize)));
            assert_eq!(seen, want.concat());
        }
    }

    /// Ends a plan in a stage, and counts the steps of the stage.
    struct Ending {
        stage: &'static str,
        stopper: OnceLock<Stopper>,
        steps: AtomicUsize,
    }

    impl Observer for Ending {
        fn progress(&self, stage: &str, done: usize, _total: usize) {
            if stage == self.stage && done > 0 {
                self.stopper.get().unwrap().stop();
                self.steps.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    #[test]
    fn a_signal_ends_each_stage_at_the_next_input() {
        let place = tempfile::tempdir().unwrap();
        let (traces, out) = (place.path().join("host=a"), place.path().join("out"));
        std::fs::create_dir(&traces).unwrap();
        for name in ["a.csv", "b.csv", "c.csv"] {
            std::fs::write(traces.join(name), "1,R,0,4096,5\n").unwrap();
        }
        let check = |by, until, stage| {
            let (stopper, steps) = (OnceLock::new(), AtomicUsize::new(0));
            let ending = Ending { stage, stopper, steps };
            let session = Session::new(&ending);
            ending.stopper.set(session.cancellation.stopper()).unwrap();
            let inputs = vec![traces.to_str().unwrap().to_owned()];
            let spec = Spec { inputs, out: out.clone(), by, until, ..spec(Split::Auto) };
            let planned = plan(&spec, &session);
            assert!(matches!(planned, Err(Error::Unplanned)), "{stage}, {by:?}: {planned:?}");
            assert_eq!(ending.steps.load(Ordering::Relaxed), 1, "{stage}, {by:?}");
            assert!(!out.exists(), "{stage}, {by:?}");
        };
        for by in [FleetBy::File, FleetBy::Host] {
            check(by, None, "recognising (files)");
            check(by, Some(Nanos(1)), "first requests (inputs)");
            check(by, None, PLANNING);
        }
    }

    #[test]
    fn giants_are_split_and_the_largest_come_first() {
        let (large, small) = (80_000_000, 900_000);
        let fleet =
            [candidate("a", "a", 10), candidate("b", "b", large), candidate("c", "c", small)];
        let tasks = tasks(&fleet, &spec(Split::Auto), None);
        let pieces: Vec<_> =
            tasks.iter().map(|task| (&*task.volume, task.estimated_accesses)).collect();
        assert_eq!(pieces.iter().filter(|piece| **piece == ("b", large / 8)).count(), 8);
        assert_eq!(&pieces[8..], [("c", small), ("a", 10)]);
        let times = tasks.iter().filter(|task| matches!(task.piece, FleetPiece::Time { .. }));
        let mut ends: Vec<_> = times
            .map(|task| match task.piece {
                FleetPiece::Time { from, to } => (from, to),
                _ => (0, None),
            })
            .collect();
        ends.sort_unstable();
        assert!(ends.windows(2).all(|pair| pair[0].1 == Some(pair[1].0)), "{ends:?}");
        assert_eq!((ends[0].0, ends[7].1), (0, None));
        let mut names: Vec<_> = tasks.iter().map(|task| &task.task).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), tasks.len());
    }

    #[test]
    fn what_may_not_fit_is_split_by_hash_with_an_exact_head() {
        let tasks = tasks(&[candidate("b", "b", 500_000_000)], &spec(Split::Auto), None);
        assert_eq!(tasks[0].piece, FleetPiece::Head { pages: 80, parts: 4 });
        assert_eq!(tasks.len(), 5);
        assert!(!tasks[0].is_alone && tasks[1..].iter().all(|task| task.is_alone));
    }

    #[test]
    fn inputs_of_one_volume_are_not_split_into_different_parts() {
        let inputs = [candidate("all", "1", 500_000_000), candidate("all", "2", 10)];
        let tasks = tasks(&inputs, &Spec { by: FleetBy::Volume, ..spec(Split::Auto) }, None);
        let is_exact =
            |task: &FleetTask| matches!(task.piece, FleetPiece::Time { .. } | FleetPiece::Whole);
        assert!(tasks.iter().all(is_exact), "{tasks:?}");
    }

    #[test]
    fn a_name_changes_with_the_input_and_not_with_the_memory() {
        let name = |input: &str, spec: &Spec| {
            tasks(&[candidate("v", input, 5)], spec, None)[0].task.clone()
        };
        let (none, more) = (spec(Split::None), Spec { workers: 9, ..spec(Split::None) });
        assert_eq!(name("a", &none), name("a", &more));
        assert_ne!(name("a", &none), name("b", &none));
    }
}
