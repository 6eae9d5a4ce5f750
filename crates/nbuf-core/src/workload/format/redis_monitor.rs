//! Redis MONITOR: the commands that a server ran, as `redis-cli monitor` prints them.
//!
//! `1795638601.250000 [0 127.0.0.1:60866] "SET" "user:1" "..."`: a time, the database, the client, and the arguments
//! with escapes. From a raw connection a line begins with `+`. The key is the argument without its escapes, and
//! another one in each database. The length is key and value, or with `size=value` the value alone; a command that states
//! no value has the last size of its key. No size is known of hashes, lists, sets and streams. A write with a time (SET with
//! EX, SETEX, EXPIRE) states a lifetime, and one that takes it away 68 years. EXPIRE and GETEX with a time are writes of the
//! same size; RENAME deletes and writes; FLUSHDB and FLUSHALL delete every key that the log has. Left out are commands that
//! ask for no value (PING, TTL, EXISTS, EVAL; those of a script have lines of their own), that Redis refuses for their
//! arguments, or that do nothing by what the log has of their keys.
//! Unit: keys; the object is the database, the task the port of the client. Source: Redis 7.0, `replicationFeedMonitors`.

mod argument;
mod between;
mod command;
mod keyspace;
mod options;

use self::argument::Arguments;
use self::between::next;
use self::command::{Command, Refused};
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
        if count < command.arguments_min() {
            return Err(TOO_FEW);
        }
        asker.object = Asker::number_of(asker.database, out);
        // Redis logs what it refuses for its arguments too.
        if self.command(command, asker, arguments, out).is_err() {
            out.problems.unused += 1;
        }
        Ok(())
    }

    fn command(
        &mut self,
        command: Command,
        asker: Asker,
        mut arguments: Arguments,
        out: &mut Batch,
    ) -> Result<(), Refused> {
        let Self(keys) = self;
        match command {
            Command::Look(which) => keys.look(asker, which, arguments, out),
            Command::SetMany { is_new } => keys.set_many(asker, is_new, arguments, out),
            Command::Delete => {
                arguments.flatten().for_each(|name| keys.delete(asker, &name, out));
                Ok(())
            }
            Command::Flush { is_all } => {
                keys.flush(asker, is_all, out);
                Ok(())
            }
            Command::Pop { before, keys: which } => {
                (0..before).try_for_each(|_| next(&mut arguments).map(drop))?;
                keys.pop(asker, which, arguments, out)
            }
            Command::Store { before, keys: which } => {
                (0..before).try_for_each(|_| next(&mut arguments).map(drop))?;
                keys.make(asker, which, arguments, out)
            }
            Command::Other => Ok(()),
            _ => self.of_one_key(command, asker, arguments, out),
        }
    }

    /// A command whose first argument is the key.
    fn of_one_key(
        &mut self,
        command: Command,
        asker: Asker,
        mut arguments: Arguments,
        out: &mut Batch,
    ) -> Result<(), Refused> {
        let Self(keys) = self;
        let name = next(&mut arguments)?;
        match command {
            Command::Update => keys.resize(asker, &name, |old| old, out),
            Command::Change => keys.change(asker, &name, out),
            Command::Take => keys.take(asker, &name, out),
            Command::Set => {
                let bytes = next(&mut arguments)?.bytes();
                keys.set(asker, &name, bytes, arguments, out)?;
            }
            Command::SetEx(unit) => {
                let left_ns = unit.left_of_value_ns(asker.time_ns, &next(&mut arguments)?)?;
                keys.store(asker, &name, next(&mut arguments)?.bytes(), Some(left_ns), out);
            }
            Command::SetNew => keys.set_new(asker, &name, next(&mut arguments)?.bytes(), out),
            Command::Append => {
                let more = next(&mut arguments)?.bytes();
                keys.resize(asker, &name, |old| Some(old.unwrap_or(0).saturating_add(more)), out);
            }
            Command::SetRange => {
                let (offset, value) = (next(&mut arguments)?, next(&mut arguments)?);
                let offset = offset.number().and_then(|number| u64::try_from(number).ok());
                let end = offset.ok_or(Refused)?.saturating_add(value.bytes());
                // Nothing to write makes no key.
                if value.bytes() == 0 {
                    return Err(Refused);
                }
                keys.resize(asker, &name, |old| Some(old.unwrap_or(0).max(end)), out);
            }
            Command::Expire(unit) => {
                let left_ns = unit.left_ns(asker.time_ns, &next(&mut arguments)?)?;
                keys.expire(asker, &name, left_ns, arguments, out)?;
            }
            Command::Persist => keys.persist(asker, &name, out),
            Command::GetEx => keys.get_ex(asker, &name, arguments, out)?,
            Command::GetDelete => {
                keys.read(asker, &name, out);
                keys.delete(asker, &name, out);
            }
            Command::Rename { is_new } => {
                keys.rename(asker, (&name, &next(&mut arguments)?), is_new, out);
            }
            Command::MovePart => keys.move_part(asker, &name, &next(&mut arguments)?, out),
            Command::Copy => {
                let to = next(&mut arguments)?;
                keys.copy(asker, (&name, &to), arguments, out)?;
            }
            Command::MoveKey => keys.move_key(asker, &name, &next(&mut arguments)?, out)?,
            Command::LookAndStore => keys.look_and_store(asker, &name, arguments, out)?,
            _ => {}
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
