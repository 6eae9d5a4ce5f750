//! The answer: the number to set, how it was proved, and the parts that it is made of.

use nbuf::experiment::result::{
    Advice, Recommend, SearchGoal, SearchOutcome, SearchRun, SizeReport, Verdict,
};
use nbuf::units::Bytes;

use super::super::text::{count, wrap, wrap_behind};
use super::target_line;

/// The size, its proof, and its parts; the first lines of the report.
pub(super) fn answer(report: &SizeReport, width: usize) -> String {
    let mut text = String::new();
    wrap_behind(&mut text, &headline(report), width, ["", " "]);
    // The answer begins the line.
    let mut text = text.trim_start().to_owned();
    if let Some(recommend) = &report.recommend {
        wrap(&mut text, &parts(recommend, report), width);
    }
    if let Some(target) = &report.target {
        wrap(&mut text, &target_line(target), width);
    }
    text
}

/// The number and its proof: `70.0 MiB. Measured in 7 runs: with 66.0 MiB it reads 1.7 times as much.`
pub(super) fn headline(report: &SizeReport) -> String {
    let Some(recommend) = &report.recommend else { return unanswered(report) };
    let limit = recommend.limit_bytes;
    let nothing =
        if recommend.kind == Advice::NothingToGain { " More cache buys nothing." } else { "" };
    let proof = proof(report, recommend);
    match contrast(report, recommend) {
        Some(contrast) => format!("{limit}.{nothing} {proof}: {contrast}."),
        None => format!("{limit}.{nothing} {proof}."),
    }
}

fn unanswered(report: &SizeReport) -> String {
    if report.capture.accesses == 0 {
        return "No size: the command touched no pages of files in the page cache.".into();
    }
    let mapped = report.capture.mapped_share * 100.0;
    format!(
        "No size from the recording alone: {mapped:.0} % of the pages were touched through mappings, \
         where repeated touches are not seen. Only runs under limits would show it."
    )
}

fn proof(report: &SizeReport, recommend: &Recommend) -> String {
    /// One part in this many of the limit is worth a word.
    const RAISED_LEAST: u64 = 50;
    let verified: usize = report.verify.iter().map(|run| run.samples.len().max(1)).sum();
    let runs = |number: usize| count(number as u64, "run", "runs");
    match report.verdict {
        // Other memory differed between runs: the number has room for the most of it.
        Verdict::Proved if recommend.spread_bytes.0 * RAISED_LEAST > recommend.limit_bytes.0 => {
            format!("Proved with {} in {}, and raised", recommend.tried_bytes(), runs(verified))
        }
        Verdict::Proved => format!("Proved in {}", runs(verified)),
        Verdict::LowerBound => format!("A lower bound, proved in {}", runs(verified)),
        Verdict::Measured => format!("Measured in {}", runs(searched(report))),
        Verdict::Unproved if report.search.is_some() => {
            format!("Not proved in {}", runs(searched(report)))
        }
        Verdict::Unproved if report.verify.is_empty() => "Modelled, not verified".into(),
        Verdict::Unproved => "Modelled, and not proved by its runs".into(),
        Verdict::Undecided => {
            format!("Undecided: {} disagree whether the fills are in band", runs(verified))
        }
        Verdict::Unreliable | Verdict::NoRecommendation => {
            let missed = report.verify.iter().filter(|run| run.within_band == Some(false)).count();
            let of = count(report.verify.len() as u64, "size", "sizes");
            if missed == 0 {
                "Not to be relied on: the command was OOM-killed with it".into()
            } else {
                format!("Not to be relied on: the fills were out of band at {missed} of {of}")
            }
        }
    }
}

/// Runs of the search.
fn searched(report: &SizeReport) -> usize {
    report.search.as_ref().map_or(0, |search| search.runs.len())
}

