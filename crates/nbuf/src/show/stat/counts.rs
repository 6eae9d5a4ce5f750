//! The counts of a trace.

use std::fmt::Write as _;

use nbuf::experiment::result::TraceDocument;
use nbuf::units::Bytes;

use super::super::text::grouped;

/// A line for each count, the same at any width.
pub(super) fn table(document: &TraceDocument) -> String {
    rows(document).into_iter().fold(String::new(), |mut text, (name, value)| {
        let _ = writeln!(text, "  {name:16} {value}");
        text
    })
}

/// Names and values.
pub(super) fn rows(document: &TraceDocument) -> Vec<(&'static str, String)> {
    let census = &document.census;
    let mut rows = vec![
        ("format", format!("{}, {}", document.format, document.packing)),
        ("requests", grouped(census.requests)),
    ];
    let kinds = [
        ("  reads", census.reads, Some(census.read_bytes)),
        ("  writes", census.writes, Some(census.written_bytes)),
        ("  discards", census.discards, Some(census.discarded_bytes)),
        ("  flushes", census.flushes, None),
    ];
    for (name, count, bytes) in kinds.into_iter().filter(|(_, count, _)| *count > 0) {
        let bytes = bytes.filter(|bytes| bytes.0 > 0);
        let bytes = bytes.map(|bytes| format!("  ({bytes})")).unwrap_or_default();
        rows.push((name, format!("{}{bytes}", grouped(count))));
    }
    if census.objects > 0 {
        rows.push(("objects", grouped(census.objects)));
    }
    let least = if census.is_cut { "at least " } else { "" };
    match census.page_bytes {
        Some(page) => {
            rows.push(("page accesses", format!("{} of {page}", grouped(census.accesses))));
            let bytes = Bytes(census.distinct.saturating_mul(page.0));
            let distinct = format!("{least}{}  ({bytes})", grouped(census.distinct));
            rows.push(("distinct pages", distinct));
        }
        None => rows.push(("distinct keys", format!("{least}{}", grouped(census.distinct)))),
    }
    if census.span_seconds > 0.0 {
        rows.push(("time", format!("{:.3} s", census.span_seconds)));
    }
    if document.problems + document.unused > 0 {
        let (bad, unused) = (grouped(document.problems), grouped(document.unused));
        let left = format!("{bad} that could not be read, {unused} that do not say what they ask");
        rows.push(("left out", left));
    }
    rows
}
