//! What two documents are compared by: each figure of all runs of both.

use std::collections::BTreeMap;

use crate::experiment::result::{RunCache, RunSample, RunUnit};

/// One figure.
#[derive(Clone, Debug)]
pub(super) struct Figure {
    /// Such as `minor faults`.
    pub name: String,
    /// The unit of the values.
    pub unit: RunUnit,
    /// In the runs of A.
    pub a: Vec<f64>,
    /// In the runs of B.
    pub b: Vec<f64>,
}

type Of = fn(&RunSample) -> Option<f64>;

/// All figures that each run of both sides has, the parts of real time apart.
pub(super) fn figures(a: &[RunSample], b: &[RunSample]) -> Vec<Figure> {
    let mut all: Vec<Figure> = FIGURES
        .iter()
        .filter_map(|&(name, unit, of)| {
            let (a, b) = (values(a, of)?, values(b, of)?);
            Some(Figure { name: name.to_owned(), unit, a, b })
        })
        .collect();
    all.extend(meters(a, b));
    all
}

fn values(of: &[RunSample], figure: Of) -> Option<Vec<f64>> {
    of.iter().map(figure).collect()
}

const FIGURES: [(&str, RunUnit, Of); 15] = [
    ("CPU in programs", RunUnit::Seconds, |run| Some(run.user_seconds)),
    ("CPU in the kernel", RunUnit::Seconds, |run| Some(run.system_seconds)),
    ("major faults", RunUnit::Count, |run| Some(run.faults_major as f64)),
    ("minor faults", RunUnit::Count, |run| Some(run.faults_minor as f64)),
    ("look-ups in the page cache", RunUnit::Count, |run| cache(run, |cache| cache.lookups)),
    ("misses of the page cache", RunUnit::Count, |run| {
        cache(run, |cache| cache.lookups.saturating_sub(cache.hits))
    }),
    ("fills", RunUnit::Count, |run| cache(run, |cache| cache.fills)),
    ("disc read", RunUnit::Bytes, |run| Some(run.device_read_bytes.0 as f64)),
    ("disc written", RunUnit::Bytes, |run| Some(run.device_written_bytes.0 as f64)),
    ("peak memory", RunUnit::Bytes, |run| Some(run.memory_bytes_max.0 as f64)),
    ("waits", RunUnit::Count, |run| Some(run.switches_voluntary as f64)),
    ("processors taken away", RunUnit::Count, |run| Some(run.switches_involuntary as f64)),
    ("processes", RunUnit::Count, |run| run.processes.map(|count| count as f64)),
    ("threads", RunUnit::Count, |run| run.threads.map(|count| count as f64)),
    ("thread time", RunUnit::Seconds, |run| run.thread_time.map(|parts| parts.sum_seconds())),
];

fn cache(run: &RunSample, of: fn(&RunCache) -> u64) -> Option<f64> {
    run.cache.as_ref().map(|cache| of(cache) as f64)
}

/// The name of a meter, and whether it is a call.
type Key<'a> = (bool, Option<&'a str>, &'a str);

/// A count and a time for each kind of event that a run of either side has.
fn meters(a: &[RunSample], b: &[RunSample]) -> Vec<Figure> {
    let mut rows: BTreeMap<Key<'_>, [Vec<f64>; 4]> = BTreeMap::new();
    let runs: Vec<&RunSample> = a.iter().chain(b).collect();
    if runs.iter().any(|run| run.meters.is_none()) {
        return Vec::new();
    }
    for (at, run) in runs.iter().enumerate() {
        let (side, place, of) =
            if at < a.len() { (0, at, a.len()) } else { (1, at - a.len(), b.len()) };
        for meter in run.meters.iter().flatten() {
            let key = (meter.is_call, meter.step_of.as_deref(), meter.name.as_str());
            let rows = rows.entry(key).or_insert_with(|| {
                [vec![0.0; a.len()], vec![0.0; b.len()], vec![0.0; a.len()], vec![0.0; b.len()]]
            });
            debug_assert!(place < of);
            rows[side][place] = meter.count as f64;
            rows[side + 2][place] = meter.total_seconds;
        }
    }
    rows.into_iter()
        .flat_map(|(key, [count_a, count_b, time_a, time_b])| {
            let (count, time) = names(key);
            let of = |name, unit, a, b| Figure { name, unit, a, b };
            [
                of(count, RunUnit::Count, count_a, count_b),
                of(time, RunUnit::Seconds, time_a, time_b),
            ]
        })
        .collect()
}

/// The names of the count and of the time.
fn names((is_call, step_of, name): Key<'_>) -> (String, String) {
    match (is_call, step_of) {
        (true, _) => (format!("{name} calls"), format!("time in {name}")),
        (false, Some(whole)) => {
            (format!("{whole}, {name}: count"), format!("{whole}, {name}: time"))
        }
        (false, None) => (format!("{name}: count"), format!("{name}: time")),
    }
}
