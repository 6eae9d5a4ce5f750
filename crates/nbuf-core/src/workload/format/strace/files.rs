//! Which file a descriptor is of, and where it stands in it.

use super::super::batch::Fault;
use super::super::objects::Objects;
use super::call::{Call, Descriptor};
use super::tables::{Map, Tables};
use crate::trace::request::Op;

/// A range that a call moved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moved {
    /// The number of the path.
    pub(super) object: u32,
    pub(super) offset: u64,
    pub(super) length_bytes: u64,
    pub(super) op: Op,
}

/// An open file: descriptors that were duplicated or inherited share one.
#[derive(Clone, Debug, Default)]
struct Open {
    offset: u64,
    is_append: bool,
    path: Vec<u8>,
    /// The number of the path, if the page cache keeps what is there.
    object: Option<u32>,
}

/// What is open in all processes.
#[derive(Debug, Default)]
pub(super) struct Files {
    opened: Vec<Open>,
    tables: Tables,
    /// Paths that were opened, by number; most traces read few of them.
    paths: Objects,
    /// By number of a path, its number among the objects of the trace, once it has one.
    numbers: Vec<Option<u32>>,
    /// Sizes of files, by the number of their path, as far as they are known.
    sizes: Map<u32, u64>,
}

/// At most one range read and one written.
type Ranges = [Option<Moved>; 2];

/// Whether a path is of something that the page cache keeps.
fn is_kept(path: &[u8]) -> bool {
    const NOT: [&[u8]; 10] = [
        b"/proc/",
        b"/sys/",
        b"/dev/null",
        b"/dev/zero",
        b"/dev/full",
        b"/dev/tty",
        b"/dev/pts",
        b"/dev/random",
        b"/dev/urandom",
        b"/dev/console",
    ];
    const KINDS: [&[u8]; 4] = [b"pipe:", b"socket:", b"anon_inode:", b"UNIX"];
    let begins = |with: &[&[u8]]| with.iter().any(|with| path.starts_with(with));
    !path.is_empty() && !begins(&NOT) && !begins(&KINDS)
}

impl Files {
    /// A call has begun and not returned: a child may be seen before its parent knows it.
    pub(super) fn begin(&mut self, task: u32, begun: &[u8]) {
        let forks = [&b"clone"[..], b"fork", b"vfork"];
        if forks.iter().any(|fork| begun.starts_with(fork)) {
            self.tables.begin_fork(task);
        }
    }

    /// The number of a path among the objects of a trace, which must be the same for all calls.
    #[inline]
    pub(super) fn number_in(&mut self, path: u32, objects: &mut Objects) -> u32 {
        let at = path as usize;
        if let Some(Some(number)) = self.numbers.get(at) {
            return *number;
        }
        let name = self.paths.names().get(at).map_or(&b""[..], |path| path.as_bytes());
        let number = objects.number(name);
        if self.numbers.len() <= at {
            self.numbers.resize(at + 1, None);
        }
        self.numbers[at] = Some(number);
        number
    }

    /// A task is gone.
    pub(super) fn exit(&mut self, task: u32) {
        self.tables.exit(task);
    }

    /// What a call that returned `result` moved.
    pub(super) fn apply(&mut self, task: u32, call: &Call, result: u64) -> Result<Ranges, Fault> {
        let one = |moved: Option<Moved>| Ok([moved, None]);
        match call.name {
            b"open" | b"openat" | b"openat2" | b"creat" => one(self.open(task, call)),
            b"close" => {
                self.tables.remove(task, call.descriptor(0).map(|descriptor| descriptor.number));
                one(None)
            }
            b"dup" | b"dup2" | b"dup3" => self.duplicate(task, call),
            b"fcntl" if call.has("F_DUPFD") || call.has("F_DUPFD_CLOEXEC") => {
                self.duplicate(task, call)
            }
            b"read" | b"readv" => {
                one(self.transfer(task, call.descriptor(0), None, result, Op::Read))
            }
            b"write" | b"writev" => {
                one(self.transfer(task, call.descriptor(0), None, result, Op::Write))
            }
            b"pread64" | b"pread" | b"preadv" | b"preadv2" => {
                one(self.transfer(task, call.descriptor(0), call.number(3), result, Op::Read))
            }
            b"pwrite64" | b"pwrite" | b"pwritev" | b"pwritev2" => {
                one(self.transfer(task, call.descriptor(0), call.number(3), result, Op::Write))
            }
            b"sendfile" | b"sendfile64" => {
                one(self.transfer(task, call.descriptor(1), call.number(2), result, Op::Read))
            }
            b"copy_file_range" | b"splice" => Ok([
                self.transfer(task, call.descriptor(0), call.number(1), result, Op::Read),
                self.transfer(task, call.descriptor(2), call.number(3), result, Op::Write),
            ]),
            b"lseek" => {
                if let Some(open) = self.find(task, call.descriptor(0)) {
                    self.opened[open].offset = result;
                }
                one(None)
            }
            b"ftruncate" | b"ftruncate64" => one(self.truncate(task, call)),
            b"fallocate" if call.has("FALLOC_FL_PUNCH_HOLE") => {
                let place = call.number(2).zip(call.number(3));
                let object = self.object(task, call.descriptor(0));
                one(object.zip(place).map(|(object, (offset, length_bytes))| Moved {
                    object,
                    offset,
                    length_bytes,
                    op: Op::Discard,
                }))
            }
            b"fsync" | b"fdatasync" => {
                let object = self.object(task, call.descriptor(0));
                let flush = |object| Moved { object, offset: 0, length_bytes: 0, op: Op::Flush };
                one(object.map(flush))
            }
            b"fstat" | b"fstat64" | b"newfstatat" | b"statx" => {
                self.learn_size(task, call);
                one(None)
            }
            b"clone" | b"clone3" | b"fork" | b"vfork" => {
                let child = u32::try_from(result).map_err(|_| Fault::malformed("a process id"))?;
                self.tables.fork(task, child, call.has("CLONE_FILES"));
                one(None)
            }
            _ => one(None),
        }
    }

