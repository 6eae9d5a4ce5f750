//! Redis MONITOR: the commands that a server ran, as `redis-cli monitor` prints them.
//!
//! `1795638601.250000 [0 127.0.0.1:60866] "SET" "user:1" "..."`: a time, the database, the client, and the arguments
//! with escapes. From a raw connection a line begins with `+`. The key is the argument without its escapes, behind the
//! database unless that is 0. The length is key and value, or with `size=value` the value alone; a command that states
//! no value has the last size of its key. No size is known of hashes, lists, sets and streams. A write with a time (SET with
//! EX, SETEX, EXPIRE) states a lifetime, and one that takes it away 68 years. EXPIRE and GETEX with a time are writes of the
//! same size; RENAME deletes and writes; FLUSHDB and FLUSHALL delete every key that the log has. Commands that ask for no
//! value (PING, TTL, EXISTS, EVAL) are left out: those of a script have lines of their own.
//! Unit: keys; the object is the database, the task the port of the client. Source: Redis 7.0, `replicationFeedMonitors`.

mod argument;
mod command;
mod keyspace;

use self::argument::{Argument, Arguments};
use self::command::Command;
use self::keyspace::{Asker, Keyspace};
use super::batch::{Batch, Fault};
use super::fields::{each_line, number, seconds_ns};
use super::parameters::{ParameterError, Parameters};
use super::table::{Format, Head, Likeness, Made, Parser, Reading};
use super::trial;
use crate::trace::request::Unit;

pub(super) const ROW: Format = Format {
    name: "redisMonitor",
    summary: "commands of Redis as `redis-cli monitor` prints them",
    unit: Unit::Keys,
    source: "redis.io/docs/latest/commands/monitor; Redis 7.0 (replication.c)",
    suffixes: &[".monitor"],
    parameters: "size=both|value",
    looks,
    reading: Reading::Stream(make),
    is_merged: false,
};

const MALFORMED: Fault = Fault::malformed("TIME [DATABASE CLIENT] \"COMMAND\" \"ARGUMENT\" ...");
const TOO_FEW: Fault = Fault::malformed("as many arguments as the command takes");

struct Redis(Keyspace);

fn make(parameters: &Parameters, _head: Head) -> Result<Made, ParameterError> {
    parameters.only(&["size"])?;
    Ok(Made::keys(Redis(Keyspace::new(values_alone(parameters)?))))
}

/// Whether a length counts the value without the key.
pub(super) fn values_alone(parameters: &Parameters) -> Result<bool, ParameterError> {
    match parameters.get("size") {
        None | Some("both") => Ok(false),
        Some("value") => Ok(true),
        Some(other) => {
            let (name, value) = ("size".to_owned(), other.to_owned());
            Err(ParameterError::Value { name, value, takes: "both or value".to_owned() })
        }
    }
}

/// The part of a line before the arguments, and the arguments.
fn prefix(line: &[u8]) -> Option<(Asker, &[u8])> {
    let line = line.strip_prefix(b"+").unwrap_or(line);
    let (time, rest) = line.split_at(memchr::memchr(b' ', line)?);
    let time_ns = memchr::memchr(b'.', time).and(seconds_ns(time))?;
    let rest = rest.strip_prefix(b" [")?;
    // The path of a socket may contain brackets and blanks.
    let end = memchr::memmem::find(rest, b"] \"")?;
    let (inside, arguments) = (&rest[..end], &rest[end + 1..]);
    let (database, client) = inside.split_at(memchr::memchr(b' ', inside)?);
    let database = u32::try_from(number(database)?).ok()?;
    let port = memchr::memrchr(b':', client).and_then(|at| number(&client[at + 1..]));
    let task = port.and_then(|port| u32::try_from(port).ok()).unwrap_or(0);
    Some((Asker { time_ns, database, task, object: 0 }, arguments))
}