/// What the largest limit does that is too small, by a run.
fn contrast(report: &SizeReport, recommend: &Recommend) -> Option<String> {
    const MORE: f64 = 1.10;
    if matches!(report.verdict, Verdict::Unreliable | Verdict::Undecided) {
        return None;
    }
    // A search has the runs that verified, too.
    let verified = || report.verify.iter().map(SearchRun::from).collect();
    let mut runs = report.search.as_ref().map_or_else(verified, |search| search.runs.clone());
    runs.retain(|run| run.limit_bytes.is_some());
    runs.sort_by_key(|run| std::cmp::Reverse(run.limit_bytes));
    let enough = report.search.as_ref().map_or(recommend.tried_bytes(), |it| it.enough_bytes);
    let unlimited = report.search.as_ref().and_then(|search| search.runs.first());
    let base = match unlimited {
        Some(run) => run.fills,
        None => report.verify.iter().find(|run| run.is_at(recommend))?.measured_fills,
    };
    let base = base.max(1) as f64;
    // A goal of time has its own say of what is too small.
    let goal = report.search.as_ref().map_or(SearchGoal::Fills, |search| search.goal);
    let is_worse = |run: &&SearchRun| {
        run.outcome != SearchOutcome::Enough
            || goal == SearchGoal::Fills && run.fills as f64 > MORE * base
    };
    let mut below = runs.iter().filter(|run| run.limit_bytes < Some(enough));
    let Some(run) = below.clone().find(is_worse) else {
        let least = below.next_back()?.limit_bytes?;
        return Some(format!("with {least} it {} no more", verb(report)));
    };
    let limit = run.limit_bytes?;
    let more = run.fills as f64 > MORE * base;
    let (verb, times) = (verb(report), times(run.fills as f64 / base));
    Some(match run.shortcoming() {
        Some(shortcoming) => format!("with {limit} it {shortcoming}"),
        None if run.outcome != SearchOutcome::Stopped => format!("with {limit} it {verb} {times}"),
        None if goal == SearchGoal::Fills && more => format!("with {limit} it {verb} over {times}"),
        None => format!("with {limit} it did not end in time"),
    })
}

/// Pages are filled by reads, unless the command writes most of them.
fn verb(report: &SizeReport) -> &'static str {
    let traffic = &report.traffic;
    if traffic.filled_by_writes_pages * 2 > traffic.filled_pages { "fills" } else { "reads" }
}

fn times(ratio: f64) -> String {
    match ratio {
        ratio if (1.95..2.05).contains(&ratio) => "twice as much".into(),
        ratio if ratio < 9.95 => format!("{ratio:.1} times as much"),
        ratio => format!("{ratio:.0} times as much"),
    }
}

/// The sum behind the number.
fn parts(recommend: &Recommend, report: &SizeReport) -> String {
    let memory = &report.memory;
    let mut parts = vec![format!("{} cache", recommend.cache_bytes)];
    for (amount, name) in [
        (memory.anonymous_bytes, "anonymous"),
        (memory.shmem_bytes, "shared"),
        (memory.kernel_bytes, "kernel"),
        (memory.shared_text_bytes, "shared text"),
        (recommend.slack_bytes, "slack"),
    ] {
        if amount > Bytes(0) {
            parts.push(format!("{amount} {name}"));
        }
    }
    format!("= {}", parts.join(" + "))
}

/// Why this size, and what more or less would do.
pub(super) fn reasons(report: &SizeReport, width: usize) -> String {
    let Some(recommend) = report.recommend.as_ref().filter(|it| it.kind != Advice::Target) else {
        return String::new();
    };
    let mut text = String::from("Why this size\n");
    wrap(&mut text, recommend.reason.trim_start_matches("cache buys nothing: "), width);
    if recommend.kind == Advice::Knee {
        let (floor, ceiling) = (recommend.floor_bytes, recommend.ceiling_bytes);
        let below = format!("below {floor} of cache: costs memory and saves nothing");
        wrap(&mut text, &below, width);
        wrap(&mut text, &format!("above {ceiling} of cache: saves nothing more"), width);
    }
    text
}

/// What to set, where. The last lines are YAML.
pub(super) fn paste(report: &SizeReport, recommend: &Recommend, width: usize) -> String {
    let limit = recommend.limit_bytes.0.div_ceil(1 << 20);
    let title = match &report.search {
        _ if report.is_reliable() => "To paste",
        Some(_) => "To paste (not proved)",
        None => "To paste (fills were out of band)",
    };
    let swap = format!("--memory-swap={limit}m ...");
    let docker = format!("docker run --memory={limit}m");
    let docker = if docker.len() + swap.len() + 3 > width {
        format!("{docker} \\\n    {swap}")
    } else {
        format!("{docker} {swap}")
    };
    format!(
        "{title}\n  {docker}\n  systemd-run -p MemoryMax={limit}M ...\n\n  resources:\n    \
         requests:\n      memory: {limit}Mi\n    limits:\n      memory: {limit}Mi\n"
    )
}
