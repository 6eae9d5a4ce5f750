//! What works here, what does not, why, and what would change it.
//!
//! ```
//! for capability in nbuf::experiment::doctor::run().abilities {
//!     println!("{}: {:?}", capability.name, capability.state);
//! }
//! ```

use super::result::{DoctorAbility, DoctorDocument, DoctorState};
use crate::workload::record::abilities::{Ability, State, abilities};

/// Tries everything that sizing needs: opens an event, traces a process, makes, limits and removes a group.
/// Nothing is changed, and nothing is left. There is nothing to choose, and no failure.
pub fn run() -> DoctorDocument {
    let abilities: Vec<DoctorAbility> = abilities().into_iter().map(reported).collect();
    DoctorDocument {
        schema: DoctorDocument::SCHEMA.to_owned(),
        whole: abilities.iter().all(|it| !it.needed || it.state == DoctorState::Works),
        abilities,
    }
}

fn reported(ability: Ability) -> DoctorAbility {
    DoctorAbility {
        name: ability.name.to_owned(),
        needed: ability.needed,
        remedy: ability.remedy,
        state: match ability.state {
            State::Works => DoctorState::Works,
            State::Fails => DoctorState::Fails,
            State::Is => DoctorState::Is,
        },
        why: ability.why,
    }
}