impl Redis {
    fn line(&mut self, line: &[u8], out: &mut Batch) -> Result<(), Fault> {
        if matches!(line, b"OK" | b"+OK") {
            return Ok(());
        }
        let (mut asker, arguments) = prefix(line).ok_or(MALFORMED)?;
        let mut arguments = Arguments::new(arguments);
        let name = arguments.next().ok_or(MALFORMED)??;
        let command = Command::named(&name);
        // All of a line is looked at, so that one that is cut is not taken for a shorter one.
        let count = arguments.clone().try_fold(0, |count, argument| argument.map(|_| count + 1))?;
        if command == Command::Other {
            out.problems.unused += 1;
            return Ok(());
        }
        if count < command.arguments_min() || command == Command::SetMany && count % 2 == 1 {
            return Err(TOO_FEW);
        }
        asker.object = out.objects.number(format!("database {}", asker.database).as_bytes());
        self.command(command, asker, arguments, out)
    }

    fn command(
        &mut self,
        command: Command,
        asker: Asker,
        mut arguments: Arguments,
        out: &mut Batch,
    ) -> Result<(), Fault> {
        let Self(keys) = self;
        if let Command::Flush { is_all } = command {
            keys.flush(asker, is_all, out);
            return Ok(());
        }
        let name = arguments.next().ok_or(TOO_FEW)??;
        let mut next = || arguments.next().ok_or(TOO_FEW)?;
        match command {
            Command::Get => keys.read(asker, &name, out),
            Command::Update => keys.resize(asker, &name, |old| old, out),
            Command::Set => {
                let value = next()?;
                keys.set(asker, &name, value.bytes(), arguments, out)?;
            }
            Command::SetEx(unit) => {
                let left_ns = unit.left_ns(asker.time_ns, &next()?)?;
                keys.store(asker, &name, next()?.bytes(), Some(left_ns), out);
            }
            Command::SetNew => keys.set_new(asker, &name, next()?.bytes(), out),
            Command::Append => {
                let more = next()?.bytes();
                keys.resize(asker, &name, |old| Some(old.unwrap_or(0).saturating_add(more)), out);
            }
            Command::SetRange => {
                let (offset, value) = (next()?, next()?);
                let offset = offset.number().and_then(|number| u64::try_from(number).ok());
                let offset = offset.ok_or(Fault::malformed("an offset in whole numbers"))?;
                let end = offset.saturating_add(value.bytes());
                keys.resize(asker, &name, |old| Some(old.unwrap_or(0).max(end)), out);
            }
            Command::Expire(unit) => {
                let left_ns = unit.left_ns(asker.time_ns, &next()?)?;
                keys.expire(asker, &name, left_ns, arguments, out)?;
            }
            Command::Persist => keys.persist(asker, &name, out),
            Command::GetEx => keys.get_ex(asker, &name, arguments, out)?,
            Command::GetDelete => {
                keys.read(asker, &name, out);
                keys.delete(asker, &name, out);
            }
            Command::Rename => keys.rename(asker, &name, &next()?, out),
            Command::SetMany => {
                keys.store(asker, &name, next()?.bytes(), None, out);
                while let Some(name) = arguments.next().transpose()? {
                    let value = arguments.next().ok_or(TOO_FEW)??;
                    keys.store(asker, &name, value.bytes(), None, out);
                }
            }
            Command::GetMany | Command::Delete => {
                let each: fn(&mut Keyspace, Asker, &Argument, &mut Batch) =
                    if command == Command::Delete { Keyspace::delete } else { Keyspace::read };
                each(keys, asker, &name, out);
                while let Some(name) = arguments.next().transpose()? {
                    each(keys, asker, &name, out);
                }
            }
            Command::Flush { .. } | Command::Other => {}
        }
        Ok(())
    }
}

impl Parser for Redis {
    fn parse(&mut self, bytes: &[u8], end: bool, out: &mut Batch) -> usize {
        self.0.pour(out);
        let taken = each_line(bytes, end, out, |line, out| self.line(line, out));
        out.held_bytes = self.0.held_bytes();
        taken
    }

    fn goes_on(&self) -> Option<&'static str> {
        Some("redisMonitor")
    }
}

fn looks(head: Head) -> Likeness {
    trial::shapes(head, |line| matches!(line, b"OK" | b"+OK") || prefix(line).is_some())
}
