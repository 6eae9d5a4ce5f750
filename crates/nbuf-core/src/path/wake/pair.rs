//! Two threads with one message in flight: the ping-pong that most mechanisms play.

use std::io;

use super::pinned_threads::{Member, PinnedThreads, Setting, broken};
use super::{Tally, Wake};

/// One of the two ends of a mechanism that passes a number; one thread uses each end.
///
/// The numbers go from 1 to [`LAST`] and start again, so that they fit into any storage of a
/// mechanism.
pub(super) trait End: Send + Sized + 'static {
    /// Opens both ends. The error names what the machine refuses.
    fn pair() -> io::Result<(Self, Self)>;

    /// Prepares the thread that will use this end. That thread calls it.
    fn enter(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Passes a number and wakes the other end.
    fn send(&mut self, number: u32) -> io::Result<()>;

    /// Waits for a number from the other end. It is never 0, and each number arrives once.
    fn receive(&mut self) -> io::Result<u32>;
}

/// The last number; the next is 1.
const LAST: u32 = u32::MAX >> 1;
/// Ends the other thread.
pub(super) const STOP: u32 = LAST + 1;

/// The number after this one.
pub(super) fn next(number: u32) -> u32 {
    number % LAST + 1
}

/// The calling thread's end, and its partner.
struct Pair<E> {
    end: E,
    threads: PinnedThreads,
    number: u32,
    rounds: u64,
}

/// Opens the mechanism for the table.
pub(super) fn open<E: End>(setting: &Setting<'_>) -> io::Result<Box<dyn Wake>> {
    let (mut end, other) = E::pair()?;
    let mut threads = PinnedThreads::gather(setting)?;
    end.enter()?;
    threads.start(setting, 1, other, E::enter, follow)?;
    Ok(Box::new(Pair { end, threads, number: 0, rounds: 0 }))
}

/// Echoes every number until it is [`STOP`].
fn follow<E: End>(mut end: E) -> io::Result<u64> {
    let (mut had, mut expected) = (0, 1);
    loop {
        let number = end.receive()?;
        if number == STOP {
            return Ok(had);
        }
        expect(number, expected)?;
        expected = next(number);
        had += 1;
        end.send(number)?;
    }
}

/// Returns an error if a number is not the one that was sent.
pub(super) fn expect(number: u32, expected: u32) -> io::Result<()> {
    if number == expected {
        return Ok(());
    }
    Err(broken(format_args!("message {number} came instead of {expected}")))
}

impl<E: End> Wake for Pair<E> {
    fn run(&mut self, rounds: u64) -> io::Result<Tally> {
        for _ in 0..rounds {
            self.number = next(self.number);
            self.end.send(self.number)?;
            expect(self.end.receive()?, self.number)?;
        }
        self.rounds += rounds;
        Ok(Tally { rounds, sends: 2 * rounds, wakes: 2 * rounds })
    }

    fn members(&self) -> &[Member] {
        self.threads.members()
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.end.send(STOP)?;
        self.threads.dismiss(self.rounds)
    }
}
