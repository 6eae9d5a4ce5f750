//! A disc that another NBD server has: reads and writes go over one connection, as many at once as are
//! asked for.
//!
//! The handshake waits for the server, ten seconds at most a step; afterwards nothing waits, and the owner
//! waits for the descriptor. When the connection ends, all that is under way fails, and all later requests.

mod ask;
mod replies;
mod status;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::event::{PollFd, PollFlags, poll};

use super::super::holes::{Found, Look};
use super::super::{Breakdown, Completion, Disc, DiscError};
use super::address::Remote;
use super::greet::{Agreed, handshake};
use super::line::Line;
use super::tls::Trust;
use super::wire::export;
use crate::clock::Stopwatch;
use crate::trace::request::{Op, Request};
use crate::units::Nanos;
pub use status::chunk_of_read;
use status::unknown;

/// Room for requests that is kept when all were sent.
const OUT_BYTES_KEPT: usize = 4 << 20;
/// Bytes of one read of the socket.
const READ_BYTES: usize = 256 << 10;

/// A request under way, or its next part.
#[derive(Debug)]
struct PendingRequest {
    request: Request,
    data: Vec<u8>,
    came: Nanos,
    /// What is asked for when this part is done.
    left_bytes: u64,
    /// Whether a flush follows: this server writes nothing durably without one.
    flushes: bool,
    /// What came of a reply in chunks.
    got: Got,
    /// The look for holes that it is for, instead of a request of the owner.
    look: Option<Look>,
}

/// What came of a reply in chunks.
#[derive(Debug, Default)]
struct Got {
    /// Bytes of a read.
    bytes: u64,
    /// The first error.
    error: u32,
    /// Extents of a status.
    extents: Vec<(u64, u32)>,
}

/// A disc behind an NBD server.
#[derive(Debug)]
pub(crate) struct Client {
    line: Line,
    size_bytes: u64,
    flags: u16,
    /// The number of the context of what is allocated, where replies come in chunks.
    allocation: Option<u32>,
    clock: Stopwatch,
    out: Vec<u8>,
    sent: usize,
    /// A buffer; what came and was not taken is between `taken` and `filled`.
    input: Vec<u8>,
    taken: usize,
    filled: usize,
    pending: HashMap<u64, PendingRequest>,
    cookie: u64,
    done: VecDeque<Completion>,
    found: VecDeque<Found>,
    broken: Option<String>,
    /// Whether something may have come, where the owner says so; without a value each look for completions reads.
    is_noticed: Option<bool>,
}

impl Client {
    /// Connects to an export of a server; one that must be sealed needs to know which servers are trusted.
    pub(crate) fn connect(
        remote: &Remote,
        trust: Option<&Trust>,
        clock: Stopwatch,
    ) -> io::Result<Self> {
        let greet = || {
            let mut line = Line::connect(&remote.place)?;
            let agreed = handshake(&mut line, remote, trust)?;
            let early = line.wait_no_more()?;
            Ok(Self::over(line, agreed, early, clock))
        };
        greet().map_err(|error: io::Error| match error.kind() {
            // What a socket says whose patience is over.
            ErrorKind::WouldBlock => io::Error::new(ErrorKind::TimedOut, "it does not answer"),
            ErrorKind::UnexpectedEof => io::Error::new(error.kind(), "it closes the connection"),
            _ => error,
        })
    }

    /// Over a connection that does not wait, on which this was agreed, and this came already.
    fn over(line: Line, agreed: Agreed, early: Vec<u8>, clock: Stopwatch) -> Self {
        let Agreed { size_bytes, flags, allocation } = agreed;
        Self {
            line,
            size_bytes,
            flags,
            allocation,
            clock,
            out: Vec::new(),
            sent: 0,
            taken: 0,
            filled: early.len(),
            input: early,
            pending: HashMap::new(),
            cookie: 0,
            done: VecDeque::new(),
            found: VecDeque::new(),
            broken: None,
            is_noticed: None,
        }
    }

    /// Whether the server permits writes.
    pub(crate) fn is_read_only(&self) -> bool {
        self.flags & export::READ_ONLY != 0
    }

    /// Whether it has something to send, and waits for room.
    pub(crate) fn wants_to_write(&self) -> bool {
        self.sent < self.out.len() || self.line.has_sealed()
    }

