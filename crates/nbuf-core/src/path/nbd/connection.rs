//! A client: its channel, what came and was not taken, what is to be sent.
//!
//! Both buffers are bounded: a client that sends without reading its replies is not read until it does.

mod pace;

use std::io::{self, ErrorKind};

use self::pace::Pace;
use super::channel::Channel;
use super::export::Context;
use super::handshake::Handshake;
use super::listener::Socket;
use super::tls::Layer;
use crate::disc::nbd::wire::Form;
use crate::units::Nanos;

/// The most bytes of one read of the socket, and of the buffer while no larger request needs more.
const READ_BYTES: usize = 256 << 10;
/// The fewest: of clients that send little, of which there may be thousands.
const READ_BYTES_MIN: usize = 4 << 10;
/// Bytes that may wait to be sent before the client is not read any more.
const OUT_BYTES_MAX: usize = 8 << 20;
/// Requests of a client that may be under way.
const UNDER_WAY_MAX: u32 = 1024;
/// Bytes of these.
const UNDER_WAY_BYTES_MAX: u64 = 64 << 20;
/// How long a handshake may take.
const HANDSHAKE: Nanos = Nanos(10_000_000_000);

/// What a client is at.
#[derive(Debug)]
pub(super) enum Phase {
    Handshake(Handshake),
    Requests(Form, Vec<Context>),
}

/// A connected client.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Connection {
    channel: Channel,
    /// TLS that begins when all that is plain was sent.
    tls_to_come: Option<Box<Layer>>,
    /// No other client has this number.
    pub(super) client: u32,
    pub(super) phase: Phase,
    /// The disc that it has chosen.
    pub(super) export: Option<usize>,
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
    pace: Pace,
    /// Bytes that the next read asks for.
    read_bytes: usize,
    /// Bytes of a write that is coming, for which there is room.
    pub(super) reserved: u64,
    /// Whether a request waits until less is kept for all clients.
    pub(super) needs_room: bool,
    /// Whether whole requests may wait for the server: for its turn, for a quiet time, or for their replies.
    pub(super) is_held: bool,
    /// Whether nothing more is read of it.
    pub(super) is_over: bool,
    is_broken: bool,
    /// Whether the client has closed both ways: it takes no replies, and what it sent before may wait to be read.
    pub(super) is_left: bool,
}

impl Connection {
    pub(super) fn new(socket: Socket, handshake: Handshake, client: u32, now: Nanos) -> Self {
        Self {
            channel: Channel::new(socket),
            tls_to_come: None,
            client,
            phase: Phase::Handshake(handshake),
            export: None,
            input: Vec::new(),
            taken: 0,
            filled: 0,
            out: Handshake::greeting(),
            sent: 0,
            under_way: 0,
            under_way_bytes: 0,
            skip: 0,
            came: now,
            pace: Pace::from(now),
            read_bytes: READ_BYTES_MIN,
            reserved: 0,
            needs_room: false,
            is_held: false,
            is_over: false,
            is_broken: false,
            is_left: false,
        }
    }

    pub(super) fn socket(&self) -> &Socket {
        self.channel.socket()
    }

    /// Bytes that are kept for it.
    pub(super) fn bytes(&self) -> u64 {
        let input = (self.input.capacity() as u64).max(self.reserved);
        input + self.out.capacity() as u64 + self.under_way_bytes + self.channel.bytes()
    }

    /// Whether more may be read of it now.
    pub(super) fn can_read(&self) -> bool {
        !self.is_over && self.may_ask() && self.tls_to_come.is_none()
    }

    /// Whether its requests may be taken now. One that has closed its end may still read what it asked for.
    pub(super) fn may_ask(&self) -> bool {
        self.out.len() - self.sent < OUT_BYTES_MAX
            && self.under_way < UNDER_WAY_MAX
            && self.under_way_bytes < UNDER_WAY_BYTES_MAX
    }

    pub(super) fn wants_to_write(&self) -> bool {
        !self.is_left && (self.sent < self.out.len() || self.channel.has_sealed())
    }

    /// From the next byte on all is sealed, when the answer to that is sent. Nothing is read meanwhile.
    pub(super) fn begin_tls(&mut self, layer: Layer) {
        self.tls_to_come = Some(Box::new(layer));
    }

    /// Whether keys are being agreed on, which takes the processor's time.
    pub(super) fn is_agreeing(&self) -> bool {
        self.channel.is_agreeing()
    }

