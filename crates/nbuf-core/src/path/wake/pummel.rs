//! One event loop to which several threads send as fast as they can, as in libuv's `async_pummel`.
//!
//! Most sends find the flag already up, so sends and wake-ups are counted separately. The rate is
//! of wake-ups. The loop may skip any send except the last of each thread.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rustix::io::Errno;
use rustix::thread::futex;

use super::loops::EventLoop;
use super::pinned_threads::{Member, PinnedThreads, Setting, broken};
use super::{Tally, Wake};

/// The number of sending threads.
pub(super) const SENDERS: usize = 4;

#[derive(Default)]
struct Sender {
    /// The number of sends so far, which the loop reads.
    sent: AtomicU64,
    /// The sends that wrote to the loop's eventfd.
    written: AtomicU64,
}

struct Shared {
    event_loop: Arc<EventLoop>,
    senders: [Sender; SENDERS],
    /// The number of sends that each thread must reach; all ones ends the thread.
    goal: AtomicU64,
    /// Changes with the goal; senders sleep on it.
    bell: AtomicU32,
}

struct Pummel {
    shared: Arc<Shared>,
    threads: PinnedThreads,
    wakes: u64,
}

/// Opens the mechanism for the table.
pub(super) fn open(setting: &Setting<'_>) -> io::Result<Box<dyn Wake>> {
    let shared = Arc::new(Shared {
        event_loop: EventLoop::new()?,
        senders: Default::default(),
        goal: AtomicU64::new(0),
        bell: AtomicU32::new(0),
    });
    let mut threads = PinnedThreads::gather(setting)?;
    for at in 0..SENDERS {
        threads.start(setting, at + 1, (at, shared.clone()), |_| Ok(()), send_all)?;
    }
    Ok(Box::new(Pummel { shared, threads, wakes: 0 }))
}

fn send_all((at, shared): (usize, Arc<Shared>)) -> io::Result<u64> {
    let sender = &shared.senders[at];
    let mut sent = 0;
    loop {
        let heard = shared.bell.load(Ordering::Acquire);
        let goal = shared.goal.load(Ordering::Acquire);
        if goal == u64::MAX {
            return Ok(sent);
        }
        while sent < goal {
            sent += 1;
            sender.sent.store(sent, Ordering::Release);
            if shared.event_loop.wake()? {
                sender.written.fetch_add(1, Ordering::Relaxed);
            }
        }
        match futex::wait(&shared.bell, futex::Flags::PRIVATE, heard, None) {
            Ok(()) | Err(Errno::AGAIN | Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

impl Pummel {
    fn ring_the_bell(&self, goal: u64) -> io::Result<()> {
        self.shared.goal.store(goal, Ordering::Release);
        self.shared.bell.fetch_add(1, Ordering::Release);
        futex::wake(&self.shared.bell, futex::Flags::PRIVATE, u32::MAX >> 1)?;
        Ok(())
    }
}

fn count_written(shared: &Shared) -> u64 {
    shared.senders.iter().map(|sender| sender.written.load(Ordering::Relaxed)).sum()
}

impl Wake for Pummel {
    /// Divides the rounds evenly among the senders, rounded up.
    fn run(&mut self, rounds: u64) -> io::Result<Tally> {
        let before = self.shared.goal.load(Ordering::Relaxed);
        let written_before = count_written(&self.shared);
        let wakes_before = self.wakes;
        let each = rounds.div_ceil(SENDERS as u64);
        let goal = before + each;
        self.ring_the_bell(goal)?;
        let mut seen = [before; SENDERS];
        while seen.iter().any(|&seen| seen < goal) {
            self.shared.event_loop.sleep()?;
            self.wakes += 1;
            for (seen, sender) in seen.iter_mut().zip(&self.shared.senders) {
                let sent = sender.sent.load(Ordering::Acquire);
                if sent < *seen || sent > goal {
                    return Err(broken(format_args!("send {sent} came after {seen} of {goal}")));
                }
                *seen = sent;
            }
        }
        // A sender counts its write a moment later, so by that count a batch of one wake-up may
        // have none. The loop counts its own wake-ups at once.
        let rounds = self.wakes - wakes_before;
        let wakes = count_written(&self.shared) - written_before;
        Ok(Tally { rounds, sends: each * SENDERS as u64, wakes })
    }

    fn members(&self) -> &[Member] {
        self.threads.members()
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        let goal = self.shared.goal.load(Ordering::Relaxed);
        self.ring_the_bell(u64::MAX)?;
        self.threads.dismiss(goal)?;
        // Only now has every sender counted its writes.
        let (wakes, written) = (self.wakes, count_written(&self.shared));
        if wakes > written {
            return Err(broken(format_args!("{wakes} wake-ups for {written} writes")));
        }
        Ok(())
    }
}
