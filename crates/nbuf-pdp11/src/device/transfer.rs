//! One operation between memory and a disc: the common part of drum and pack.
//!
//! A controller passes its command to a [`Disc`] and gets the completion time at once, because the
//! disc is modelled. Data to write is taken from memory at the command; data read is put there at
//! the end. As on the hardware, programs must not touch a buffer meanwhile.

use nbuf::disc::{Breakdown, Completion, Disc};
use nbuf::trace::request::{Op, Request};
use nbuf::units::Nanos;

use super::NEVER;

/// A disc with contents that can be copied with the whole machine.
pub trait Store: Disc + Send {
    /// The whole contents.
    fn image(&self) -> &[u8];
    /// A copy of the disc.
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

/// The totals of a disc since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The number of read commands.
    pub reads: u64,
    /// The number of write commands.
    pub writes: u64,
    /// The number of words moved.
    pub words: u64,
    /// The breakdown of the disc's time.
    pub breakdown: Breakdown,
}

/// A disc with the one operation in progress.
#[derive(Clone, Debug)]
pub struct Transfer {
    store: Box<dyn Store>,
    /// The length of a tick on the disc's clock.
    tick_ns: u64,
    done: Option<Completion>,
    due: u64,
    tally: Tally,
}

impl Transfer {
    /// Makes an idle transfer.
    pub fn new(store: Box<dyn Store>, tick_ns: u64) -> Self {
        let tick_ns = tick_ns.max(1);
        Self { store, tick_ns, done: None, due: NEVER, tally: Tally::default() }
    }

    /// The contents of the disc.
    pub fn image(&self) -> &[u8] {
        self.store.image()
    }

    /// The size of the disc.
    pub fn size_bytes(&self) -> u64 {
        self.store.size_bytes()
    }

    /// The totals so far.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// The time at which the operation completes.
    pub fn due(&self) -> u64 {
        self.due
    }

    /// Whether an operation is in progress.
    pub fn is_busy(&self) -> bool {
        self.due != NEVER
    }

    /// Drops the operation in progress; its writes may have reached the disc.
    pub fn cancel(&mut self) {
        self.done = None;
        self.due = NEVER;
    }

    /// Starts to read `length_bytes`, or to write `data`.
    pub fn begin(&mut self, now: u64, offset_bytes: u64, length_bytes: u32, data: Option<Vec<u8>>) {
        let op = if data.is_some() { Op::Write } else { Op::Read };
        let length = usize::try_from(length_bytes).unwrap_or(0);
        let data = data.unwrap_or_else(|| vec![0; length]);
        let request = Request::new(op, offset_bytes, data.len() as u64);
        let now_ns = Nanos(now.saturating_mul(self.tick_ns));
        self.done = nbuf::disc::wait_for(&mut self.store, now_ns, request, data);
        let at = self.done.as_ref().map_or(now_ns, |done| done.at);
        self.due = at.0.div_ceil(self.tick_ns).max(now);
        match op {
            Op::Write => self.tally.writes += 1,
            _ => self.tally.reads += 1,
        }
        if let Some(done) = &self.done {
            self.tally.words += request.length_bytes / 2;
            self.tally.breakdown = sum(self.tally.breakdown, done.breakdown);
        }
    }

    /// Takes the bytes of the completed operation; `None` if the disc failed.
    pub fn finish(&mut self) -> Option<Vec<u8>> {
        self.due = NEVER;
        let done = self.done.take()?;
        done.outcome.ok().map(|()| done.data)
    }
}

fn sum(a: Breakdown, b: Breakdown) -> Breakdown {
    Breakdown {
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
    fn submit(&mut self, now: Nanos, request: Request, data: Vec<u8>) {
        self.as_mut().submit(now, request, data);
    }
    fn next_completion(&mut self, until: Nanos) -> Option<Completion> {
        self.as_mut().next_completion(until)
    }
    fn under_way(&self) -> usize {
        self.as_ref().under_way()
    }
}
