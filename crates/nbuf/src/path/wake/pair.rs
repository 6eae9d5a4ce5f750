//! Two threads, one message under way: the ping-pong that most ways are.

use std::io;

use super::crew::{Crew, Member, Setting, broken};
use super::{Tally, Wake};

/// One of the two ends of a way to pass a number, each used by one thread.
///
/// The numbers go from 1 to [`LAST`] and begin anew, so that they fit wherever a way keeps them.
pub(super) trait End: Send + Sized + 'static {
    /// Both ends. The error says what the machine refuses.
    fn pair() -> io::Result<(Self, Self)>;

    /// Prepares the thread that will use this end, in that thread.
    fn enter(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Passes a number and wakes the other end.
    fn send(&mut self, number: u32) -> io::Result<()>;

    /// Waits for a number of the other end. It is not 0, and comes once.
    fn receive(&mut self) -> io::Result<u32>;
}

/// The last number; the next is 1.
const LAST: u32 = u32::MAX >> 1;
/// Tells the other thread to end.
pub(super) const STOP: u32 = LAST + 1;

/// The number after this one.
pub(super) fn next(number: u32) -> u32 {
    number % LAST + 1
}

/// The end of the calling thread.
struct Pair<E> {
    end: E,
    crew: Crew,
    number: u32,
    rounds: u64,
}

/// Opens one for the table.
pub(super) fn open<E: End>(setting: &Setting<'_>) -> io::Result<Box<dyn Wake>> {
    let (mut end, other) = E::pair()?;
    let mut crew = Crew::gather(setting)?;
    end.enter()?;
    crew.start(setting, 1, other, E::enter, follow)?;
    Ok(Box::new(Pair { end, crew, number: 0, rounds: 0 }))
}

/// Answers every number by the same one, until told to stop.
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

/// Refuses a number that is not the one that was sent.
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
        self.crew.members()
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.end.send(STOP)?;
        self.crew.dismiss(self.rounds)
    }
}
