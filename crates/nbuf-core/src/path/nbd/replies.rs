//! Replies to requests, as bytes.

use super::export::Context;
use crate::disc::nbd::wire::{self, Form, chunk};

/// What a reply answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct To {
    pub(super) form: Form,
    pub(super) cookie: u64,
    pub(super) offset: u64,
}

impl To {
    /// The bytes before the data of a read.
    pub(super) fn data_header(self, out: &mut Vec<u8>, length: usize) {
        if self.form == Form::Simple {
            return self.simple(out, 0);
        }
        self.chunk(out, chunk::DONE, chunk::OFFSET_DATA, length + 8);
        out.extend_from_slice(&self.offset.to_be_bytes());
    }

    /// How many bytes such a header has.
    pub(super) fn data_header_bytes(self) -> usize {
        match self.form {
            Form::Simple => 16,
            Form::Structured => 28,
            Form::Extended => 40,
        }
    }

    /// A reply without data: done, or an error.
    pub(super) fn plain(self, out: &mut Vec<u8>, error: u32) {
        if self.form == Form::Simple {
            return self.simple(out, error);
        }
        if error == 0 {
            return self.chunk(out, chunk::DONE, chunk::NONE, 0);
        }
        self.chunk(out, chunk::DONE, chunk::ERROR, 6);
        out.extend_from_slice(&error.to_be_bytes());
        out.extend_from_slice(&0_u16.to_be_bytes());
    }

    /// The status of some bytes in one context: extents of a length and a flag each.
    pub(super) fn status(
        self,
        out: &mut Vec<u8>,
        context: Context,
        extents: &[(u64, u32)],
        is_last: bool,
    ) {
        let flags = if is_last { chunk::DONE } else { 0 };
        let is_extended = self.form == Form::Extended;
        let (kind, head, each) = if is_extended {
            (chunk::BLOCK_STATUS_EXTENDED, 8, 16)
        } else {
            (chunk::BLOCK_STATUS, 4, 8)
        };
        self.chunk(out, flags, kind, head + each * extents.len());
        out.extend_from_slice(&context.id().to_be_bytes());
        if is_extended {
            let count = u32::try_from(extents.len()).unwrap_or(u32::MAX);
            out.extend_from_slice(&count.to_be_bytes());
        }
        for &(length, flag) in extents {
            if is_extended {
                out.extend_from_slice(&length.to_be_bytes());
                out.extend_from_slice(&u64::from(flag).to_be_bytes());
            } else {
                let length = u32::try_from(length).unwrap_or(u32::MAX);
                out.extend_from_slice(&length.to_be_bytes());
                out.extend_from_slice(&flag.to_be_bytes());
            }
        }
    }

    fn simple(self, out: &mut Vec<u8>, error: u32) {
        out.extend_from_slice(&wire::SIMPLE_REPLY.to_be_bytes());
        out.extend_from_slice(&error.to_be_bytes());
        out.extend_from_slice(&self.cookie.to_be_bytes());
    }

    fn chunk(self, out: &mut Vec<u8>, flags: u16, kind: u16, payload_bytes: usize) {
        let is_extended = self.form == Form::Extended;
        let first = if is_extended { wire::EXTENDED_CHUNK } else { wire::CHUNK };
        out.extend_from_slice(&first.to_be_bytes());
        out.extend_from_slice(&flags.to_be_bytes());
        out.extend_from_slice(&kind.to_be_bytes());
        out.extend_from_slice(&self.cookie.to_be_bytes());
        if is_extended {
            out.extend_from_slice(&self.offset.to_be_bytes());
            out.extend_from_slice(&(payload_bytes as u64).to_be_bytes());
        } else {
            let payload_bytes = u32::try_from(payload_bytes).unwrap_or(u32::MAX);
            out.extend_from_slice(&payload_bytes.to_be_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disc::nbd::wire::Words;

    /// The flags, the kind and the payload of a chunk.
    fn chunk(bytes: &[u8], form: Form) -> (u16, u16, Vec<u8>) {
        let mut words = Words(bytes);
        let is_extended = form == Form::Extended;
        let first = if is_extended { wire::EXTENDED_CHUNK } else { wire::CHUNK };
        assert_eq!(words.u32(), Some(first));
        let (flags, kind) = (words.u16().unwrap(), words.u16().unwrap());
        assert_eq!(words.u64(), Some(5), "the cookie");
        let length = if is_extended {
            assert_eq!(words.u64(), Some(1 << 40), "the offset");
            words.u64().unwrap()
        } else {
            words.u32().unwrap().into()
        };
        assert_eq!(length, words.0.len() as u64);
        (flags, kind, words.0.to_vec())
    }

    #[test]
    fn chunks_are_as_long_as_they_say() {
        for form in [Form::Structured, Form::Extended] {
            let to = To { form, cookie: 5, offset: 1 << 40 };
            let reply = |write: &dyn Fn(&mut Vec<u8>)| {
                let mut out = Vec::new();
                write(&mut out);
                chunk(&out, form)
            };
            assert_eq!(reply(&|out| to.plain(out, 0)), (1, 0, Vec::new()));
            assert_eq!(reply(&|out| to.plain(out, 22)), (1, 0x8001, vec![0, 0, 0, 22, 0, 0]));
            let data = reply(&|out| {
                to.data_header(out, 3);
                assert_eq!(out.len(), to.data_header_bytes());
                out.extend(b"abc");
            });
            assert_eq!(data, (1, 1, b"\0\0\x01\0\0\0\0\0abc".to_vec()));
        }
    }

    #[test]
    fn extents_beyond_32_bits_need_long_headers() {
        let of = |form, extents: &[(u64, u32)]| {
            let to = To { form, cookie: 5, offset: 1 << 40 };
            let mut out = Vec::new();
            to.status(&mut out, Context::Dirty, extents, false);
            chunk(&out, form)
        };
        let short = of(Form::Structured, &[(4096, 1), (512, 0)]);
        assert_eq!((short.0, short.1), (0, 5));
        assert_eq!(short.2, b"\0\0\0\x03\0\0\x10\0\0\0\0\x01\0\0\x02\0\0\0\0\0");
        let long = of(Form::Extended, &[(1 << 40, 1)]);
        assert_eq!((long.0, long.1), (0, 6));
        let want = b"\0\0\0\x03\0\0\0\x01\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\x01";
        assert_eq!(long.2, want);
    }
}
