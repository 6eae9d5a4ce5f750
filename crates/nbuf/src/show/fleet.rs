//! A fleet, for people: what it needs, how a budget is split, and its volumes.

mod choice;
mod page;
mod representatives;
mod sharing;

use nbuf::experiment::result::{
    FleetChange, FleetDocument, FleetRule, FleetSplit, FleetVerdict, FleetVolume,
};
use nbuf::units::{Bytes, count};

use super::table::{Table, number, text};
use super::text::{grouped, wrap, wrap_behind, wrap_each};
pub(crate) use page::page;

/// Volumes in the table of a terminal.
const VOLUMES_SHOWN: usize = 20;
/// Representatives and hosts in the tables of a terminal.
const REPRESENTATIVES_SHOWN: usize = 10;
const HOSTS_SHOWN: usize = 10;
/// Fewer volumes have no ranks worth showing.
const SPREAD_MIN: u64 = 3;
/// Failures that are named.
const FAILURES_SHOWN: usize = 10;

/// Memory of pages.
fn memory(document: &FleetDocument, pages: u64) -> String {
    Bytes(pages.saturating_mul(document.page_bytes)).to_string()
}

fn percent(share: f64) -> String {
    format!("{:.1}", share * 100.0)
}

fn hits(accesses: u64, misses: u64) -> f64 {
    accesses.saturating_sub(misses) as f64 / accesses.max(1) as f64
}

/// The answers, a sentence each.
fn answers(document: &FleetDocument) -> Vec<String> {
    let whole = &document.whole;
    let target = format!("{} %", (document.hit_ratio * 1e6).round() / 1e4);
    let mut answers = vec![match whole.hit_pages {
        Some(pages) => format!(
            "{target} hits of all accesses take at least {}, however it is split",
            memory(document, pages)
        ),
        None => format!(
            "no memory gives {target} hits: {} % of the accesses are first ones",
            percent(whole.cold_misses as f64 / whole.accesses.max(1) as f64)
        ),
    }];
    let able = document.volumes.len() as u64 - whole.volumes_below;
    if able > 0 {
        let one = whole.hit_pages_spread.filter(|_| able >= SPREAD_MIN);
        let one = one.map_or_else(String::new, |of| {
            let [p50, p90, max] = [of.p50, of.p90, of.max].map(|pages| memory(document, pages));
            format!(" (p50 {p50}, p90 {p90}, max {max})")
        });
        answers.push(format!(
            "{} in all give each of {} {target} for itself{one}; volumes that never have it: {}",
            memory(document, whole.hit_pages_each),
            count(able, "volume", "volumes"),
            whole.volumes_below
        ));
    }
    if let Some(split) = &document.split
        && let [best, equal, ..] = &split.rules[..]
    {
        answers.push(format!(
            "{} in the best split gives {} % hits, in equal shares {} %",
            memory(document, split.budget_pages),
            percent(best.hit_ratio),
            percent(equal.hit_ratio)
        ));
    }
    answers.extend(choice::answers(document));
    answers.extend(sharing::answer(document));
    answers.extend(representatives::answer(document));
    answers
}

/// What was read.
fn size(document: &FleetDocument) -> String {
    let whole = &document.whole;
    format!(
        "{}, {} accesses to {} distinct pages ({})",
        count(document.volumes.len() as u64, "volume", "volumes"),
        grouped(whole.accesses),
        grouped(whole.distinct_pages),
        memory(document, whole.distinct_pages)
    )
}

/// Rules, each next to the first.
fn rules(caption: String, rules: &[FleetRule], name: fn(&str) -> &'static str) -> Table {
    let best = rules.first().map_or(0, |rule| rule.misses).max(1) as f64;
    Table::of(caption, rules)
        .column(text("split"), |rule| name(&rule.rule))
        .column(number("hits, %"), |rule| percent(rule.hit_ratio))
        .column(number("misses"), |rule| rule.misses)
        .column(number("vs best").rank(1), |rule| format!("{:.2}x", rule.misses as f64 / best))
        .done()
}

