//! Curves as a page: a sentence first, then the charts, then the tables.

use nbuf::experiment::result::{CurveDocument, CurveGroup, CurvePoint, PolicyCurve};

use super::super::page::{Answer, Mood, Page, Part, Tile, sentence, shortened};
use super::super::table::{Cell, Table, number, text};
use super::super::text::grouped;
use super::answer::{knee_hits, sentences, target};
use super::family::{
    Corner, Family, at, corners, families, is_floor_at_most, is_opt, knee_size, policy_name,
    requests_differ,
};
use super::parts::{accesses, hits, knee, share, windows_title};
use super::table::byte_hits;
use super::words::{Unit, percent};
use super::{chart, facts, prefetches, times};

/// What the words of the page mean.
const WORDS: &str = "\
hit: an access to a page that the cache has kept
miss: an access to a page that the cache does not have, the first to it among them
floor, knee, ceiling: the sizes below which a cache is useless, from which most of what can be saved is saved, \
    and above which nothing more is gained
requests, %: requests of which every page hits
bytes, %: bytes of the requests that hit, of caches of objects, in percent of the bytes of all
opt: the policy that knows the future: no other that takes every page in can hit more
bounds: of objects, the hits of opt are between what some schedule reaches and what no policy can exceed
95 % band: the range of the hits of all keys, as far as the sample of them can tell, nineteen times of twenty
useful, useless: pages that the cache fetched before they were asked for, and that were used, or left unused
*: the most hits of a row, the optimum aside";

/// The whole page.
pub(crate) fn page(document: &CurveDocument) -> String {
    let name = facts::files(&document.trace);
    let families = families(document);
    let is_one = families.len() == 1;
    let mut answers: Vec<Answer> = families
        .iter()
        .map(|family| {
            let is_sure = document.warnings.is_empty() && family.main().sample.is_none();
            let which =
                if is_one { String::new() } else { format!("In {}: ", family.unit.title()) };
            let mood = if is_sure { Mood::Good } else { Mood::Open };
            Answer::new(mood, which + &sentences(family).join(" "))
        })
        .collect();
    if answers.is_empty() {
        answers.push(Answer::new(Mood::Open, "There is no curve."));
    }
    let mut all = Vec::new();
    for family in &families {
        let of = if is_one { String::new() } else { format!(", {}", family.unit.title()) };
        sections(&mut all, family, &of);
    }
    let warnings = document.warnings.iter().map(|warning| sentence(&warning.to_string()));
    let tiles = if let [family] = families.as_slice() { tiles(family) } else { Vec::new() };
    Page::new("curve", name.as_str(), WORDS)
        .title(format!("{}: hits by cache size", shortened(&name, 80)))
        .answers(answers)
        .tiles(tiles)
        .sections(all)
        .section("Warnings", warnings.map(Part::Text))
        .section("Trace", [Part::Facts(trace(document, &families))])
        .html()
}

/// Everything about one page size.
fn sections(all: &mut Vec<(String, Vec<Part>)>, family: &Family<'_>, of: &str) {
    let chart = chart::page(family).map(Part::Chart).into_iter();
    let chart = chart.chain(Part::notes(notes(family))).collect();
    all.push((format!("Hits against cache size{of}"), chart));
    if let Some(chart) = chart::bytes(family) {
        all.push((format!("Hits in bytes against cache size{of}"), vec![Part::Chart(chart)]));
    }
    if let Some(pages) = family.contest().filter(|_| family.curves.len() > 1) {
        let title = format!("Policies at {}{of}", family.unit.size(pages));
        all.push((title.clone(), vec![Part::Table(policies(family, pages, title))]));
    }
    for curve in &family.curves {
        all.push((windows_title(curve) + of, times::section(family, curve)));
        let title = format!("Parts, {}{of}", policy_name(curve));
        let groups = Part::table(groups(family, curve, &title));
        all.push((title, groups.into_iter().collect()));
    }
}

/// What came of targets, and how keys were sampled.
fn notes(family: &Family<'_>) -> Vec<String> {
    let target = |curve: &&PolicyCurve| Some(target(curve, curve.target.as_ref()?, family.unit));
    let mut notes: Vec<String> = family.curves.iter().filter_map(target).collect();
    notes.extend(family.curves.iter().flat_map(|curve| facts::sample(curve, family.unit)));
    notes.extend(facts::three_sizes(family.main()));
    notes
}

