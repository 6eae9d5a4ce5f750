//! Writes that go to the disc at once: through and around the cache, zeros, discards, what must be safe,
//! and what the policy refuses.
//!
//! No two writes of the same sectors are under way at once, so the disc holds what completed last. What the
//! disc refuses becomes invalid: the cache never serves it. Bytes that were acknowledged before and that the
//! disc does not have are no part of that: they stay, and stay owed.

use super::arrive::Part;
use super::costs::Work;
use super::frames::Mask;
use super::ids::{Absence, NONE};
use super::settings::Writes;
use super::write::sector_span;
use super::{Busy, Cached, Direct, Job};
use crate::cache::policy::{AnyPolicy, Cause};
use crate::disc::{Completion, Disc};
use crate::trace::request::{Op, Request};

impl<P: AnyPolicy + ?Sized, D: Disc> Cached<P, D> {
    /// Sends a whole request to the disc.
    pub(super) fn write_direct(&mut self, pending: u32, request: &Request) {
        let data = self.pending.get_mut(pending).map(|waiting| std::mem::take(&mut waiting.data));
        self.go_direct(pending, *request, data.unwrap_or_default(), true);
    }

    /// Sends a write to the disc for a request.
    pub(super) fn go_direct(
        &mut self,
        pending: u32,
        request: Request,
        data: Vec<u8>,
        is_whole: bool,
    ) {
        let (from, to) = sector_span(request.offset, request.length_bytes);
        self.mark_stale(from, to);
        self.counts.disc_writes += 1;
        self.counts.disc_write_bytes += request.length_bytes;
        let job = self.ask(Job::Direct(Direct { pending, is_whole }), request, data);
        self.busy.push(Busy { job, from, to, is_direct: true });
    }

    /// The disc has answered such a write.
    pub(super) fn direct_done(&mut self, direct: &Direct, completion: Completion) {
        let Completion { request, data, outcome, .. } = completion;
        match (&outcome, request.op) {
            (Err(_), _) => self.refused(&request),
            (Ok(()), Op::Write) => self.written(&request, &data, direct.is_whole),
            (Ok(()), _) if request.zeros => self.zeroed(&request),
            (Ok(()), _) => self.discarded(&request),
        }
        if direct.is_whole
            && let Some(waiting) = self.pending.get_mut(direct.pending)
        {
            waiting.data = data;
        }
        self.part_done(direct.pending, outcome.err());
    }

    /// The disc has what was written: so has the cache, if it keeps it.
    fn written(&mut self, request: &Request, data: &[u8], is_whole: bool) {
        let (first, last) = self.pages(request);
        for page in first..=last {
            let part = self.part(request.offset, request.length_bytes, page);
            if self.settings.writes == Writes::Around {
                if let Some(id) = self.ids.find(page) {
                    self.drop_page(id, Absence::Written);
                }
                continue;
            }
            let began = self.costs.begin(Work::Fill);
            // The policy has just refused what is only a part.
            let id = if is_whole { Some(self.number(page)) } else { self.ids.find(page) };
            let Some(id) = id else { continue };
            let is_there =
                if is_whole { self.decider.touch(id) } else { self.ids.slot(id).frame != NONE };
            let is_complete = is_whole && part.covered == part.all;
            let is_admitted = is_there || is_complete && self.admits_write(id);
            if let Some(others) = &mut self.others
                && (is_admitted || is_complete && self.aside.is_aside())
            {
                others.write(page);
            }
            if is_admitted {
                self.copy_in(request.offset, page, &part, data);
                self.on_disc(id, &part);
            }
            self.costs.end(Work::Fill, began);
        }
    }

    /// Whether a page that was written through is taken in.
    fn admits_write(&mut self, id: u32) -> bool {
        if self.aside.is_aside() {
            return false;
        }
        self.aside.filled();
        self.admit(id, Cause::Demand)
    }

    /// What is covered is on the disc, and the frame has it.
    fn on_disc(&mut self, id: u32, part: &Part) {
        let frame = self.ids.slot(id).frame;
        self.frames.get_mut(frame).valid |= part.covered;
        self.owe_no_more(id, part.covered);
    }

    fn zeroed(&mut self, request: &Request) {
        for id in self.known(request) {
            let slot = *self.ids.slot(id);
            if slot.frame == NONE {
                continue;
            }
            let part = self.part(request.offset, request.length_bytes, slot.page);
            let whole = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
            self.frames.bytes_mut(slot.frame)[whole(part.from)..whole(part.to)].fill(0);
            self.on_disc(id, &part);
        }
    }

    /// Discarded bytes are what the disc makes of them.
    fn discarded(&mut self, request: &Request) {
        for id in self.known(request) {
            let slot = *self.ids.slot(id);
            let part = self.part(request.offset, request.length_bytes, slot.page);
            self.owe_no_more(id, part.covered);
            self.invalidate(id, part.touched);
        }
    }

    /// The disc may have the old bytes, the new ones, or some of each.
    fn refused(&mut self, request: &Request) {
        for id in self.known(request) {
            let page = self.ids.slot(id).page;
            let part = self.part(request.offset, request.length_bytes, page);
            self.invalidate(id, part.touched);
        }
    }

    fn known(&self, request: &Request) -> Vec<u32> {
        let (first, last) = self.pages(request);
        self.ids.within(first, last)
    }

    /// Makes sectors invalid that are not owed. A page without valid sectors leaves.
    fn invalidate(&mut self, id: u32, mask: Mask) {
        let frame = self.ids.slot(id).frame;
        if frame != NONE {
            let frame = self.frames.get_mut(frame);
            let owed = frame.dirty | frame.writing;
            frame.valid &= !(mask & !owed);
            if frame.valid != 0 {
                return;
            }
        }
        self.drop_page(id, Absence::Invalidated);
    }

    /// A page leaves, and the policy forgets it. It owes nothing.
    fn drop_page(&mut self, id: u32, absence: Absence) {
        self.decider.remove(id);
        if let Some(others) = &mut self.others {
            others.remove(self.ids.slot(id).page);
        }
        let frame = self.ids.slot(id).frame;
        if frame != NONE {
            self.give_frame(frame);
        }
        self.ids.set_frame(id, Err(absence));
    }
}
