//! What a client asks about parts of the disc: whether they are allocated and in the cache, and whether the disc lacks
//! them.
//!
//! Holes of a file are looked for by a thread, so that the others do not wait, and a backend server is asked. What the
//! cache owes the disc is noted before: what was acknowledged then is either noted, or there when the disc is looked at.

use super::super::connection::Phase;
use super::super::export::Context;
use super::super::replies::To;
use super::allocation::{allocation, union};
use super::{PendingRequest, Server};
use crate::cache::cached::State;
use crate::disc::holes::{Found, Look};
use crate::disc::nbd::wire::{Header, error, flag};
use crate::trace::request::{Op, Request};

/// The most extents of a status.
const EXTENTS_MAX: usize = 4096;
/// Pages that a status looks at, at the most: the protocol permits a shorter answer.
const PAGES_MAX: u64 = 1 << 16;
/// Looks at a file that the server keeps in mind for all clients. What it answers beyond them is that all is data.
const LOOKING_MAX: usize = 1024;

/// The extents of a status: lengths and flags.
type Extents = Vec<(u64, u32)>;

/// A status that waits for a look at the file.
#[derive(Debug)]
pub(super) struct Looking {
    to: To,
    contexts: Vec<(Context, Extents)>,
    owed: Vec<(u64, u64)>,
    most: usize,
}

impl Server {
    /// What is allocated and in the cache, by extents.
    pub(super) fn status(&mut self, place: usize, disc: usize, header: &Header) {
        let Some(connection) = self.connections[place].as_ref() else { return };
        let Phase::Requests(form, contexts) = &connection.phase else { return };
        let to = To { form: *form, cookie: header.cookie, offset: header.offset };
        let contexts = if header.length == 0 { Vec::new() } else { contexts.clone() };
        let most = if header.flags & flag::REQ_ONE != 0 { 1 } else { EXTENTS_MAX };
        let mut status = Vec::new();
        for &context in &contexts {
            let extents = self.extents(disc, context, header.offset, header.length, most);
            status.push((context, extents));
        }
        let asks = contexts.contains(&Context::Allocation) && self.looking.len() < LOOKING_MAX;
        if asks && self.discs[disc].cache.disc().has_holes() {
            return self.look(
                place,
                disc,
                header,
                Looking { to, contexts: status, owed: Vec::new(), most },
            );
        }
        if let Some(connection) = self.connections[place].as_mut() {
            reply(&mut connection.out, to, &status);
        }
    }

    /// Asks for the holes of the file.
    fn look(&mut self, place: usize, disc: usize, header: &Header, mut looking: Looking) {
        let (from, to) = (header.offset, header.offset + header.length);
        let pages_max = usize::try_from(PAGES_MAX).unwrap_or(usize::MAX);
        let (owed, end) = self.discs[disc].cache.owed_within(from, to, pages_max);
        let owed = union(&owed, &self.discs[disc].cache.disc().owed_within(from, end));
        let owed_bytes: u64 = owed.iter().map(|(begins, ends)| ends - begins).sum();
        self.looks += owed_bytes / u64::from(self.exports[disc].page_bytes.max(1));
        let kept: usize = looking.contexts.iter().map(|(_, extents)| extents.len()).sum();
        // What is kept until the answer, and the answer.
        let bytes = 16 * (owed.len() + kept + looking.most) as u64;
        let request =
            self.ask(place, header, Request::new(Op::Read, from, end - from), bytes, None);
        let look = Look { task: request.task, from, to: end, most: looking.most };
        looking.owed = owed;
        self.looking.insert(request.task, looking);
        self.discs[disc].cache.disc_mut().look(look);
    }

    /// Answers all requests for a status whose looks are done.
    pub(super) fn take_holes(&mut self, disc: usize) {
        while let Some(found) = self.discs[disc].cache.disc_mut().found() {
            self.take_status(&found);
        }
    }

    fn take_status(&mut self, found: &Found) {
        let Some(looking) = self.looking.remove(&found.task) else { return };
        let Looking { to, mut contexts, owed, most } = looking;
        let pending = self.pending.get_mut(found.task as usize).and_then(Option::take);
        let Some(PendingRequest { place, client, bytes, .. }) = pending else { return };
        self.free.push(found.task);
        let connection = self.connections.get_mut(place);
        let Some(connection) = connection.filter(|found| found.client == client) else { return };
        connection.under_way -= 1;
        connection.under_way_bytes -= bytes;
        for (context, extents) in &mut contexts {
            if *context == Context::Allocation {
                *extents = allocation(to.offset, &found.extents, &owed, most);
            }
        }
        reply(&mut connection.out, to, &contexts);
        self.connections.touch(place);
    }

    /// The extents of a context. All is allocated as far as the cache is asked.
    fn extents(
        &mut self,
        disc: usize,
        context: Context,
        offset: u64,
        length: u64,
        most: usize,
    ) -> Extents {
        if context == Context::Allocation {
            return vec![(length, 0)];
        }
        let page_bytes = u64::from(self.exports[disc].page_bytes);
        let mut extents: Extents = Vec::new();
        let end = offset + length.min(PAGES_MAX * page_bytes);
        self.looks += (end - offset) / page_bytes;
        let mut at = offset;
        while at < end {
            let next = end.min((at / page_bytes + 1) * page_bytes);
            let state = self.discs[disc].cache.state(at);
            let is_set = match context {
                Context::Cached => !matches!(state, State::Empty | State::Reading),
                _ => matches!(state, State::Dirty | State::Writing | State::Failed),
            };
            let bytes = next - at;
            let count = extents.len();
            match extents.last_mut() {
                Some((length, flag)) if *flag == u32::from(is_set) => *length += bytes,
                _ if count == most => break,
                _ => extents.push((bytes, is_set.into())),
            }
            at = next;
        }
        extents
    }
}

/// A chunk for each context; an error if the client has chosen none.
fn reply(out: &mut Vec<u8>, to: To, status: &[(Context, Extents)]) {
    if status.is_empty() {
        return to.plain(out, error::INVALID);
    }
    for (at, (context, extents)) in status.iter().enumerate() {
        to.status(out, *context, extents, at + 1 == status.len());
    }
}
