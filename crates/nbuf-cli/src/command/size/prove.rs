//! The second half of `nbuf size`: says what will be run, asks, runs it in random order.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, IsTerminal, Write};
use std::os::fd::AsFd;
use std::time::Duration;

use anyhow::Result;
use nbuf::experiment::predict::Prediction;
use nbuf::experiment::result::Verified;
use nbuf::experiment::size::Analysis;
use nbuf::experiment::verify::{self, Bench};
use nbuf::sys::signal::Signals;
use nbuf::workload::command::{self, Input};

use super::Args;
use super::workload::Workload;
use crate::fail::say;
use crate::show::progress;
use crate::show::text::listed;
use crate::voice::{self, detail};

/// Makes the runs, as many as the user, the time and signals allow.
pub(super) fn verify(
    args: &Args,
    analysis: &Analysis,
    workload: &Workload<'_>,
    signals: &Signals,
) -> Result<Vec<Verified>> {
    if !workload.verifies() || workload.interrupted().is_some() {
        return Ok(Vec::new());
    }
    if analysis.recommend.is_none() && args.verify_at.is_empty() {
        return Ok(Vec::new());
    }
    if workload.used_terminal() && !args.yes {
        say(
            "not verified: the command used the terminal, where it would find nothing when it is run \
             again; give it a file to read (`< FILE`), which every run gets, or run it again all the \
             same with -y",
        );
        return Ok(Vec::new());
    }
    if let Some(why) = analysis.is_beyond(workload.meter()) {
        say(format_args!(
            "not verified: {why}, and where the kernel's tracepoints are closed only what is read into \
             the page cache can be counted; `nbuf doctor` tells what would open them"
        ));
        return Ok(Vec::new());
    }
    let mut plan = analysis.plan(&args.verify_at);
    // A limit that was asked for twice, perhaps in other words, is run once.
    let mut seen = HashSet::new();
    plan.retain(|prediction| seen.insert(prediction.limit));
    announce(&plan, args, analysis, workload);
    if !args.yes && !agreed(workload)? {
        if workload.interrupted().is_none() {
            say("not verified");
        }
        return Ok(Vec::new());
    }
    let rounds = rounds(&plan, args.samples);
    Ok(gather(&plan, &measure(&rounds, analysis, workload, signals), analysis))
}

/// Every size once a round, in an order of its own: whatever the machine does meanwhile falls on all
/// sizes alike, and when the time is up none has been left out.
fn rounds(plan: &[Prediction], samples: u16) -> Vec<Prediction> {
    let mut state = u64::from(nbuf::clock::unix_time().unwrap_or_default().subsec_nanos()) | 1;
    let mut rounds = Vec::new();
    for _ in 0..samples {
        let mut round = plan.to_vec();
        shuffle(&mut round, &mut state);
        rounds.extend(round);
    }
    rounds
}

/// What the runs under each limit come to together.
fn gather(plan: &[Prediction], runs: &[Verified], analysis: &Analysis) -> Vec<Verified> {
    let mut limits: Vec<_> = plan.iter().map(|prediction| prediction.limit).collect();
    limits.sort_unstable();
    let of = |limit| {
        let same: Vec<Verified> =
            runs.iter().filter(|run| run.limit_bytes == limit).cloned().collect();
        verify::combine(&same, &analysis.steps)
    };
    limits.into_iter().filter_map(of).collect()
}

/// Makes the runs. A failure of ours ends them and is told; those already made stay.
fn measure(
    plan: &[Prediction],
    analysis: &Analysis,
    workload: &Workload<'_>,
    signals: &Signals,
) -> Vec<Verified> {
    let throttle = workload.throttle(analysis);
    let output = workload.output();
    let bench = Bench {
        command: &workload.command,
        files: &analysis.names,
        hierarchies: &workload.hierarchies,
        throttle: throttle.as_ref(),
        until: workload.until(),
        input: workload.input,
        output: output.as_fd(),
        meter: workload.meter(),
        steps: &analysis.steps,
        left_pages: usize::try_from(analysis.shared.pages_up().0).unwrap_or(0),
    };
    let bar = progress::bar("verifying", plan.len());
    let mut done = Vec::new();
    for (at, prediction) in plan.iter().enumerate() {
        bar.set(at, plan.len());
        if workload.time_left() == Some(Duration::ZERO) {
            bar.suspend(|| {
                say(format_args!("the time is up: {} of {} runs made", done.len(), plan.len()));
            });
            break;
        }
        if let Err(error) = workload.prepare() {
            bar.suspend(|| workload.broke(&error));
            break;
        }
        if workload.hears_signals() {
            break;
        }
        let allowed = workload.time_for(prediction, analysis);
        match bench.measure(prediction, Some(allowed), signals) {
            Ok((verified, ended)) => {
                workload.note(&ended);
                if ended.interrupted.is_some() {
                    break;
                }
                bar.suspend(|| follow(&verified));
                done.push(verified);
            }
            Err(error @ verify::Error::Limit { .. }) => {
                bar.suspend(|| say(format_args!("{error}; nothing is run under it")));
            }
            Err(error) => {
                bar.suspend(|| workload.broke(&error.into()));
                break;
            }
        }
    }
    bar.clear();
    if workload.hears_signals() {
        say(format_args!("interrupted: {} of {} runs made", done.len(), plan.len()));
    }
    done
}

