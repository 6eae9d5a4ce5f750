//! One turn of the loop: wait, take what came, answer what is complete.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::event::epoll::EventFlags;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::super::connection::Connection;
use super::super::control::Caller;
use super::drain::waits;
use super::requests::{LOOKS_MAX, REQUEST_BYTES_MAX};
use super::{Keeper, Server, ServerError};
use crate::units::Nanos;

/// The longest wait, so that the clock is looked at.
const WAIT: Nanos = Nanos(250_000_000);
/// How often dirty pages that are few are written, and stalled clients looked for.
const TICK: Nanos = Nanos(1_000_000_000);
/// Bytes that are kept for all clients: the requests of others wait.
const BYTES_MAX: u64 = 512 << 20;
/// A client that keeps less keeps little.
const SMALL_BYTES: u64 = 1 << 20;
/// Clients that are accepted in one turn.
const ACCEPTED_MAX: usize = 256;
/// Reads in one turn of clients that agree on keys, each of which may cost a signature: the others wait, and those
/// that are served do not wait for all of them.
const AGREEMENTS_MAX: usize = 16;
/// Callers at the control socket at once.
const CALLERS_MAX: usize = 64;

/// What a descriptor is.
#[derive(Clone, Copy, Debug)]
enum Token {
    Listener(usize),
    Control,
    Caller,
}

impl Server {
    /// Waits for something to do, and does it.
    pub(super) fn turn(
        &mut self,
        wake: BorrowedFd<'_>,
        keeper: &dyn Keeper,
    ) -> Result<(), ServerError> {
        let ready = self.wait(wake)?;
        (self.looks, self.agreements) = (0, 0);
        self.now = self.now.max(self.time());
        let mut callers_ready = false;
        // Clients that are gone make room for those that come.
        for (place, flags) in self.connections.ready().map_err(ServerError::Wait)? {
            self.look_at(place, flags);
        }
        // A disc may have finished since the turn began.
        self.now = self.now.max(self.time());
        self.complete();
        let is_tick = self.now - self.last_tick >= TICK;
        if self.is_held || self.was_held || is_tick {
            // What waited has come already, so that no descriptor wakes for it.
            self.connections.touch_all();
        }
        self.send_all();
        for token in ready {
            match token {
                Token::Listener(at) => self.accept_all(at),
                Token::Control => self.accept_callers(),
                Token::Caller => callers_ready = true,
            }
        }
        if callers_ready || is_tick {
            self.hear_callers(keeper);
        }
        if is_tick {
            self.last_tick = self.now;
            for served in &mut self.discs {
                served.cache.tick(self.now);
            }
            self.end_stalled();
        }
        Ok(())
    }

    /// The time since the start.
    pub(super) fn time(&self) -> Nanos {
        self.clock.nanos()
    }

    /// Takes clients that wait, some of them if there are many: others are served meanwhile.
    fn accept_all(&mut self, at: usize) {
        for _ in 0..ACCEPTED_MAX {
            match self.listeners.get(at).map(super::Listener::accept) {
                Some(Ok(Some(socket))) => self.accept(socket),
                Some(Err(_)) => {
                    self.accept_at = self.now + TICK;
                    return;
                }
                _ => return,
            }
        }
    }

    fn accept_callers(&mut self) {
        for _ in 0..ACCEPTED_MAX {
            match self.control.as_ref().map(super::Listener::accept) {
                Some(Ok(Some(socket))) if self.callers.len() + self.leaving.len() < CALLERS_MAX => {
                    self.callers.push(Caller::new(socket, self.now));
                }
                Some(Ok(Some(_))) => {}
                Some(Err(_)) => {
                    self.accept_at = self.now + TICK;
                    return;
                }
                _ => return,
            }
        }
    }

