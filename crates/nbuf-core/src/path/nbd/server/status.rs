//! What a client asks about parts of the disc: whether they are in the cache, and whether the disc lacks them.

use super::super::connection::Phase;
use super::super::export::Context;
use super::super::replies::To;
use super::Server;
use crate::cache::cached::State;
use crate::disc::nbd::wire::{Header, error, flag};

/// The most extents of a status.
const EXTENTS_MAX: usize = 4096;
/// Pages that a status looks at, at the most: the protocol permits a shorter answer.
const PAGES_MAX: u64 = 1 << 16;

impl Server {
    /// What is in the cache, by extents.
    pub(super) fn status(&mut self, place: usize, disc: usize, header: &Header) {
        let Some(connection) = self.connections[place].as_ref() else { return };
        let Phase::Requests(form, contexts) = &connection.phase else { return };
        let to = To { form: *form, cookie: header.cookie, offset: header.offset };
        let contexts = contexts.clone();
        let is_one = header.flags & flag::REQ_ONE != 0;
        let mut out = Vec::new();
        let contexts = if header.length == 0 { Vec::new() } else { contexts };
        if contexts.is_empty() {
            to.plain(&mut out, error::INVALID);
        }
        for (at, &context) in contexts.iter().enumerate() {
            let most = if is_one { 1 } else { EXTENTS_MAX };
            let extents = self.extents(disc, context, header.offset, header.length, most);
            to.status(&mut out, context, &extents, at + 1 == contexts.len());
        }
        if let Some(connection) = self.connections[place].as_mut() {
            connection.out.append(&mut out);
        }
    }

    fn extents(
        &mut self,
        disc: usize,
        context: Context,
        offset: u64,
        length: u64,
        most: usize,
    ) -> Vec<(u64, u32)> {
        if context == Context::Allocation {
            return vec![(length, 0)];
        }
        let page_bytes = u64::from(self.exports[disc].page_bytes);
        let mut extents: Vec<(u64, u32)> = Vec::new();
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
