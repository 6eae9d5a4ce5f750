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
mod prefix;
mod tables;
mod transfer;

use std::collections::HashMap;

use self::call::Call;
use self::files::{Files, Moved};
use self::prefix::Prefix;
use self::transfer::Transfer;
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

/// What a call ends with that has not returned.
const UNFINISHED: &[u8] = b"<unfinished ...>";

impl Strace {
    fn line(&mut self, line: &[u8], out: &mut Batch) -> Result<(), Fault> {
        let Prefix { task, time_ns, rest } = Prefix::parse(line);
        if let Some(transfer) = Transfer::parse(rest) {
            return self.transfer(transfer, task, time_ns, out);
        }
        self.event(rest, task, time_ns, out)
    }

    /// A line without its prefix, of any kind.
    fn event(
        &mut self,
        rest: &[u8],
        task: u32,
        time_ns: i64,
        out: &mut Batch,
    ) -> Result<(), Fault> {
        if rest.starts_with(b"+++") {
            self.files.exit(task);
            self.unfinished.remove(&task);
            return Ok(());
        }
        if rest.starts_with(b"---") || rest.starts_with(b"strace: ") {
            return Ok(());
        }
        if let Some(begun) = rest.trim_ascii_end().strip_suffix(UNFINISHED) {
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
            self.push(moved, task, time_ns, out)?;
        }
        Ok(())
    }

    fn transfer(
        &mut self,
        transfer: Transfer,
        task: u32,
        time_ns: i64,
        out: &mut Batch,
    ) -> Result<(), Fault> {
        let Transfer { op, descriptor, offset, result } = transfer;
        let moved = result.and_then(|length_bytes| {
            self.files.transfer(task, Some(descriptor), offset, length_bytes, op)
        });
        moved.map_or(Ok(()), |moved| self.push(moved, task, time_ns, out))
    }

    #[inline]
    fn push(
        &mut self,
        moved: Moved,
        task: u32,
        time_ns: i64,
        out: &mut Batch,
    ) -> Result<(), Fault> {
        let (offset, length_bytes) = range(moved.offset, moved.length_bytes)?;
        if length_bytes == 0 && moved.op != Op::Flush {
            return Ok(());
        }
        let object = self.files.number_in(moved.object, &mut out.objects);
        let request = Request::new(moved.op, offset, length_bytes);
        out.requests.push(Request { time_ns, object, task, ..request });
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
    let is_call = Call::parse(Prefix::parse(first).rest).is_some();
    let is_begun = first.ends_with(UNFINISHED);
    // A trace may begin with calls that ask no file, so requests are not waited for.
    let lines = head.bytes.split(|byte| *byte == b'\n').take(20);
    let calls = lines.filter(|line| Call::parse(Prefix::parse(line).rest).is_some()).count();
    if (is_call || is_begun) && calls >= 1 { Likeness::Certain } else { Likeness::No }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::{Index, select};

    use super::super::tests::lines::{changed, read};
    use super::*;

    /// A call that moves bytes or changes where the next one does, as strace writes it with various options.
    fn call() -> impl Strategy<Value = String> {
        let name =
            select(vec!["read", "write", "pread64", "pwrite64", "pread64", "readv", "pread"]);
        let path =
            select(vec!["</a>", "</a>", "", "</b, (c)>", "<pipe:[7]>", "</dev/sda<block 8:0>>"]);
        let buffer = select(vec![
            "\"x\"",
            "\"\\\"), \\\\\"...",
            "0x7f",
            "\"\"",
            "\"a text of more than 16 bytes\\n\"...",
        ]);
        let number = || prop_oneof![0..100_000_u64, any::<u64>()];
        let place =
            prop_oneof![Just(String::new()), number().prop_map(|offset| format!(", {offset}"))];
        let result = select(vec![
            ") = N",
            ") = N",
            ")       = N",
            ") = -1 EBADF (Bad file descriptor)",
            ") = ?",
            ") = N <0.000012>",
            ") = 0x10",
            " <unfinished ...>",
            ") = N <unfinished ...>",
            ") = -1 <unfinished ...>",
        ]);
        (name, 0..4_u32, path, buffer, number(), place, result, number()).prop_map(
            |(name, number, path, buffer, count, place, result, moved)| {
                let result = result.replace('N', &moved.to_string());
                format!("{name}({number}{path}, {buffer}, {count}{place}{result}")
            },
        )
    }

    fn line() -> impl Strategy<Value = String> {
        let prefix = select(vec![
            "697 1.000001 ",
            "697 1.000001 ",
            "[pid   8] ",
            "",
            "697  01:02:03.5 ",
            "8 2. ",
            "99999999999999999999 ",
        ]);
        let other = select(vec![
            "openat(AT_FDCWD</>, \"a\", O_RDWR|O_APPEND) = 1</a>",
            "openat(AT_FDCWD, \"b\", O_WRONLY|O_TRUNC) = 2",
            "close(1</a>) = 0",
            "lseek(1</a>, 4096, SEEK_SET) = 4096",
            "dup2(1</a>, 2) = 2</a>",
            "clone(flags=CLONE_FILES) = 8",
            "fork( <unfinished ...>",
            "<... fork resumed>) = 8",
            "<... read resumed>\"x\", 1) = 1",
            "+++ exited with 0 +++",
            "--- SIGCHLD ---",
            "fstat(1</a>, {st_size=77}) = 0",
            "ftruncate(1</a>, 5) = 0",
        ]);
        let event = prop_oneof![3 => call(), 1 => other.prop_map(str::to_owned)];
        let end = select(vec!["\n", "\n", "\n", "\r\n", " \n"]);
        (prefix, event, end).prop_map(|(prefix, event, end)| format!("{prefix}{event}{end}"))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn the_quick_way_changes_nothing(input in changed(line()), cut in any::<Index>()) {
            let (mut quick, mut general) = (Strace::default(), Strace::default());
            let found = read(&input, cut, |bytes, end, out| quick.parse(bytes, end, out));
            let want = read(&input, cut, |bytes, end, out| {
                each_line(bytes, end, out, |line, out| {
                    let Prefix { task, time_ns, rest } = Prefix::parse_words(line);
                    general.event(rest, task, time_ns, out)
                })
            });
            prop_assert_eq!(found, want);
        }
    }
}
