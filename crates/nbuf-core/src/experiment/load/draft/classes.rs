//! Heavy and light users, by what their requests cost.
//!
//! The rule: users in the order of the mean cost of those requests that a script can do are cut in two where the logarithms of the costs on
//! both sides differ least from their own mean. The heavy users are a class of their own if their mean is four times
//! as large, by logarithms. Otherwise there is one class.
//! Source: N. Otsu, "A Threshold Selection Method from Gray-Level Histograms", *IEEE Transactions on Systems, Man, and
//! Cybernetics* 9(1), 1979: the least variance within is the largest between.

use std::collections::BTreeMap;

use super::{Class, Turn};

/// Heavy users cost this many times as much.
const HEAVY: f64 = 4.0;
/// An answer without a body, or one in no time, has a cost for the logarithm.
const COST_MIN: f64 = 1e-6;

/// The turns of each class, the heavy one first.
pub(super) fn of(turns: &[Turn]) -> Vec<(Class, Vec<&Turn>)> {
    let mut users: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for turn in turns.iter().filter(|turn| turn.action.is_some()) {
        let (sum, count) = users.entry(&turn.user).or_default();
        *sum += turn.cost;
        *count += 1.0;
    }
    let mut costs: Vec<f64> =
        users.values().map(|(sum, count)| (sum / count).max(COST_MIN).ln()).collect();
    costs.sort_by(f64::total_cmp);
    let Some(from) = heavy_from(&costs) else {
        return vec![(Class::All, turns.iter().collect())];
    };
    let is_heavy = |turn: &&Turn| {
        let user = users.get(turn.user.as_str());
        user.is_some_and(|(sum, count)| (sum / count).max(COST_MIN).ln() >= from)
    };
    let (heavy, light) = turns.iter().partition(is_heavy);
    vec![(Class::Heavy, heavy), (Class::Light, light)]
}

/// From which cost on a user is heavy; the costs are logarithms in order.
fn heavy_from(costs: &[f64]) -> Option<f64> {
    let all: f64 = costs.iter().sum();
    let (mut below, mut best): (f64, Option<(f64, f64, f64)>) = (0.0, None);
    for (at, pair) in costs.windows(2).enumerate() {
        below += pair[0];
        let (few, many) = ((at + 1) as f64, (costs.len() - at - 1) as f64);
        let apart = (all - below) / many - below / few;
        let between = few * many * apart * apart;
        if pair[0] < pair[1] && best.is_none_or(|(most, ..)| between > most) {
            best = Some((between, apart, pair[1]));
        }
    }
    best.and_then(|(_, apart, from)| (apart >= HEAVY.ln()).then_some(from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_cut_in_two_where_their_costs_are_apart() {
        let of = |costs: &[f64]| {
            let mut logarithms: Vec<f64> = costs.iter().map(|cost| cost.ln()).collect();
            logarithms.sort_by(f64::total_cmp);
            heavy_from(&logarithms)
                .map(|from| costs.iter().filter(|cost| cost.ln() >= from).count())
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[1.0]), None);
        assert_eq!(of(&[5.0, 5.0, 5.0]), None);
        assert_eq!(of(&[1.0, 2.0, 3.0]), None);
        assert_eq!(of(&[1.0, 100.0]), Some(1));
        assert_eq!(of(&[1.0, 1.2, 90.0, 0.8, 110.0]), Some(2));
        // One user who is cheaper than all others.
        assert_eq!(of(&[1.0, 90.0, 100.0, 110.0]), Some(3));
    }
}
