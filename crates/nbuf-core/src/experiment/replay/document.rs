//! The verb: replays a workload with each size of the cache, and makes the document.

use rayon::prelude::*;

use super::error::Error;
use super::setup::{Config, Outcome, Workload, named};
use super::spec::Spec;
use super::{Observer, Points};
use crate::experiment::notice::Notice;
use crate::experiment::result::{ReplayDocument, ReplaySize};
use crate::experiment::session::Session;
use crate::experiment::warning::{ReplayWarning, Warning};

/// Replays the workload of the spec, once with each size of the cache. The session seeds discs, policies
/// and synthetic workloads. A signal ends it early: the document then has what was replayed.
pub fn run(spec: &Spec, session: &mut Session<'_>) -> Result<ReplayDocument, Error> {
    let session = &*session;
    session.heeding(|| replay_sizes(spec, session)).map_err(Error::Signals)?
}

fn replay_sizes(spec: &Spec, session: &Session<'_>) -> Result<ReplayDocument, Error> {
    let mut config = Config::of(spec, session.seed)?;
    let mut sizes = config.sizes(spec)?;
    let workload = Workload::open(spec, &config, session)?;
    if session.is_over() {
        return Err(Error::Interrupted { what: "anything" });
    }
    if sizes.len() > 1 {
        if config.is_real() {
            return Err(Error::SizesOfRealFile);
        }
        if !workload.comes_again() {
            return Err(Error::SizesOfPipe);
        }
        // The first size is no cache, for comparison.
        sizes.insert(0, 0);
        sizes.dedup();
    }
    config.share(sizes.len());
    let largest = sizes.last().copied();
    let replaying = workload.replaying(session, sizes.len());
    let one = |&size: &u64| {
        let is_metered = spec.has_figures && largest == Some(size);
        let mut figures = if is_metered { Some(workload.figures(&config)?) } else { None };
        let observer: &mut dyn Observer = match &mut figures {
            Some(figures) => figures,
            None => &mut (),
        };
        let outcome = workload.replay((spec, &config), size, &replaying, observer)?;
        let outcome = Outcome { figures: figures.map(|figures| figures.result()), ..outcome };
        session
            .observer
            .notice(&Notice::Replayed { size_units: size, elapsed: outcome.stats.elapsed });
        Ok((size, outcome))
    };
    let runs: Vec<(u64, Outcome)> = sizes.par_iter().map(one).collect::<Result<_, Error>>()?;
    drop(replaying);
    if let Some(failed) = failure(&runs, &spec.disc) {
        session.observer.failure(&failed);
    }
    document((spec, session.seed), &config, &workload, runs)
}

/// The failed requests of the disc, if any.
fn failure(runs: &[(u64, Outcome)], disc: &str) -> Option<Error> {
    let kinds = || runs.iter().flat_map(|(_, run)| &run.stats.kinds);
    let (failed, all): (u64, u64) =
        (kinds().map(|kind| kind.failed).sum(), kinds().map(|kind| kind.count).sum());
    let why = runs.iter().find_map(|(_, run)| run.stats.failure.clone());
    let why = why.unwrap_or_else(|| "no reason given".to_owned());
    (failed > 0).then(|| Error::DiscFailed { disc: disc.to_owned(), failed, all, why })
}

fn document(
    (spec, seed): (&Spec, u64),
    config: &Config,
    workload: &Workload,
    mut runs: Vec<(u64, Outcome)>,
) -> Result<ReplayDocument, Error> {
    let is_range = runs.len() > 1;
    let cut = runs.iter().any(|(_, outcome)| outcome.is_cut);
    if is_range {
        // An interrupted replay cannot be compared.
        runs.retain(|(_, outcome)| !outcome.is_cut);
    }
    let Some((size_units, last)) = runs.last() else {
        return Err(Error::Interrupted { what: "a size" });
    };
    let mut document = ReplayDocument::of(&last.stats, &config.machine.cpu);
    document.workload = named(spec);
    document.format = match workload {
        Workload::Trace(trace) => trace.format.clone(),
        Workload::Synthetic(_) | Workload::Users(_) => String::new(),
    };
    document.processes = workload.processes(spec);
    document.policy.clone_from(&config.policy);
    document.unit_bytes = config.unit_bytes.into();
    config.unit.name().clone_into(&mut document.unit);
    document.size_units = *size_units;
    document.disc.clone_from(&spec.disc);
    document.seed = seed;
    document.figures.clone_from(&last.figures);
    document.warnings = warnings(last, cut, is_range);
    if is_range {
        document.sizes = runs.iter().map(|(size, run)| ReplaySize::of(*size, &run.stats)).collect();
        let times: Vec<_> = runs.iter().map(|(size, run)| (*size, run.stats.elapsed)).collect();
        let none = times.first().filter(|(size, _)| *size == 0);
        document.points = none.map(|&(_, none)| Points::of(none, &times).into());
    }
    Ok(document)
}

fn warnings(last: &Outcome, cut: bool, is_range: bool) -> Vec<Warning> {
    let requests = last.left_out;
    let left_out = (requests > 0).then_some(ReplayWarning::LeftOut { requests });
    let requests: u64 = last.stats.kinds.iter().map(|kind| kind.failed).sum();
    let failed = (requests > 0).then_some(ReplayWarning::DiscFailed { requests });
    let ended = match (cut, is_range) {
        (true, true) => Some(ReplayWarning::SizesMissing),
        (true, false) => Some(ReplayWarning::Interrupted { requests: last.stats.requests() }),
        _ => None,
    };
    let own = [left_out, failed, ended].into_iter().flatten().map(Warning::Replay);
    last.warnings.iter().cloned().chain(own).collect()
}
