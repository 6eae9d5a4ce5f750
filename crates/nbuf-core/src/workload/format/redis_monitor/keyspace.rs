//! The keys of a server as far as its commands tell: sizes, and when they expire.

use super::super::batch::{Batch, Fault};
use super::super::hash::key;
use super::super::known::{Entry, Known};
use super::argument::{Argument, Arguments};
use super::command::Time;
use crate::trace::Lifetime;
use crate::trace::request::{Op, Request};

const NO_TIME: Fault = Fault::malformed("a time behind EX, PX, EXAT or PXAT");

/// Who asks, and when.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asker {
    pub(super) time_ns: i64,
    pub(super) database: u32,
    /// The port of the client.
    pub(super) task: u32,
    /// The number of the database's name.
    pub(super) object: u32,
}

impl Asker {
    fn request(self, op: Op, key: u64, length_bytes: u64) -> Request {
        let Self { time_ns, task, object, .. } = self;
        Request { time_ns, object, task, ..Request::new(op, key, length_bytes) }
    }
}

/// The number of a key, and the bytes of its name that count.
#[derive(Clone, Copy)]
struct Name {
    key: u64,
    bytes: u64,
}

/// All keys that a log has.
pub(super) struct Keyspace {
    known: Known,
    /// Whether a length counts the value alone.
    values_alone: bool,
    text: Vec<u8>,
    /// Keys whose deletion does not fit into the batch, the last one first.
    flushed: Vec<u64>,
    flush: Request,
}

impl Keyspace {
    pub(super) fn new(values_alone: bool) -> Self {
        let (known, flush) = (Known::default(), Request::new(Op::Discard, 0, 0));
        Self { known, values_alone, text: Vec::new(), flushed: Vec::new(), flush }
    }

    /// Memory in use, at the most.
    pub(super) fn held_bytes(&self) -> u64 {
        self.known.held_bytes() + 8 * self.flushed.capacity() as u64
    }

    fn name(&mut self, asker: Asker, name: &Argument) -> Name {
        self.text.clear();
        if asker.database > 0 {
            self.text.extend_from_slice(format!("{}:", asker.database).as_bytes());
        }
        let before = self.text.len();
        name.append_to(&mut self.text);
        let bytes = if self.values_alone { 0 } else { (self.text.len() - before) as u64 };
        Name { key: key(&self.text), bytes }
    }

    /// An access to a key of its size. Counts those without one.
    fn push(&mut self, op: Op, asker: Asker, name: Name, lifetime: Lifetime, out: &mut Batch) {
        let entry = self.known.entry(name.key, asker.database);
        entry.access();
        let value_bytes = entry.bytes();
        out.problems.unsized_requests += u64::from(value_bytes.is_none());
        let length_bytes = name.bytes.saturating_add(value_bytes.unwrap_or(0));
        let request = asker.request(op, name.key, length_bytes);
        out.requests.push(Request { lifetime, ..request });
    }

    /// A look at a key.
    pub(super) fn read(&mut self, asker: Asker, name: &Argument, out: &mut Batch) {
        let name = self.name(asker, name);
        self.push(Op::Read, asker, name, Lifetime::NONE, out);
    }

    /// A new value, which lives for `left_ns`, or until it is deleted.
    pub(super) fn store(
        &mut self,
        asker: Asker,
        name: &Argument,
        value_bytes: u64,
        left_ns: Option<i64>,
        out: &mut Batch,
    ) {
        if left_ns.is_some_and(|left_ns| left_ns <= 0) {
            // Redis refuses it.
            out.problems.unused += 1;
            return;
        }
        let name = self.name(asker, name);
        let entry = self.known.entry(name.key, asker.database);
        entry.set_bytes(value_bytes);
        let lifetime = entry.live(asker.time_ns, left_ns);
        self.push(Op::Write, asker, name, lifetime, out);
    }

    /// SET, with what stands behind the value.
    pub(super) fn set(
        &mut self,
        asker: Asker,
        name: &Argument,
        value_bytes: u64,
        mut options: Arguments,
        out: &mut Batch,
    ) -> Result<(), Fault> {
        let (mut left_ns, mut is_new) = (None, false);
        while let Some(option) = options.next().transpose()? {
            if let Some(time) = Time::option(&option) {
                left_ns = Some(time.left_ns(asker.time_ns, &options.next().ok_or(NO_TIME)??)?);
            } else if option.is("KEEPTTL") {
                left_ns = self.left_ns(asker, name);
            } else {
                is_new |= option.is("NX");
            }
        }
        if is_new && self.is_there(asker, name) {
            self.read(asker, name, out);
        } else {
            self.store(asker, name, value_bytes, left_ns, out);
        }
        Ok(())
    }

    /// SETNX: a look where there is a value.
    pub(super) fn set_new(&mut self, asker: Asker, name: &Argument, bytes: u64, out: &mut Batch) {
        if self.is_there(asker, name) {
            self.read(asker, name, out);
        } else {
            self.store(asker, name, bytes, None, out);
        }
    }

    fn is_there(&mut self, asker: Asker, name: &Argument) -> bool {
        let name = self.name(asker, name);
        let entry = self.known.get(name.key);
        // A key that was only looked at may have been missing.
        entry.is_some_and(|entry| entry.bytes().is_some() && entry.is_there(asker.time_ns))
    }