    /// The open file of a descriptor; one from before the trace is taken to stand at 0.
    fn find(&mut self, task: u32, descriptor: Option<Descriptor>) -> Option<usize> {
        let Descriptor { number, path } = descriptor?;
        // With another path, a call that was not seen has opened the number again.
        if let Some(open) = self.tables.get(task, number)
            && path.is_none_or(|path| path == self.opened[open].path)
        {
            return Some(open);
        }
        let (path, object) = (path?.to_owned(), self.number(path?));
        self.opened.push(Open { path, object, ..Open::default() });
        self.tables.insert(task, number, self.opened.len() - 1);
        Some(self.opened.len() - 1)
    }

    /// The number of a path, if the page cache keeps what is there.
    fn number(&mut self, path: &[u8]) -> Option<u32> {
        is_kept(path).then(|| self.paths.number(path))
    }

    fn object(&mut self, task: u32, descriptor: Option<Descriptor>) -> Option<u32> {
        let open = self.find(task, descriptor)?;
        self.opened[open].object
    }

    fn open(&mut self, task: u32, call: &Call) -> Option<Moved> {
        let Descriptor { number, path } = call.returned()?;
        let named = usize::from(call.name.starts_with(b"openat"));
        let path = path.or_else(|| call.quoted(named))?.to_owned();
        let is_append = call.has("O_APPEND");
        let object = self.number(&path);
        self.opened.push(Open { offset: 0, is_append, path, object });
        self.tables.insert(task, number, self.opened.len() - 1);
        let is_cut = call.has("O_TRUNC") || call.name == b"creat";
        let length_bytes = self.sizes.insert(object.filter(|_| is_cut)?, 0)?;
        Some(Moved { object: object?, offset: 0, length_bytes, op: Op::Discard })
    }

    fn duplicate(&mut self, task: u32, call: &Call) -> Result<Ranges, Fault> {
        if let Some(open) = self.find(task, call.descriptor(0)) {
            let wanted = Fault::malformed("a descriptor as the result");
            self.tables.insert(task, call.returned().ok_or(wanted)?.number, open);
        }
        Ok([None, None])
    }

    fn truncate(&mut self, task: u32, call: &Call) -> Option<Moved> {
        let object = self.object(task, call.descriptor(0))?;
        let offset = call.number(1)?;
        let length_bytes = self.sizes.insert(object, offset)?.checked_sub(offset)?;
        Some(Moved { object, offset, length_bytes, op: Op::Discard })
    }

    /// What a structure says of a descriptor's file.
    fn learn_size(&mut self, task: u32, call: &Call) {
        let is_of_descriptor = call.name.starts_with(b"fstat") || call.quoted(1) == Some(b"");
        let descriptor = call.descriptor(0).filter(|_| is_of_descriptor);
        if let (Some(size), Some(object)) = (call.size(), self.object(task, descriptor)) {
            self.sizes.insert(object, size);
        }
    }

    /// A call that moved `length_bytes` at `offset`, or where the descriptor stands.
    #[inline]
    pub(super) fn transfer(
        &mut self,
        task: u32,
        descriptor: Option<Descriptor>,
        offset: Option<u64>,
        length_bytes: u64,
        op: Op,
    ) -> Option<Moved> {
        let open = self.find(task, descriptor)?;
        let object = self.opened[open].object?;
        // Reads do not need it.
        let size = (op == Op::Write).then(|| self.sizes.get(&object).copied()).flatten();
        let file = &mut self.opened[open];
        let start = match offset {
            Some(offset) => offset,
            None if file.is_append && op == Op::Write => size.unwrap_or(file.offset),
            None => file.offset,
        };
        let end = start.saturating_add(length_bytes);
        if offset.is_none() {
            file.offset = end;
        }
        if op == Op::Write {
            self.sizes.insert(object, size.unwrap_or(0).max(end));
        }
        Some(Moved { object, offset: start, length_bytes, op })
    }
}
