//! Mappings: single bytes, copies of blocks, or sums as fast as the compiler can make them.
//!
//! The file is mapped when a pass starts and unmapped when it ends. So the faults belong to the
//! pass, as in the course's programs. If the mapping stayed, only the first pass would have faults.

use std::fs::File;
use std::hint::black_box;
use std::io;
use std::ops::Range;

use crate::sys::mapping::{Advice, Mapping};

use super::aligned::Aligned;
use super::data::Data;
use super::pass::Pass;
use super::pattern::{Direction, Operation, Pattern, whole};
use super::steps::{Step, Steps};
use super::{Error, Moved, Path, Request};

/// Uses volatile loads and stores for bytes, and copies for blocks.
pub(super) fn open(request: &Request<'_>, advice: Advice) -> Result<Box<dyn Path>, Error> {
    let Pattern { direction, block_bytes, .. } = request.pattern;
    let (mapped, longest) = (Mapped::of(request, advice)?, request.pattern.longest_bytes());
    match (direction, block_bytes) {
        (Direction::Read, 1) => Steps::open(request, Loads(mapped)),
        (Direction::Read, _) => Steps::open(request, Copies(mapped, Aligned::new(longest))),
        (Direction::Write, 1) => Steps::open(request, Stores(mapped, Data::new(longest))),
        (Direction::Write, _) => Steps::open(request, Pastes(mapped, Data::new(longest))),
    }
}

/// Sums all bytes, which the compiler may vectorise.
pub(super) fn open_sum(request: &Request<'_>) -> Result<Box<dyn Path>, Error> {
    let mapped = Mapped::of(request, Advice::Normal)?;
    if request.pattern.block_bytes == 1 && !request.pattern.seeks() {
        return Ok(Box::new(Whole { pass: Pass::of(request)?, mapped }));
    }
    Steps::open(request, Sums(mapped))
}

/// A file, and its mapping during a pass.
#[derive(Debug)]
struct Mapped {
    file: File,
    mapping: Mapping,
    writes: bool,
    advice: Advice,
    pattern: Pattern,
    grows: bool,
}

impl Mapped {
    fn of(request: &Request<'_>, advice: Advice) -> Result<Self, Error> {
        let Request { pattern, grows, .. } = *request;
        let writes = pattern.direction == Direction::Write;
        let file = File::options().read(true).write(writes).open(request.file)?;
        Ok(Self { file, mapping: Mapping::empty(), writes, advice, pattern, grows })
    }

    fn begin(&mut self) -> io::Result<()> {
        // Unmaps the old one first, because a program would not have two.
        self.mapping = Mapping::empty();
        let mut length = self.pattern.size_bytes;
        if self.writes && self.grows {
            length = self.pattern.end_bytes();
            // A mapping cannot be longer than its file.
            self.file.set_len(length)?;
        }
        let length = whole(length);
        self.mapping = Mapping::new(&self.file, length, self.writes, self.advice).map_err(
            |error| match error.raw_os_error() {
                Some(libc::EINVAL) => io::Error::new(error.kind(), NOT_KNOWN),
                _ => error,
            },
        )?;
        Ok(())
    }

    fn end(&mut self) {
        self.mapping = Mapping::empty();
    }
}

const NOT_KNOWN: &str = "this kernel or file system does not map a file so; take the path `mmap`";

struct Loads(Mapped);
struct Copies(Mapped, Aligned);
struct Sums(Mapped);
struct Stores(Mapped, Data);
struct Pastes(Mapped, Data);

impl Step for Loads {
    const IS_BYTE: bool = true;

    fn begin(&mut self) -> io::Result<()> {
        self.0.begin()
    }

    #[inline]
    fn step(&mut self, operation: Operation) -> io::Result<u8> {
        Ok(self.0.mapping.load(whole(operation.offset_bytes)))
    }

    fn end(&mut self) -> io::Result<()> {
        self.0.end();
        Ok(())
    }
}

impl Step for Copies {
    fn begin(&mut self) -> io::Result<()> {
        self.0.begin()
    }

    #[inline]
    fn step(&mut self, operation: Operation) -> io::Result<u8> {
        let buffer = &mut self.1.bytes_mut()[..operation.length_bytes];
        self.0.mapping.copy_to(whole(operation.offset_bytes), buffer);
        // The optimiser must assume that all bytes are used, so that it copies them all.
        Ok(black_box(buffer)[0])
    }

    fn end(&mut self) -> io::Result<()> {
        self.0.end();
        Ok(())
    }
}

impl Step for Sums {
    fn begin(&mut self) -> io::Result<()> {
        self.0.begin()
    }

    #[inline]
    fn step(&mut self, operation: Operation) -> io::Result<u8> {
        let offset = whole(operation.offset_bytes);
        black_box(self.0.mapping.sum(offset, operation.length_bytes));
        Ok(self.0.mapping.load(offset))
    }

    fn end(&mut self) -> io::Result<()> {
        self.0.end();
        Ok(())
    }
}

impl Step for Stores {
    const IS_BYTE: bool = true;

    fn begin(&mut self) -> io::Result<()> {
        self.0.begin()
    }

    #[inline]
    fn step(&mut self, operation: Operation) -> io::Result<u8> {
        let byte = self.1.at(operation.offset_bytes, 1)[0];
        self.0.mapping.store(whole(operation.offset_bytes), byte);
        Ok(byte)
    }

    fn end(&mut self) -> io::Result<()> {
        self.0.end();
        Ok(())
    }
}

impl Step for Pastes {
    fn begin(&mut self) -> io::Result<()> {
        self.0.begin()
    }

    #[inline]
    fn step(&mut self, operation: Operation) -> io::Result<u8> {
        let data = self.1.at(operation.offset_bytes, operation.length_bytes);
        self.0.mapping.copy_from(whole(operation.offset_bytes), data);
        Ok(data[0])
    }

    fn end(&mut self) -> io::Result<()> {
        self.0.end();
        Ok(())
    }
}

/// Bytes in sequence, summed a whole slice at a time.
#[derive(Debug)]
struct Whole {
    pass: Pass,
    mapped: Mapped,
}

impl Path for Whole {
    fn run(&mut self, operations: Range<u64>) -> io::Result<Moved> {
        let operations = self.pass.clip(operations);
        if self.pass.begins(&operations)? {
            self.mapped.begin()?;
        }
        let count = operations.end - operations.start;
        let sum = self.mapped.mapping.sum(whole(operations.start), whole(count));
        if self.pass.ends(&operations) {
            self.mapped.end();
        }
        Ok(Moved { operations: count, bytes: count, sum })
    }
}
