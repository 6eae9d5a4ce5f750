//! A request arrives: what can be answered at once is, the rest waits.

use super::frames::{Mask, SECTOR_BYTES, sectors};
use super::{Cached, Pending};
use crate::cache::policy::AnyPolicy;
use crate::disc::{Disc, DiscError};
use crate::trace::request::{Op, Request};

/// The part of a request that is in one page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// The first byte in the page.
    pub from: u64,
    /// The byte behind the last.
    pub to: u64,
    /// Sectors of which a byte is in the part.
    pub touched: Mask,
    /// Sectors that are in it as a whole.
    pub covered: Mask,
    /// All sectors of the page that the disc has.
    pub all: Mask,
}

impl<P: AnyPolicy + ?Sized, D: Disc> Cached<P, D> {
    pub(super) fn arrive(&mut self, request: Request, data: Vec<u8>) {
        if let Err(error) = self.accept(&request, &data) {
            return self.answer(request, data, self.now, Err(error));
        }
        let empty = request.length_bytes == 0 && request.op != Op::Flush;
        if empty {
            return self.answer(request, data, self.now, Ok(()));
        }
        match request.op {
            Op::Read => {
                self.counts.reads += 1;
                self.counts.read_bytes += request.length_bytes;
                self.read(request, data);
            }
            Op::Write | Op::Discard => {
                self.counts.writes += 1;
                self.counts.write_bytes += request.length_bytes;
                let pending = self.wait(request, data);
                self.write(pending);
            }
            Op::Flush => {
                self.counts.flushes += 1;
                let pending = self.wait(request, data);
                self.flush(pending);
            }
        }
    }

    /// Whether a request can be served at all.
    fn accept(&self, request: &Request, data: &[u8]) -> Result<(), DiscError> {
        DiscError::check(request, self.size_bytes)?;
        let moves = matches!(request.op, Op::Read | Op::Write);
        if moves && data.len() as u64 != request.length_bytes {
            let (length, given) = (request.length_bytes, data.len());
            let what = format!("a request of {length} B with {given} B of data");
            return Err(DiscError::Failed { what });
        }
        Ok(())
    }

    /// Keeps a request until it is complete.
    pub(super) fn wait(&mut self, request: Request, data: Vec<u8>) -> u32 {
        let came = self.now;
        let pending = Pending { request, data, came, left: 1, error: None, is_fetch: false };
        self.pending.insert(pending)
    }

    /// The first page of a request that is not empty, and the last.
    #[inline]
    pub(super) fn pages(&self, request: &Request) -> (u64, u64) {
        let page_bytes = u64::from(self.settings.page_bytes);
        (request.offset / page_bytes, (request.offset + request.length_bytes - 1) / page_bytes)
    }

    /// The bytes of a page that the disc has; fewer at its end.
    #[inline]
    pub(super) fn page_length(&self, page: u64) -> u64 {
        let page_bytes = u64::from(self.settings.page_bytes);
        page_bytes.min(self.size_bytes - page * page_bytes)
    }

    /// The part of some bytes of the disc that is in a page.
    #[inline]
    pub(super) fn part(&self, offset: u64, length_bytes: u64, page: u64) -> Part {
        let begins = page * u64::from(self.settings.page_bytes);
        let length = self.page_length(page);
        let from = offset.max(begins) - begins;
        let to = (offset + length_bytes).min(begins + length) - begins;
        let last = length.div_ceil(SECTOR_BYTES);
        let covered_to = if to == length { last } else { to / SECTOR_BYTES };
        Part {
            from,
            to,
            touched: sectors(from / SECTOR_BYTES, to.div_ceil(SECTOR_BYTES)),
            covered: sectors(from.div_ceil(SECTOR_BYTES), covered_to),
            all: sectors(0, last),
        }
    }

    /// The number of a page. If another page lost it, the policy forgets that one.
    #[inline]
    pub(super) fn number(&mut self, page: u64) -> u32 {
        let (id, is_taken) = self.ids.number(page);
        if is_taken {
            self.decider.remove(id);
        }
        id
    }
}
