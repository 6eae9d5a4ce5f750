//! What a turn waits for, and how.

use std::os::fd::{AsFd as _, BorrowedFd};

use rustix::event::epoll::EventFlags;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::doors::Ready;
use super::drain::waits;
use super::requests::{LOOKS_MAX, REQUEST_BYTES_MAX};
use super::{Server, ServerError};
use crate::units::Nanos;

/// The longest wait, so that the clock is looked at.
const WAIT: Nanos = Nanos(250_000_000);
/// Bytes that are kept for all clients: the requests of others wait.
const BYTES_MAX: u64 = 512 << 20;
/// A client that keeps less keeps little.
const SMALL_BYTES: u64 = 1 << 20;

impl Server {
    /// Waits until something is ready, for [`super::clients::Clients::take_events`]. Whether a control client is.
    pub(super) fn wait(&mut self, wake: BorrowedFd<'_>) -> Result<bool, ServerError> {
        self.settle();
        self.settle_doors(wake).map_err(ServerError::Wait)?;
        let wait = self.how_long();
        if self.control_clients.is_empty() && self.leaving.is_empty() {
            self.wait_for_events(wait)?;
            return Ok(false);
        }
        let mut descriptors = vec![PollFd::new(&self.connections, PollFlags::IN)];
        let (asking, leaving) = (self.control_clients.iter(), self.leaving.iter());
        descriptors.extend(asking.map(|client| PollFd::new(&client.socket, PollFlags::IN)));
        descriptors.extend(leaving.map(|client| PollFd::new(&client.socket, PollFlags::OUT)));
        match poll(&mut descriptors, Some(&timespec(wait))) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(ServerError::Wait(error.into())),
        }
        let is_ready = descriptors[1..].iter().any(|descriptor| !descriptor.revents().is_empty());
        self.connections.wait(Timespec::default()).map_err(ServerError::Wait)?;
        Ok(is_ready)
    }

    /// Waits for clients and doors. A server that spins first looks again and again for a while after each turn with
    /// work: a processor that sleeps takes tens of microseconds to wake.
    fn wait_for_events(&mut self, wait: Nanos) -> Result<(), ServerError> {
        if self.did_serve && self.spin > Nanos::ZERO {
            let until = self.time() + self.spin.min(wait);
            loop {
                if self.connections.wait(Timespec::default()).map_err(ServerError::Wait)? > 0 {
                    return Ok(());
                }
                if self.time() >= until {
                    break;
                }
                std::hint::spin_loop();
            }
        }
        self.connections.wait(timespec(wait)).map_err(ServerError::Wait)?;
        Ok(())
    }

    fn how_long(&self) -> Nanos {
        let is_released = self.was_held && !self.is_held;
        let has_done = self.discs.iter().any(|served| served.cache.disc().has_done());
        if is_released || has_done || self.looks > LOOKS_MAX {
            return Nanos::ZERO;
        }
        // What the disc finished after the last look has been taken from it: no descriptor wakes for it.
        let next = self.discs.iter().filter_map(|served| served.cache.next_done_at()).min();
        next.map_or(WAIT, |at| WAIT.min(at.saturating_sub(self.time())))
    }

    fn settle_doors(&mut self, wake: BorrowedFd<'_>) -> std::io::Result<()> {
        let epoll = self.connections.as_fd();
        self.doors.settle(epoll, Ready::Wake, wake, Some(EventFlags::IN))?;
        for (at, served) in self.discs.iter_mut().enumerate() {
            let disc = served.cache.disc_mut();
            disc.send();
            let writes = if disc.wants_to_write() { EventFlags::OUT } else { EventFlags::empty() };
            let wanted = (!disc.is_broken()).then_some(EventFlags::IN | writes);
            self.doors.settle(epoll, Ready::Disc(at), disc.as_fd(), wanted)?;
        }
        let wanted = (self.now >= self.accept_at).then_some(EventFlags::IN);
        for (at, listener) in self.listeners.iter().enumerate() {
            self.doors.settle(epoll, Ready::Listener(at), listener.as_fd(), wanted)?;
        }
        if let Some(control) = &self.control {
            self.doors.settle(epoll, Ready::Control, control.as_fd(), wanted)?;
        }
        Ok(())
    }

    /// What is waited for of the clients that changed: of all of them while they wait for each other's room, or for the
    /// server.
    fn settle(&mut self) {
        self.connections.weigh();
        let is_quiet = self.quiet.is_some();
        let is_tight = self.connections.kept() + u64::from(REQUEST_BYTES_MAX) > BYTES_MAX / 2;
        let is_late = self.looks > LOOKS_MAX;
        self.was_held = std::mem::replace(&mut self.is_held, is_quiet || is_tight || is_late);
        if self.is_held || self.was_held {
            self.connections.touch_all();
            self.connections.weigh();
        }
        let (kept, quiet) = (self.connections.kept(), self.quiet.as_ref());
        self.connections.settle(|connection| {
            let mut flags = EventFlags::empty();
            let has_room = connection.reserved > 0 || has_room(kept, connection.bytes(), 0);
            let waits = waits(quiet, connection.export);
            if connection.can_read() && !waits && has_room && !connection.needs_room {
                flags |= EventFlags::IN;
            }
            if connection.wants_to_write() {
                flags |= EventFlags::OUT;
            }
            flags
        });
    }
}

/// Rounded up to milliseconds: older kernels wait for no fraction of one (`epoll_pwait2(2)` is of 5.11).
fn timespec(wait: Nanos) -> Timespec {
    let millis = wait.0.div_ceil(1_000_000);
    let rest = i64::try_from(millis % 1000 * 1_000_000).unwrap_or_default();
    Timespec { tv_sec: i64::try_from(millis / 1000).unwrap_or_default(), tv_nsec: rest as _ }
}

/// Whether a client that keeps this much may keep some more, where so much is kept for all. Clients that keep little
/// have the upper half for themselves, so that those that keep much do not stop them. A client alone has its own limits.
pub(super) fn has_room(kept: u64, keeps: u64, more: u64) -> bool {
    let most = if keeps + more < SMALL_BYTES { BYTES_MAX } else { BYTES_MAX / 2 };
    kept + more <= most || kept <= keeps
}
