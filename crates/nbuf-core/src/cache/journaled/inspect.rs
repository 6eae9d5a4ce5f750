//! What the owner of a journal looks at, and sets.

use super::Journaled;
use crate::disc::{Disc, DiscError};

impl<D: Disc, J: Disc> Journaled<D, J> {
    /// From now on a flush waits until nothing is owed. For the end.
    pub(crate) fn end(&mut self) {
        self.is_ending = true;
    }

    /// Bytes that the backing lacks.
    pub(crate) fn owed_bytes(&self) -> u64 {
        self.owed.bytes()
    }

    /// Ranges of a range that are owed as data, in order and apart.
    pub(crate) fn owed_within(&self, from: u64, to: u64) -> Vec<(u64, u64)> {
        self.owed.data_within(from, to)
    }

    /// Why the journal is not used any more, if so.
    pub(crate) fn lost(&self) -> Option<&str> {
        self.lost.as_deref()
    }

    /// The backing.
    pub(crate) fn backing(&self) -> &D {
        &self.backing
    }

    /// The backing, to be changed. Its requests belong to this disc.
    pub(crate) fn backing_mut(&mut self) -> &mut D {
        &mut self.backing
    }

    /// The journal.
    pub(crate) fn journal(&self) -> &J {
        &self.journal
    }

    /// The journal, to be changed. Its requests belong to this disc.
    pub(crate) fn journal_mut(&mut self) -> &mut J {
        &mut self.journal
    }

    /// Whether something is complete already.
    pub(crate) fn has_done(&self) -> bool {
        !self.done.is_empty()
    }

    /// What a flush completes with as long as the disc lacks bytes of the run before.
    pub(super) fn arrears(&mut self) -> Option<DiscError> {
        match self.owed.bytes_up_to(self.arrears?) {
            0 => {
                self.arrears = None;
                None
            }
            bytes => {
                let what =
                    format!("the disc lacks {bytes} B of the last run, which the journal keeps");
                Some(DiscError::Owed { what })
            }
        }
    }
}
