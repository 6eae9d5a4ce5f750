//! Requests of clients: checked, given to the cache, and answered.

use super::super::connection::{Connection, Phase};
use super::super::handshake::{Handshake, Secrecy, Step};
use super::super::replies::To;
use super::drain::waits;
use super::wait::has_room;
use super::{PendingRequest, Server};
use crate::disc::Disc;
use crate::disc::nbd::wire::{Form, Header, command, error, flag};
use crate::trace::request::{Op, Request};
use crate::units::Nanos;

/// The longest read or write. Clients that do not ask expect 32 MiB, and some send more all the same.
pub(super) const REQUEST_BYTES_MAX: u32 = 64 << 20;
/// Looks at pages in one turn, after which the other clients have theirs. A request costs as much as some.
pub(super) const LOOKS_MAX: u64 = 1 << 18;
const LOOKS_OF_REQUEST: u64 = 16;
/// What a page that is fetched takes until it comes.
const WAITER_BYTES: u64 = 16;

impl Server {
    /// Takes what a client has sent, as far as it is whole and may be taken.
    pub(super) fn take_requests(&mut self, place: usize) {
        while let Some(connection) = self.connections[place].as_mut() {
            connection.is_held = false;
            match &mut connection.phase {
                Phase::Handshake(_) => {
                    if !self.shake(place) {
                        return;
                    }
                }
                Phase::Requests(..) => {
                    let waits = waits(self.quiet.as_ref(), connection.export);
                    let is_late = self.looks > LOOKS_MAX;
                    connection.is_held = waits || !connection.may_ask() || is_late;
                    if connection.is_held || !self.take_one(place) {
                        return;
                    }
                    self.looks += LOOKS_OF_REQUEST;
                }
            }
        }
    }

    /// Goes on with a handshake; whether requests follow.
    fn shake(&mut self, place: usize) -> bool {
        let Some(connection) = self.connections[place].as_mut() else { return false };
        let Phase::Handshake(handshake) = &mut connection.phase else { return true };
        // What stands there meanwhile agrees to nothing.
        let mut agreed = std::mem::replace(handshake, Handshake::new(Secrecy::Required));
        let mut out = Vec::new();
        let (taken, step) = agreed.take(&self.exports, connection.waiting(), &mut out);
        connection.take(taken);
        connection.out.append(&mut out);
        match step {
            Step::More => connection.phase = Phase::Handshake(agreed),
            Step::Over => {
                connection.phase = Phase::Handshake(agreed);
                connection.disconnect();
            }
            Step::Secure => {
                connection.phase = Phase::Handshake(agreed);
                match self.tls.as_ref().map(|tls| tls.credentials.layer()) {
                    Some(Ok(layer)) => connection.begin_tls(layer),
                    _ => connection.break_off(),
                }
            }
            Step::Ready => {
                connection.phase = Phase::Requests(agreed.form, agreed.contexts);
                connection.export = Some(agreed.chosen);
                let served = &mut self.discs[agreed.chosen];
                served.cache.client_came(connection.client);
                served.clients += 1;
                served.clients_ever += 1;
            }
        }
        step == Step::Ready
    }

    /// Takes one request; whether there was a whole one.
    fn take_one(&mut self, place: usize) -> bool {
        let Some(connection) = self.connections[place].as_mut() else { return false };
        if connection.skip > 0 {
            let length = connection.waiting().len();
            let count = usize::try_from(connection.skip).unwrap_or(usize::MAX).min(length);
            connection.take(count);
            connection.skip -= count as u64;
            if connection.skip == 0 {
                connection.goes_on();
            }
            return count > 0;
        }
        let Phase::Requests(form, _) = connection.phase else { return false };
        let Some(head) = connection.waiting().get(..form.request_bytes()) else { return false };
        let Some(header) = Header::read(form, head) else {
            connection.break_off();
            return false;
        };
        let is_write = header.command == command::WRITE;
        let has_payload = is_write || form == Form::Extended && header.flags & flag::PAYLOAD != 0;
        if !self.admits(place, &header) {
            return false;
        }
        let Some(connection) = self.connections[place].as_mut() else { return false };
        let length = usize::try_from(header.length).unwrap_or(usize::MAX);
        if is_write && header.length <= REQUEST_BYTES_MAX.into() {
            if connection.waiting().len() < form.request_bytes() + length {
                return false;
            }
        } else if has_payload {
            connection.skip = header.length;
        }
        self.serve(place, header);
        let Some(connection) = self.connections[place].as_mut() else { return false };
        if header.command == command::DISCONNECT {
            connection.disconnect();
            return false;
        }
        let payload = if has_payload && connection.skip == 0 { length } else { 0 };
        connection.take(form.request_bytes() + payload);
        if connection.skip == 0 {
            connection.goes_on();
        }
        true
    }

    /// Whether there is room for what a request moves; if not, it waits. What is read is kept until the client has
    /// it, and what is written from its first byte until the cache has it.
    fn admits(&mut self, place: usize, header: &Header) -> bool {
        let Some(connection) = self.connections[place].as_ref() else { return false };
        let moves = matches!(header.command, command::READ | command::WRITE);
        let more = if moves { header.length.min(REQUEST_BYTES_MAX.into()) } else { 0 };
        let is_admitted =
            connection.reserved > 0 || has_room(self.connections.kept(), connection.bytes(), more);
        let Some(connection) = self.connections[place].as_mut() else { return false };
        connection.needs_room = !is_admitted;
        if is_admitted && connection.reserved == 0 {
            self.connections.promise(place, more);
            let Some(connection) = self.connections[place].as_mut() else { return false };
            if header.command == command::WRITE {
                connection.reserved = more;
            }
        }
        is_admitted
    }

