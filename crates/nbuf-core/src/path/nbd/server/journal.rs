//! A backend with a journal in front of it, as a server waits for it: by one descriptor.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use super::Backend;
use super::pair::Pair;
use crate::cache::journaled::{Journaled, Replayed};

/// Such a backend.
pub(crate) struct JournaledBackend {
    pub(super) disc: Journaled<Backend, Backend>,
    pair: Pair,
}

impl JournaledBackend {
    /// With a journal that has this.
    pub(super) fn new(backing: Backend, journal: Backend, replayed: Replayed) -> io::Result<Self> {
        let pair = Pair::new(&backing, &journal)?;
        Ok(Self { disc: Journaled::new(backing, journal, replayed), pair })
    }

    /// Something of both may have come.
    pub(super) fn notice(&mut self) {
        self.disc.backing_mut().notice();
        self.disc.journal_mut().notice();
    }

    /// Sends what was asked of both, and notes what is to be waited for.
    pub(super) fn send(&mut self) {
        self.disc.journal_mut().send();
        self.disc.backing_mut().send();
        self.pair.settle(self.disc.backing());
    }

    /// Whether it has answered already what no descriptor wakes for.
    pub(super) fn has_done(&self) -> bool {
        self.disc.has_done() || self.disc.backing().has_done() || self.disc.journal().has_done()
    }
}

impl AsFd for JournaledBackend {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pair.as_fd()
    }
}
