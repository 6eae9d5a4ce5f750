//! The numbers of NBD, and the headers that both sides exchange.
//!
//! Everything is big-endian. Nothing here reads or writes a socket.

/// The first word of a server.
pub(crate) const GREETING: u64 = 0x4e42_444d_4147_4943;
/// The second word of a server, and the first of each option.
pub(crate) const OPTION: u64 = 0x4948_4156_454f_5054;
/// The first word of the reply to an option.
pub(crate) const OPTION_REPLY: u64 = 0x0003_e889_0455_65a9;
/// The first word of a request.
pub(crate) const REQUEST: u32 = 0x2560_9513;
/// The first word of a simple reply.
pub(crate) const SIMPLE_REPLY: u32 = 0x6744_6698;
/// The first word of a chunk of a structured reply.
pub(crate) const CHUNK: u32 = 0x668e_33ef;
/// The first word of a request with 64 bits for its length.
pub(crate) const EXTENDED_REQUEST: u32 = 0x21e4_1c71;
/// The first word of a chunk of a reply to such a request.
pub(crate) const EXTENDED_CHUNK: u32 = 0x6e8a_278c;

/// Flags of both sides in the handshake.
pub(crate) const FIXED_NEWSTYLE: u16 = 1;
/// The same: no padding after the reply to the oldest option.
pub(crate) const NO_ZEROES: u16 = 2;

/// Options.
pub(crate) mod option {
    pub(crate) const EXPORT_NAME: u32 = 1;
    pub(crate) const ABORT: u32 = 2;
    pub(crate) const LIST: u32 = 3;
    pub(crate) const STARTTLS: u32 = 5;
    pub(crate) const INFO: u32 = 6;
    pub(crate) const GO: u32 = 7;
    pub(crate) const STRUCTURED_REPLY: u32 = 8;
    pub(crate) const LIST_META_CONTEXT: u32 = 9;
    pub(crate) const SET_META_CONTEXT: u32 = 10;
    pub(crate) const EXTENDED_HEADERS: u32 = 11;
}

/// Replies to options.
pub(crate) mod reply {
    pub(crate) const ACK: u32 = 1;
    pub(crate) const SERVER: u32 = 2;
    pub(crate) const INFO: u32 = 3;
    pub(crate) const META_CONTEXT: u32 = 4;
    pub(crate) const UNSUPPORTED: u32 = 0x8000_0001;
    pub(crate) const INVALID: u32 = 0x8000_0003;
    pub(crate) const TLS_REQUIRED: u32 = 0x8000_0005;
    pub(crate) const UNKNOWN: u32 = 0x8000_0006;
    pub(crate) const EXTENDED_HEADERS_AGREED: u32 = 0x8000_000a;
}

/// Kinds of information about an export.
pub(crate) mod info {
    pub(crate) const EXPORT: u16 = 0;
    pub(crate) const NAME: u16 = 1;
    pub(crate) const BLOCK_SIZE: u16 = 3;
}

/// Flags of an export.
pub(crate) mod export {
    pub(crate) const HAS_FLAGS: u16 = 1;
    pub(crate) const READ_ONLY: u16 = 1 << 1;
    pub(crate) const SEND_FLUSH: u16 = 1 << 2;
    pub(crate) const SEND_FUA: u16 = 1 << 3;
    pub(crate) const SEND_TRIM: u16 = 1 << 5;
    pub(crate) const SEND_WRITE_ZEROES: u16 = 1 << 6;
    pub(crate) const SEND_DF: u16 = 1 << 7;
    pub(crate) const CAN_MULTI_CONN: u16 = 1 << 8;
    pub(crate) const SEND_CACHE: u16 = 1 << 10;
}

/// Kinds of requests.
pub(crate) mod command {
    pub(crate) const READ: u16 = 0;
    pub(crate) const WRITE: u16 = 1;
    pub(crate) const DISCONNECT: u16 = 2;
    pub(crate) const FLUSH: u16 = 3;
    pub(crate) const TRIM: u16 = 4;
    pub(crate) const CACHE: u16 = 5;
    pub(crate) const WRITE_ZEROES: u16 = 6;
    pub(crate) const BLOCK_STATUS: u16 = 7;
}

