//! `nbuf replay`: how long a workload takes behind a cache and in front of a disc.

mod arguments;
mod behind;
mod made;
mod setting;
mod trace;
mod until;
mod users;
mod workload;

use std::io::Write as _;

use anyhow::{Result, anyhow, bail};
use nbuf::experiment::replay::{Points, Watch};
use nbuf::experiment::result::{ReplayDocument, ReplaySize};
use nbuf::sys::publish::Readers;
use rayon::prelude::*;

pub(crate) use arguments::Args;
use setting::Setting;
use trace::named;
use workload::{Outcome, Workload};

use crate::output::{must_be_possible, print, write_new};
use crate::patience::Patience;
use crate::show::replay as shown;
use crate::show::terminal::Terminal;
use crate::show::text::count;
use crate::voice::{detail, note};

pub(crate) fn run(args: &Args) -> Result<u8> {
    if let Some(path) = &args.html {
        must_be_possible(path, "--html")?;
    }
    let mut setting = Setting::of(args)?;
    let mut sizes = setting.sizes(args)?;
    let patience = Patience::listen()?;
    let workload = Workload::open(args, &setting, &patience)?;
    if patience.is_over() {
        note("ended before anything was replayed: there is nothing to show");
        return Ok(patience.status());
    }
    if sizes.len() > 1 {
        if setting.is_real() {
            bail!("a real file takes real time, one size after the other: give one --size");
        }
        if !workload.comes_again() {
            bail!(
                "a pipe is read once, and each size replays the trace: give a file, or one --size"
            );
        }
        // What a cache is compared with.
        sizes.insert(0, 0);
        sizes.dedup();
    }
    setting.share(sizes.len());
    let largest = sizes.last().copied();
    let shows_figures = args.figures || args.html.is_some();
    let one = |&size: &u64| {
        let is_shown = shows_figures && largest == Some(size);
        let mut figures = if is_shown { Some(workload.figures(&setting)?) } else { None };
        let watch: &mut dyn Watch = match &mut figures {
            Some(figures) => figures,
            None => &mut (),
        };
        let outcome = workload.replay(args, &setting, size, &patience, watch)?;
        let outcome = Outcome { figures: figures.map(|figures| figures.result()), ..outcome };
        detail(format_args!("{size} units: {} s", outcome.seen.elapsed.seconds()));
        Ok((size, outcome))
    };
    let runs: Vec<(u64, Outcome)> = sizes.par_iter().map(one).collect::<Result<_>>()?;
    if sizes.len() > 1 && runs.iter().all(|(_, outcome)| outcome.is_cut) {
        note("ended before a size was replayed: there is nothing to show");
        return Ok(patience.status());
    }
    let failed = failure(&runs, &args.disc);
    let document = document(args, &setting, &workload, runs)?;
    tell(args, &document)?;
    failed.map_or_else(|| Ok(patience.status()), Err)
}

/// What the disc failed, if it failed anything: what was shown is then not what was asked for.
fn failure(runs: &[(u64, Outcome)], disc: &str) -> Option<anyhow::Error> {
    let kinds = || runs.iter().flat_map(|(_, run)| &run.seen.kinds);
    let (failed, all): (u64, u64) =
        (kinds().map(|kind| kind.failed).sum(), kinds().map(|kind| kind.count).sum());
    let why = runs.iter().find_map(|(_, run)| run.seen.failure.as_deref()).unwrap_or("no words");
    (failed > 0).then(|| {
        anyhow!(
            "the disc {disc} failed {failed} of {}, the first by: {why}; make room there, or name \
             another with --disc",
            count(all, "request", "requests")
        )
    })
}

fn document(
    args: &Args,
    setting: &Setting,
    workload: &Workload,
    mut runs: Vec<(u64, Outcome)>,
) -> Result<ReplayDocument> {
    let is_range = runs.len() > 1;
    let cut = runs.iter().any(|(_, outcome)| outcome.is_cut);
    if is_range {
        // What was cut short cannot be compared with anything.
        runs.retain(|(_, outcome)| !outcome.is_cut);
    }
    let Some((size_units, last)) = runs.last() else {
        bail!("no size was replayed to its end; give fewer of them");
    };
    let mut document = ReplayDocument::of(&last.seen, &setting.machine.cpu);
    document.workload = named(args);
    document.format = match workload {
        Workload::Trace(trace) => trace.format.clone(),
        Workload::Made(_) | Workload::Users(_) => String::new(),
    };
    document.processes = workload.processes(args);
    document.policy.clone_from(&setting.policy);
    document.unit_bytes = setting.unit_bytes.into();
    setting.unit.name().clone_into(&mut document.unit);
    document.size_units = *size_units;
    document.disc.clone_from(&args.disc);
    document.seed = args.seed;
    document.figures.clone_from(&last.figures);
    document.cautions = cautions(last, cut, is_range);
    if is_range {
        document.sizes = runs.iter().map(|(size, run)| ReplaySize::of(*size, &run.seen)).collect();
        let times: Vec<_> = runs.iter().map(|(size, run)| (*size, run.seen.elapsed)).collect();
        let none = times.first().filter(|(size, _)| *size == 0);
        document.points = none.map(|&(_, none)| Points::of(none, &times).into());
    }
    Ok(document)
}

fn cautions(last: &Outcome, cut: bool, is_range: bool) -> Vec<String> {
    let mut cautions = last.cautions.clone();
    if last.left_out > 0 {
        let left_out = count(last.left_out, "request is", "requests are");
        cautions.push(format!(
            "{left_out} left out, to discard or flush, of no bytes, or without a place"
        ));
    }
    let failed: u64 = last.seen.kinds.iter().map(|kind| kind.failed).sum();
    if failed > 0 {
        cautions.push(format!("the disc failed {}", count(failed, "request", "requests")));
    }
    match (cut, is_range) {
        (true, true) => cautions.push("it was ended before all sizes were replayed".to_owned()),
        (true, false) => {
            let done = count(last.seen.requests(), "request", "requests");
            cautions.push(format!("it was ended after {done}"));
        }
        _ => {}
    }
    cautions
}

/// Shows the document as was asked.
fn tell(args: &Args, document: &ReplayDocument) -> Result<()> {
    if let Some(path) = &args.html {
        let page = shown::page(document);
        write_new(path, "--html", Readers::All, |mut file| Ok(file.write_all(page.as_bytes())?))?;
        note(format_args!("the page is {}", path.display()));
    }
    if args.json {
        return print((serde_json::to_string_pretty(document)? + "\n").as_bytes());
    }
    let Terminal { width, colour } = Terminal::of_output();
    print(shown::report(document, width, colour).as_bytes())
}
