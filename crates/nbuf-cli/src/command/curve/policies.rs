//! Which policies are asked for.

use nbuf::cache::policy::{Choice, POLICIES};

use super::Args;
use crate::command::policy::{Asked, PolicyParser};

/// Every policy, and `all` of them.
pub(super) const POLICY: PolicyParser = PolicyParser { words: &["all"], without: &[] };

/// The policies asked for; LRU, and the optimum beside it where the whole is looked at.
pub(super) fn policies(args: &Args) -> Vec<Choice> {
    if args.policy.iter().any(|asked| matches!(asked, Asked::Word(_))) {
        let more = args.policy.iter().filter_map(choice);
        return distinct(POLICIES.iter().map(Choice::from).chain(more));
    }
    if args.policy.is_empty() {
        let split = args.window.is_some() || args.by.is_some();
        let default = if split { &["lru"][..] } else { &["lru", "opt"] };
        return default.iter().filter_map(|name| name.parse().ok()).collect();
    }
    distinct(args.policy.iter().filter_map(choice))
}

/// Whether it is LRU and nothing else.
pub(super) fn is_lru(asked: &Asked) -> bool {
    choice(asked).is_some_and(|choice| choice.row().name == "lru")
}

/// Each once, in the order in which they were first named.
fn distinct(choices: impl Iterator<Item = Choice>) -> Vec<Choice> {
    let mut distinct: Vec<Choice> = Vec::new();
    for choice in choices {
        if distinct.iter().all(|known| known.to_string() != choice.to_string()) {
            distinct.push(choice);
        }
    }
    distinct
}

fn choice(asked: &Asked) -> Option<Choice> {
    match asked {
        Asked::Word(_) => None,
        Asked::Policy(choice) => Some(*choice),
    }
}
