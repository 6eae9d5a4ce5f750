//! Event loops as in libuv: an eventfd in an epoll set, and a flag. The flag prevents a second
//! write for the same wake-up.
//!
//! Two loops that wake each other are a pair. A ring, a star and a loop with many senders have
//! files of their own.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use rustix::event::{EventfdFlags, epoll, eventfd};

use super::pair::End;

/// A loop that one thread sleeps in, and that all others may wake.
///
/// A sender stores a message before [`wake`](Self::wake), and the loop looks for it after
/// [`sleep`](Self::sleep). Either the loop sees the message, or the flag was down and the loop is
/// woken again.
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

    /// Wakes the loop, unless its flag is already up. Returns whether it wrote to the eventfd.
    pub(super) fn wake(&self) -> io::Result<bool> {
        if self.told.swap(true, Ordering::AcqRel) {
            return Ok(false);
        }
        rustix::io::write(&self.eventfd, &1_u64.to_ne_bytes())?;
        Ok(true)
    }

    /// Sleeps until another thread wakes it.
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
        // Lowers the flag before it looks for messages, so that later sends write again.
        self.told.swap(false, Ordering::AcqRel);
        Ok(())
    }
}

/// A loop and the number for which it is woken. 0 means none.
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
