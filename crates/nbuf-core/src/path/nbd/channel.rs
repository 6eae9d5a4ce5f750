//! What a client's bytes go through: its socket alone, or TLS in front of it.
//!
//! The rest of a connection sees plain bytes only. No call waits.

use std::io::{self, ErrorKind, Read as _, Write as _};

use super::listener::Socket;
use super::tls::{Layer, RECORD_BYTES_MAX};

/// What a read brought.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Came {
    /// Plain bytes, which may be none yet.
    pub(super) bytes: usize,
    /// Whether the socket filled all the room that there was.
    pub(super) is_full: bool,
    /// Whether nothing more comes.
    pub(super) is_end: bool,
}

/// A socket, with or without TLS.
#[derive(Debug)]
pub(super) struct Channel {
    socket: Socket,
    layer: Option<Box<Layer>>,
}

impl Channel {
    /// Without TLS.
    pub(super) fn new(socket: Socket) -> Self {
        Self { socket, layer: None }
    }

    /// From now on all is sealed.
    pub(super) fn secure(&mut self, layer: Box<Layer>) {
        self.layer = Some(layer);
    }

    pub(super) fn socket(&self) -> &Socket {
        &self.socket
    }

    /// The buffer that a read of about this many bytes needs: with TLS a part of it has what is still sealed.
    pub(super) fn room_for(&self, bytes: usize) -> usize {
        if self.layer.is_some() { bytes + 2 * RECORD_BYTES_MAX } else { bytes }
    }

    /// Reads what there is, as far as the buffer has room, and opens it.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<Came> {
        let Some(layer) = &mut self.layer else {
            let bytes = self.socket.read(buffer)?;
            return Ok(Came { bytes, is_full: bytes == buffer.len(), is_end: bytes == 0 });
        };
        // An opened record may be longer than what came of it now.
        let room = buffer.len().saturating_sub(RECORD_BYTES_MAX) / 2;
        let (plain, sealed) = buffer.split_at_mut(buffer.len() - room);
        let count = self.socket.read(sealed)?;
        match layer.open(&sealed[..count], plain) {
            Ok(bytes) => {
                let is_end = count == 0 || layer.has_ended();
                Ok(Came { bytes, is_full: count == room, is_end })
            }
            Err(broken) => {
                // The alert says why; if there is no room for it now, there is none.
                let _ = layer.send_to(&mut self.socket);
                Err(io::Error::new(ErrorKind::InvalidData, broken))
            }
        }
    }

    /// Takes some of this: to the socket, or sealed on its way there.
    pub(super) fn write(&mut self, plain: &[u8]) -> io::Result<usize> {
        let Some(layer) = &mut self.layer else { return self.socket.write(plain) };
        layer.send_to(&mut self.socket)?;
        match layer.seal(plain) {
            // Nothing is sealed before both ends agree.
            0 => Err(ErrorKind::WouldBlock.into()),
            count => Ok(count),
        }
    }

    /// Sends what is sealed.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.layer.as_mut().map_or(Ok(()), |layer| layer.send_to(&mut self.socket))
    }

    /// Whether sealed bytes wait to be sent.
    pub(super) fn has_sealed(&self) -> bool {
        self.layer.as_ref().is_some_and(|layer| layer.has_sealed())
    }

    /// Notifies the client that nothing more comes, when that is sent.
    pub(super) fn say_goodbye(&mut self) {
        if let Some(layer) = &mut self.layer {
            layer.say_goodbye();
        }
    }

    /// Whether the keys are not agreed on yet, which takes the processor's time.
    pub(super) fn is_agreeing(&self) -> bool {
        self.layer.as_ref().is_some_and(|layer| !layer.is_agreed())
    }

    /// Whether a part of a record came, and the rest is waited for.
    pub(super) fn is_within_record(&self) -> bool {
        self.layer.as_ref().is_some_and(|layer| layer.is_within_record())
    }

    /// Bytes that it takes in addition to the buffers of the connection.
    pub(super) fn bytes(&self) -> u64 {
        self.layer.as_ref().map_or(0, |layer| layer.bytes())
    }
}

/// What ends otherwise, as with the server, says so too as far as the socket takes it.
impl Drop for Channel {
    fn drop(&mut self) {
        self.say_goodbye();
        let _ = self.flush();
    }
}