    /// Whether nothing is left to do for it. With TLS it is notified first that it has all.
    pub(super) fn is_done(&mut self) -> bool {
        let has_requests = self.is_held && self.taken < self.filled;
        let waits = self.under_way > 0 || self.wants_to_write() || self.needs_room || has_requests;
        if self.is_broken || !self.is_over || waits {
            return self.is_broken;
        }
        self.channel.say_goodbye();
        self.send();
        self.is_broken || !self.wants_to_write()
    }

    /// Whether it stopped where it must go on, or goes on more slowly than any real client: a byte a second would
    /// hold its memory for a year. Called at intervals much shorter than `timeout`.
    pub(super) fn is_stalled(&mut self, now: Nanos, timeout: Nanos) -> bool {
        if matches!(self.phase, Phase::Handshake(_)) && now - self.came > HANDSHAKE.min(timeout) {
            return true;
        }
        let is_within = self.taken < self.filled || self.channel.is_within_record();
        let owes = self.wants_to_write() || is_within || self.skip > 0;
        // The disc is not the client's, and neither is memory that others keep.
        if !owes
            || self.pace.has_gone_on
            || self.under_way > 0
            || (self.needs_room || self.is_held) && !self.wants_to_write()
        {
            self.pace = Pace::from(now);
            return false;
        }
        self.pace.is_slow(now, timeout)
    }

    /// Frees the buffers of a client that is idle. Called at intervals.
    pub(super) fn shrink(&mut self) {
        if self.taken == self.filled && self.input.capacity() > READ_BYTES_MIN {
            self.input = Vec::new();
            self.read_bytes = READ_BYTES_MIN;
        }
        if self.out.is_empty() && self.out.capacity() > READ_BYTES_MIN {
            self.out = Vec::new();
        }
    }

    /// Bytes that came and were not taken.
    pub(super) fn waiting(&self) -> &[u8] {
        &self.input[self.taken..self.filled]
    }

    /// These many were taken.
    pub(super) fn take(&mut self, count: usize) {
        self.taken += count;
        self.reserved = 0;
        if self.taken == self.filled {
            (self.taken, self.filled) = (0, 0);
            if self.input.len() > 2 * READ_BYTES {
                self.input = Vec::new();
            }
        }
    }

    /// Nothing more is taken of what came.
    pub(super) fn disconnect(&mut self) {
        self.is_over = true;
        self.take(self.filled - self.taken);
    }

    /// A whole request was taken: the time for the next begins.
    pub(super) fn goes_on(&mut self) {
        self.pace.has_gone_on = true;
    }

    /// Reads what there is, up to a buffer. Whether anything came.
    pub(super) fn receive(&mut self) -> bool {
        if self.taken > 0 {
            self.input.copy_within(self.taken..self.filled, 0);
            (self.taken, self.filled) = (0, self.filled - self.taken);
        }
        if self.filled + self.channel.room_for(self.read_bytes / 2) > self.input.len() {
            self.input.resize(self.filled + self.channel.room_for(self.read_bytes), 0);
        }
        match self.channel.read(&mut self.input[self.filled..]) {
            Ok(came) => {
                self.filled += came.bytes;
                self.pace.bytes += came.bytes as u64;
                if came.is_full {
                    self.read_bytes = READ_BYTES.min(self.read_bytes * 4);
                }
                // It may still read what it asked for.
                self.is_over |= came.is_end;
                return !came.is_end;
            }
            Err(error) if is_later(&error) => {}
            Err(_) => self.break_off(),
        }
        false
    }

    /// Sends what can be sent now.
    pub(super) fn send(&mut self) {
        if self.is_left {
            (self.out, self.sent) = (Vec::new(), 0);
            return;
        }
        match self.try_to_send() {
            Err(error) if !is_later(&error) => self.break_off(),
            // As long as some replies wait, others come: what was sent is room for them.
            Err(_) if self.sent >= self.out.len() / 2 => {
                self.out.drain(..std::mem::take(&mut self.sent));
            }
            _ => {}
        }
    }

