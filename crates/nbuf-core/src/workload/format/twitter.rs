//! Twitter: requests to its clusters of caches (Yang et al., OSDI 2020).
//!
//! CSV without a header: time in seconds, key, size of the key, size of the value, number of the
//! client, operation, time to live in seconds (0 is none). A key is any text without a comma; it becomes its hash. The
//! length is key and value together, as libCacheSim counts them; the task is the client.
//! Unit: keys. Source: README of the repository.

use super::batch::{Batch, Fault, range};
use super::fields::{Fields, each_line};
use super::hash::key;
use super::parameters::{ParameterError, Parameters};
use super::table::{Format, Head, Likeness, Made, Parser, Reading};
use super::trial;
use crate::trace::Lifetime;
use crate::trace::request::{Op, Request, Unit};

pub(super) const ROW: Format = Format {
    name: "twitter",
    summary: "Twitter cache traces, CSV",
    unit: Unit::Keys,
    source: "README of github.com/twitter/cache-trace",
    suffixes: &[],
    parameters: "",
    looks,
    reading: Reading::Lines(make),
    is_merged: false,
};

struct Twitter;

fn make(parameters: &Parameters, _head: Head) -> Result<Made, ParameterError> {
    parameters.only(&[])?;
    Ok(Made::keys(Twitter))
}

impl Parser for Twitter {
    fn parse(&mut self, bytes: &[u8], end: bool, out: &mut Batch) -> usize {
        each_line(bytes, end, out, |line, out| {
            let mut fields = Fields::new(line, b',');
            let time_ns = fields.time_ns(1_000_000_000, "a time in seconds")?;
            let key = key(fields.text("a key")?);
            let key_bytes = fields.number("the size of a key")?;
            let value_bytes = fields.number("the size of a value")?;
            let client = fields.number("the number of a client")?;
            let op = match fields.text("an operation")? {
                b"get" | b"gets" => Op::Read,
                b"set" | b"add" | b"cas" | b"replace" | b"append" | b"prepend" | b"incr"
                | b"decr" => Op::Write,
                b"delete" => Op::Discard,
                _ => return Err(Fault::operation("get, set, delete or another of memcached's")),
            };
            let lifetime = Lifetime::from_seconds(fields.number("a time to live")?);
            fields.end()?;
            let (_, length_bytes) =
                range(key_bytes, value_bytes).map(|(key, value)| (key, key + value))?;
            let task = u32::try_from(client).unwrap_or(u32::MAX);
            let request = Request::new(op, key, length_bytes);
            out.requests.push(Request { time_ns, task, lifetime, ..request });
            Ok(())
        })
    }
}

fn looks(head: Head) -> Likeness {
    trial::lines(head, Twitter, Likeness::Certain)
}
