//! Another size or policy for a cache that runs.

use super::frames::Frames;
use super::ids::{Absence, NONE};
use super::streams::Streams;
use super::{Bypass, Cached, Writes};
use crate::cache::policy::{AnyPolicy, Cause, Outcome};
use crate::disc::Disc;

impl<P: AnyPolicy + ?Sized, D: Disc> Cached<P, D> {
    /// Goes on with another policy, new and of this many pages. Pages stay as far as it takes them; its memory
    /// of their use begins again. Refused while a page is owed: flush before. A log and a
    /// comparison do not go on.
    pub fn renew(&mut self, policy: Box<P>, pages: u32) -> bool {
        if self.owed_pages > 0 || pages == 0 {
            return false;
        }
        self.decider.log = None;
        self.others = None;
        self.decider.policy = policy;
        self.settings = super::Settings {
            dirty_low_pages: pages / 10,
            dirty_high_pages: pages / 2,
            pages,
            ..self.settings
        }
        .sound();
        self.follow_anew();
        self.step(false);
        let old = std::mem::replace(&mut self.frames, Frames::new(pages, self.settings.page_bytes));
        let known = self.ids.within(0, u64::MAX);
        let there = |&(_, frame): &(u32, u32)| frame != NONE;
        let resident: Vec<(u32, u32)> =
            known.into_iter().map(|id| (id, self.ids.slot(id).frame)).filter(there).collect();
        for &(id, _) in &resident {
            self.ids.set_frame(id, Err(Absence::Evicted));
        }
        for (at, (id, frame)) in (0..).zip(resident) {
            let is_kept = at < pages
                && matches!(
                    self.decider.fill(id, Cause::Readahead, |_| false),
                    Outcome::Filled { evicted: None }
                );
            if !is_kept {
                if old.get(frame).is_ahead {
                    self.ahead_ends(false);
                }
                continue;
            }
            let new = self.frames.take(id);
            self.frames.bytes_mut(new).copy_from_slice(old.bytes(frame));
            self.frames.get_mut(new).valid = old.get(frame).valid;
            self.frames.get_mut(new).is_ahead = old.get(frame).is_ahead;
            self.ids.set_frame(id, Ok(new));
        }
        true
    }

    /// Reads ahead up to this many bytes at once from now on; 0 is no readahead.
    pub fn set_readahead(&mut self, bytes: u32) {
        if bytes != self.settings.readahead_bytes {
            self.settings.readahead_bytes = bytes;
            self.follow_anew();
        }
    }

    /// Whether the cache may step aside from now on; if not, it is back.
    pub fn set_bypass(&mut self, bypass: Bypass) {
        if bypass != self.settings.bypass {
            self.settings.bypass = bypass;
            self.step(false);
        }
    }

    /// Forgets all streams of reads.
    fn follow_anew(&mut self) {
        self.streams = Streams::new(self.settings.page_bytes, self.settings.ahead_pages());
    }

    /// Has later writes on the disc in another way. Refused while a page is owed: flush before.
    pub fn set_writes(&mut self, writes: Writes) -> bool {
        let is_permitted = self.owed_pages == 0;
        if is_permitted {
            self.settings.writes = writes;
        }
        is_permitted
    }
}
