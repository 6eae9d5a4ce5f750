//! Policies as they are written on a command line: a name of the table, one with its parameter, or
//! another word of the verb.

use std::fmt;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use nbuf::experiment::curve::{Choice, ChoiceError, POLICIES, find_policy};

/// An argument of an option for policies.
#[derive(Clone, Debug)]
pub(super) enum PolicyArgument {
    /// A word that is no policy.
    Word(&'static str),
    /// A policy, with its parameter where it has one.
    Policy(Choice),
}

/// Other names of policies in the field, in small letters without hyphens, and those that nbuf knows them by.
const OTHER_NAMES: [(&str, &str); 2] = [("lruk", "lru-2"), ("segmentedlru", "slru")];

/// Names, which help and completions know, and names with a parameter.
#[derive(Clone)]
pub(super) struct PolicyParser {
    /// What else may stand there.
    pub(super) words: &'static [&'static str],
    /// Policies that may not.
    pub(super) without: &'static [&'static str],
}

impl PolicyParser {
    fn names(&self) -> impl Iterator<Item = &'static str> {
        let rows = POLICIES.iter().map(|row| row.name);
        rows.filter(|name| !self.without.contains(name)).chain(self.words.iter().copied())
    }

    /// What is no name, with those that are; the nearest is the nearest in small letters.
    fn unknown(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        text: &str,
    ) -> clap::Error {
        let names = PossibleValuesParser::new(self.names().collect::<Vec<_>>());
        let small = text.to_ascii_lowercase();
        match names.parse_ref(command, argument, small.as_ref()) {
            Err(mut error) => {
                let bare = small.replace(['-', '_'], "");
                let other = OTHER_NAMES.iter().find(|(other, _)| *other == bare);
                if let Some((_, name)) = other.filter(|(_, name)| !self.without.contains(name)) {
                    let near = ContextValue::String((*name).to_owned());
                    error.insert(ContextKind::SuggestedValue, near);
                }
                error.insert(ContextKind::InvalidValue, ContextValue::String(text.to_owned()));
                error
            }
            // It is none of these names: they were looked for before.
            Ok(_) => clap::Error::new(ErrorKind::InvalidValue).with_cmd(command),
        }
    }
}

impl TypedValueParser for PolicyParser {
    type Value = PolicyArgument;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<PolicyArgument, clap::Error> {
        let text = value.to_str().unwrap_or_default();
        let name = text.split_once(':').map_or(text, |(name, _)| name);
        let bare = |name: &str| name.replace(['-', '_'], "").to_ascii_lowercase();
        if let Some(word) = self.words.iter().find(|word| bare(word) == bare(text)) {
            return Ok(PolicyArgument::Word(word));
        }
        if find_policy(name).is_none_or(|row| self.without.contains(&row.name)) {
            return Err(self.unknown(command, argument, text));
        }
        let read: fn(&str) -> Result<Choice, ChoiceError> = str::parse;
        read.parse_ref(command, argument, value).map(PolicyArgument::Policy)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.names().map(PossibleValue::new)))
    }
}

impl fmt::Display for PolicyArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(word) => f.write_str(word),
            Self::Policy(choice) => choice.fmt(f),
        }
    }
}