    fn serve(&mut self, place: usize, header: Header) {
        let Some(connection) = self.connections[place].as_mut() else { return };
        let Phase::Requests(form, _) = connection.phase else { return };
        let Some(disc) = connection.export else { return };
        if header.command == command::DISCONNECT {
            return;
        }
        if let Err(error) = self.check(disc, form, &header) {
            let Some(connection) = self.connections[place].as_mut() else { return };
            let to = To { form, cookie: header.cookie, offset: header.offset };
            return to.plain(&mut connection.out, error);
        }
        let length = header.length;
        let op = match header.command {
            command::READ => Op::Read,
            command::BLOCK_STATUS => return self.status(place, disc, &header),
            command::CACHE => return self.fetch(place, disc, &header),
            command::WRITE => Op::Write,
            command::FLUSH => Op::Flush,
            _ => Op::Discard,
        };
        let began = self.discs[disc].figures.came(self.now).then(|| self.time());
        if op == Op::Read {
            return self.read(place, disc, form, &header, began);
        }
        let data = if op == Op::Write {
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            connection_payload(self.connections[place].as_ref(), form, length)
        } else {
            Vec::new()
        };
        let mut request = Request::new(op, header.offset, if op == Op::Flush { 0 } else { length });
        request.durable = header.flags & flag::FUA != 0 && op != Op::Flush;
        request.zeros = header.command == command::WRITE_ZEROES;
        let request = self.ask(place, &header, request, data.len() as u64, began);
        self.discs[disc].cache.submit(self.now, request, data);
    }

    /// The error for a request that cannot be served.
    fn check(&self, disc: usize, form: Form, header: &Header) -> Result<(), u32> {
        let permitted = match header.command {
            command::READ => flag::DF | flag::FUA,
            command::WRITE | command::TRIM | command::FLUSH | command::CACHE => flag::FUA,
            command::WRITE_ZEROES => flag::FUA | flag::NO_HOLE,
            command::BLOCK_STATUS => flag::FUA | flag::REQ_ONE,
            _ => return Err(error::INVALID),
        };
        let is_long_write = form == Form::Extended && header.command == command::WRITE;
        let permitted = permitted | if is_long_write { flag::PAYLOAD } else { 0 };
        if header.flags & !permitted != 0 {
            return Err(error::INVALID);
        }
        let writes =
            matches!(header.command, command::WRITE | command::TRIM | command::WRITE_ZEROES);
        let export = &self.exports[disc];
        if writes && export.is_read_only {
            return Err(error::NOT_PERMITTED);
        }
        let moves = matches!(header.command, command::READ | command::WRITE);
        if moves && header.length > REQUEST_BYTES_MAX.into() {
            return Err(error::INVALID);
        }
        let end = header.offset.checked_add(header.length);
        if header.command != command::FLUSH && end.is_none_or(|end| end > export.size_bytes) {
            return Err(if writes { error::NO_SPACE } else { error::INVALID });
        }
        Ok(())
    }

    /// A read: a hit is in the buffer of replies at once.
    fn read(
        &mut self,
        place: usize,
        disc: usize,
        form: Form,
        header: &Header,
        began: Option<Nanos>,
    ) {
        let length = usize::try_from(header.length).unwrap_or(usize::MAX);
        let request = Request::new(Op::Read, header.offset, header.length);
        let Some(connection) = self.connections[place].as_mut() else { return };
        let out = &mut connection.out;
        let before = out.len();
        let to = To { form, cookie: header.cookie, offset: header.offset };
        out.reserve(to.data_header_bytes() + length);
        to.data_header(out, length);
        let served = &mut self.discs[disc];
        let is_hit = served.cache.read_hit(&request, out);
        served.figures.read(self.now, is_hit);
        if is_hit {
            return self.answered(disc, began);
        }
        out.truncate(before);
        let request = self.ask(place, header, request, header.length, began);
        self.discs[disc].cache.submit(self.now, request, vec![0; length]);
    }

    fn fetch(&mut self, place: usize, disc: usize, header: &Header) {
        let request = Request::new(Op::Read, header.offset, header.length);
        self.looks += header.length / u64::from(self.exports[disc].page_bytes.max(1));
        // Each page that is missing keeps its client in mind.
        let pages = self.discs[disc].cache.settings().pages;
        let page_bytes = u64::from(self.exports[disc].page_bytes.max(1));
        let bytes = (header.length / page_bytes).min(pages.into()) * WAITER_BYTES;
        let request = self.ask(place, header, request, bytes, None);
        self.discs[disc].cache.fetch(self.now, request);
    }

    /// Gives a request of a client its number.
    pub(super) fn ask(
        &mut self,
        place: usize,
        header: &Header,
        request: Request,
        bytes: u64,
        began: Option<Nanos>,
    ) -> Request {
        let Some(connection) = self.connections[place].as_mut() else { return request };
        connection.under_way += 1;
        connection.under_way_bytes += bytes;
        let (client, cookie, command) = (connection.client, header.cookie, header.command);
        let task = self.keep(PendingRequest { place, client, cookie, command, bytes, began });
        Request { task, object: client, ..request }
    }
}

fn connection_payload(connection: Option<&Connection>, form: Form, length: usize) -> Vec<u8> {
    let waiting = connection.map(Connection::waiting).unwrap_or_default();
    waiting.get(form.request_bytes()..form.request_bytes() + length).unwrap_or_default().to_vec()
}
