//! Event loops as libuv has them: an eventfd in an epoll set, and a flag that keeps a loop from being
//! written to twice for one wake-up.
//!
//! Two loops that wake each other are a pair; a ring, a star and a crowd of them have files of their
//! own.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use rustix::event::{EventfdFlags, epoll, eventfd};

use super::pair::End;

/// What one thread sleeps in, and all others may wake.
///
/// A message is stored somewhere before [`wake`](Self::wake), and looked for after
/// [`sleep`](Self::sleep): either the loop sees it, or the flag was down and it is woken again.
pub(super) struct EventLoop {
    told: AtomicBool,
    eventfd: OwnedFd,
    epoll: OwnedFd,
}

impl EventLoop {
    pub(super) fn new() -> io::Result<Arc<Self>> {
        let eventfd = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &eventfd, epoll::EventData::new_u64(0), epoll::EventFlags::IN)?;
        Ok(Arc::new(Self { told: AtomicBool::new(false), eventfd, epoll }))
    }

    /// Wakes the loop, unless it has been told already. Whether it had to be written to.
    pub(super) fn wake(&self) -> io::Result<bool> {
        if self.told.swap(true, Ordering::AcqRel) {
            return Ok(false);
        }
        rustix::io::write(&self.eventfd, &1_u64.to_ne_bytes())?;
        Ok(true)
    }

    /// Sleeps until somebody wakes it.
    pub(super) fn sleep(&self) -> io::Result<()> {
        let mut event =
            [epoll::Event { flags: epoll::EventFlags::IN, data: epoll::EventData::new_u64(0) }];
        while let Err(error) = epoll::wait(&self.epoll, &mut event, None) {
            if error != rustix::io::Errno::INTR {
                return Err(error.into());
            }
        }
        let mut bytes = [0; 8];
        rustix::io::read(&self.eventfd, &mut bytes)?;
        // Down before the messages are looked for: what is sent from here on writes again.
        self.told.swap(false, Ordering::AcqRel);
        Ok(())
    }
}

/// A loop and the number that it is woken for. 0 stands for none.
pub(super) struct Station {
    pub(super) event_loop: Arc<EventLoop>,
    pub(super) number: AtomicU32,
}

impl Station {
    pub(super) fn new() -> io::Result<Arc<Self>> {
        Ok(Arc::new(Self { event_loop: EventLoop::new()?, number: AtomicU32::new(0) }))
    }

    pub(super) fn send(&self, number: u32) -> io::Result<()> {
        self.number.store(number, Ordering::Release);
        self.event_loop.wake().map(drop)
    }

    pub(super) fn receive(&self) -> io::Result<u32> {
        loop {
            self.event_loop.sleep()?;
            let number = self.number.swap(0, Ordering::AcqRel);
            if number != 0 {
                return Ok(number);
            }
        }
    }
}

/// An end of two loops that wake each other.
pub(super) struct LoopFlag {
    ours: Arc<Station>,
    theirs: Arc<Station>,
}

impl End for LoopFlag {
    fn pair() -> io::Result<(Self, Self)> {
        let (a, b) = (Station::new()?, Station::new()?);
        Ok((Self { ours: a.clone(), theirs: b.clone() }, Self { ours: b, theirs: a }))
    }

    fn send(&mut self, number: u32) -> io::Result<()> {
        self.theirs.send(number)
    }

    fn receive(&mut self) -> io::Result<u32> {
        self.ours.receive()
    }
}
