//! What a fleet should choose: policies with their regret, and a split that is judged later.

use nbuf::experiment::result::{FleetDocument, FleetLast, FleetPolicies, FleetVolume};
use nbuf::units::{Bytes, count};

use super::super::table::{Table, number, text};
use super::super::text::grouped;
use super::{memory, percent, rules, short};

/// Winners of a volume that are named.
const WINNERS: usize = 2;

/// The answers of policies and of time, a sentence each.
pub(super) fn answers(document: &FleetDocument) -> Vec<String> {
    let policies = document.policies.as_ref().and_then(one_for_all);
    policies.into_iter().chain(document.last.as_ref().map(lasts)).collect()
}

fn one_for_all(policies: &FleetPolicies) -> Option<String> {
    // The optimum is a bound, which no cache can be.
    let best = policies.policies.iter().find(|policy| policy.policy != "opt")?;
    let more = match best.regret_misses {
        0 => "no volume has a better one".to_owned(),
        _ => format!("{:.1} % more than the best policy of each volume", best.regret * 100.0),
    };
    let (size, name) = (size(policies), &best.policy);
    Some(format!("with {size}, {name} misses least as the one policy for all: {more}"))
}

fn lasts(last: &FleetLast) -> String {
    let hits = |name: &str| {
        let rule = last.rules.iter().find(|rule| rule.rule == name);
        percent(rule.map_or(0.0, |rule| rule.hit_ratio))
    };
    format!(
        "after the time of --until, the split of before gives {} % hits, the best one {} %, equal shares {} %",
        hits("before"),
        hits("best"),
        hits("equal")
    )
}

/// The size of the cache of a volume.
fn size(policies: &FleetPolicies) -> String {
    let text = &*policies.size;
    if let Some(share) = text.strip_suffix('%') {
        format!("{share} % of each volume")
    } else if let Some(pages) = text.strip_suffix('p') {
        format!("{pages} pages each")
    } else {
        let bytes = text.strip_suffix('B').and_then(|bytes| bytes.parse().ok());
        let bytes = bytes.map_or_else(|| text.to_owned(), |bytes| Bytes(bytes).to_string());
        format!("{bytes} each")
    }
}

/// Policies, each used for all volumes.
pub(super) fn policies(policies: &FleetPolicies) -> Table {
    let volumes = count(policies.volumes, "volume", "volumes");
    let caption = format!("One policy for {volumes}, with {}", size(policies));
    Table::of(caption, &policies.policies)
        .column(text("policy"), |policy| policy.policy.as_str())
        .column(number("hits, %"), |policy| percent(policy.hit_ratio))
        .column(number("misses").rank(1), |policy| grouped(policy.misses))
        .column(number("wins"), |policy| policy.wins.to_string())
        .column(number("alone").rank(2), |policy| policy.wins_alone.to_string())
        .column(number("regret"), |policy| grouped(policy.regret_misses))
        .column(number("regret, %"), |policy| percent(policy.regret))
        .column(text("worst volume").rank(3), |policy| {
            policy.worst.as_ref().map_or_else(|| "-".to_owned(), |worst| short(&worst.volume))
        })
        .done()
}

/// Rules after the time of `--until`.
pub(super) fn last(document: &FleetDocument, last: &FleetLast) -> Table {
    let caption = format!("{} split, after --until", memory(document, last.budget_pages));
    rules(caption, &last.rules, |name| match name {
        "before" => "best before",
        "equal" => "equal shares",
        _ => "best after",
    })
}

/// What else a reader must know.
pub(super) fn notes(document: &FleetDocument) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(last) = &document.last {
        notes.push(format!(
            "{} accesses come after --until, {} before; the best split of after moves {} to other volumes",
            grouped(last.accesses),
            grouped(last.accesses_before),
            memory(document, last.moved_pages)
        ));
    }
    if document.policies.is_some() {
        notes.push(
            "regret: misses more than with the best policy of each volume; volumes with equal policies count as \
             wins of each"
                .to_owned(),
        );
    }
    notes
}

/// The policies that miss least on a volume.
pub(super) fn winners(volume: &FleetVolume) -> String {
    let least = volume.policies.iter().map(|of| of.misses).min();
    let winners = volume.policies.iter().filter(|of| Some(of.misses) == least);
    let winners: Vec<&str> = winners.map(|of| &*of.policy).collect();
    match winners.len() {
        0 => "-".to_owned(),
        several if several == volume.policies.len() && several > 1 => "all equal".to_owned(),
        several if several > WINNERS => format!("{several} equal"),
        _ => winners.join(", "),
    }
}
