//! strace: system calls as `strace -f -y` tells them.
//!
//! A text of one call a line, `1234 read(3</path>, "..."..., 4096) = 4096`, with or without a process
//! (also `[pid 1234]`), and with or without times (-t, -tt, -ttt: as they stand, a time of day from
//! midnight). Calls that are interrupted by others are put together again. Used: read, write and their
//! kin, with the bytes that they say they moved, sendfile, splice and `copy_file_range`; ftruncate and
//! holes as discards; fsync and fdatasync as flushes. The offset of a call without one is followed
//! through open, lseek, dup, close and fork; a descriptor from before the trace begins at 0. What
//! comes through a mapping is not in such a trace. Pipes, sockets, terminals, /proc and /sys are left
//! out, and what failed or moved nothing.
//! Unit: bytes; the object is the file. Source: strace 6.1 and its manual page.

mod call;
mod files;

use std::collections::HashMap;

use self::call::Call;
use self::files::Files;
use super::batch::{Batch, Fault, range};
use super::fields::each_line;
use super::hash::Hashes;
use super::parameters::{ParameterError, Parameters};
use super::table::{Format, Head, Likeness, Made, Parser, Reading};
use super::trial;
use crate::trace::request::{Op, Request, Unit};

pub(super) const ROW: Format = Format {
    name: "strace",
    summary: "strace -f -y of a command; -ttt for times",
    unit: Unit::Bytes,
    source: "manual page of strace 6.1",
    suffixes: &[".strace"],
    parameters: "",
    looks,
    reading: Reading::Stream(make),
    is_merged: false,
};

#[derive(Default)]
struct Strace {
    files: Files,
    /// By task, the beginning of the call that it is in.
    unfinished: HashMap<u32, Vec<u8>, Hashes>,
}

fn make(parameters: &Parameters, _head: Head) -> Result<Made, ParameterError> {
    parameters.only(&[])?;
    Ok(Made::bytes(Strace::default()))
}

/// Who and when; and what follows.
struct Prefix<'a> {
    task: u32,
    time_ns: i64,
    rest: &'a [u8],
}

fn prefix(line: &[u8]) -> Prefix<'_> {
    let mut prefix = Prefix { task: 0, time_ns: 0, rest: line.trim_ascii_start() };
    // A process and a time at most, and `[pid` is a word of its own.
    for _ in 0..3 {
        let end = prefix.rest.iter().position(|byte| *byte == b' ').unwrap_or(0);
        let (word, rest) = prefix.rest.split_at(end);
        let bare = word.strip_suffix(b"]").unwrap_or(word);
        if word == b"[pid" {
        } else if let Some(task) = super::fields::number(bare) {
            prefix.task = u32::try_from(task).unwrap_or(u32::MAX);
        } else if let Some(time_ns) = call::time_ns(word) {
            prefix.time_ns = time_ns;
        } else {
            break;
        }
        prefix.rest = rest.trim_ascii_start();
    }
    prefix
}

impl Strace {
    fn line(&mut self, line: &[u8], out: &mut Batch) -> Result<(), Fault> {
        let Prefix { task, time_ns, rest } = prefix(line);
        if rest.starts_with(b"+++") {
            self.files.exit(task);
            self.unfinished.remove(&task);
            return Ok(());
        }
        if rest.starts_with(b"---") || rest.starts_with(b"strace: ") {
            return Ok(());
        }
        if let Some(begun) = rest.trim_ascii_end().strip_suffix(b"<unfinished ...>") {
            self.files.begin(task, begun);
            self.unfinished.insert(task, begun.to_owned());
            return Ok(());
        }
        if let Some(resumed) = rest.strip_prefix(b"<... ") {
            let at = memchr::memchr(b'>', resumed)
                .ok_or(Fault::malformed("`<... CALL resumed>` and the rest of the call"))?;
            // The beginning was before the trace.
            let Some(mut whole) = self.unfinished.remove(&task) else {
                return Ok(());
            };
            whole.extend_from_slice(&resumed[at + 1..]);
            return self.call(&whole, task, time_ns, out);
        }
        self.call(rest, task, time_ns, out)
    }

    fn call(&mut self, text: &[u8], task: u32, time_ns: i64, out: &mut Batch) -> Result<(), Fault> {
        let call = Call::parse(text).ok_or(Fault::malformed("CALL(ARGUMENTS) = RESULT"))?;
        let Some(result) = call.result() else {
            return Ok(());
        };
        for moved in self.files.apply(task, &call, result)?.into_iter().flatten() {
            let (offset, length_bytes) = range(moved.offset, moved.length_bytes)?;
            if length_bytes == 0 && moved.op != Op::Flush {
                continue;
            }
            let (object, op) = (out.objects.number(self.files.path(moved.object)), moved.op);
            out.requests.push(Request {
                time_ns,
                object,
                task,
                ..Request::new(op, offset, length_bytes)
            });
        }
        Ok(())
    }
}

impl Parser for Strace {
    fn parse(&mut self, bytes: &[u8], end: bool, out: &mut Batch) -> usize {
        each_line(bytes, end, out, |line, out| self.line(line, out))
    }
}

fn looks(head: Head) -> Likeness {
    let Some(first) = trial::first_line(head) else {
        return Likeness::No;
    };
    let is_call = Call::parse(prefix(first).rest).is_some();
    let is_begun = first.ends_with(b"<unfinished ...>");
    // A trace may begin with calls that ask no file, so requests are not waited for.
    let lines = head.bytes.split(|byte| *byte == b'\n').take(20);
    let calls = lines.filter(|line| Call::parse(prefix(line).rest).is_some()).count();
    if (is_call || is_begun) && calls >= 1 { Likeness::Certain } else { Likeness::No }
}