fn rule(name: &str) -> &'static str {
    match name {
        "equal" => "equal shares",
        "rate" => "by accesses",
        "footprint" => "by distinct pages",
        _ => "best",
    }
}

fn signed(number: f64, digits: usize) -> String {
    format!("{number:+.digits$}")
}

fn changes(document: &FleetDocument, split: &FleetSplit) -> Table {
    let has = |of: fn(&FleetChange) -> Option<f64>| split.changes.iter().any(|c| of(c).is_some());
    let (seconds, misses, memories) = (
        has(|change| change.seconds_more),
        has(|change| change.miss_dollars_more),
        has(|change| change.memory_dollars_more),
    );
    let dollars = |dollars: f64| signed(dollars, if dollars.abs() < 1.0 { 4 } else { 2 });
    Table::of("A tenth less and more", &split.changes)
        .column(number("memory"), |change| memory(document, change.budget_pages))
        .column(number("misses"), |change| signed(change.misses_more as f64, 0))
        .column_if(seconds, number("seconds"), |of| of.seconds_more.map(|more| signed(more, 1)))
        .column_if(misses, number("misses, $"), |of| of.miss_dollars_more.map(dollars))
        .column_if(memories, number("memory, $ a month"), |of| of.memory_dollars_more.map(dollars))
        .done()
}

fn verdict(verdict: FleetVerdict) -> &'static str {
    match verdict {
        FleetVerdict::Fits => "",
        FleetVerdict::Starves => "starves",
        FleetVerdict::Wastes => "wastes",
        FleetVerdict::Uncacheable => "uncacheable",
    }
}

/// The end of a name that is too long for a column.
fn short(name: &str) -> String {
    const LONGEST: usize = 32;
    let letters = name.chars().count();
    if letters <= LONGEST {
        return name.to_owned();
    }
    let end: String = name.chars().skip(letters + 1 - LONGEST).collect();
    format!("…{end}")
}

fn volumes(document: &FleetDocument, most: usize) -> Table {
    let (has_split, has_policies) = (document.split.is_some(), document.policies.is_some());
    // On a terminal the table of representatives is enough.
    let has_representatives = most > VOLUMES_SHOWN && document.representatives.is_some();
    let of =
        |pages: Option<u64>| pages.map_or_else(|| "-".to_owned(), |pages| memory(document, pages));
    let share = |volume: &FleetVolume| volume.share.unwrap_or_default();
    let with = |volume: &FleetVolume, misses: u64| percent(hits(volume.accesses, misses));
    let stands =
        |volume: &FleetVolume| short(volume.represented_by.as_ref().unwrap_or(&volume.name));
    Table::of("Memory by volume", document.volumes.iter().take(most))
        .column(text("volume"), |volume| short(&volume.name))
        .column(number("accesses").rank(2), |volume| grouped(volume.accesses))
        .column(number("pages").rank(3), |volume| memory(document, volume.distinct_pages))
        .column(number("knee"), |volume| of(volume.knee_pages))
        .column(number(format!("{} %", document.hit_ratio * 100.0)), |volume| of(volume.hit_pages))
        .column_if(has_split, number("best"), |volume| memory(document, share(volume).pages))
        .column_if(has_split, number("hits, %").rank(2), |volume| {
            with(volume, share(volume).misses)
        })
        .column_if(has_split, number("equal, %").rank(3), |volume| {
            with(volume, share(volume).equal_misses)
        })
        .column_if(has_split, text("verdict").rank(1), |volume| verdict(share(volume).verdict))
        .column_if(has_policies, text("best policy").rank(1), choice::winners)
        .column_if(has_representatives, text("representative").rank(4), stands)
        .done()
}

