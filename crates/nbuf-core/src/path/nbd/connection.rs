//! A client: its socket, what came and was not taken, what is to be sent.
//!
//! Both buffers are bounded: a client that sends without reading its replies is not read until it does.

use std::io::{ErrorKind, Read, Write};

use super::handshake::{Context, Handshake};
use super::listener::Socket;
use super::replies::Form;
use crate::units::Nanos;

/// Bytes of one read of the socket, and of the buffer while no larger request needs more.
pub(super) const READ_BYTES: usize = 256 << 10;
/// Bytes that may wait to be sent before the client is not read any more.
const OUT_BYTES_MAX: usize = 8 << 20;
/// Requests of a client that may be under way.
const UNDER_WAY_MAX: u32 = 1024;
/// Bytes of these.
const UNDER_WAY_BYTES_MAX: u64 = 64 << 20;
/// How long a handshake may take.
const HANDSHAKE: Nanos = Nanos(10_000_000_000);
/// How long a client may stop within a request, or take no replies.
const STALLED: Nanos = Nanos(60_000_000_000);

/// What a client is at.
#[derive(Debug)]
pub(super) enum Phase {
    Handshake(Handshake),
    Requests(Form, Vec<Context>),
}

/// A connected client.
#[derive(Debug)]
pub(super) struct Connection {
    socket: Socket,
    /// No other client has this number.
    pub(super) client: u32,
    pub(super) phase: Phase,
    /// A buffer; what came and was not taken is between `taken` and `filled`.
    input: Vec<u8>,
    taken: usize,
    filled: usize,
    pub(super) out: Vec<u8>,
    sent: usize,
    pub(super) under_way: u32,
    pub(super) under_way_bytes: u64,
    /// Bytes of a refused write that are still to come.
    pub(super) skip: u64,
    came: Nanos,
    progress: Nanos,
    /// Whether nothing more is read of it.
    pub(super) is_over: bool,
    is_broken: bool,
}

impl Connection {
    pub(super) fn new(socket: Socket, client: u32, now: Nanos) -> Self {
        Self {
            socket,
            client,
            phase: Phase::Handshake(Handshake::default()),
            input: Vec::new(),
            taken: 0,
            filled: 0,
            out: Handshake::greeting(),
            sent: 0,
            under_way: 0,
            under_way_bytes: 0,
            skip: 0,
            came: now,
            progress: now,
            is_over: false,
            is_broken: false,
        }
    }

    pub(super) fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Bytes that are kept for it.
    pub(super) fn bytes(&self) -> u64 {
        (self.input.len() + self.out.len()) as u64 + self.under_way_bytes
    }

    /// Whether its requests may be read now.
    pub(super) fn can_read(&self) -> bool {
        !self.is_over
            && self.out.len() - self.sent < OUT_BYTES_MAX
            && self.under_way < UNDER_WAY_MAX
            && self.under_way_bytes < UNDER_WAY_BYTES_MAX
    }

    pub(super) fn wants_to_write(&self) -> bool {
        self.sent < self.out.len()
    }

    /// Whether nothing is left to do for it.
    pub(super) fn is_done(&self) -> bool {
        self.is_broken || self.is_over && self.under_way == 0 && !self.wants_to_write()
    }

    /// Whether it stopped where it must go on.
    pub(super) fn is_stalled(&self, now: Nanos) -> bool {
        let is_late = matches!(self.phase, Phase::Handshake(_)) && now - self.came > HANDSHAKE;
        let is_within = self.wants_to_write() || self.taken < self.filled || self.skip > 0;
        let waits = is_within && self.under_way == 0;
        is_late || waits && now - self.progress > STALLED
    }

    /// Bytes that came and were not taken.
    pub(super) fn waiting(&self) -> &[u8] {
        &self.input[self.taken..self.filled]
    }

    /// These many were taken.
    pub(super) fn take(&mut self, count: usize) {
        self.taken += count;
        if self.taken == self.filled {
            (self.taken, self.filled) = (0, 0);
            if self.input.len() > 2 * READ_BYTES {
                self.input = Vec::new();
            }
        }
    }

    /// Reads what there is, up to a buffer. Whether anything came.
    pub(super) fn receive(&mut self, now: Nanos) -> bool {
        if self.taken > 0 {
            self.input.copy_within(self.taken..self.filled, 0);
            (self.taken, self.filled) = (0, self.filled - self.taken);
        }
        if self.filled + READ_BYTES / 2 > self.input.len() {
            self.input.resize(self.filled + READ_BYTES, 0);
        }
        match self.socket.read(&mut self.input[self.filled..]) {
            // It may still read what it asked for.
            Ok(0) => self.is_over = true,
            Ok(count) => {
                self.filled += count;
                self.progress = now;
                return true;
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => self.break_off(),
        }
        false
    }

    /// Sends what can be sent now.
    pub(super) fn send(&mut self, now: Nanos) {
        while self.sent < self.out.len() {
            match self.socket.write(&self.out[self.sent..]) {
                Ok(0) => return self.break_off(),
                Ok(count) => {
                    self.sent += count;
                    self.progress = now;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return self.break_off(),
            }
        }
        self.sent = 0;
        self.out.clear();
        if self.out.capacity() > OUT_BYTES_MAX {
            self.out = Vec::new();
        }
    }

    /// Nothing more is read or sent.
    pub(super) fn break_off(&mut self) {
        self.is_over = true;
        self.is_broken = true;
    }
}
