//! `nbuf curve`: what caches of other sizes and policies would hit.

mod arguments;
mod knee;
mod parts;
mod policies;
mod reading;
mod sampled;
mod warmup;

use std::io::Write as _;

use anyhow::{Result, bail};
use nbuf::experiment::grid::{Grid, Names, Plan};
use nbuf::experiment::result::{CurveDocument, PolicyCurve, TraceSummary};
use nbuf::sys::publish::Readers;
use nbuf::workload::pages::Tally;
use nbuf::workload::request::Unit;
use nbuf::workload::within::take_within;

use arguments::AccessUnit;
pub(crate) use arguments::Args;
use knee::knee;
use policies::policies;
use reading::Reading;

use crate::fail::say;
use crate::output::{must_be_possible, print, write_new};
use crate::patience::Patience;
use crate::show::curve as shown;
use crate::show::terminal::Terminal;
use crate::show::text::count;
use crate::voice::{detail, note};

/// What grows with a trace.
const PAGES: &str = "the distinct pages of this trace";
const KEYS: &str = "the distinct keys of this trace";

/// What was drawn, before it is told.
struct Drawn {
    curves: Vec<PolicyCurve>,
    tally: Tally,
    span_ns: u64,
    left_out: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<u8> {
    if let Some(path) = &args.html {
        must_be_possible(path, "--html")?;
    }
    if args.sample.is_some() {
        sampled::must_be_possible(args)?;
    }
    parts::must_be_possible(args)?;
    if let Some(threads) = args.threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(usize::from(threads));
        pool.build_global()?;
    }
    let patience = Patience::listen()?;
    let mut reading = Reading::open(args, &patience)?;
    let warmup = warmup::requests(args, &mut reading)?;
    let drawn = match args.sample {
        Some(rate) => sample(args, &mut reading, rate, warmup)?,
        None => exact(args, &mut reading, warmup)?,
    };
    let document = document(args, &reading, drawn, warmup);
    if document.trace.requests == 0 && !patience.is_over() {
        bail!("{} has no requests: nothing can be said of it", reading::named(args));
    }
    tell(args, &document)?;
    Ok(patience.status())
}

/// Counts every cell of the grid, in one reading or two.
fn exact(args: &Args, reading: &mut Reading<'_>, warmup: u64) -> Result<Drawn> {
    let policies = policies(args);
    let mut grids = Vec::new();
    for page_bytes in pages(args, reading) {
        let plan = Plan {
            policies: policies.clone(),
            sizes: args.size.clone(),
            page_bytes,
            unit: reading.source.detected().unit,
            whole: args.unit.into(),
            writes: args.writes.into(),
            all_sizes: args.knee || args.target.is_some(),
            every: args.window,
            by: args.by.map(Into::into),
            warmup_requests: warmup,
            seed: args.seed,
            again: reading.again(),
            parallel: args.threads != Some(1),
        };
        grids.push(Grid::new(plan)?);
    }
    let bytes: u64 = grids.iter().map(Grid::page_bytes).sum();
    let what = if pages(args, reading) == [0] { "key" } else { "page" };
    note(format_args!(
        "memory: about {bytes} bytes a distinct {what}, nothing an access; {} in all at the most",
        reading.bound().allowed
    ));
    let exactly = if what == "key" { KEYS } else { PAGES };
    reading.read(|requests, bound| take_within(&mut grids[..], requests, exactly, bound))?;
    warmup::must_leave_some(args, reading, warmup)?;
    parts::times_must_be_there(args, reading, grids.first().map_or(0, Grid::span_ns))?;
    let mut again = false;
    for grid in &mut grids {
        again |= grid.again()?;
    }
    let mut left_out = Vec::new();
    if again {
        reading.read(|requests, bound| take_within(&mut grids[..], requests, exactly, bound))?;
        let mut dropped: Vec<_> = grids.iter_mut().flat_map(Grid::drop_unequal).collect();
        dropped.sort_unstable();
        dropped.dedup();
        if !dropped.is_empty() {
            left_out.push(format!("{} left out: {}", listed(&dropped), reading.unequal()));
        }
    }
    let names = Names { objects: reading.source.objects(), target: args.target };
    let tally = grids.first().map(Grid::tally).unwrap_or_default();
    let span_ns = grids.first().map_or(0, Grid::span_ns);
    let mut curves = Vec::new();
    for grid in grids {
        let distinct = grid.distinct_pages();
        detail(count(distinct, &format!("distinct {what}"), &format!("distinct {what}s")));
        curves.extend(grid.finish(&names)?);
    }
    parts::must_be_there(args, reading, &curves)?;
    Ok(Drawn { curves, tally, span_ns, left_out })
}