    /// Whether the connection has ended.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken.is_some()
    }

    /// Reads only after a [notice](Self::notice) from now on: a call less for each look at what is complete.
    pub(crate) fn wait_for_notice(&mut self) {
        self.is_noticed = Some(true);
    }

    /// The descriptor is ready.
    pub(crate) fn notice(&mut self) {
        self.is_noticed = Some(true);
    }

    /// Whether something is complete, or found, that no descriptor wakes for.
    pub(crate) fn has_done(&self) -> bool {
        !self.done.is_empty() || !self.found.is_empty()
    }

    fn now(&self) -> Nanos {
        Nanos(u64::try_from(self.clock.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    fn answer(&mut self, request: Request, data: Vec<u8>, came: Nanos, failed: Option<String>) {
        let at = self.now().max(came);
        let breakdown = Breakdown { transfer: at - came, ..Breakdown::default() };
        let outcome = failed.map_or(Ok(()), |what| Err(DiscError::Failed { what }));
        self.done.push_back(Completion { request, data, at, breakdown, outcome });
    }

    /// Sends what can be sent now.
    pub(crate) fn send(&mut self) {
        while self.wants_to_write() && self.broken.is_none() {
            match self.line.send(&self.out[self.sent..]) {
                Ok(0) if self.sent < self.out.len() => {
                    self.break_off("the backend server takes nothing more");
                }
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    // As long as some requests wait, others come: what was sent is room for them.
                    if self.sent >= self.out.len() / 2 {
                        self.out.drain(..std::mem::take(&mut self.sent));
                    }
                    return;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => self.break_off(&error.to_string()),
            }
        }
        self.out.clear();
        self.out.shrink_to(OUT_BYTES_KEPT);
        self.sent = 0;
    }

    /// Takes in what came.
    fn receive(&mut self) {
        while self.broken.is_none() {
            if self.taken > 0 {
                self.input.copy_within(self.taken..self.filled, 0);
                (self.taken, self.filled) = (0, self.filled - self.taken);
            }
            if self.filled + READ_BYTES / 2 > self.input.len() {
                self.input.resize(self.filled + READ_BYTES, 0);
            }
            let room = self.input.len() - self.filled;
            match self.line.receive(&mut self.input[self.filled..]) {
                Ok(0) => self.break_off("the backend server has closed the connection"),
                Ok(count) => {
                    self.filled += count;
                    self.parse();
                    if self.line.has_ended() {
                        self.break_off("the backend server has ended TLS");
                    }
                    if count < room {
                        return;
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => self.break_off(&error.to_string()),
            }
        }
    }

    fn break_off(&mut self, why: &str) {
        if self.broken.is_some() {
            return;
        }
        self.broken = Some(why.to_owned());
        let mut pending: Vec<_> = std::mem::take(&mut self.pending).into_iter().collect();
        pending.sort_unstable_by_key(|(cookie, _)| *cookie);
        for (_, PendingRequest { request, data, came, look, .. }) in pending {
            match look {
                Some(look) => self.found.push_back(unknown(look)),
                None => self.answer(request, data, came, Some(why.to_owned())),
            }
        }
    }
}

impl AsFd for Client {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.line.as_fd()
    }
}

impl Disc for Client {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn submit(&mut self, now: Nanos, request: Request, data: Vec<u8>) {
        // A server without flushes has nothing to flush; a trim is a hint.
        let is_moot = match request.op {
            Op::Flush => self.flags & export::SEND_FLUSH == 0,
            Op::Discard => !request.zeros && self.flags & export::SEND_TRIM == 0,
            _ => false,
        };
        if is_moot || self.broken.is_some() {
            return self.answer(request, data, now, self.broken.clone());
        }
        let left_bytes = request.length_bytes;
        let has = |flag: u16| self.flags & flag != 0;
        let lacks_fua = has(export::SEND_FLUSH) && !has(export::SEND_FUA);
        let flushes = lacks_fua && request.durable && matches!(request.op, Op::Write | Op::Discard);
        let (got, look) = (Got::default(), None);
        self.ask(PendingRequest { request, data, came: now, left_bytes, flushes, got, look });
    }

    fn next_completion(&mut self, until: Nanos) -> Option<Completion> {
        loop {
            if self.done.is_empty() {
                self.send();
                if self.is_noticed != Some(false) || self.now() < until {
                    self.is_noticed = self.is_noticed.map(|_| false);
                    self.receive();
                }
            }
            if let Some(completion) = self.done.pop_front() {
                return Some(completion);
            }
            if self.pending.is_empty() || self.now() >= until {
                return None;
            }
            let wait = if self.wants_to_write() { PollFlags::OUT } else { PollFlags::empty() };
            let mut descriptors = [PollFd::new(&self.line, wait | PollFlags::IN)];
            let _ = poll(
                &mut descriptors,
                Some(&rustix::event::Timespec { tv_sec: 0, tv_nsec: 10_000_000 }),
            );
        }
    }

    fn under_way(&self) -> usize {
        self.pending.len() + self.done.len()
    }
}
