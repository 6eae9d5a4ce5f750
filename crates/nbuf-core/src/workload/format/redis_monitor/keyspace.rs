//! The keys of a server as far as its commands tell: sizes, and when they expire.

use super::super::batch::Batch;
use super::super::hash::key_in;
use super::super::known::{Entry, Known};
use super::argument::Argument;
use super::command::Refused;
use crate::trace::Lifetime;
use crate::trace::request::{Op, Request};

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
    /// The same in another database.
    pub(super) fn at(self, database: &Argument, out: &mut Batch) -> Result<Self, Refused> {
        let database = database.number().and_then(|number| u32::try_from(number).ok());
        let database = database.ok_or(Refused)?;
        Ok(Self { database, object: Self::number_of(database, out), ..self })
    }

    /// The number of a database's name.
    pub(super) fn number_of(database: u32, out: &mut Batch) -> u32 {
        out.objects.number(format!("database {database}").as_bytes())
    }

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

/// What a log says of a value that goes from one key to another.
#[derive(Clone, Copy)]
pub(super) struct Value {
    bytes: Option<u64>,
    left_ns: Option<i64>,
    /// Whether there is one for certain.
    is_certain: bool,
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
        name.append_to(&mut self.text);
        let bytes = if self.values_alone { 0 } else { self.text.len() as u64 };
        Name { key: key_in(asker.database, &self.text), bytes }
    }

    /// An access to a key of its size. Counts those without one.
    fn push(&mut self, op: Op, asker: Asker, name: Name, lifetime: Lifetime, out: &mut Batch) {
        let entry = self.known.entry(name.key, asker.database);
        entry.access();
        let value_bytes = entry.bytes();
        out.problems.unsized_requests += u64::from(value_bytes.is_none());
        let length_bytes = name.bytes.saturating_add(value_bytes.unwrap_or(0));
        let request = asker.request(op, name.key, length_bytes);
        out.requests.push(Request { lifetime, is_unsized: value_bytes.is_none(), ..request });
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
            // A time that is over.
            self.delete(asker, name, out);
            return;
        }
        let name = self.name(asker, name);
        let entry = self.known.entry(name.key, asker.database);
        entry.set_bytes(value_bytes);
        let lifetime = entry.live(asker.time_ns, left_ns);
        self.push(Op::Write, asker, name, lifetime, out);
    }

    /// Whether the log says that there is such a key.
    pub(super) fn has_value(&mut self, asker: Asker, name: &Argument) -> bool {
        let name = self.name(asker, name);
        self.known.get(name.key).is_some_and(|entry| entry.has_value(asker.time_ns))
    }

    /// Whether the log says that there is no such key: it was deleted, or its time is over.
    pub(super) fn is_missing(&mut self, asker: Asker, name: &Argument) -> bool {
        let name = self.name(asker, name);
        self.known.get(name.key).is_some_and(|entry| !entry.is_there(asker.time_ns))
    }

    /// Whether two arguments name one key.
    pub(super) fn is_one(&mut self, one: &Argument, other: &Argument) -> bool {
        self.text.clear();
        one.append_to(&mut self.text);
        let length = self.text.len();
        other.append_to(&mut self.text);
        self.text[..length] == self.text[length..]
    }

    /// What is left of the life of a key; none if it does not expire or is not there.
    pub(super) fn left_ns(&mut self, asker: Asker, name: &Argument) -> Option<i64> {
        let name = self.name(asker, name);
        let entry = self.known.get(name.key).filter(|entry| entry.is_there(asker.time_ns))?;
        entry.left(asker.time_ns)
    }

    /// A write to a value, or a new one. The end stays where it is.
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
        match new(old).or(entry.bytes()) {
            Some(bytes) => entry.set_bytes(bytes),
            None => entry.write(),
        }
        let lifetime = entry.live(asker.time_ns, left_ns);
        self.push(Op::Write, asker, name, lifetime, out);
    }

    /// A change of a value that is there, which leaves its end where it is.
    pub(super) fn change(&mut self, asker: Asker, name: &Argument, out: &mut Batch) {
        if self.is_missing(asker, name) {
            out.problems.unused += 1;
            return;
        }
        let left_ns = self.left_ns(asker, name);
        self.give_life(asker, name, left_ns, out);
    }

    /// The same, which may leave nothing.
    pub(super) fn take(&mut self, asker: Asker, name: &Argument, out: &mut Batch) {
        self.change(asker, name, out);
        let name = self.name(asker, name);
        self.known.entry(name.key, asker.database).take();
    }

    /// What the log says of the value of a key.
    pub(super) fn value(&mut self, asker: Asker, name: &Argument) -> Value {
        let (left_ns, is_certain) = (self.left_ns(asker, name), self.has_value(asker, name));
        let name = self.name(asker, name);
        Value { bytes: self.known.get(name.key).and_then(Entry::bytes), left_ns, is_certain }
    }

    /// A value of which the log says nothing.
    pub(super) const UNKNOWN: Value = Value { bytes: None, left_ns: None, is_certain: false };

    /// A key has the value of another one.
    pub(super) fn put(&mut self, asker: Asker, name: &Argument, value: Value, out: &mut Batch) {
        let Value { bytes, left_ns, is_certain } = value;
        let key = self.name(asker, name).key;
        let entry = self.known.entry(key, asker.database);
        match bytes {
            Some(bytes) => entry.set_bytes(bytes),
            None => entry.forget_bytes(),
        }
        if is_certain {
            entry.write();
        } else {
            entry.take();
        }
        self.give_life(asker, name, left_ns, out);
    }

    /// Another end of a value, of the same size.
    pub(super) fn give_life(
        &mut self,
        asker: Asker,
        name: &Argument,
        left_ns: Option<i64>,
        out: &mut Batch,
    ) {
        let name = self.name(asker, name);
        let lifetime = self.known.entry(name.key, asker.database).live(asker.time_ns, left_ns);
        self.push(Op::Write, asker, name, lifetime, out);
    }

    /// A deletion.
    pub(super) fn delete(&mut self, asker: Asker, name: &Argument, out: &mut Batch) {
        let Name { key, bytes } = self.name(asker, name);
        self.known.entry(key, asker.database).delete();
        out.requests.push(asker.request(Op::Discard, key, bytes));
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
