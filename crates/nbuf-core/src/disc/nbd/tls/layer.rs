//! One end of TLS as a function of bytes: what its socket brings is opened, what it is to get is sealed.
//!
//! Memory is bounded: of what came, the layer keeps less than a record (a handshake of at most 64 KiB), and of what
//! is sealed about 64 KiB. The caller bounds the time. Invariant: between two calls no opened byte is kept, so
//! that a socket without news means that there are none.

use std::fmt;
use std::io::{self, Read, Write};

use rustls::Connection;

/// The most bytes of a record on the wire, and so of what may be opened in addition to what came now.
pub const RECORD_BYTES_MAX: usize = 5 + (1 << 14) + 2048;
/// Bytes that may be sealed and wait to be sent.
const SEALED_BYTES_MAX: usize = 64 << 10;
/// What a layer takes at most while nothing waits in it: 300 idle clients took 10 KiB each.
const IDLE_BYTES: u64 = 16 << 10;

/// What came is not what the other end of TLS sends, or that end has no certificate that is trusted.
#[derive(Debug, thiserror::Error)]
#[error("TLS ended ({0})")]
pub struct Broken(#[source] pub(crate) rustls::Error);

/// One end of TLS.
pub struct Layer {
    session: Connection,
    records: Records,
    has_ended: bool,
    said_goodbye: bool,
}

impl fmt::Debug for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Layer").field("is_agreed", &self.is_agreed()).finish_non_exhaustive()
    }
}

impl Layer {
    /// An end that has not begun.
    pub(crate) fn over(mut session: Connection) -> Self {
        session.set_buffer_limit(Some(SEALED_BYTES_MAX));
        let records = Records::default();
        Self { session, records, has_ended: false, said_goodbye: false }
    }

    /// Opens what came. `plain` has room for as many bytes and a record; how many were opened. After an error there
    /// is still an alert to be sent.
    pub fn open(&mut self, sealed: &[u8], plain: &mut [u8]) -> Result<usize, Broken> {
        self.records.pass(sealed);
        let (mut rest, mut opened) = (sealed, 0);
        while !rest.is_empty() && !self.has_ended {
            let full = |_| Broken(rustls::Error::General("a message is too long".into()));
            if self.session.read_tls(&mut rest).map_err(full)? == 0 {
                break;
            }
            let state = self.session.process_new_packets().map_err(Broken)?;
            self.has_ended = state.peer_has_closed();
            let mut left = state.plaintext_bytes_to_read();
            while left > 0 {
                let count = self.session.reader().read(&mut plain[opened..]).unwrap_or(0);
                if count == 0 {
                    return Err(Broken(rustls::Error::General(
                        "there is no room for a message".into(),
                    )));
                }
                (opened, left) = (opened + count, left.saturating_sub(count));
            }
        }
        Ok(opened)
    }

    /// Whether the other end says that it sends nothing more.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Seals some of this, as far as there is room; none before both ends agree.
    pub fn seal(&mut self, plain: &[u8]) -> usize {
        if !self.is_agreed() || self.said_goodbye {
            return 0;
        }
        self.session.writer().write(plain).unwrap_or(0)
    }

    /// Whether sealed bytes wait to be sent.
    pub fn has_sealed(&self) -> bool {
        self.session.wants_write()
    }

    /// Sends all that is sealed.
    pub fn send_to(&mut self, out: &mut dyn Write) -> io::Result<()> {
        while self.session.wants_write() {
            if self.session.write_tls(out)? == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
        }
        Ok(())
    }

    /// Says once that nothing more is sent: without it the other end cannot know that it has all.
    pub fn say_goodbye(&mut self) {
        if !std::mem::replace(&mut self.said_goodbye, true) {
            self.session.send_close_notify();
        }
    }

    /// Whether both ends agree, and the certificate of the other one is trusted, if it needs one.
    pub fn is_agreed(&self) -> bool {
        !self.session.is_handshaking()
    }

    /// Whether a part of a record came, and the rest is waited for.
    pub fn is_within_record(&self) -> bool {
        self.records.is_within()
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> u64 {
        let waiting = if self.has_sealed() { SEALED_BYTES_MAX as u64 } else { 0 };
        let within = if self.is_within_record() { RECORD_BYTES_MAX as u64 } else { 0 };
        IDLE_BYTES + waiting + within
    }
}

/// Where the bytes that came are in the records of TLS: a head of five bytes has the length of the rest.
#[derive(Clone, Copy, Debug, Default)]
struct Records {
    head: [u8; 5],
    head_bytes: usize,
    left: usize,
}

impl Records {
    fn pass(&mut self, mut bytes: &[u8]) {
        while let Some((&first, rest)) = bytes.split_first() {
            if self.left > 0 {
                let count = self.left.min(bytes.len());
                self.left -= count;
                bytes = &bytes[count..];
                continue;
            }
            self.head[self.head_bytes] = first;
            self.head_bytes += 1;
            bytes = rest;
            if self.head_bytes == self.head.len() {
                self.left = usize::from(u16::from_be_bytes([self.head[3], self.head[4]]));
                self.head_bytes = 0;
            }
        }
    }

    fn is_within(self) -> bool {
        self.head_bytes > 0 || self.left > 0
    }
}
