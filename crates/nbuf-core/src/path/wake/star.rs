//! One event loop that plays ping-pong with several at once, as in libuv's `async2` to `async8`. A
//! round is one answer from each.
//!
//! Answers that arrive while the loop is busy do not wake it again. One wake-up then serves several
//! sends, and both are counted.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::loops::{EventLoop, Station};
use super::pair::{STOP, expect, next};
use super::pinned_threads::{Member, PinnedThreads, Setting};
use super::{Tally, Wake};

/// The number of loops around the central one.
pub(super) const PEERS: usize = 4;

/// The central loop, which peers answer.
struct Home {
    event_loop: Arc<EventLoop>,
    answers: [AtomicU32; PEERS],
    /// The answers that wrote to the loop's eventfd.
    written: AtomicU32,
}

struct Star {
    home: Arc<Home>,
    peers: Vec<Arc<Station>>,
    threads: PinnedThreads,
    numbers: [u32; PEERS],
    rounds: u64,
}

/// Opens the mechanism for the table.
pub(super) fn open(setting: &Setting<'_>) -> io::Result<Box<dyn Wake>> {
    let home = Arc::new(Home {
        event_loop: EventLoop::new()?,
        answers: Default::default(),
        written: AtomicU32::new(0),
    });
    let peers = (0..PEERS).map(|_| Station::new()).collect::<io::Result<Vec<_>>>()?;
    let mut threads = PinnedThreads::gather(setting)?;
    for (at, peer) in peers.iter().enumerate() {
        let here = (at, peer.clone(), home.clone());
        threads.start(setting, at + 1, here, |_| Ok(()), answer)?;
    }
    Ok(Box::new(Star { home, peers, threads, numbers: [0; PEERS], rounds: 0 }))
}

fn answer((at, ours, home): (usize, Arc<Station>, Arc<Home>)) -> io::Result<u64> {
    let (mut had, mut expected) = (0, 1);
    loop {
        let number = ours.receive()?;
        if number == STOP {
            return Ok(had);
        }
        expect(number, expected)?;
        expected = next(number);
        had += 1;
        home.answers[at].store(number, Ordering::Release);
        let written = home.event_loop.wake()?;
        home.written.fetch_add(written.into(), Ordering::Relaxed);
    }
}

impl Star {
    fn send(&mut self, peer: usize) -> io::Result<()> {
        self.numbers[peer] = next(self.numbers[peer]);
        self.peers[peer].send(self.numbers[peer])
    }
}

impl Wake for Star {
    fn run(&mut self, rounds: u64) -> io::Result<Tally> {
        let written_before = self.home.written.load(Ordering::Relaxed);
        let mut left = [rounds; PEERS];
        let mut playing = 0;
        if rounds > 0 {
            playing = PEERS;
            (0..PEERS).try_for_each(|peer| self.send(peer))?;
        }
        while playing > 0 {
            self.home.event_loop.sleep()?;
            for (peer, left) in left.iter_mut().enumerate() {
                let number = self.home.answers[peer].swap(0, Ordering::AcqRel);
                if number == 0 {
                    continue;
                }
                expect(number, self.numbers[peer])?;
                *left -= 1;
                if *left > 0 { self.send(peer)? } else { playing -= 1 }
            }
        }
        self.rounds += rounds;
        let each_way = rounds * PEERS as u64;
        let written = self.home.written.load(Ordering::Relaxed).wrapping_sub(written_before);
        Ok(Tally { rounds, sends: 2 * each_way, wakes: each_way + u64::from(written) })
    }

    fn members(&self) -> &[Member] {
        self.threads.members()
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.peers.iter().try_for_each(|peer| peer.send(STOP))?;
        self.threads.dismiss(self.rounds)
    }
}
