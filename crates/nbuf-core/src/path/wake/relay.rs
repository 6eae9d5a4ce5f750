//! Event loops in a ring. Each wakes the next, and a round is one turn around the ring.

use std::io;
use std::sync::Arc;

use super::loops::Station;
use super::pair::{STOP, expect, next};
use super::pinned_threads::{Member, PinnedThreads, Setting};
use super::{Tally, Wake};

/// The loops in the ring, including the caller's.
pub(super) const LOOPS: usize = 4;

struct Relay {
    ours: Arc<Station>,
    first: Arc<Station>,
    threads: PinnedThreads,
    number: u32,
    rounds: u64,
}

/// Opens the mechanism for the table.
pub(super) fn open(setting: &Setting<'_>) -> io::Result<Box<dyn Wake>> {
    let stations = (0..LOOPS).map(|_| Station::new()).collect::<io::Result<Vec<_>>>()?;
    let mut threads = PinnedThreads::gather(setting)?;
    for at in 1..LOOPS {
        let here = [stations[at].clone(), stations[(at + 1) % LOOPS].clone()];
        // Alternates between the two processors, so that each step crosses over.
        threads.start(setting, at % 2, here, |_| Ok(()), pass_on)?;
    }
    let (ours, first) = (stations[0].clone(), stations[1].clone());
    Ok(Box::new(Relay { ours, first, threads, number: 0, rounds: 0 }))
}

fn pass_on([ours, next_one]: [Arc<Station>; 2]) -> io::Result<u64> {
    let (mut had, mut expected) = (0, 1);
    loop {
        let number = ours.receive()?;
        next_one.send(number)?;
        if number == STOP {
            return Ok(had);
        }
        expect(number, expected)?;
        expected = next(number);
        had += 1;
    }
}

impl Wake for Relay {
    fn run(&mut self, rounds: u64) -> io::Result<Tally> {
        for _ in 0..rounds {
            self.number = next(self.number);
            self.first.send(self.number)?;
            expect(self.ours.receive()?, self.number)?;
        }
        self.rounds += rounds;
        let wakes = rounds * LOOPS as u64;
        Ok(Tally { rounds, sends: wakes, wakes })
    }

    fn members(&self) -> &[Member] {
        self.threads.members()
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.first.send(STOP)?;
        self.threads.dismiss(self.rounds)
    }
}
