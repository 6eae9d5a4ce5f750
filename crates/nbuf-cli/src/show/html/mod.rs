//! The report of `nbuf size` as one page that needs nothing beside it: no network, no font, no
//! library. A sentence first, then the pictures, then what an engineer checks it by.
//!
//! Invariant: every text that comes from outside goes through [`escape`]; the page fetches nothing
//! and its policy forbids it to. It is well-formed as XML too, so that a test can read it.

mod answer;
mod curve;
mod files;
mod machine;
mod map;
mod readahead;
mod runs;
mod time;
mod unseen;

use std::fmt::Write as _;

use nbuf::experiment::result::{Detail, Recommend, SizeReport};
use nbuf::units::Bytes;

use super::markup::escape;
use super::report::aim;
use crate::shell;
use answer::Answer;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("hover.js");

/// The words of the page that are not everybody's, as the glossary has them.
const WORDS: [(&str, &str); 7] = [
    ("page", "the unit of the page cache, 4 KiB"),
    ("fill", "a page put into the cache, because it was asked for or ahead of that"),
    ("band", "the range between the fills predicted under two models of the kernel's eviction"),
    (
        "floor, knee, ceiling",
        "the sizes below which a cache is useless, from which most of what can \
      be saved is saved, and above which nothing more is gained",
    ),
    ("step", "a size at which the curve falls steeply: a little less cache costs a lot"),
    ("held", "the measured fills lay in the band, or within 5 % of it"),
    ("waited", "time in which some task waited for memory or for the disc"),
];

/// The whole page.
pub(crate) fn page(report: &SizeReport, detail: &Detail<'_>) -> String {
    let command = command(report);
    let answer = Answer::of(report);
    let mut body = format!(
        "<header><p class=\"eyebrow\">nbuf size</p>\n<h1><code>{}</code></h1>\n\
         <p class=\"answer {}\"><b>{}</b> {}</p>\n",
        escape(&shortened(&command, 200)),
        answer.mood(),
        answer.verdict(),
        answer.sentence()
    );
    if let Some(recommend) = &report.recommend {
        body.push_str(&figures(recommend));
        if let Some(target) = &report.target {
            let _ = writeln!(body, "<p class=\"note\">{}.</p>", escape(&aim(target)));
        }
        body.push_str(&paste(recommend));
    }
    body.push_str("</header>\n<main>\n");
    let sections = [
        ("Page fills against cache size", curve::section(report, detail)),
        ("Predicted and measured", runs::section(report)),
        ("Another readahead window", readahead::section(report)),
        ("Time against memory", time::section(report, detail)),
        ("Files", files::section(report, detail)),
        ("Accesses over time", map::section(detail)),
        ("What was not seen", unseen::section(report)),
        ("Machine and recording", machine::section(report, detail)),
    ];
    for (title, section) in sections {
        if !section.is_empty() {
            let _ = write!(body, "<section><h2>{title}</h2>\n{section}</section>\n");
        }
    }
    body.push_str(&closing(&WORDS));
    document(&format!("{}: how much memory", shortened(&command, 80)), "", &body)
}

/// The end of a body: what its words mean, and whose page it is.
pub(super) fn closing(words: &[(&str, &str)]) -> String {
    let mut text = "<section class=\"words\"><h2>Words</h2>\n<dl>".to_owned();
    for (word, meaning) in words {
        let _ = write!(text, "<dt>{word}</dt><dd>{meaning}</dd>");
    }
    let version = env!("CARGO_PKG_VERSION");
    let _ = writeln!(text, "</dl></section>\n</main>\n<footer>nbuf {version}</footer>");
    text
}

/// A page around a body, with a style beside that of all pages.
pub(super) fn document(title: &str, style: &str, body: &str) -> String {
    format!(
        r#"<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"/>
<meta name="color-scheme" content="light dark"/>
<title>{}</title>
<style>
{STYLE}{style}</style></head>
<body>
{body}<script>
{SCRIPT}</script></body></html>
"#,
        escape(title)
    )
}

/// The command as a shell would be given it.
fn command(report: &SizeReport) -> String {
    match shell::line(&report.command) {
        empty if empty.is_empty() => "a recorded command".to_owned(),
        command => command,
    }
}

/// The beginning of a text that is too long for its place.
pub(super) fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

/// The sum behind the limit.
fn figures(recommend: &Recommend) -> String {
    let Recommend { limit_bytes, cache_bytes, floor_bytes, ceiling_bytes, .. } = recommend;
    let beside = limit_bytes.saturating_sub(*cache_bytes);
    let tile = |class: &str, name: &str, size: Bytes, note: &str| {
        format!(
            "<div class=\"{class}\"><dt>{name}</dt><dd>{size}</dd><dd class=\"faint\">{note}</dd></div>"
        )
    };
    let mut tiles = vec![
        tile("chosen", "memory limit to set", *limit_bytes, "cache and all other memory"),
        tile("", "of it cache", *cache_bytes, "pages of files"),
        tile("", "beside it", beside, "heap, kernel, slack"),
    ];
    if nbuf::experiment::size::gains(recommend) {
        tiles.push(tile("", "floor", *floor_bytes, "less cache saves nothing"));
        tiles.push(tile("", "ceiling", *ceiling_bytes, "more cache gains nothing"));
    }
    format!("<dl class=\"figures\">{}</dl>\n", tiles.concat())
}

/// What is to be set, ready to copy.
fn paste(recommend: &Recommend) -> String {
    let limit = recommend.limit_bytes.0.div_ceil(1 << 20);
    format!(
        "<pre class=\"paste\">docker run --memory={limit}m --memory-swap={limit}m ...\n\
         kubernetes: resources.limits.memory: {limit}Mi\nsystemd:    MemoryMax={limit}M</pre>\n"
    )
}

/// A table in a box of its own, which scrolls where the page is too narrow for it. Cells are
/// markup; those of `left` columns are text, the others numbers.
pub(super) fn table(class: &str, header: &[&str], left: &[usize], rows: &[Vec<String>]) -> String {
    let kind = |column: usize| if left.contains(&column) { "text" } else { "number" };
    let mut out = format!("<div class=\"box\"><table class=\"{class}\"><thead><tr>");
    for (column, name) in header.iter().enumerate() {
        let _ = write!(out, "<th class=\"{}\">{name}</th>", kind(column));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        out.push_str("<tr>");
        for (column, cell) in row.iter().enumerate() {
            let label = header.get(column).copied().unwrap_or_default();
            let class = kind(column);
            let _ = write!(out, "<td class=\"{class}\" data-label=\"{label}\">{cell}</td>");
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
    out
}

#[cfg(test)]
mod sample;
#[cfg(test)]
pub(super) mod tests;
