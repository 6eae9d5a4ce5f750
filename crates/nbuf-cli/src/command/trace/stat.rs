//! `nbuf trace stat`: what is in a trace, counted.

use std::fmt::Write as _;

use anyhow::Result;
use nbuf::experiment::census::Counting;
use nbuf::experiment::result::{Census, TraceDocument};
use nbuf::units::Bytes;
use nbuf::workload::request::Unit;
use nbuf::workload::source::Source;

use super::input::{Input, each, page};
use crate::fail::say;
use crate::output::print;
use crate::show::text::grouped;

/// Count what is in traces: requests, bytes, distinct pages, time.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  nbuf trace stat OLTP.lis.zst --page 512
  nbuf trace stat --json sda.blktrace.* | jq .distinct")]
pub(super) struct Stat {
    #[command(flatten)]
    input: Input,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
    /// What to count in, where a trace counts bytes
    #[arg(long, value_name = "SIZE", default_value = "4KiB", value_parser = page)]
    page: Bytes,
}

pub(super) fn stat(Stat { input, json, page }: &Stat) -> Result<u8> {
    let (mut source, bound) = input.open()?;
    let counting = Counting::new(source.detected().unit, *page);
    let mut counting = counting.within(bound.without(source.bytes()));
    let count = each(&mut source, |_, batch| {
        counting.push(&batch.requests);
        Ok(true)
    })?;
    if count == 0 {
        return Err(input.nothing(&source));
    }
    let census = counting.finish(source.objects().len());
    let mut document = document(&source, census);
    if census.is_cut {
        let told = format!(
            "{} of memory is too little to tell all distinct pages or keys apart: there are more than \
             is said; {}",
            bound.allowed, bound.remedy
        );
        say(&told);
        document.cautions.push(told);
    }
    if *json {
        let mut text = serde_json::to_string_pretty(&document)?;
        text.push('\n');
        print(text.as_bytes())?;
    } else {
        print(table(&document).as_bytes())?;
    }
    Ok(0)
}

fn document(source: &Source, census: Census) -> TraceDocument {
    let (detected, problems) = (source.detected(), source.problems());
    let unit = if detected.unit == Unit::Bytes { "bytes" } else { "keys" };
    TraceDocument {
        schema: TraceDocument::SCHEMA.to_owned(),
        format: detected.format.name.to_owned(),
        packing: detected.packing.name().to_owned(),
        unit: unit.to_owned(),
        also: detected.also.iter().map(ToString::to_string).collect(),
        census,
        problems: problems.count,
        unused: problems.unused,
        problem_texts: problems.kept.iter().map(|problem| source.describe(problem)).collect(),
        cautions: source.cautions().to_vec(),
    }
}

fn table(document: &TraceDocument) -> String {
    let census = &document.census;
    let mut text = String::new();
    let mut row = |name: &str, value: &str| {
        let _ = writeln!(text, "  {name:16} {value}");
    };
    row("format", &format!("{}, {}", document.format, document.packing));
    row("requests", &grouped(census.requests));
    let kinds = [
        ("  reads", census.reads, Some(census.read_bytes)),
        ("  writes", census.writes, Some(census.written_bytes)),
        ("  discards", census.discards, Some(census.discarded_bytes)),
        ("  flushes", census.flushes, None),
    ];
    for (name, count, bytes) in kinds.into_iter().filter(|(_, count, _)| *count > 0) {
        let bytes = bytes.filter(|bytes| bytes.0 > 0);
        let bytes = bytes.map(|bytes| format!("  ({bytes})")).unwrap_or_default();
        row(name, &format!("{}{bytes}", grouped(count)));
    }
    if census.objects > 0 {
        row("objects", &grouped(census.objects));
    }
    let least = if census.is_cut { "at least " } else { "" };
    match census.page_bytes {
        Some(page) => {
            row("page accesses", &format!("{} of {page}", grouped(census.accesses)));
            let bytes = Bytes(census.distinct.saturating_mul(page.0));
            row("distinct pages", &format!("{least}{}  ({bytes})", grouped(census.distinct)));
        }
        None => row("distinct keys", &format!("{least}{}", grouped(census.distinct))),
    }
    if census.span_seconds > 0.0 {
        row("time", &format!("{:.3} s", census.span_seconds));
    }
    if document.problems + document.unused > 0 {
        let (bad, unused) = (grouped(document.problems), grouped(document.unused));
        row(
            "left out",
            &format!("{bad} that could not be read, {unused} that do not say what they ask"),
        );
    }
    text
}
