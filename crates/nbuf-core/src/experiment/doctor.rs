//! What works here, what does not, why, and what would change it.
//!
//! ```
//! use nbuf::experiment::doctor::{self, Spec};
//! use nbuf::experiment::session::Session;
//!
//! let document = doctor::run(&Spec::default(), &mut Session::new(&()))?;
//! for capability in document.capabilities {
//!     println!("{}: {:?}", capability.name, capability.state);
//! }
//! # Ok::<(), doctor::Error>(())
//! ```

use serde::{Deserialize, Serialize};

use super::result::{DoctorCapability, DoctorDocument, DoctorState};
use super::session::Session;
use crate::workload::record::capabilities::{Capability, State, capabilities};

/// The spec of a test of this machine. Every test is made, so that it has no fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {}

/// Why nothing was tried.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A signal came before the first test.
    #[error("interrupted by signal {0}")]
    Interrupted(i32),
}

/// Tries everything that sizing needs: opens an event, traces a process, makes, limits and removes a group.
/// Nothing is changed, and nothing is left. A capability that fails is a row of the document, and no error.
pub fn run(_spec: &Spec, session: &mut Session<'_>) -> Result<DoctorDocument, Error> {
    if let Some(signal) = session.cancellation.signal() {
        return Err(Error::Interrupted(signal));
    }
    let capabilities: Vec<DoctorCapability> = capabilities().into_iter().map(reported).collect();
    Ok(DoctorDocument {
        schema: DoctorDocument::SCHEMA.to_owned(),
        whole: capabilities.iter().all(|it| !it.needed || it.state == DoctorState::Works),
        capabilities,
    })
}

fn reported(capability: Capability) -> DoctorCapability {
    DoctorCapability {
        name: capability.name.to_owned(),
        needed: capability.needed,
        remedy: capability.remedy,
        state: match capability.state {
            State::Works => DoctorState::Works,
            State::Fails => DoctorState::Fails,
            State::Is => DoctorState::Is,
        },
        why: capability.why,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spec_has_no_fields_and_a_session_that_is_over_tries_nothing() {
        assert_eq!(serde_json::from_str::<Spec>("{}").unwrap(), Spec::default());
        assert!(serde_json::from_str::<Spec>(r#"{"all": true}"#).is_err());
        let mut session = Session::new(&());
        session.cancellation.stopper().stop();
        assert_eq!(run(&Spec::default(), &mut session), Err(Error::Interrupted(2)));
    }
}
