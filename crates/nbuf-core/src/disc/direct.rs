//! A file or a block device without the page cache: `O_DIRECT` for an owner that waits for a descriptor.
//!
//! Requests of any bytes become whole blocks in aligned slots of memory, side by side. A write of parts of blocks reads
//! these first; writes whose blocks overlap follow each other. Flushes, zeros and trims go to a few threads, and so
//! does a write of the bytes behind the last whole block of a file, which alone goes through the page cache.
//!
//! Cost: one copy of each byte, between the slot and the request.

mod gate;
mod mover;
mod piece;
mod requests;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};

use super::holes::Holes;
use super::pool::{Pool, refusal};
use super::{Breakdown, Completion, Disc, DiscError};
use crate::clock::Stopwatch;
use crate::trace::request::{Op, Request};
use crate::units::{Nanos, PAGE_BYTES};
use gate::Gate;
pub(crate) use mover::{Mover, Ring, Threads};
use piece::{Piece, Step};

/// Bytes of a slot: the longest call. A multiple of every unit.
pub(crate) const SLOT_BYTES: usize = 128 << 10;
/// Threads for what is no read and no write of whole blocks.
const ASIDE_THREADS: usize = 2;

/// A request under way.
struct Going {
    request: Request,
    data: Vec<u8>,
    came: Nanos,
    /// Parts that are not done.
    left: u32,
    error: Option<DiscError>,
}

/// Such a disc.
pub(crate) struct Direct {
    mover: Box<dyn Mover>,
    aside: Pool,
    file: File,
    unit_bytes: u64,
    /// Where a call may begin within a unit.
    align_bytes: u64,
    size_bytes: u64,
    /// Where the last whole block ends.
    whole_bytes: u64,
    slots: Vec<Option<Piece>>,
    free: Vec<u32>,
    /// Parts that wait for a slot: of a request, from one byte to another.
    parts: VecDeque<(u32, u64, u64)>,
    going: HashMap<u32, Going>,
    number: u32,
    gate: Gate,
    done: VecDeque<Completion>,
    /// Readable when the mover or the threads have something.
    ready: OwnedFd,
    clock: Stopwatch,
    last: Nanos,
}

impl Direct {
    /// Over what moves its whole blocks, by this many slots; places, lengths and memory of its calls are multiples of
    /// the unit. `file` is the same one, opened with the page cache.
    pub(crate) fn new(
        (mover, slots): (Box<dyn Mover>, u32),
        file: File,
        (unit_bytes, size_bytes): (u64, u64),
        clock: Stopwatch,
    ) -> io::Result<Self> {
        // What goes through the page cache changes whole pages, so no page may have blocks of both ways.
        let (align_bytes, unit_bytes) = (unit_bytes, unit_bytes.max(PAGE_BYTES));
        let aside = Pool::new(file.try_clone()?, size_bytes, ASIDE_THREADS, clock)?;
        let ready = epoll::create(CreateFlags::CLOEXEC)?;
        epoll::add(&ready, mover.as_fd(), EventData::new_u64(0), EventFlags::IN)?;
        epoll::add(&ready, &aside, EventData::new_u64(1), EventFlags::IN)?;
        Ok(Self {
            mover,
            aside,
            file,
            unit_bytes,
            align_bytes,
            size_bytes,
            whole_bytes: size_bytes / unit_bytes * unit_bytes,
            slots: vec![None; slots as usize],
            free: (0..slots).rev().collect(),
            parts: VecDeque::new(),
            going: HashMap::new(),
            number: 0,
            gate: Gate::default(),
            done: VecDeque::new(),
            ready,
            clock,
            last: Nanos::ZERO,
        })
    }

    /// Where its file has holes; none for a device. Its descriptor wakes for answers too.
    pub(crate) fn holes(&self) -> io::Result<Option<Holes>> {
        self.aside.holes()
    }

    /// Hands what was submitted to the threads.
    pub(crate) fn send(&mut self) {
        self.aside.send();
    }

    /// Waits for no request when it is dropped. Those that the kernel has keep their memory.
    pub(crate) fn abandon(&mut self) {
        self.parts.clear();
        self.mover.abandon();
        self.aside.abandon();
    }

    /// Its descriptor is ready.
    pub(crate) fn notice(&mut self) {
        self.aside.notice();
    }