    /// Whether the log says that there is no such key: it was deleted, or its time is over.
    fn is_missing(&mut self, asker: Asker, name: &Argument) -> bool {
        let name = self.name(asker, name);
        self.known.get(name.key).is_some_and(|entry| !entry.is_there(asker.time_ns))
    }

    /// What is left of the life of a key; none if it does not expire or is not there.
    fn left_ns(&mut self, asker: Asker, name: &Argument) -> Option<i64> {
        let name = self.name(asker, name);
        let entry = self.known.get(name.key).filter(|entry| entry.is_there(asker.time_ns))?;
        entry.left(asker.time_ns)
    }

    /// A change of a value that is there, which leaves its end where it is.
    pub(super) fn resize(
        &mut self,
        asker: Asker,
        name: &Argument,
        new: impl Fn(Option<u64>) -> Option<u64>,
        out: &mut Batch,
    ) {
        let left_ns = self.left_ns(asker, name);
        let name = self.name(asker, name);
        let entry = self.known.entry(name.key, asker.database);
        // What is deleted begins again.
        let old = entry.bytes().filter(|_| entry.is_there(asker.time_ns));
        if let Some(bytes) = new(old).or(entry.bytes()) {
            entry.set_bytes(bytes);
        }
        let lifetime = entry.live(asker.time_ns, left_ns);
        self.push(Op::Write, asker, name, lifetime, out);
    }

    /// EXPIRE and its kin: a write of the same size, or a deletion; nothing where there is no such key.
    pub(super) fn expire(
        &mut self,
        asker: Asker,
        name: &Argument,
        left_ns: i64,
        mut options: Arguments,
        out: &mut Batch,
    ) -> Result<(), Fault> {
        let old_ns = self.left_ns(asker, name);
        let mut is_done = true;
        while let Some(option) = options.next().transpose()? {
            // A key that does not expire is one that expires after all others.
            is_done &= !(option.is("NX") && old_ns.is_some()
                || option.is("XX") && old_ns.is_none()
                || option.is("GT") && old_ns.is_none_or(|old_ns| left_ns <= old_ns)
                || option.is("LT") && old_ns.is_some_and(|old_ns| left_ns >= old_ns));
        }
        if !is_done || self.is_missing(asker, name) {
            out.problems.unused += 1;
        } else if left_ns <= 0 {
            self.delete(asker, name, out);
        } else {
            self.give_life(asker, name, Some(left_ns), out);
        }
        Ok(())
    }

    fn give_life(&mut self, asker: Asker, name: &Argument, left_ns: Option<i64>, out: &mut Batch) {
        let name = self.name(asker, name);
        let lifetime = self.known.entry(name.key, asker.database).live(asker.time_ns, left_ns);
        self.push(Op::Write, asker, name, lifetime, out);
    }

    /// PERSIST: nothing where no end is known.
    pub(super) fn persist(&mut self, asker: Asker, name: &Argument, out: &mut Batch) {
        if self.left_ns(asker, name).is_some() {
            self.give_life(asker, name, None, out);
        } else {
            out.problems.unused += 1;
        }
    }

    /// GETEX: a look, or with a time a write.
    pub(super) fn get_ex(
        &mut self,
        asker: Asker,
        name: &Argument,
        mut options: Arguments,
        out: &mut Batch,
    ) -> Result<(), Fault> {
        let Some(option) = options.next().transpose()? else {
            self.read(asker, name, out);
            return Ok(());
        };
        let time = Time::option(&option);
        let left_ns = match time {
            Some(time) => Some(time.left_ns(asker.time_ns, &options.next().ok_or(NO_TIME)??)?),
            None => None,
        };
        match left_ns {
            _ if self.is_missing(asker, name) => self.read(asker, name, out),
            Some(left_ns) if left_ns <= 0 => {
                self.read(asker, name, out);
                self.delete(asker, name, out);
            }
            left_ns => self.give_life(asker, name, left_ns, out),
        }
        Ok(())
    }

    /// A deletion.
    pub(super) fn delete(&mut self, asker: Asker, name: &Argument, out: &mut Batch) {
        let Name { key, bytes } = self.name(asker, name);
        self.known.entry(key, asker.database).delete();
        out.requests.push(asker.request(Op::Discard, key, bytes));
    }

    /// A value under another name, with its end.
    pub(super) fn rename(&mut self, asker: Asker, from: &Argument, to: &Argument, out: &mut Batch) {
        if self.is_missing(asker, from) {
            out.problems.unused += 1;
            return;
        }
        let left_ns = self.left_ns(asker, from);
        let old = self.name(asker, from);
        let bytes = self.known.get(old.key).and_then(Entry::bytes);
        self.delete(asker, from, out);
        match bytes {
            Some(bytes) => self.store(asker, to, bytes, left_ns, out),
            None => self.give_life(asker, to, left_ns, out),
        }
    }

    /// Every key of a database, or of all.
    pub(super) fn flush(&mut self, asker: Asker, is_all: bool, out: &mut Batch) {
        self.flushed = self.known.delete_all((!is_all).then_some(asker.database));
        self.flushed.reverse();
        self.flush = asker.request(Op::Discard, 0, 0);
        self.pour(out);
    }

    /// Deletions of a flush, until the batch is full.
    pub(super) fn pour(&mut self, out: &mut Batch) {
        while !out.is_full() {
            let Some(key) = self.flushed.pop() else {
                return;
            };
            out.requests.push(Request { offset: key, ..self.flush });
        }
    }
}
