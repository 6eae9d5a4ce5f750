//! Curves as one page that needs nothing beside it: a sentence first, then the charts, then the
//! numbers.
//!
//! Invariant: every text that comes from outside goes through `escape`; the page fetches nothing and
//! its policy forbids it to.

mod chart;
pub(in crate::show) mod sheet;
mod tables;
mod times;

use std::fmt::Write as _;

use nbuf::experiment::result::CurveDocument;

use super::super::html::{closing, document as html, shortened};
use super::super::markup::escape;
use super::answer::{knee_hits, sentences, target};
use super::facts;
use super::family::{Family, families, policy_name};
use super::parts::windows_title;

const STYLE: &str = include_str!("page/style.css");

/// The words of the page that are not everybody's.
const WORDS: [(&str, &str); 5] = [
    ("hit", "an access to a page that the cache has kept"),
    (
        "floor, knee, ceiling",
        "the sizes below which a cache is useless, from which most of what can be saved is saved, and \
         above which nothing more is gained",
    ),
    ("requests, %", "requests of which every page hits"),
    ("opt", "the policy that knows the future: no other that takes every page in can hit more"),
    (
        "95 % band",
        "where the hits of all keys lie, as far as the sample of them can tell, nineteen times of twenty",
    ),
];

/// The whole page.
pub(crate) fn page(document: &CurveDocument) -> String {
    let name = facts::files(&document.trace);
    let families = families(document);
    let mut body = format!(
        "<header><p class=\"eyebrow\">nbuf curve</p>\n<h1><code>{}</code></h1>\n",
        escape(&shortened(&name, 200))
    );
    for family in &families {
        let is_sure = document.cautions.is_empty() && family.main().sample.is_none();
        let mood = if is_sure { "good" } else { "open" };
        let sentences = together(&sentences(family).join(" "));
        let unit = escape(&family.unit.title());
        let which = if families.len() > 1 { format!("In {unit}: ") } else { String::new() };
        let _ = writeln!(body, "<p class=\"answer {mood}\">{which}{sentences}</p>");
    }
    if families.is_empty() {
        body.push_str("<p class=\"answer open\">There is no curve.</p>\n");
    }
    if let [family] = families.as_slice() {
        body.push_str(&figures(family));
    }
    body.push_str("</header>\n<main>\n");
    for family in &families {
        let of =
            if families.len() > 1 { format!(", {}", family.unit.title()) } else { String::new() };
        sections(&mut body, family, &escape(&of));
    }
    section(&mut body, "Cautions", &cautions(document));
    section(&mut body, "Trace", &trace(document, &families));
    body.push_str(&closing(&WORDS));
    html(&format!("{}: hits by cache size", shortened(&name, 80)), STYLE, &body)
}

fn section(body: &mut String, title: &str, inside: &str) {
    if !inside.is_empty() {
        let _ = write!(body, "<section><h2>{title}</h2>\n{inside}</section>\n");
    }
}

/// Everything about one page size.
fn sections(body: &mut String, family: &Family<'_>, of: &str) {
    section(
        body,
        &format!("Hits against cache size{of}"),
        &(chart::section(family) + &notes(family)),
    );
    let at = family.contest().map_or(String::new(), |pages| family.unit.size(pages));
    section(body, &format!("Policies at {at}{of}"), &tables::policies(family));
    for curve in &family.curves {
        let windows = times::section(family, curve) + &tables::windows(family, curve);
        section(body, &(escape(&windows_title(curve)) + of), &windows);
        let title = format!("Parts, {}{of}", escape(&policy_name(curve)));
        section(body, &title, &tables::groups(family, curve));
    }
    section(body, &format!("Every size{of}"), &tables::points(family));
}

/// What came of targets, and how keys were sampled.
fn notes(family: &Family<'_>) -> String {
    let targets = family
        .curves
        .iter()
        .filter_map(|curve| Some(target(curve, curve.target.as_ref()?, family.unit)));
    let samples = family.curves.iter().flat_map(|curve| facts::sample(curve, family.unit));
    let samples = samples.chain(facts::three_sizes(family.main()));
    let note = |text: String| format!("<p class=\"note\">{}.</p>\n", together(&text));
    targets.chain(samples).map(note).collect()
}

/// Text in which a number and its unit stay on one line.
fn together(text: &str) -> String {
    let units = ["%", "B", "KiB", "MiB", "GiB", "TiB", "pages", "keys"];
    units.into_iter().fold(escape(text), |text, unit| {
        text.replace(&format!(" {unit}"), &format!("\u{a0}{unit}"))
    })
}

/// The sizes that matter, large.
fn figures(family: &Family<'_>) -> String {
    let (curve, unit) = (family.main(), family.unit);
    let Some(corners) = curve.corners else { return String::new() };
    let tile = |class: &str, name: &str, pages: u64, note: &str| {
        format!(
            "<div class=\"{class}\"><dt>{name}</dt><dd>{}</dd><dd class=\"faint\">{note}</dd></div>",
            unit.size(pages)
        )
    };
    let knee = knee_hits(curve)
        .map_or_else(|| "most of what can be saved".to_owned(), |hits| format!("{hits} hit"));
    let between = curve.corners_between;
    let known = |note: &str, range: Option<[u64; 2]>| {
        let range = range.and_then(|range| unit.range(range));
        range.map_or_else(|| note.to_owned(), |range| format!("{range}; {note}"))
    };
    let floor = known("less cache saves nothing", between.map(|between| between.floor_pages));
    let knee = known(&knee, between.map(|between| between.knee_pages));
    let ceiling = known("more cache gains nothing", between.map(|between| between.ceiling_pages));
    let tiles = [
        tile("chosen", "knee", corners.knee_pages, &knee),
        tile("", "floor", corners.floor_pages, &floor),
        tile("", "ceiling", corners.ceiling_pages, &ceiling),
        tile("", "footprint", curve.distinct_pages, "everything that was asked for"),
    ];
    format!("<dl class=\"figures\">{}</dl>\n", tiles.concat())
}

fn cautions(document: &CurveDocument) -> String {
    let item = |caution: &String| format!("<p>{}.</p>\n", escape(caution));
    document.cautions.iter().map(item).collect()
}

/// What was read.
fn trace(document: &CurveDocument, families: &[Family<'_>]) -> String {
    let trace = &document.trace;
    let files: Vec<String> = trace
        .files
        .iter()
        .map(|file| format!("<code>{}</code>", escape(facts::file(file))))
        .collect();
    let mut rows = vec![
        ("files", files.join("<br/>")),
        ("format", escape(&facts::format(trace))),
        ("requests", escape(&facts::requests(trace))),
    ];
    rows.extend(facts::warmup(trace).map(|warmup| ("warm-up", warmup)));
    if let Some(left_out) = facts::left_out(trace) {
        rows.push(("left out", escape(left_out.trim_start_matches("left out: "))));
    }
    let accesses: Vec<String> =
        families.iter().map(|family| escape(&facts::accesses(family))).collect();
    rows.push(("accesses", accesses.join("<br/>")));
    rows.extend(facts::writes(trace).map(|writes| ("writes", escape(writes))));
    let rows = rows.into_iter().filter(|(_, value)| !value.is_empty());
    let rows = rows.map(|(name, value)| format!("<dt>{name}</dt><dd>{value}</dd>\n"));
    format!("<dl class=\"facts\">\n{}</dl>\n", rows.collect::<String>())
}
