//! Which policies are asked for.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use nbuf::cache::policy::{Choice, ChoiceError, POLICIES};

use super::Args;

/// One of what is written after `--policy`.
#[derive(Clone, Debug)]
pub(super) enum Wanted {
    /// Every row of the table.
    All,
    /// This policy, with this parameter.
    One(Choice),
}

/// Names of the table, which help and completions know, and names with a parameter.
#[derive(Clone)]
pub(super) struct PolicyParser;

impl TypedValueParser for PolicyParser {
    type Value = Wanted;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<Wanted, clap::Error> {
        let with_parameter = value.to_str().filter(|text| text.contains(':'));
        if with_parameter.is_none() {
            // What is no name is told with those that are.
            names().parse_ref(command, argument, value)?;
        }
        if value == "all" {
            return Ok(Wanted::All);
        }
        let read: fn(&str) -> Result<Choice, ChoiceError> = str::parse;
        read.parse_ref(command, argument, value).map(Wanted::One)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let names = POLICIES.iter().map(|row| row.name).chain(["all"]);
        Some(Box::new(names.map(PossibleValue::new)))
    }
}

fn names() -> PossibleValuesParser {
    let names = POLICIES.iter().map(|row| row.name).chain(["all"]);
    PossibleValuesParser::new(names.collect::<Vec<_>>())
}

/// The policies asked for; LRU, and the optimum beside it where the whole is looked at.
pub(super) fn policies(args: &Args) -> Vec<Choice> {
    if args.policy.iter().any(|wanted| matches!(wanted, Wanted::All)) {
        let more = args.policy.iter().filter_map(Wanted::choice);
        return distinct(POLICIES.iter().map(Choice::from).chain(more));
    }
    if args.policy.is_empty() {
        let split = args.window.is_some() || args.by.is_some();
        let default = if split { &["lru"][..] } else { &["lru", "opt"] };
        return default.iter().filter_map(|name| name.parse().ok()).collect();
    }
    distinct(args.policy.iter().filter_map(Wanted::choice))
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

impl Wanted {
    /// Whether it is LRU and nothing else.
    pub(super) fn is_lru(&self) -> bool {
        self.choice().is_some_and(|choice| choice.row().name == "lru")
    }

    fn choice(&self) -> Option<Choice> {
        match self {
            Self::All => None,
            Self::One(choice) => Some(*choice),
        }
    }
}