/// What else a reader must know.
fn notes(document: &FleetDocument) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(split) = &document.split {
        let misses = split.rules.first().map_or(0, |rule| rule.misses) as f64;
        let method = match &*split.method {
            "hull" => "hulls",
            "programme" => "an exact programme",
            "rate" => "rate",
            "footprint" => "footprint",
            _ => "equal shares",
        };
        let bound = match split.bound_misses {
            Some(bound) => {
                let over = if bound > 0.0 { misses / bound - 1.0 } else { 0.0 };
                let over = over.max(0.0) * 100.0;
                format!("misses at most {over:.2} % more than the lower bound of all splits")
            }
            None => "has no lower bound to compare with, because curves are estimates".to_owned(),
        };
        let price = split.misses_per_mebibyte;
        notes.push(format!(
            "the best split, by {method}, {bound}; each MiB more saves {price:.0} misses"
        ));
    }
    let uncacheable = document.volumes.iter().filter(|volume| volume.is_uncacheable).count();
    if uncacheable > 0 {
        let count = count(uncacheable as u64, "volume is", "volumes are");
        notes.push(format!("{count} uncacheable: everything in memory would hit less than 5 %"));
    }
    notes.extend(choice::notes(document));
    notes.extend(document.warnings.iter().map(ToString::to_string));
    if document.tasks_missing > 0 {
        notes.push(format!(
            "{} not done: do them with `nbuf fleet work`, or give the same command again",
            count(document.tasks_missing, "task is", "tasks are")
        ));
    }
    for failure in document.failures.iter().take(FAILURES_SHOWN) {
        notes.push(format!("row {} failed, {}: {}", failure.row, failure.input, failure.error));
    }
    let others = document.failures.len().saturating_sub(FAILURES_SHOWN);
    if others > 0 {
        notes.push(format!("{others} more failed; --json names all"));
    }
    notes.push(format!("checksum of all curves {}", document.checksum));
    notes
}

