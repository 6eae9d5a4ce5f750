//! What `nbuf doctor` gives: what works on this machine, and what would change the rest.

use serde::{Deserialize, Serialize};

/// The document of `nbuf doctor --json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct DoctorDocument {
    /// Each thing that was tried or looked at.
    #[serde(alias = "abilities")]
    pub capabilities: Vec<DoctorCapability>,
    /// [`DoctorDocument::SCHEMA`].
    pub schema: String,
    /// Whether `nbuf size` can do its whole job here.
    pub whole: bool,
}

impl DoctorDocument {
    /// The schema this version writes.
    pub const SCHEMA: &'static str = "nbuf.doctor/1";

    /// Whether the capability of this name works.
    pub fn works(&self, name: &str) -> bool {
        let is_it = |capability: &DoctorCapability| capability.name == name;
        self.capabilities.iter().any(|it| is_it(it) && it.state == DoctorState::Works)
    }
}

/// One thing that was tried or looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct DoctorCapability {
    /// Its name.
    pub name: String,
    /// Whether `nbuf size` cannot do its whole job without it.
    pub needed: bool,
    /// What would change it; empty where nothing need be changed.
    pub remedy: String,
    /// Whether it works.
    pub state: DoctorState,
    /// Why, or what exactly.
    pub why: String,
}

/// What came of trying.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DoctorState {
    /// It works.
    Works,
    /// It does not.
    #[default]
    Fails,
    /// It is a fact of the machine, which matters to what is measured.
    Is,
}