    /// Waits until something is ready. What of it is no client.
    fn wait(&mut self, wake: BorrowedFd<'_>) -> Result<Vec<Token>, ServerError> {
        self.settle();
        let mut descriptors = vec![
            PollFd::from_borrowed_fd(wake, PollFlags::IN),
            PollFd::new(&self.connections, PollFlags::IN),
        ];
        for served in &self.discs {
            let disc = served.cache.disc();
            let waits = if disc.wants_to_write() { PollFlags::OUT } else { PollFlags::empty() };
            let descriptor = if disc.is_broken() { wake } else { disc.as_fd() };
            descriptors.push(PollFd::from_borrowed_fd(descriptor, PollFlags::IN | waits));
        }
        let others = descriptors.len();
        let mut tokens = Vec::new();
        let accepts = self.now >= self.accept_at;
        for (at, listener) in self.listeners.iter().enumerate().filter(|_| accepts) {
            tokens.push(Token::Listener(at));
            descriptors.push(PollFd::new(listener, PollFlags::IN));
        }
        if let Some(control) = self.control.as_ref().filter(|_| accepts) {
            tokens.push(Token::Control);
            descriptors.push(PollFd::new(control, PollFlags::IN));
        }
        let callers = self.callers.iter().map(|caller| (caller, PollFlags::IN));
        for (caller, flags) in
            callers.chain(self.leaving.iter().map(|caller| (caller, PollFlags::OUT)))
        {
            tokens.push(Token::Caller);
            descriptors.push(PollFd::new(&caller.socket, flags));
        }
        // What the disc finished after the last look has been taken from it: no descriptor wakes for it.
        let now = self.time();
        let next = self.discs.iter().filter_map(|served| served.cache.next_done_at()).min();
        let wait = next.map_or(WAIT, |at| WAIT.min(at.saturating_sub(now)));
        let is_released = self.was_held && !self.is_held;
        let is_late = self.looks > LOOKS_MAX;
        let wait = if is_released || is_late { Nanos::ZERO } else { wait };
        let wait = Duration::from_nanos(wait.0);
        let wait = Timespec::try_from(wait).unwrap_or_default();
        match poll(&mut descriptors, Some(&wait)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(ServerError::Wait(error.into())),
        }
        let ready = tokens.into_iter().zip(&descriptors[others..]);
        let ready = ready.filter(|(_, descriptor)| !descriptor.revents().is_empty());
        Ok(ready.map(|(token, _)| token).collect())
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

    /// Takes what a client sent.
    fn look_at(&mut self, place: usize, flags: EventFlags) {
        let Some(connection) = self.connections.get_mut(place) else { return };
        let waits = waits(self.quiet.as_ref(), connection.export);
        if flags.contains(EventFlags::IN) && connection.can_read() && !waits {
            if connection.is_agreeing() {
                if self.agreements == AGREEMENTS_MAX {
                    return;
                }
                self.agreements += 1;
            }
            connection.receive();
            self.take_requests(place);
        } else if flags.intersects(EventFlags::ERR | EventFlags::HUP)
            && !flags.contains(EventFlags::IN)
            && connection.leave()
        {
            self.connections.ignore(place);
        }
        self.connections.touch(place);
    }

    /// Sends all replies of clients that changed, and removes clients that are done.
    pub(super) fn send_all(&mut self) {
        for place in self.connections.touched() {
            let Some(connection) = self.connections[place].as_mut() else { continue };
            // Nothing takes the replies of one that has left: sending drops them.
            if connection.wants_to_write() || connection.is_left {
                connection.send();
            }
            if connection.is_left {
                self.take_rest(place);
            }
            let Some(connection) = self.connections[place].as_mut() else { continue };
            // What waited for room for its replies, or for a quiet time.
            if !connection.waiting().is_empty() && connection.may_ask() {
                self.take_requests(place);
            }
            let Some(connection) = self.connections[place].as_mut() else { continue };
            if connection.is_done() {
                if let Some(disc) = connection.export {
                    self.discs[disc].cache.client_left(connection.client);
                    self.discs[disc].clients -= 1;
                }
                self.connections.remove(place);
            }
        }
    }

    /// Reads and takes what a client sent before it closed both ways, as far as it may be taken now.
    fn take_rest(&mut self, place: usize) {
        loop {
            // Also of a client without any: what held it up may be over.
            self.take_requests(place);
            let waits = |client: &Connection| waits(self.quiet.as_ref(), client.export);
            let Some(client) = self.connections[place].as_mut() else { return };
            client.send();
            let may_read = client.can_read() && !client.is_held && !client.needs_room;
            if !may_read || waits(client) {
                return;
            }
            if !client.receive() && !client.is_over {
                client.break_off();
            }
        }
    }

    fn hear_callers(&mut self, keeper: &dyn Keeper) {
        for mut caller in std::mem::take(&mut self.callers) {
            match caller.receive(self.now) {
                Ok(Some(command)) => self.command(caller, command, keeper),
                Ok(None) => self.callers.push(caller),
                Err(why) => self.refuse(caller, why),
            }
        }
        let now = self.now;
        self.leaving.retain_mut(|caller| !caller.is_answered(now));
    }

    fn end_stalled(&mut self) {
        let (now, timeout, quiet) = (self.now, self.client_timeout, self.quiet.as_ref());
        for connection in self.connections.iter_mut() {
            if !waits(quiet, connection.export) && connection.is_stalled(now, timeout) {
                connection.break_off();
            }
            connection.shrink();
        }
        self.connections.touch_all();
    }
}

/// Whether a client that keeps this much may keep some more, where so much is kept for all. Clients that keep little
/// have the upper half for themselves, so that those that keep much do not stop them. A client alone has its own limits.
pub(super) fn has_room(kept: u64, keeps: u64, more: u64) -> bool {
    let most = if keeps + more < SMALL_BYTES { BYTES_MAX } else { BYTES_MAX / 2 };
    kept + more <= most || kept <= keeps
}