/// All tables under their titles on a page; those of a terminal have the first rows.
fn tables(document: &FleetDocument, is_page: bool) -> [(&'static str, Vec<Table>); 6] {
    let most = |most: usize| if is_page { usize::MAX } else { most };
    let budget = document.split.iter().flat_map(|split| {
        let caption = format!("{} split", memory(document, split.budget_pages));
        [rules(caption, &split.rules, rule), changes(document, split)]
    });
    let last = document.last.iter().map(|last| choice::last(document, last));
    let shared = document.sharing.iter();
    let shared = shared.map(|found| sharing::table(document, found, most(HOSTS_SHOWN)));
    let others = document.representatives.iter();
    let others = others.map(|found| representatives::table(found, most(REPRESENTATIVES_SHOWN)));
    [
        ("The budget", budget.collect()),
        ("Does the split last?", last.collect()),
        ("Policies", document.policies.iter().map(choice::policies).collect()),
        ("Shared or partitioned?", shared.collect()),
        ("Representatives", others.collect()),
        ("Volumes", vec![volumes(document, most(VOLUMES_SHOWN))]),
    ]
}

/// The whole report.
pub(crate) fn table(document: &FleetDocument, width: usize) -> String {
    let mut out = String::new();
    wrap_behind(&mut out, &size(document), width, ["Fleet of", " "]);
    wrap_each(&mut out, answers(document), width);
    for table in tables(document, false).iter().flat_map(|(_, tables)| tables) {
        out += &table.under_caption(width);
    }
    let others = document.volumes.len().saturating_sub(VOLUMES_SHOWN);
    if others > 0 {
        wrap(&mut out, &format!("{others} more; --json and --html have all"), width);
    }
    out.push('\n');
    wrap_each(&mut out, notes(document), width);
    out
}

#[cfg(test)]
pub(crate) mod tests {
    use nbuf::experiment::result::{
        FleetBy, FleetFailure, FleetPartition, FleetPoint, FleetRepresentative,
        FleetRepresentatives, FleetShare, FleetSharing, FleetSharingHost, FleetSharingVerdict,
        FleetWhole,
    };

    use super::*;

    pub(crate) fn document() -> FleetDocument {
        let rule = |rule: &str, misses| {
            let hit_ratio = 1.0 - misses as f64 / 1000.0;
            FleetRule { rule: rule.to_owned(), misses, hit_ratio }
        };
        let point = |pages, misses| FleetPoint { pages, misses, ..FleetPoint::default() };
        let change = FleetChange {
            budget_pages: 90,
            misses_more: 5,
            seconds_more: Some(0.5),
            ..FleetChange::default()
        };
        let volume = |name: &str, verdict| FleetVolume {
            name: name.to_owned(),
            accesses: 500,
            distinct_pages: 90,
            hit_pages: Some(70),
            share: Some(FleetShare { pages: 50, misses: 90, verdict, ..FleetShare::default() }),
            ..FleetVolume::default()
        };
        FleetDocument {
            page_bytes: 4096,
            tasks_missing: 2,
            hit_ratio: 0.9,
            checksum: "00ff".to_owned(),
            whole: FleetWhole {
                accesses: 1000,
                hit_pages: Some(80),
                points: vec![point(1, 900), point(100, 100)],
                ..FleetWhole::default()
            },
            volumes: vec![
                volume("traces/with/a/long/<name>/of/a/volume.csv", FleetVerdict::Starves),
                volume("b", FleetVerdict::Wastes),
            ],
            split: Some(FleetSplit {
                budget_pages: 100,
                method: "hull".to_owned(),
                bound_misses: Some(98.0),
                rules: vec![rule("best", 100), rule("equal", 150)],
                changes: vec![change],
                ..FleetSplit::default()
            }),
            representatives: Some(FleetRepresentatives {
                farthest: 0.031,
                volumes: vec![FleetRepresentative {
                    volume: "b".to_owned(),
                    volumes: 2,
                    ..FleetRepresentative::default()
                }],
                ..FleetRepresentatives::default()
            }),
            sharing: Some(sharing()),
            failures: vec![FleetFailure { row: 3, input: "c".to_owned(), error: "bad".to_owned() }],
            ..FleetDocument::default()
        }
    }

    fn sharing() -> FleetSharing {
        let host = FleetSharingHost {
            host: "web-1".to_owned(),
            pages: 50,
            accesses: 1000,
            shared_misses: 400,
            partitioned_misses: 300,
            equal_misses: 350,
            verdict: FleetSharingVerdict::Partitions,
            partitions: vec![FleetPartition::default(); 2],
            ..FleetSharingHost::default()
        };
        FleetSharing {
            by: FleetBy::Directory,
            accesses: 1000,
            shared_misses: 400,
            partitioned_misses: 300,
            equal_misses: 350,
            hosts: vec![host],
        }
    }

    #[test]
    fn a_table_fits_its_width_and_names_what_failed() {
        for width in [40, 80, 120] {
            let text = table(&document(), width);
            let longest = text.lines().map(console::measure_text_width).max().unwrap();
            assert!(longest <= width, "{longest} of {width}:\n{text}");
            let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
            for want in [
                "row 3 failed, c: bad",
                "2 tasks are not done",
                "2.04 %",
                "00ff",
                "1 volume stands for all 2",
                "at most 3.1 points",
                "partitions by directory 70.0 %",
                "1 host hits more with partitions",
                "Hits shared and partitioned by directory",
                "web-1",
            ] {
                assert!(flat.contains(want), "{want}:\n{text}");
            }
            assert!(width < 120 || text.contains("starves"), "{text}");
        }
        table(&FleetDocument::default(), 40);
    }

    #[test]
    fn the_page_has_the_curve_and_all_volumes_and_fetches_nothing() {
        let drawn = page(&document());
        let elements = super::super::page::tests::well_formed(&drawn);
        assert!(elements.iter().any(|name| name == "svg"), "{elements:?}");
        assert!(drawn.contains("starves") && drawn.contains("wastes"), "{drawn}");
        super::super::page::tests::well_formed(&page(&FleetDocument::default()));
    }
}
