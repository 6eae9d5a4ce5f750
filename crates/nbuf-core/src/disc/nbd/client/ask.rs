//! What a backend server is asked for: a request as a header, and long ones in parts that every server takes.

use super::super::wire::{Form, Header, command, export, flag};
use super::{Client, PendingRequest};
use crate::trace::request::{Op, Request};

/// The longest part of a discard. Lengths have 32 bits, and parts end where sectors and pages do.
const PART_BYTES: u64 = 1 << 30;
/// The longest part of a write: what the protocol permits a client that did not ask for the limit.
const WRITE_PART_BYTES: u64 = 32 << 20;
/// The longest part of zeros that are sent as data.
const ZEROS_PART_BYTES: u64 = 1 << 20;

/// Bytes that wait for the next look at completions.
const SENT_AT_ONCE_BYTES: usize = 64 << 10;

impl Client {
    /// The header for a request; an error if the server does not take it.
    fn header(&self, request: &Request) -> Result<Header, String> {
        let mut flags = 0;
        if request.durable && self.flags & export::SEND_FUA != 0 {
            flags |= flag::FUA;
        }
        let command = match request.op {
            Op::Read => command::READ,
            Op::Flush => command::FLUSH,
            Op::Discard if !request.zeros => command::TRIM,
            Op::Discard if self.flags & export::SEND_WRITE_ZEROES != 0 => command::WRITE_ZEROES,
            // Zeros as data do the same. A journal has promised them already, so they cannot be refused.
            Op::Write | Op::Discard => command::WRITE,
        };
        let length = request.length_bytes;
        if request.op != Op::Discard && length > u32::MAX.into() {
            return Err("the backend server takes no request of 4 GiB".to_owned());
        }
        Ok(Header { flags, command, cookie: self.cookie, offset: request.offset, length })
    }

    /// Asks for a request, or for the next part of one. A flush and a read have one part.
    pub(super) fn ask(&mut self, mut pending: PendingRequest) {
        let header = match self.header(&pending.request) {
            Ok(header) => header,
            Err(what) => {
                return self.answer(pending.request, pending.data, pending.came, Some(what));
            }
        };
        let is_data = header.command == command::WRITE;
        let most = match pending.request.op {
            Op::Discard if is_data => ZEROS_PART_BYTES,
            Op::Discard => PART_BYTES,
            Op::Write => WRITE_PART_BYTES,
            Op::Read | Op::Flush => u64::MAX,
        };
        let from = header.length - pending.left_bytes;
        let length = pending.left_bytes.min(most);
        pending.left_bytes -= length;
        Header { offset: header.offset + from, length, ..header }
            .write(Form::Simple, &mut self.out);
        let whole = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        if pending.request.op == Op::Write {
            self.out.extend_from_slice(&pending.data[whole(from)..whole(from + length)]);
        } else if is_data {
            self.out.resize(self.out.len() + whole(length), 0);
        }
        self.await_reply(pending);
    }

    /// Asks for a flush that makes a request durable.
    pub(super) fn ask_flush(&mut self, pending: PendingRequest) {
        Header { flags: 0, command: command::FLUSH, cookie: self.cookie, offset: 0, length: 0 }
            .write(Form::Simple, &mut self.out);
        self.await_reply(PendingRequest { flushes: false, ..pending });
    }

    pub(super) fn await_reply(&mut self, pending: PendingRequest) {
        self.pending.insert(self.cookie, pending);
        self.cookie += 1;
        // Requests of one turn go in one call, when completions are asked for.
        if self.out.len() - self.sent > SENT_AT_ONCE_BYTES {
            self.send();
        }
    }
}
