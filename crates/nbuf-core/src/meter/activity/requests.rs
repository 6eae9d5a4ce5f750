//! Requests of the command to discs, from the queue through the device.
//!
//! A device may get several of them as one, and one of them in parts: what counts is the first part that it
//! gets, and the last that it completes. Memory: a few words for each request under way.

use std::collections::BTreeMap;

/// A stretch of a disc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sectors {
    /// The whole disc, not a partition of it.
    pub disc: u32,
    /// The first one; of 512 bytes.
    pub first: u64,
    /// How many.
    pub count: u32,
    /// Whether they are written.
    pub is_write: bool,
}

/// A request that is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Served {
    pub(super) thread: u32,
    pub(super) is_write: bool,
    pub(super) queued_ns: u64,
    pub(super) issued_ns: u64,
    pub(super) completed_ns: u64,
}

#[derive(Clone, Copy, Debug)]
struct Request {
    thread: u32,
    is_write: bool,
    end: u64,
    left: u64,
    queued_ns: u64,
    issued_ns: Option<u64>,
}

/// Those under way, by disc and first sector.
#[derive(Debug, Default)]
pub(super) struct Requests {
    waiting: BTreeMap<(u32, u64), Request>,
}

impl Requests {
    pub(super) fn queued(&mut self, sectors: Sectors, thread: u32, queued_ns: u64) {
        let Sectors { disc, first, count, is_write } = sectors;
        // A flush has no sectors.
        if count > 0 {
            let (end, left) = (first.saturating_add(count.into()), count.into());
            let request = Request { thread, is_write, end, left, queued_ns, issued_ns: None };
            self.waiting.insert((disc, first), request);
        }
    }

    pub(super) fn issued(&mut self, sectors: Sectors, time_ns: u64) {
        for first in self.touched(sectors) {
            if let Some(request) = self.waiting.get_mut(&first) {
                request.issued_ns.get_or_insert(time_ns.max(request.queued_ns));
            }
        }
    }

    pub(super) fn completed(
        &mut self,
        sectors: Sectors,
        time_ns: u64,
        mut done: impl FnMut(Served),
    ) {
        let end = sectors.first.saturating_add(sectors.count.into());
        for key in self.touched(sectors) {
            let Some(request) = self.waiting.get_mut(&key) else { continue };
            let part = end.min(request.end) - sectors.first.max(key.1);
            request.left = request.left.saturating_sub(part);
            if request.left > 0 {
                continue;
            }
            let Request { thread, is_write, queued_ns, issued_ns, .. } = *request;
            self.waiting.remove(&key);
            // One that was under way before the command was watched has no beginning.
            if let Some(issued_ns) = issued_ns {
                let completed_ns = time_ns.max(issued_ns);
                done(Served { thread, is_write, queued_ns, issued_ns, completed_ns });
            }
        }
    }

    /// The first request that a thread sent from `since_ns` on, as one that was completed at `time_ns`.
    pub(super) fn assume_first(
        &mut self,
        thread: u32,
        since_ns: u64,
        time_ns: u64,
    ) -> Option<Served> {
        let sent = self.waiting.iter().filter(|(_, request)| {
            request.thread == thread && (since_ns..=time_ns).contains(&request.queued_ns)
        });
        let (&key, request) = sent.min_by_key(|(_, request)| request.queued_ns)?;
        let Request { is_write, queued_ns, issued_ns, .. } = *request;
        let issued_ns = issued_ns?;
        self.waiting.remove(&key);
        let completed_ns = time_ns.max(issued_ns);
        Some(Served { thread, is_write, queued_ns, issued_ns, completed_ns })
    }

    /// Requests that have a sector of these.
    fn touched(&self, sectors: Sectors) -> Vec<(u32, u64)> {
        let Sectors { disc, first, count, is_write } = sectors;
        let end = first.saturating_add(count.into());
        let mut touched = Vec::new();
        for (&key, request) in self.waiting.range((disc, 0)..(disc, end)).rev() {
            if request.end > first && request.is_write == is_write {
                touched.push(key);
            } else if request.end <= first {
                // Requests that overlap are rare, and those before it end before.
                break;
            }
        }
        touched
    }
}
