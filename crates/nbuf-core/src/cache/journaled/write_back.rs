//! At a start: what a journal owes comes to the disc, as far as the disc takes it, or until a signal ends the server.
//!
//! Nothing of the journal changes meanwhile, so an end at any moment loses nothing. Twice the same writes do no harm.

use super::owed::Owed;
use super::writes::{Refused, Writes};
use crate::disc::{Completion, Disc, DiscError};
use crate::trace::request::{Op, Request};
use crate::units::Nanos;

/// Requests to the disc at once.
const DEPTH: usize = 16;
/// How often it looks for signals while the disc works.
const LOOK: Nanos = Nanos(20_000_000);
/// How long it waits after the first signal for requests under way: another server could take them for newer ones.
const SIGNALLED_MAX: Nanos = Nanos(10_000_000_000);
/// What it reads to see whether there is a disc.
const SECTOR_BYTES: u64 = 512;

/// What it looks at between its writes.
#[derive(Clone, Copy)]
pub(crate) struct Watch<'a> {
    /// The time, by the clock of the disc.
    pub(crate) now: &'a dyn Fn() -> Nanos,
    /// How many signals came that end the server.
    pub(crate) ends: &'a dyn Fn() -> u32,
}

/// Why no server may start. The journal owes what it owed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WriteBackError {
    /// The disc has no room for all of it, so nothing was written.
    #[error(transparent)]
    TooSmall(DiscError),
    /// The disc answers nothing, or refuses everything, reads too.
    #[error(transparent)]
    Unreachable(DiscError),
    /// A signal came. This many bytes were not written.
    #[error("a signal came before {0} B were written")]
    Ended(u64),
}

/// Why an answer is missing.
enum Missing {
    Gone,
    Ended,
}

impl Missing {
    fn with(self, left_bytes: u64) -> WriteBackError {
        match self {
            Self::Ended => WriteBackError::Ended(left_bytes),
            Self::Gone => {
                let what = "the disc does not answer".to_owned();
                WriteBackError::Unreachable(DiscError::Failed { what })
            }
        }
    }
}

/// Writes what is owed to the disc, which has it safely then, except what it refuses.
pub(crate) fn write_back<D: Disc>(
    disc: &mut D,
    owed: &Owed,
    watch: Watch<'_>,
) -> Result<Refused, WriteBackError> {
    if let Some((begins, length)) = owed.last() {
        let last = Request::new(Op::Write, begins, length);
        DiscError::check(&last, disc.size_bytes()).map_err(WriteBackError::TooSmall)?;
    }
    let mut turns = Turns { disc, watch, task: 0, signalled: None };
    let (mut writes, mut under_way) = (Writes::new(owed), 0);
    loop {
        while under_way < DEPTH && (watch.ends)() == 0 {
            let Some((request, data)) = writes.next() else { break };
            turns.submit(request, data);
            under_way += 1;
        }
        if under_way == 0 {
            break;
        }
        let completion = turns.answer().map_err(|missing| missing.with(writes.left_bytes()))?;
        writes.answered(completion);
        under_way -= 1;
    }
    let left_bytes = writes.left_bytes();
    let missing = |missing: Missing| missing.with(left_bytes);
    if (watch.ends)() > 0 {
        return Err(missing(Missing::Ended));
    }
    let (mut refused, has_taken) = writes.end();
    if has_taken || refused.error.is_none() {
        let flush = turns.ask(Request::new(Op::Flush, 0, 0), Vec::new()).map_err(missing)?;
        if let Err(error) = flush.outcome {
            // Nothing says which of the writes before it are safe.
            refused = Refused::all(owed, error);
        }
    }
    match &refused.error {
        Some(error) if !turns.is_there().map_err(missing)? => {
            Err(WriteBackError::Unreachable(error.clone()))
        }
        _ => Ok(refused),
    }
}

/// Requests and answers, with a look for signals between them.
struct Turns<'a, D> {
    disc: &'a mut D,
    watch: Watch<'a>,
    task: u32,
    /// When the first signal was seen.
    signalled: Option<Nanos>,
}

impl<D: Disc> Turns<'_, D> {
    fn submit(&mut self, request: Request, data: Vec<u8>) {
        let task = self.task;
        self.task += 1;
        self.disc.submit((self.watch.now)(), Request { task, ..request }, data);
    }

    /// The next answer.
    fn answer(&mut self) -> Result<Completion, Missing> {
        loop {
            let until = (self.watch.now)() + LOOK;
            if let Some(completion) = self.disc.next_completion(until) {
                return Ok(completion);
            }
            let now = (self.watch.now)();
            if now < until {
                // A disc that works waits until then.
                return Err(Missing::Gone);
            }
            match (self.watch.ends)() {
                0 => {}
                1 if now - *self.signalled.get_or_insert(now) < SIGNALLED_MAX => {}
                _ => return Err(Missing::Ended),
            }
        }
    }

    /// Asks for something when nothing is under way.
    fn ask(&mut self, request: Request, data: Vec<u8>) -> Result<Completion, Missing> {
        self.submit(request, data);
        self.answer()
    }

    /// Whether the disc can be read, if only in one of three places.
    fn is_there(&mut self) -> Result<bool, Missing> {
        let size = self.disc.size_bytes();
        for at in [0, size / 2, size.saturating_sub(1)] {
            let at = at / SECTOR_BYTES * SECTOR_BYTES;
            let length = SECTOR_BYTES.min(size - at);
            let room = vec![0; usize::try_from(length).unwrap_or_default()];
            if self.ask(Request::new(Op::Read, at, length), room)?.outcome.is_ok() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
