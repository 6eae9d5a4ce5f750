//! What works here, what does not, why, and what would change it.
//!
//! ```
//! for capability in nbuf::experiment::doctor::run().capabilities {
//!     println!("{}: {:?}", capability.name, capability.state);
//! }
//! ```

use super::result::{DoctorCapability, DoctorDocument, DoctorState};
use crate::workload::record::capabilities::{Capability, State, capabilities};

/// Tries everything that sizing needs: opens an event, traces a process, makes, limits and removes a group.
/// Nothing is changed, and nothing is left. There is nothing to choose, and no failure.
pub fn run() -> DoctorDocument {
    let capabilities: Vec<DoctorCapability> = capabilities().into_iter().map(reported).collect();
    DoctorDocument {
        schema: DoctorDocument::SCHEMA.to_owned(),
        whole: capabilities.iter().all(|it| !it.needed || it.state == DoctorState::Works),
        capabilities,
    }
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