/// The sizes that matter, large.
fn tiles(family: &Family<'_>) -> Vec<Tile> {
    let (curve, unit) = (family.main(), family.unit);
    let Some([floor, knee, ceiling]) = corners(curve) else { return Vec::new() };
    let hits = knee_hits(curve)
        .map_or_else(|| "most of what can be saved".to_owned(), |hits| format!("{hits} hit"));
    let less = if is_floor_at_most(curve) {
        "or less: sizes below the largest object were not searched"
    } else {
        "less cache saves nothing"
    };
    let all = match &curve.sample {
        Some(_) => "about, by the sample: everything that was asked for",
        None => "everything that was asked for",
    };
    let tile = |(name, pages, range): Corner, note: &str| {
        let range = range.and_then(|range| unit.range(range));
        let note = range.map_or_else(|| note.to_owned(), |range| format!("{range}; {note}"));
        Tile { name, value: unit.size(pages), note }
    };
    vec![
        tile(knee, &hits),
        tile(floor, less),
        tile(ceiling, "more cache gains nothing"),
        tile(("footprint", curve.distinct_pages, None), all),
    ]
}

/// What each policy does where they are compared, and where its own corners are; the best first.
fn policies(family: &Family<'_>, pages: u64, title: String) -> Table {
    let curves = family.curves.iter().copied();
    let mut at_size: Vec<(&PolicyCurve, &CurvePoint)> =
        curves.filter_map(|curve| Some((curve, at(&curve.points, pages)?))).collect();
    at_size.sort_by_key(|(curve, point)| (is_opt(curve), point.misses));
    let has_requests = at_size.iter().any(|(_, point)| requests_differ(point));
    let has_prefetches = at_size.iter().any(|(_, point)| point.prefetch.is_some());
    let prefetched = has_prefetches.then(prefetches::columns).into_iter().flatten();
    let cells = |point| has_prefetches.then(|| prefetches::cells(point)).into_iter().flatten();
    let bound = |curve| if is_opt(curve) { ", the bound" } else { "" };
    Table::of(title, at_size)
        .column(text("policy"), |(curve, _)| policy_name(curve) + bound(curve))
        .column(number("hits, %"), |(_, point)| percent(point.hit_ratio()))
        .column_if(has_requests, number("requests, %"), |(_, p)| p.request_hit_ratio().map(percent))
        .column_if(family.unit.is_objects, number("bytes, %"), |(_, point)| byte_hits(point))
        .column(number("misses"), |(_, point)| grouped(point.misses))
        .columns(prefetched, |(_, point)| cells(point))
        .columns(["floor", "knee", "ceiling"].map(number), |(curve, _)| three(curve, family.unit))
        .done()
}

/// The three sizes of a curve, with those that they are between.
fn three(curve: &PolicyCurve, unit: Unit) -> [String; 3] {
    let Some(all) = corners(curve) else { return ["none"; 3].map(str::to_owned) };
    all.map(|(_, pages, between)| {
        let range = between.and_then(|between| unit.range(between));
        unit.brief(pages) + &range.map_or(String::new(), |range| format!(" ({range})"))
    })
}

/// Every group.
fn groups(family: &Family<'_>, curve: &PolicyCurve, title: &str) -> Table {
    let Some(pages) = knee_size(curve) else { return Table::default() };
    let all = curve.points.first().map_or(0, |point| point.accesses);
    let part = |group: &CurveGroup| accesses(group) as f64 / all.max(1) as f64;
    let at_knee = format!("hits, % at {}", family.unit.size(pages));
    Table::of(title, &curve.groups)
        .column(text("part"), |group| Cell::class(&group.name, "path"))
        .column(number("accesses"), |group| grouped(accesses(group)))
        .column(number("share, %"), |group| Cell::bar(share(group, all), part(group)))
        .column(number(at_knee), |group| hits(&group.points, pages))
        .column(number("own knee"), |group| knee(group.corners, family.unit))
        .done()
}

/// What was read.
fn trace(document: &CurveDocument, families: &[Family<'_>]) -> Vec<(&'static str, String)> {
    let trace = &document.trace;
    let files: Vec<&str> = trace.files.iter().map(|file| facts::file(file)).collect();
    let accesses: Vec<String> = families.iter().map(facts::accesses).collect();
    let mut rows = vec![
        ("files", files.join("\n")),
        ("format", facts::format(trace)),
        ("requests", facts::requests(trace)),
    ];
    rows.extend(facts::warmup(trace).map(|warmup| ("warm-up", warmup)));
    let fact = document.curves.first().and_then(prefetches::fact);
    rows.extend(fact.map(|fact| ("prefetches", fact)));
    let left_out = facts::left_out(trace);
    rows.extend(left_out.map(|text| ("left out", text.replacen("left out: ", "", 1))));
    rows.push(("accesses", accesses.join("\n")));
    rows.extend(facts::writes(trace).map(|writes| ("writes", writes.to_owned())));
    rows.retain(|(_, value)| !value.is_empty());
    rows
}
