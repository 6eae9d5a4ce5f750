//! The files that a server keeps for its next start: the list of what caches held, and the second tier.

use super::state::{List, State};
use super::tier::TierFile;
use super::{Error, ExportSpec};
use crate::experiment::session::Observer;
use crate::path::nbd::Server;

/// These files, while a server runs.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) state: Option<State>,
    pub(super) tier: Option<TierFile>,
}

impl Kept {
    /// Notes in both that a server runs. The list of the run before, as it was.
    pub(super) fn begin(
        &mut self,
        server: &mut Server,
        observer: &dyn Observer,
    ) -> Result<Option<List>, Error> {
        self.tier.as_ref().map_or(Ok(()), |tier| tier.begin(server))?;
        Ok(self.state.as_mut().and_then(|state| state.begin(observer)))
    }

    /// Undoes that after a failed start.
    pub(super) fn put_back(&mut self, replaced: Option<List>) {
        if let Some(tier) = &self.tier {
            tier.put_back();
        }
        if let Some(state) = &mut self.state {
            state.put_back(replaced);
        }
    }

    /// Notes in both how the server ended, and what it held.
    pub(super) fn end(
        &mut self,
        exports: &[ExportSpec],
        server: &mut Server,
        is_clean: bool,
        observer: &dyn Observer,
    ) {
        if let Some(tier) = &self.tier {
            let held = if is_clean { server.held_by_tiers().into_iter().next() } else { None };
            tier.end(held.flatten(), observer);
        }
        if let Some(state) = &mut self.state {
            let orders = is_clean.then(|| server.eviction_orders());
            state.end(exports, orders, observer);
        }
    }
}
