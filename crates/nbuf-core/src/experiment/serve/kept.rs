//! The files that a server keeps for its next start: the list of what caches held, and the second tiers.

use std::thread::Builder;

use super::in_time::Insisted;
use super::journal::JournalFile;
use super::state::{List, State};
use super::tier::TierFile;
use super::{Error, ExportSpec};
use crate::experiment::notice::{Notice, ServeNotice, TierNotice};
use crate::experiment::session::Observer;
use crate::path::nbd::Server;

/// These files, while a server runs.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) state: Option<State>,
    /// The tier of each disc, in their order.
    pub(super) tiers: Vec<Option<TierFile>>,
    /// The journal of each disc, in their order.
    pub(super) journals: Vec<Option<JournalFile>>,
}

impl Kept {
    /// Notes in all of them that a server runs. The list of the run before, as it was.
    pub(super) fn begin(
        &mut self,
        server: &mut Server,
        observer: &dyn Observer,
    ) -> Result<Option<List>, Error> {
        let mut tiers = self.tiers.iter_mut().enumerate();
        let begun = tiers.try_for_each(|(disc, tier)| match tier {
            Some(tier) => tier.begin(server, disc),
            None => Ok(()),
        });
        let marked = || self.journals.iter().flatten().try_for_each(JournalFile::begin);
        if let Err(error) = begun.and_then(|()| marked()) {
            self.put_back(None);
            return Err(error);
        }
        Ok(self.state.as_mut().and_then(|state| state.begin(observer)))
    }

    /// The start has succeeded: what only an undone one needs goes.
    pub(super) fn started(&self) {
        self.tiers.iter().flatten().for_each(TierFile::cut);
    }

    /// Undoes that after a failed start.
    pub(super) fn put_back(&mut self, replaced: Option<List>) {
        self.journals.iter().flatten().for_each(JournalFile::put_back);
        self.tiers.iter().flatten().for_each(TierFile::put_back);
        if let Some(state) = &mut self.state {
            state.put_back(replaced);
        }
    }

    /// Notes in all of them how the server ended, and what it held. No file waits for the disc of another one, and none for
    /// its own after a second signal. What remains has files of discs, which may take for ever to be closed.
    pub(super) fn end(
        &mut self,
        exports: &[ExportSpec],
        server: &mut Server,
        is_clean: bool,
        insisted: Insisted<'_>,
        observer: &dyn Observer,
    ) {
        // It gives tiers no more time than a request may take, so it comes before all that may wait.
        let mut held = if is_clean { server.held_by_tiers(insisted) } else { Vec::new() };
        // A mark that goes changes a time of the disc, which tiers and the state look at.
        for journal in self.journals.iter_mut().flatten() {
            journal.end(is_clean, insisted, observer);
        }
        let tiers = std::mem::take(&mut self.tiers).into_iter().enumerate();
        std::thread::scope(|scope| {
            let ends = tiers.filter_map(|(disc, tier)| {
                let tier = tier?;
                let (path, held) =
                    (tier.path().to_owned(), held.get_mut(disc).and_then(Option::take));
                let thread = Builder::new().name("tier".to_owned());
                Some((path, thread.spawn_scoped(scope, move || tier.end(held, insisted))))
            });
            // All of them begin before the first one is waited for.
            let ends: Vec<_> = ends.collect();
            if let Some(state) = self.state.take_if(|_| is_clean) {
                state.end(exports, server.eviction_orders(), insisted, observer);
            } else if let Some(state) = &self.state {
                state.not_clean(observer);
            }
            for (file, end) in ends {
                let what = match end {
                    Ok(end) => end.join().unwrap_or(Some(TierNotice::NotClean)),
                    Err(error) => Some(TierNotice::NotKept(error)),
                };
                if let Some(what) = what {
                    let notice = ServeNotice::Tier { file: &file, what: &what };
                    observer.notice(&Notice::Serve(notice));
                }
            }
        });
    }
}
