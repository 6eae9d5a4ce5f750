//! The answer in a sentence or two, for every face.

use nbuf::experiment::result::{CurvePoint, CurveTarget, PolicyCurve};

use super::family::{Family, at, band, edges, is_opt, policy_name, spoken_name};
use super::words::{Unit, percent};

/// What the main curve says, and which policy does better.
pub(super) fn sentences(family: &Family<'_>) -> Vec<String> {
    let mut all = vec![need(family.main(), family.unit)];
    all.extend(rivals(family));
    all
}

/// How much is enough.
fn need(curve: &PolicyCurve, unit: Unit) -> String {
    let accesses = match (unit.is_objects, unit.has_bytes()) {
        (true, _) => "requests",
        (false, true) => "page accesses",
        (false, false) => "accesses",
    };
    let Some(last) = curve.points.last() else {
        return match &curve.sample {
            Some(_) => "The sample is too small to judge any size.".into(),
            None => "There is no curve, because there is no size.".into(),
        };
    };
    if last.accesses == 0 {
        return format!("There is no curve: the trace accesses no {}.", unit.plural());
    }
    let Some(corners) = curve.corners else {
        if last.misses == last.accesses {
            return format!(
                "No cache saves anything: with {} every access still misses.",
                unit.full(last.pages)
            );
        }
        return format!(
            "No knee found: the largest cache, {}, hits {} % of {accesses}.",
            unit.full(last.pages),
            percent(last.hit_ratio())
        );
    };
    let (knee, ceiling) = (corners.knee_pages, corners.ceiling_pages);
    let name = spoken_name(curve);
    let hits = knee_hits(curve).map_or_else(
        || "saves most of the misses that can be saved".into(),
        |hits| format!("hits {hits} of {accesses}{}", knee_byte_hits(curve)),
    );
    let more = if unit.brief(knee) == unit.brief(ceiling) {
        "more saves nothing".to_owned()
    } else {
        format!("more than {} saves nothing", unit.size(ceiling))
    };
    let range = curve.corners_between.and_then(|between| unit.range(between.knee_pages));
    let range = range.map_or(String::new(), |range| format!(", somewhere in {range},"));
    format!("{} {name} cache of {}{range} {hits}; {more}.", article(&name), unit.full(knee))
}

/// The hits at the knee: `61.4 %`, of a sample with their band where there is a point.
pub(super) fn knee_hits(curve: &PolicyCurve) -> Option<String> {
    let (knee, last) = (curve.corners?.knee_pages, curve.points.last()?);
    let misses = match at(&curve.points, knee) {
        Some(point) => point.misses,
        None => curve.knee_misses?,
    };
    let hits = CurvePoint { misses, ..*last }.hit_ratio();
    let band = at(&curve.points, knee).and_then(band);
    let band = band.map_or(String::new(), |band| format!(" (band {band})"));
    let about = if curve.sample.is_some() && band.is_empty() { "about " } else { "" };
    Some(format!("{about}{} %{band}", percent(hits)))
}

/// The hits in bytes at the knee of objects, where it is one of the sizes that are shown.
fn knee_byte_hits(curve: &PolicyCurve) -> String {
    let point = curve.corners.and_then(|corners| at(&curve.points, corners.knee_pages));
    let hits = point.and_then(CurvePoint::byte_hit_ratio);
    hits.map_or(String::new(), |hits| format!(" and {} % of bytes", percent(hits)))
}

/// The article that is spoken before a name.
fn article(name: &str) -> &'static str {
    let spelled = ["LRU", "lfu", "lru-", "s3", "mq", "nru"];
    let is_vowel = name.starts_with(['a', 'e', 'i', 'o', 'A', 'E', 'I', 'O']);
    if is_vowel || spelled.iter().any(|start| name.starts_with(start)) { "An" } else { "A" }
}

/// Who does best at the knee, and how much better anybody could.
fn rivals(family: &Family<'_>) -> Option<String> {
    let pages = family.contest()?;
    let hits = |curve: &PolicyCurve| at(&curve.points, pages).map(CurvePoint::hit_ratio);
    let size = family.unit.size(pages);
    let others: Vec<_> = family.real().filter_map(|curve| Some((curve, hits(curve)?))).collect();
    let best = others.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let worst = others.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let optima = family.curves.iter().filter(|curve| is_opt(curve));
    // For objects, the bound that no policy exceeds is more than any schedule attains.
    let optima = optima.filter_map(|curve| Some((curve, edges(at(&curve.points, pages)?).1)));
    // With what is discarded, or in trouble, it may hit less than others, and says nothing.
    let optimum = optima.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|&(_, share)| share >= best.1);
    let bound = optimum.map(|(curve, share)| {
        let may_bypass = curve.policy.contains(':') || family.unit.is_objects;
        let which = if may_bypass { "" } else { " that takes every page in" };
        format!("no policy{which} can hit more than {} %", percent(share))
    });
    if others.len() < 2 {
        return bound.map(|bound| format!("At {size} {bound}."));
    }
    let first = if percent(best.1) == percent(worst.1) {
        format!("At {size} all {} policies hit the same, {} %", others.len(), percent(best.1))
    } else {
        let name = policy_name(best.0);
        format!("At {size} {name} hits most of {} policies, {} %", others.len(), percent(best.1))
    };
    Some(bound.map_or_else(|| format!("{first}."), |bound| format!("{first}; {bound}.")))
}

/// What came of a target, without a full stop.
pub(super) fn target(curve: &PolicyCurve, target: &CurveTarget, unit: Unit) -> String {
    let (asked, name) = (super::super::text::clean(&target.target), policy_name(curve));
    let size = unit.full(target.pages);
    if let (true, Some(less)) = (target.met, target.more_than_pages) {
        let less = unit.full(less);
        format!(
            "--target {asked}: {name} needs {size} or less, and more than {less}; give sizes between by --size"
        )
    } else if target.met {
        format!("--target {asked}: {name} needs {size}")
    } else {
        format!("--target {asked} is not met: {name} comes nearest to it with {size}")
    }
}
