//! `nbuf size`: record, curve, recommend, verify, report.

mod arguments;
mod compare;
mod outputs;
mod page;
mod prepare;
mod prove;
mod timing;
mod workload;

use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use anyhow::{Context, Result};
use nbuf::experiment::size::{Analysis, Ask};
use nbuf::meter::probe::residency::Residency;
use nbuf::sys::signal::Signals;
use nbuf::workload::trace::Trace;

use crate::caller;
use crate::exit;
use crate::fail::say;
use crate::output::print;
use crate::show::progress::{self, Bar};
use crate::show::report;
pub(crate) use arguments::Args;
use arguments::Until;
use page::Page;
use workload::Workload;

/// Runs the verb and gives the exit status.
pub(crate) fn run(args: &Args) -> Result<u8> {
    if let [a, b] = &args.compare[..] {
        return compare::run(a, b, args.budget.unwrap_or(1.0), &Page::of(args));
    }
    outputs::check(args)?;
    if let (Some(size), Some(data)) = (args.loop_size, &args.data) {
        let account = caller::account();
        let identity = account.as_ref().map(|account| &account.identity);
        nbuf::disc::private::enter(data, size, args.loop_readahead, identity)?;
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
    let mut last = analysis.report(verified);
    last.cautions.extend(workload.interruption(&last.cautions));
    if !last.verify.is_empty() {
        page.show(&report::verification(&last, page.width))?;
        page.show(&report::cautions(&last.cautions[first.cautions.len()..], page.width))?;
    }
    if let Some(recommend) = &last.recommend {
        page.show(&report::paste(recommend, last.held(), page.width))?;
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

/// Simulates. The first signal meanwhile is told at once and heard when that is done, the second ends
/// everything: nothing of ours is left in the machine by then.
fn analyse(
    args: &Args,
    trace: Trace,
    left: &Residency,
    signals: &Signals,
    workload: &Workload<'_>,
) -> Result<Analysis> {
    let bar = progress::bar("simulating", 60);
    let heard = AtomicI32::new(0);
    let (done, over) = mpsc::channel();
    let (force, target, readahead) = (args.force, args.target, args.readahead);
    let (probed, rate) = (workload.probe(&trace), workload.rate());
    let ask = Ask { force, target, readahead, probed, rate };
    let analysis = std::thread::scope(|scope| {
        let (heard, bar) = (&heard, &bar);
        scope.spawn(move || hear(signals, heard, &over, bar));
        let analysis = Analysis::of(trace, left, &ask, &|done, total| bar.set(done, total));
        drop(done);
        analysis
    });
    bar.clear();
    let heard = heard.into_inner();
    if heard != 0 {
        workload.note_signal(heard);
        say("interrupted: nothing is verified");
    }
    analysis.context("cannot draw the curve")
}

/// How often signals are looked for: none waits longer.
const LOOK: Duration = Duration::from_millis(50);

/// Hears signals until nobody can say that it is over any more.
fn hear(signals: &Signals, heard: &AtomicI32, over: &Receiver<()>, bar: &Bar) {
    while over.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
        while let Some(signal) = signals.next() {
            if heard.swap(signal.number, Ordering::Relaxed) != 0 {
                bar.clear();
                std::process::exit(128 + signal.number);
            }
            bar.suspend(|| say("interrupted: the curve comes first; once more ends it at once"));
        }
    }
}
