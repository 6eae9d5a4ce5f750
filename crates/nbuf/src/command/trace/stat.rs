//! `nbuf trace stat`: what is in a trace, counted.

use std::fmt::Write as _;

use anyhow::Result;
use nbuf::experiment::document;
use nbuf::experiment::result::{TraceDocument, TraceReading};
use nbuf::experiment::trace::stat::{self, Spec};
use nbuf::units::Bytes;

use super::input::{Input, page, refused, tell};
use crate::console::Console;
use crate::output::print;
use crate::show::text::grouped;

/// Count requests, bytes, distinct pages and time of traces.
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
    let spec = Spec { inputs: input.inputs(), page_bytes: *page };
    let document = stat::run(&spec, &mut Console::plain().session()).map_err(refused)?;
    tell(&TraceReading {
        problems: document.problems,
        unused: document.unused,
        problem_texts: document.problem_texts.clone(),
        cautions: document.cautions.clone(),
        ..TraceReading::default()
    });
    if *json {
        print(document::write(&document)?.as_bytes())?;
    } else {
        print(table(&document).as_bytes())?;
    }
    Ok(0)
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