    fn now(&self) -> Nanos {
        Nanos(u64::try_from(self.clock.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    fn out(&self, byte: u64) -> u64 {
        byte.checked_next_multiple_of(self.unit_bytes).unwrap_or(u64::MAX)
    }

    /// Begins a request that waits for no other.
    fn start(&mut self, number: u32) {
        let Some(going) = self.going.get_mut(&number) else { return };
        let Request { op, offset: from, length_bytes, .. } = going.request;
        let to = from + length_bytes;
        if !matches!(op, Op::Read | Op::Write) {
            going.left = 1;
            let request = Request { task: number, ..going.request };
            return self.aside.submit(going.came, request, Vec::new());
        }
        let whole = if op == Op::Write { to.min(self.whole_bytes) } else { to };
        let mut at = from;
        while at < whole {
            let end = whole.min((at / SLOT_BYTES as u64 + 1) * SLOT_BYTES as u64);
            self.parts.push_back((number, at, end));
            going.left += 1;
            at = end;
        }
        if at < to {
            // The rest of a file that ends within a block: it is on the disc before its page is dropped again.
            let rest = usize::try_from(at - from).unwrap_or(usize::MAX);
            let request = Request::new(Op::Write, at, to - at);
            let request = Request { task: number, durable: true, ..request };
            going.left += 1;
            self.aside.submit(going.came, request, going.data[rest..].to_vec());
        }
        self.fill_slots();
    }

    /// Gives slots to the parts that wait.
    fn fill_slots(&mut self) {
        let mut is_new = false;
        while !self.parts.is_empty()
            && let Some(slot) = self.free.pop()
        {
            let Some((number, from, to)) = self.parts.pop_front() else { return };
            let request = self.going.get(&number).map(|going| going.request);
            let writes = request.is_some_and(|request| request.op == Op::Write);
            let mut piece =
                Piece::new(number, (from, to), writes, (self.unit_bytes, self.align_bytes));
            piece.durable = request.is_some_and(|request| request.durable);
            self.slots[slot as usize] = Some(piece);
            self.go(slot);
            is_new = true;
        }
        if is_new {
            self.mover.submit();
        }
    }

    /// Begins the next call for the piece in a slot.
    fn go(&mut self, slot: u32) {
        let Some(piece) = self.slots[slot as usize] else { return };
        if piece.takes_data()
            && let Some(going) = self.going.get(&piece.number)
        {
            let range = piece.within(going.request.offset);
            self.mover.put(slot, piece.skipped(), &going.data[range]);
        }
        self.mover.begin(slot, piece.transfer());
    }

    /// A call for the piece in a slot came back.
    fn came(&mut self, slot: u32, moved: io::Result<u32>) {
        let Some(mut piece) = self.slots[slot as usize] else { return };
        let outcome = match piece.advance(moved) {
            Ok(Step::More) => {
                self.slots[slot as usize] = Some(piece);
                self.go(slot);
                return self.mover.submit();
            }
            Ok(Step::Done) => Ok(()),
            Err(error) => Err(error),
        };
        if let Some(going) = self.going.get_mut(&piece.number)
            && outcome.is_ok()
            && going.request.op == Op::Read
        {
            let range = piece.within(going.request.offset);
            self.mover.get(slot, piece.skipped(), &mut going.data[range]);
        }
        self.slots[slot as usize] = None;
        self.free.push(slot);
        let failed = outcome.err().and_then(|error| {
            let going = self.going.get(&piece.number)?;
            Some(refusal(&going.request, &error, self.is_device()))
        });
        self.part_done(piece.number, failed);
        self.fill_slots();
    }

    fn is_device(&self) -> bool {
        self.aside.is_device()
    }

    fn part_done(&mut self, number: u32, error: Option<DiscError>) {
        let Some(going) = self.going.get_mut(&number) else { return };
        going.left -= 1;
        if going.error.is_none() {
            going.error = error;
        }
        if going.left > 0 {
            return;
        }
        let Some(Going { request, data, came, error, .. }) = self.going.remove(&number) else {
            return;
        };
        self.answer(request, data, came, error);
        if matches!(request.op, Op::Write | Op::Discard) {
            for next in self.gate.leave(number) {
                self.start(next);
            }
        }
    }

    fn answer(&mut self, request: Request, data: Vec<u8>, came: Nanos, error: Option<DiscError>) {
        self.last = self.now().max(came).max(self.last);
        let at = self.last;
        let breakdown = Breakdown { transfer: at - came, ..Breakdown::default() };
        let outcome = error.map_or(Ok(()), Err);
        self.done.push_back(Completion { request, data, at, breakdown, outcome });
    }

    /// Takes what is complete.
    fn collect(&mut self) {
        for (slot, moved) in self.mover.take() {
            self.came(slot, moved);
        }
        while let Some(completion) = self.aside.next_completion(Nanos::ZERO) {
            let Completion { request, outcome, .. } = completion;
            if request.op == Op::Write {
                let length = NonZeroU64::new(self.size_bytes - self.whole_bytes);
                let advice = rustix::fs::Advice::DontNeed;
                let _ = rustix::fs::fadvise(&self.file, self.whole_bytes, length, advice);
            }
            self.part_done(request.task, outcome.err());
        }
    }
}

impl AsFd for Direct {
    /// Readable when something is complete.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ready.as_fd()
    }
}