/// Tells a run as it ends, for those who follow.
fn follow(run: &Verified) {
    let limit = run.limit_bytes.map_or("without a limit".into(), |limit| format!("under {limit}"));
    let (low, high) = (run.predicted_fills_low, run.predicted_fills_high);
    let fills = run.measured_fills;
    detail(format_args!("{limit}: {low} to {high} fills predicted, {fills} measured"));
}

/// Says how often and under what the command will be run.
fn announce(plan: &[Prediction], args: &Args, analysis: &Analysis, workload: &Workload<'_>) {
    // A question needs to be understood, however quiet.
    if voice::is_quiet() && (args.yes || !asks()) {
        return;
    }
    let limits: Vec<String> = plan
        .iter()
        .filter_map(|prediction| prediction.limit)
        .map(|limit| {
            let room = if analysis.is_below_floor(limit) { " (no room for a cache)" } else { "" };
            format!("{limit}{room}")
        })
        .collect();
    let facts = &analysis.facts;
    let run = Duration::from_nanos(facts.run_ns().unwrap_or(facts.elapsed_ns));
    let when = if facts.timed.is_some() { "timed" } else { "recorded" };
    let seconds = run.as_secs_f64();
    let runs = plan.len() * usize::from(args.samples);
    let least = run.saturating_mul(u32::try_from(runs).unwrap_or(u32::MAX));
    let (each, in_all) = match args.samples {
        1 => (String::new(), String::new()),
        times => (
            format!(", each {times} times"),
            format!(", {:.0} s or more in all", least.as_secs_f64()),
        ),
    };
    say(format_args!(
        "to prove it, the command is run {runs} more times ({seconds:.1} s when {when}{in_all}), \
         in random order: without a limit, and with its memory limited to {}{each}; its files are \
         dropped from the page cache before each run, its input is {} and its output {}",
        listed(&limits),
        input(workload),
        output(workload),
    ));
}

/// What the runs have as their input.
pub(super) fn input(workload: &Workload<'_>) -> &'static str {
    match workload.input {
        Input::File { .. } => "the same file again",
        Input::Stream => "/dev/null, for a pipe cannot be read twice (a file can: `< FILE`)",
        Input::Terminal if workload.used_terminal() => "/dev/null instead of the terminal",
        Input::Terminal | Input::Nothing => "/dev/null",
    }
}

/// What becomes of their output.
pub(super) fn output(workload: &Workload<'_>) -> &'static str {
    let output = command::repeating(workload.output().as_fd());
    let metadata = output.and_then(|output| File::from(output).metadata());
    if metadata.is_ok_and(|metadata| metadata.is_file()) {
        "goes to a file without a name beside the first one"
    } else {
        "is discarded"
    }
}

/// Whether there is somebody to ask.
pub(super) fn asks() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks on a terminal; elsewhere the call is the agreement.
pub(super) fn agreed(workload: &Workload<'_>) -> Result<bool> {
    let stdin = std::io::stdin();
    if !asks() {
        return Ok(true);
    }
    let mut err = std::io::stderr();
    write!(err, "nbuf: go on? [Y/n] ")?;
    err.flush()?;
    // Our signals are blocked, so a read would sleep through them.
    if workload.signals.comes_before(&stdin)? {
        writeln!(err)?;
        workload.hears_signals();
        return Ok(false);
    }
    let mut answer = String::new();
    if stdin.lock().read_line(&mut answer)? == 0 {
        writeln!(err)?;
        return Ok(false);
    }
    // What is neither is no agreement.
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "" | "y" | "yes"))
}

/// Any order will do, as long as it is not always the same one.
fn shuffle(plan: &mut [Prediction], state: &mut u64) {
    for at in (1..plan.len()).rev() {
        // xorshift64 (Marsaglia 2003)
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        plan.swap(at, usize::try_from(*state % (at as u64 + 1)).unwrap_or(0));
    }
}
