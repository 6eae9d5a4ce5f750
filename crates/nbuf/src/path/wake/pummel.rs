//! One event loop that several threads send to as fast as they can, as libuv's `async_pummel` does.
//!
//! Most sends find that the loop has been told already. A count of sends is none of wake-ups, so what
//! is rated is wake-ups, and sends are told apart. Whatever is left out, the last send of each thread
//! is seen.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rustix::io::Errno;
use rustix::thread::futex;

use super::crew::{Crew, Member, Setting, broken};
use super::loops::EventLoop;
use super::{Tally, Wake};

/// Threads that send.
pub(super) const SENDERS: usize = 4;

#[derive(Default)]
struct Sender {
    /// Sends so far: what the loop looks at.
    sent: AtomicU64,
    /// Those that had to write to the loop's eventfd.
    written: AtomicU64,
}

struct Shared {
    event_loop: Arc<EventLoop>,
    senders: [Sender; SENDERS],
    /// Sends that each thread is to have reached; all ones tells it to end.
    goal: AtomicU64,
    /// Goes up with the goal, to sleep on.
    bell: AtomicU32,
}

struct Pummel {
    shared: Arc<Shared>,
    crew: Crew,
    wakes: u64,
}

/// Opens one for the table.
pub(super) fn open(setting: &Setting<'_>) -> io::Result<Box<dyn Wake>> {
    let shared = Arc::new(Shared {
        event_loop: EventLoop::new()?,
        senders: Default::default(),
        goal: AtomicU64::new(0),
        bell: AtomicU32::new(0),
    });
    let mut crew = Crew::gather(setting)?;
    for at in 0..SENDERS {
        crew.start(setting, at + 1, (at, shared.clone()), |_| Ok(()), send_all)?;
    }
    Ok(Box::new(Pummel { shared, crew, wakes: 0 }))
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
    /// Rounds are dealt out to the senders, each as many: what is left over is sent, too.
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
        // A sender counts what it has written a moment later: by that count, a batch of one wake-up
        // may have none. What the loop itself has woken of is told at once.
        let rounds = self.wakes - wakes_before;
        let wakes = count_written(&self.shared) - written_before;
        Ok(Tally { rounds, sends: each * SENDERS as u64, wakes })
    }

    fn members(&self) -> &[Member] {
        self.crew.members()
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        let goal = self.shared.goal.load(Ordering::Relaxed);
        self.ring_the_bell(u64::MAX)?;
        self.crew.dismiss(goal)?;
        // Only now has everybody counted what was written.
        let (wakes, written) = (self.wakes, count_written(&self.shared));
        if wakes > written {
            return Err(broken(format_args!("{wakes} wake-ups for {written} writes")));
        }
        Ok(())
    }
}
