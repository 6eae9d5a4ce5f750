//! What `ping` measures: made by hand, from a command line, or read from a file.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::plan::Plan;
use crate::path::wake::{Placement, Row, WAKES};

/// The spec of a measurement. The default measures all mechanisms in all placements.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spec {
    /// The mechanisms; all of them where there is none.
    pub mechanisms: Vec<Mechanism>,
    /// The placements; all three where there is none.
    pub placements: Vec<Placement>,
    /// Whether a row has one process instead of three, and all takes a minute at most.
    pub is_quick: bool,
}

impl Spec {
    /// What will be measured.
    pub(super) fn plan(&self) -> Plan {
        let mechanisms: Vec<Row> = match self.mechanisms.as_slice() {
            [] => WAKES.to_vec(),
            some => some.iter().map(|mechanism| mechanism.0.clone()).collect(),
        };
        let mut plan =
            if self.is_quick { Plan::quick(&mechanisms) } else { Plan::thorough(&mechanisms) };
        if !self.placements.is_empty() {
            plan.placements.clone_from(&self.placements);
        }
        plan
    }
}

/// A mechanism of [`WAKES`]; in a file it is its name.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub struct Mechanism(&'static Row);

/// No mechanism has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no mechanism has this name; `nbuf ping --list` names them all")]
pub struct UnknownName;

impl FromStr for Mechanism {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Self, UnknownName> {
        Row::named(WAKES, name).map(Self).ok_or(UnknownName)
    }
}

impl TryFrom<String> for Mechanism {
    type Error = UnknownName;

    fn try_from(name: String) -> Result<Self, UnknownName> {
        name.parse()
    }
}

impl From<Mechanism> for &'static str {
    fn from(mechanism: Mechanism) -> Self {
        mechanism.0.name
    }
}

impl PartialEq for Mechanism {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for Mechanism {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_is_read_from_a_file_and_written_again() {
        let text = r#"
            mechanisms = ["pipe+poll", "futex"]
            placements = ["same core", "unpinned"]
            is_quick = true
        "#;
        let spec: Spec = toml::from_str(text).unwrap();
        let plan = spec.plan();
        assert_eq!((plan.steps(), plan.processes), (4, 1));
        assert_eq!(plan.placements, [Placement::SameCore, Placement::Unpinned]);
        let json = serde_json::to_string(&spec).unwrap();
        assert_eq!(serde_json::from_str::<Spec>(&json).unwrap(), spec);
        let error = toml::from_str::<Spec>(r#"mechanisms = ["telepathy"]"#).unwrap_err();
        assert!(error.to_string().contains("names them all"), "{error}");
    }

    #[test]
    fn the_default_is_everything() {
        let plan = Spec::default().plan();
        assert_eq!(plan.steps(), WAKES.len() * Placement::ALL.len() * 3);
    }
}
