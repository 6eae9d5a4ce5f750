//! One turn of the loop: wait, take what came, answer what is complete.

use std::os::fd::BorrowedFd;

use rustix::event::epoll::EventFlags;

use super::super::connection::Connection;
use super::super::control::ControlClient;
use super::doors::Ready;
use super::drain::waits;
use super::{Keeper, Quiet, Server, ServerError};
use crate::units::Nanos;

/// How often dirty pages that are few are written, and stalled clients looked for.
const TICK: Nanos = Nanos(1_000_000_000);
/// Clients that are accepted in one turn.
const ACCEPTED_MAX: usize = 256;
/// Reads in one turn of clients that agree on keys, each of which may cost a signature: the others wait, and those
/// that are served do not wait for all of them.
const AGREEMENTS_MAX: usize = 16;
/// Clients of the control socket at once.
const CONTROL_CLIENTS_MAX: usize = 64;

impl Server {
    /// Waits for something to do, and does it.
    pub(super) fn turn(
        &mut self,
        wake: BorrowedFd<'_>,
        keeper: &dyn Keeper,
    ) -> Result<(), ServerError> {
        let is_control_ready = self.wait(wake)?;
        (self.looks, self.agreements) = (0, 0);
        self.now = self.now.max(self.time());
        let events = self.connections.take_events();
        // Clients that are gone make room for those that come.
        for event in &events {
            match Ready::of(event) {
                Ready::Client(place) => self.look_at(place, event.flags),
                Ready::Disc(at) => self.discs[at].cache.disc_mut().notice(),
                Ready::Wake | Ready::Listener(_) | Ready::Control => {}
            }
        }
        // A disc may have finished since the turn began.
        self.now = self.now.max(self.time());
        self.complete();
        self.warm();
        let is_tick = self.now - self.last_tick >= TICK;
        if self.is_held || self.was_held || is_tick {
            // What waited has come already, so that no descriptor wakes for it.
            self.connections.touch_all();
        }
        self.send_all();
        for event in &events {
            match Ready::of(event) {
                Ready::Listener(at) => self.accept_all(at),
                Ready::Control => self.accept_control_clients(),
                Ready::Client(_) | Ready::Wake | Ready::Disc(_) => {}
            }
        }
        self.did_serve = !events.is_empty();
        self.connections.keep_events(events);
        if is_control_ready || is_tick {
            self.serve_control_clients(keeper);
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

    /// Reads what caches held before, as far as clients leave room.
    pub(super) fn warm(&mut self) {
        let is_over = matches!(self.quiet, Some(Quiet::End));
        for served in self.discs.iter_mut().filter(|served| served.cache.is_warming()) {
            if is_over {
                served.cache.stop_warming();
            } else {
                served.cache.warm(self.now);
            }
        }
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

    fn accept_control_clients(&mut self) {
        for _ in 0..ACCEPTED_MAX {
            let has_room = self.control_clients.len() + self.leaving.len() < CONTROL_CLIENTS_MAX;
            match self.control.as_ref().map(super::Listener::accept) {
                Some(Ok(Some(socket))) if has_room => {
                    self.control_clients.push(ControlClient::new(socket, self.now));
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

    fn serve_control_clients(&mut self, keeper: &dyn Keeper) {
        for mut client in std::mem::take(&mut self.control_clients) {
            match client.receive(self.now) {
                Ok(Some(command)) => self.command(client, command, keeper),
                Ok(None) => self.control_clients.push(client),
                Err(why) => self.refuse(client, why),
            }
        }
        let now = self.now;
        self.leaving.retain_mut(|client| !client.is_answered(now));
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