    fn try_to_send(&mut self) -> io::Result<()> {
        let has_replies = !self.out.is_empty();
        while self.sent < self.out.len() {
            match self.channel.write(&self.out[self.sent..]) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => {
                    self.sent += count;
                    self.pace.bytes += count as u64;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.sent = 0;
        self.out.clear();
        if self.out.capacity() > OUT_BYTES_MAX {
            self.out = Vec::new();
        }
        if let Some(layer) = self.tls_to_come.take() {
            self.channel.secure(layer);
        }
        self.channel.flush()?;
        self.pace.has_gone_on |= has_replies;
        Ok(())
    }

    /// The client has closed both ways. What it asked for before counts, as it does if it had waited: whether it left.
    pub(super) fn leave(&mut self) -> bool {
        self.is_left = matches!(self.phase, Phase::Requests(..));
        if !self.is_left {
            self.break_off();
        }
        self.is_left
    }

    /// Nothing more is read or sent.
    pub(super) fn break_off(&mut self) {
        self.is_over = true;
        self.is_broken = true;
    }
}

/// Whether the kernel has nothing, or no room, now.
fn is_later(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::os::unix::net::UnixStream;

    use super::*;

    const SECOND: u64 = 1_000_000_000;
    const TIMEOUT: Nanos = Nanos(60 * SECOND);

    fn pair() -> (Connection, UnixStream) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        (Connection::new(Socket::Unix(ours), Handshake::default(), 1, Nanos::ZERO), theirs)
    }

    /// The second at which a client is closed that is within a request and moves as many bytes a second.
    fn closed_at(bytes_a_second: usize, seconds: u64) -> Option<u64> {
        let (mut connection, mut client) = pair();
        connection.send();
        connection.phase = Phase::Requests(Form::Simple, Vec::new());
        (1..=seconds).find(|second| {
            client.write_all(&vec![1; bytes_a_second]).unwrap();
            while connection.receive() {}
            connection.is_stalled(Nanos(second * SECOND), TIMEOUT)
        })
    }

    #[test]
    fn a_request_that_comes_by_bytes_is_not_waited_for() {
        assert_eq!(closed_at(1, 300), Some(62));
        assert_eq!(closed_at(10_000, 300), Some(62));
        assert_eq!(closed_at(20_000, 300), None);
    }

    #[test]
    fn small_requests_that_become_whole_go_on_for_ever() {
        let (mut connection, mut client) = pair();
        connection.send();
        connection.phase = Phase::Requests(Form::Simple, Vec::new());
        for second in 1..300 {
            client.write_all(&[1; 100]).unwrap();
            while connection.receive() {}
            assert!(!connection.is_stalled(Nanos(second * SECOND), TIMEOUT), "{second}");
            // The last bytes are of the next one.
            connection.take(connection.waiting().len() - 10);
            connection.goes_on();
        }
    }

    #[test]
    fn a_handshake_has_ten_seconds_however_many_bytes_come() {
        let (mut connection, mut client) = pair();
        let end = (1..20).find(|second| {
            client.write_all(&[0; 10_000]).unwrap();
            while connection.receive() {}
            connection.is_stalled(Nanos(second * SECOND), TIMEOUT)
        });
        assert_eq!(end, Some(11));
    }

    #[test]
    fn replies_that_are_not_taken_end_a_client_and_the_disc_does_not() {
        let (mut connection, _client) = pair();
        connection.phase = Phase::Requests(Form::Simple, Vec::new());
        connection.out = vec![0; OUT_BYTES_MAX];
        connection.send();
        assert!(connection.wants_to_write() && connection.can_read());
        connection.under_way = 1;
        assert!((1..200).all(|second| !connection.is_stalled(Nanos(second * SECOND), TIMEOUT)));
        connection.under_way = 0;
        let end = (200..400).find(|second| {
            connection.send();
            connection.is_stalled(Nanos(second * SECOND), TIMEOUT)
        });
        assert_eq!(end, Some(260));
    }

    #[test]
    fn replies_of_a_client_that_always_waits_for_some_take_the_memory_of_those() {
        let (mut connection, mut client) = pair();
        connection.phase = Phase::Requests(Form::Simple, Vec::new());
        let reply = vec![7; 1 << 20];
        for _ in 0..64 {
            connection.out.extend_from_slice(&reply);
            connection.send();
            // The rest of the reply before is taken, and a part of this one.
            client.set_nonblocking(true).unwrap();
            let mut taken = 0;
            let mut buffer = vec![0; 1 << 16];
            while taken < reply.len() - 1000 {
                connection.send();
                match client.read(&mut buffer) {
                    Ok(count) => taken += count,
                    Err(error) => assert!(is_later(&error), "{error}"),
                }
            }
        }
        assert!(connection.out.capacity() <= 8 << 20, "{}", connection.out.capacity());
    }

    #[test]
    fn an_idle_client_stays_and_keeps_nothing() {
        let (mut connection, mut client) = pair();
        connection.send();
        connection.phase = Phase::Requests(Form::Simple, Vec::new());
        client.write_all(&vec![0; 100_000]).unwrap();
        while connection.receive() {}
        assert!(connection.bytes() >= 100_000);
        connection.take(100_000);
        connection.shrink();
        assert!(connection.bytes() <= READ_BYTES_MIN as u64, "{}", connection.bytes());
        assert!((1..1000).all(|second| !connection.is_stalled(Nanos(second * SECOND), TIMEOUT)));
    }
}
