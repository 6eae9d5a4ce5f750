//! `nbuf size`: record, curve, recommend, verify, report.

mod arguments;
mod compare;
mod outputs;
mod page;
mod prepare;
mod prove;
mod spool;
mod workload;

use std::sync::atomic::{AtomicI32, Ordering};

use anyhow::{Context, Result, bail};
use nbuf::experiment::size::{Analysis, Ask};
use nbuf::meter::probe::residency::Residency;
use nbuf::sys::signal::Signals;
use nbuf::workload::trace::Trace;

use crate::exit;
use crate::fail::say;
use crate::output::print;
use crate::show::{progress, report};
pub(crate) use arguments::Args;
use arguments::Until;
use page::Page;
use workload::Workload;

/// Runs the verb and gives the exit status.
pub(crate) fn run(args: &Args) -> Result<u8> {
    if let [a, b] = &args.compare[..] {
        return compare::run(a, b, args.budget.unwrap_or(1.0), &Page::of(args));
    }
    if let Some(budget) = args.budget {
        bail!("--budget {budget} is for --compare A.json B.json, which is missing");
    }
    outputs::check(args)?;
    if let (Some(size), Some(data)) = (args.loop_size, &args.data) {
        // Before anything can start a thread.
        nbuf::disc::private::enter(data, size, args.loop_readahead)?;
    }
    let signals = Signals::block().context("cannot listen for signals")?;
    let workload = Workload::of(args, &signals);
    let trace = match workload.trace()? {
        Ok(trace) => trace,
        Err(status) => return Ok(status),
    };
    let left = workload.drop_files(&trace);
    let analysis = analyse(args, trace, &left, &signals, &workload)?;

    let page = Page::of(args);
    let first = analysis.report(Vec::new());
    page.show(&report::workload(&first, page.width))?;
    page.show(&page.curve(&analysis, &first))?;
    page.show(&report::recommendation(&first, page.width))?;
    page.show(&report::time(&first, page.width))?;
    page.show(&report::readahead(&first, page.width))?;
    page.show(&report::cautions(&first.cautions, page.width))?;

    let verified = prove::verify(args, &analysis, &workload, &signals)?;
    let last = analysis.report(verified);
    if !last.verify.is_empty() {
        page.show(&report::verification(&last, page.width))?;
        page.show(&report::cautions(&last.cautions[first.cautions.len()..], page.width))?;
    }
    if let Some(recommend) = &last.recommend {
        page.show(&report::paste(recommend, page.width))?;
    }
    outputs::write(args, &analysis, &last, &workload);
    if args.json {
        let text = serde_json::to_string_pretty(&last)?;
        print(format!("{text}\n").as_bytes())?;
    }
    Ok(match workload.interrupted() {
        Some(signal) => 128 + signal,
        None if workload.is_broken() => exit::OURS,
        None => u8::from(!last.held()),
    })
}

/// Simulates. The first signal meanwhile is heard when that is done, the second at once: nothing of
/// ours is left in the machine by then.
fn analyse(
    args: &Args,
    trace: Trace,
    left: &Residency,
    signals: &Signals,
    workload: &Workload<'_>,
) -> Result<Analysis> {
    let bar = progress::bar("simulating", 60);
    let heard = AtomicI32::new(0);
    let (force, target, readahead) = (args.force, args.target, args.readahead);
    let (probed, rate) = (workload.probe(&trace), workload.rate());
    let ask = Ask { force, target, readahead, probed, rate };
    let analysis = Analysis::of(trace, left, &ask, &|done, total| {
        bar.set(done, total);
        while let Some(signal) = signals.next() {
            if heard.swap(signal.number, Ordering::Relaxed) != 0 {
                bar.clear();
                std::process::exit(128 + signal.number);
            }
        }
    });
    bar.clear();
    let heard = heard.into_inner();
    if heard != 0 {
        workload.note_signal(heard);
        say("interrupted: nothing is verified");
    }
    analysis.context("cannot draw the curve")
}