/// Flags of requests.
pub(crate) mod flag {
    pub(crate) const FUA: u16 = 1;
    pub(crate) const NO_HOLE: u16 = 2;
    pub(crate) const DF: u16 = 4;
    pub(crate) const REQ_ONE: u16 = 8;
    pub(crate) const PAYLOAD: u16 = 1 << 5;
}

/// Chunks of structured replies.
pub(crate) mod chunk {
    pub(crate) const DONE: u16 = 1;
    pub(crate) const OFFSET_DATA: u16 = 1;
    pub(crate) const OFFSET_HOLE: u16 = 2;
    pub(crate) const BLOCK_STATUS: u16 = 5;
    pub(crate) const BLOCK_STATUS_EXTENDED: u16 = 6;
    pub(crate) const NONE: u16 = 0;
    pub(crate) const ERROR: u16 = 0x8001;
}

/// Errors.
pub(crate) mod error {
    pub(crate) const NOT_PERMITTED: u32 = 1;
    pub(crate) const IO: u32 = 5;
    pub(crate) const INVALID: u32 = 22;
    pub(crate) const NO_SPACE: u32 = 28;
}

/// How requests and replies are framed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Each reply has one header, and errors have no text.
    #[default]
    Simple,
    /// Replies come in chunks.
    Structured,
    /// The same, and lengths have 64 bits.
    Extended,
}

impl Form {
    /// Bytes of the header of a request.
    pub(crate) const fn request_bytes(self) -> usize {
        match self {
            Self::Simple | Self::Structured => 28,
            Self::Extended => 32,
        }
    }
}

/// The header of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) flags: u16,
    pub(crate) command: u16,
    pub(crate) cookie: u64,
    pub(crate) offset: u64,
    /// More than 32 bits only in [`Form::Extended`].
    pub(crate) length: u64,
}

impl Header {
    /// Reads a header; `None` if it begins with another word, or is not whole.
    pub(crate) fn read(form: Form, bytes: &[u8]) -> Option<Self> {
        let mut words = Words(bytes);
        let is_extended = form == Form::Extended;
        let first = if is_extended { EXTENDED_REQUEST } else { REQUEST };
        (words.u32()? == first).then_some(())?;
        Some(Self {
            flags: words.u16()?,
            command: words.u16()?,
            cookie: words.u64()?,
            offset: words.u64()?,
            length: if is_extended { words.u64()? } else { words.u32()?.into() },
        })
    }

    /// Writes a header. A length that does not fit a form is cut, so callers look first.
    pub(crate) fn write(&self, form: Form, out: &mut Vec<u8>) {
        let is_extended = form == Form::Extended;
        let first = if is_extended { EXTENDED_REQUEST } else { REQUEST };
        out.extend_from_slice(&first.to_be_bytes());
        out.extend_from_slice(&self.flags.to_be_bytes());
        out.extend_from_slice(&self.command.to_be_bytes());
        out.extend_from_slice(&self.cookie.to_be_bytes());
        out.extend_from_slice(&self.offset.to_be_bytes());
        let length = self.length.to_be_bytes();
        out.extend_from_slice(if is_extended { &length } else { &length[4..] });
    }
}

/// Reads numbers from the front of some bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words<'a>(pub(crate) &'a [u8]);

impl<'a> Words<'a> {
    /// The next bytes.
    pub(crate) fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (first, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(first)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.bytes(N)?.try_into().ok()
    }

    /// The next number of 16 bits.
    pub(crate) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    /// The next number of 32 bits.
    pub(crate) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    /// The next number of 64 bits.
    pub(crate) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    /// A string after its length of 32 bits.
    pub(crate) fn text(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.u32()?).ok()?;
        self.bytes(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_as_it_was_written() {
        for (form, length) in
            [(Form::Simple, 9), (Form::Structured, 1 << 31), (Form::Extended, 1 << 40)]
        {
            let header = Header { flags: 1, command: 7, cookie: 1 << 40, offset: 1 << 50, length };
            let mut bytes = Vec::new();
            header.write(form, &mut bytes);
            assert_eq!(bytes.len(), form.request_bytes());
            assert_eq!(Header::read(form, &bytes), Some(header));
            assert_eq!(Header::read(form, &bytes[1..]), None);
            let other = if form == Form::Extended { Form::Simple } else { Form::Extended };
            assert_eq!(Header::read(other, &bytes), None);
        }
    }
}