/// Names of policies with their verb.
fn listed(names: &[String]) -> String {
    match names {
        [name] => format!("{name} is"),
        [names @ .., last] => format!("{} and {last} are", names.join(", ")),
        [] => String::new(),
    }
}

fn sample(
    args: &Args,
    reading: &mut Reading<'_>,
    rate: arguments::Rate,
    warmup: u64,
) -> Result<Drawn> {
    let mut curves = Vec::new();
    let mut tally = Tally::default();
    for page_bytes in pages(args, reading) {
        let outcome = sampled::run(args, reading, page_bytes, (rate, warmup))?;
        warmup::must_leave_some(args, reading, warmup)?;
        curves.push(outcome.curve);
        tally = outcome.tally;
        if !reading.again() && args.page.len() > 1 {
            bail!("a pipe comes once: sample it with one page size");
        }
    }
    let mut left_out = Vec::new();
    if args.target.is_some() {
        left_out
            .push("--target is left out: it needs the exact curve, without --sample".to_owned());
    }
    if curves.iter().any(|curve| curve.points.is_empty()) {
        left_out.push("the sample is too thin for any of the sizes: raise --sample".to_owned());
    }
    Ok(Drawn { curves, tally, span_ns: 0, left_out })
}

/// Bytes of the pages; none where an access is to a key or a whole request.
fn pages(args: &Args, reading: &Reading<'_>) -> Vec<u64> {
    let has_pages = reading.source.detected().unit == Unit::Bytes && args.unit == AccessUnit::Page;
    if has_pages { args.page.clone() } else { vec![0] }
}

fn document(args: &Args, reading: &Reading<'_>, drawn: Drawn, warmup: u64) -> CurveDocument {
    let Drawn { curves, tally, span_ns, left_out } = drawn;
    let detected = reading.source.detected();
    let mut cautions = reading.cautions();
    cautions.extend(left_out);
    if tally.unplaced > 0 {
        cautions.push(format!(
            "left out: {} past the end of what can be addressed, or longer than 4 Mi pages",
            count(tally.unplaced, "request", "requests")
        ));
    }
    let unit = match (detected.unit, args.unit) {
        (Unit::Keys, _) => "key",
        (Unit::Bytes, AccessUnit::Request) => "request",
        (Unit::Bytes, AccessUnit::Page) => "page",
    };
    let writes_do = clap::ValueEnum::to_possible_value(&args.writes);
    CurveDocument {
        schema: CurveDocument::SCHEMA.to_owned(),
        trace: TraceSummary {
            files: args.traces.iter().map(|path| path.display().to_string()).collect(),
            format: detected.format.name.to_owned(),
            packing: detected.packing.name().to_owned(),
            unit: unit.to_owned(),
            writes_do: writes_do.map(|value| value.get_name().to_owned()).unwrap_or_default(),
            requests: reading.requests,
            warmup_requests: (warmup > 0).then_some(warmup),
            reads: tally.reads,
            writes: tally.writes,
            discards: tally.discards,
            flushes: tally.flushes,
            empty: tally.empty,
            unplaced: tally.unplaced,
            read_bytes: tally.read_bytes,
            written_bytes: tally.written_bytes,
            span_ns,
            problems: reading.source.problems().count,
        },
        curves,
        cautions,
    }
}

/// Shows the document as was asked.
fn tell(args: &Args, document: &CurveDocument) -> Result<()> {
    if let Some(path) = &args.html {
        let page = shown::page(document);
        write_new(path, "--html", Readers::All, |mut file| Ok(file.write_all(page.as_bytes())?))?;
        note(format_args!("the page is {}", path.display()));
    }
    if args.json {
        return print((serde_json::to_string_pretty(document)? + "\n").as_bytes());
    }
    if args.csv || args.knee {
        // These have no room for what must not go unsaid.
        document.cautions.iter().for_each(say);
    }
    if args.csv {
        return print(shown::csv(document).as_bytes());
    }
    if args.knee {
        return print(knee(document).as_bytes());
    }
    let Terminal { width, colour } = Terminal::of_output();
    print(shown::table(document, width).as_bytes())?;
    print(shown::plot(document, width, colour).as_bytes())
}
