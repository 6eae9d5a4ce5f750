//! One operation between memory and a disc: what is the same for the drum and the pack.
//!
//! A controller hands its command to a [`Disc`] and learns at once when that will be done, because a
//! modelled disc knows. What is written is taken from memory at the command, what is read is put
//! there at the end; programs must leave a buffer alone meanwhile, as they must on the hardware.

use nbuf::disc::{Completion, Disc, Operation, Request, Spent};
use nbuf::units::Nanos;

use super::NEVER;

/// Something that stores, and can be copied with a whole machine.
pub trait Store: Disc + Send {
    /// What is on it, to the last byte.
    fn image(&self) -> &[u8];
    /// Another one like it.
    fn copy(&self) -> Box<dyn Store>;
}

impl Clone for Box<dyn Store> {
    fn clone(&self) -> Self {
        self.as_ref().copy()
    }
}

impl std::fmt::Debug for dyn Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a store of {} B", self.size_bytes())
    }
}

/// What a disc was asked and how long that took, from the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Commands that read.
    pub reads: u64,
    /// Commands that wrote.
    pub writes: u64,
    /// Words moved.
    pub words: u64,
    /// Where the time of the disc went.
    pub spent: Spent,
}

/// A disc with the one operation that is under way.
#[derive(Clone, Debug)]
pub struct Transfer {
    store: Box<dyn Store>,
    /// What a tick is on the disc's clock.
    tick_ns: u64,
    done: Option<Completion>,
    due: u64,
    tally: Tally,
}

impl Transfer {
    /// Nothing is under way.
    pub fn new(store: Box<dyn Store>, tick_ns: u64) -> Self {
        let tick_ns = tick_ns.max(1);
        Self { store, tick_ns, done: None, due: NEVER, tally: Tally::default() }
    }

    /// What is on the disc.
    pub fn image(&self) -> &[u8] {
        self.store.image()
    }

    /// So many bytes.
    pub fn size_bytes(&self) -> u64 {
        self.store.size_bytes()
    }

    /// What it did so far.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// When the operation is done.
    pub fn due(&self) -> u64 {
        self.due
    }

    /// Whether one is under way.
    pub fn is_busy(&self) -> bool {
        self.due != NEVER
    }

    /// Forgets what is under way; what was written may be on the disc.
    pub fn cancel(&mut self) {
        self.done = None;
        self.due = NEVER;
    }

    /// Begins to read `length_bytes`, or to write `data`.
    pub fn begin(&mut self, now: u64, offset_bytes: u64, length_bytes: u32, data: Option<Vec<u8>>) {
        let operation = if data.is_some() { Operation::Write } else { Operation::Read };
        let length = usize::try_from(length_bytes).unwrap_or(0);
        let data = data.unwrap_or_else(|| vec![0; length]);
        let length_bytes = u32::try_from(data.len()).unwrap_or(length_bytes);
        let request = Request { tag: 0, operation, offset_bytes, length_bytes, data };
        let now_ns = Nanos(now.saturating_mul(self.tick_ns));
        self.done = nbuf::disc::wait_for(&mut self.store, now_ns, request);
        let at = self.done.as_ref().map_or(now_ns, |done| done.at);
        self.due = at.0.div_ceil(self.tick_ns).max(now);
        match operation {
            Operation::Write => self.tally.writes += 1,
            _ => self.tally.reads += 1,
        }
        if let Some(done) = &self.done {
            self.tally.words += u64::from(length_bytes / 2);
            self.tally.spent = sum(self.tally.spent, done.spent);
        }
    }

    /// The bytes that were read or written, once the time has come; nothing where the disc failed.
    pub fn finish(&mut self) -> Option<Vec<u8>> {
        self.due = NEVER;
        let done = self.done.take()?;
        done.outcome.ok().map(|()| done.request.data)
    }
}

fn sum(a: Spent, b: Spent) -> Spent {
    Spent {
        queued: a.queued + b.queued,
        overhead: a.overhead + b.overhead,
        seek: a.seek + b.seek,
        rotation: a.rotation + b.rotation,
        transfer: a.transfer + b.transfer,
    }
}

impl Disc for Box<dyn Store> {
    fn size_bytes(&self) -> u64 {
        self.as_ref().size_bytes()
    }
    fn submit(&mut self, now: Nanos, request: Request) {
        self.as_mut().submit(now, request);
    }
    fn next_completion(&mut self, until: Nanos) -> Option<Completion> {
        self.as_mut().next_completion(until)
    }
    fn under_way(&self) -> usize {
        self.as_ref().under_way()
    }
}
