//! The course's programs with options: one loop for all tests, which checks every option for every
//! operation.
//!
//! It decides at run time what a fixed loop decides at compile time: calls, streams or a mapping;
//! read or write; strides or not. The block length is a variable, so that a byte goes through
//! `fread` or a copy of one byte. This row shows the cost of such programs; the other rows show the
//! cost of the calls.

use std::fs::File;
use std::hint::black_box;
use std::io;
use std::ops::Range;

use crate::sys::calls;
use crate::sys::mapping::{Advice, Mapping};
use crate::sys::stdio::Stream;

use super::aligned::Aligned;
use super::call::{ended, rest, rest_of};
use super::data::Data;
use super::pass::Pass;
use super::pattern::{Direction, Order, Pattern, whole};
use super::standard::failed;
use super::{Error, Moved, Path, Request};

/// The interface that moves the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Means {
    /// `read`, `write` and `lseek`.
    Calls,
    /// `fread`, `fwrite` and `fseek`.
    Streams,
    /// Copies from a mapping, for reading only.
    Mapping,
}

/// The open file, by interface.
#[derive(Debug)]
enum Handle {
    File(File),
    Stream(Stream),
    Mapping(File, Mapping),
}

/// The loop's state between two operations.
#[derive(Debug)]
pub struct Loop {
    handle: Handle,
    pattern: Pattern,
    /// The stride; 0 means in sequence, without seeks.
    stride: u64,
    buffer: Aligned,
    data: Data,
    position: u64,
    /// The offset where this round of strides started.
    round_begin: u64,
    moved: u64,
}

impl Loop {
    /// Prepares a pattern, except a random one, on an open file. It moves no byte and maps nothing
    /// yet.
    pub fn new(file: File, pattern: Pattern, means: Means) -> Result<Self, Error> {
        pattern.check()?;
        let writes = pattern.direction == Direction::Write;
        let stride = match pattern.order {
            Order::Sequential => 0,
            Order::Strided { stride_bytes } => stride_bytes,
            Order::Random { .. } => return Err(wrong("it reads in sequence or with strides")),
        };
        let handle = match means {
            Means::Calls => Handle::File(file),
            Means::Streams => Handle::Stream(Stream::of(file, writes)?),
            Means::Mapping if writes => return Err(wrong("its mapping is for reading")),
            Means::Mapping => Handle::Mapping(file, Mapping::empty()),
        };
        let longest = pattern.longest_bytes();
        let (buffer, data) = if writes {
            (Aligned::new(0), Data::new(longest))
        } else {
            (Aligned::new(longest), Data::new(0))
        };
        let (position, round_begin, moved) = (0, 0, 0);
        Ok(Self { handle, pattern, stride, buffer, data, position, round_begin, moved })
    }

    /// The number of bytes moved so far.
    pub fn moved_bytes(&self) -> u64 {
        self.moved
    }

    /// Maps the file if the interface is a mapping.
    pub fn begin(&mut self) -> io::Result<()> {
        if let Handle::Mapping(file, mapping) = &mut self.handle {
            *mapping = Mapping::empty();
            *mapping = Mapping::new(file, whole(self.pattern.size_bytes), false, Advice::Normal)?;
        }
        Ok(())
    }

    /// Flushes a stream and unmaps.
    pub fn end(&mut self) -> io::Result<()> {
        match &mut self.handle {
            Handle::Stream(stream) if self.pattern.direction == Direction::Write => stream.flush(),
            Handle::Mapping(_, mapping) => {
                *mapping = Mapping::empty();
                Ok(())
            }
            Handle::File(_) | Handle::Stream(_) => Ok(()),
        }
    }

    /// Runs one operation and returns its first byte. Do not call it after the last operation.
    pub fn step(&mut self) -> io::Result<u8> {
        let (stride, block) = (self.stride, self.pattern.block_bytes);
        let length = if stride > block {
            let left = self.pattern.size_bytes - self.position;
            block.min(stride - self.round_begin).min(left)
        } else {
            block.min(self.pattern.size_bytes - self.moved)
        };
        if stride > 0 {
            self.seek()?;
        }
        let byte = match self.pattern.direction {
            Direction::Read => self.read(whole(length))?,
            Direction::Write => self.write(whole(length))?,
        };
        self.moved += length;
        if stride == 0 {
            self.position += length;
            return Ok(byte);
        }
        self.position += stride;
        if self.position >= self.pattern.size_bytes {
            self.round_begin += block;
            self.position = self.round_begin;
        }
        Ok(byte)
    }

    fn seek(&mut self) -> io::Result<()> {
        match &mut self.handle {
            Handle::File(file) => calls::seek(file, self.position)?,
            Handle::Stream(stream) => stream.seek(self.position)?,
            Handle::Mapping(..) => {}
        }
        Ok(())
    }

    fn read(&mut self, length: usize) -> io::Result<u8> {
        let buffer = &mut self.buffer.bytes_mut()[..length];
        match &mut self.handle {
            Handle::File(file) => {
                let done = calls::read(&*file, &mut *buffer)?;
                if done != length {
                    rest(buffer, done, |part, _| calls::read(&*file, part))?;
                }
            }
            Handle::Stream(stream) => {
                if stream.read(buffer) != length {
                    return Err(failed(stream));
                }
            }
            Handle::Mapping(_, mapping) => {
                mapping.copy_to(whole(self.position), buffer);
                black_box(&mut *buffer);
            }
        }
        Ok(buffer[0])
    }

    fn write(&mut self, length: usize) -> io::Result<u8> {
        let data = self.data.at(self.position, length);
        match &mut self.handle {
            Handle::File(file) => {
                let done = calls::write(&*file, data)?;
                if done != length {
                    rest_of(data, done, |part, _| calls::write(&*file, part))?;
                }
            }
            Handle::Stream(stream) => {
                if stream.write(data) != length {
                    return Err(failed(stream));
                }
            }
            Handle::Mapping(..) => return Err(ended()),
        }
        Ok(data[0])
    }

    /// Moves to the position of an operation.
    fn place(&mut self, number: u64) -> io::Result<()> {
        let mut position = 0;
        self.pattern.each(number..number + 1, |operation| {
            position = operation.offset_bytes;
            Ok::<(), io::Error>(())
        })?;
        self.position = position;
        self.round_begin = position.checked_rem(self.stride).unwrap_or(0);
        self.moved = number * self.pattern.block_bytes;
        if self.stride == 0 { self.seek() } else { Ok(()) }
    }
}

fn wrong(wants: &'static str) -> Error {
    Error::Order { path: "option-driven", wants }
}

/// The loop as a row of the table.
pub(super) fn open(request: &Request<'_>, means: Means) -> Result<Box<dyn Path>, Error> {
    let file = super::table::open_file(request)?;
    let steps = Loop::new(file, request.pattern, means)?;
    Ok(Box::new(Optioned { pass: Pass::of(request)?, steps }))
}

#[derive(Debug)]
struct Optioned {
    pass: Pass,
    steps: Loop,
}

impl Path for Optioned {
    fn run(&mut self, operations: Range<u64>) -> io::Result<Moved> {
        let operations = self.pass.clip(operations);
        if operations.start == 0 {
            self.rewind()?;
        }
        let begins = self.pass.begins(&operations)?;
        if begins {
            self.steps.begin()?;
        }
        let count = operations.end - operations.start;
        if (begins || !self.pass.continues(&operations)) && count > 0 {
            self.steps.place(operations.start)?;
        }
        let before = self.steps.moved_bytes();
        let mut sum = 0_u64;
        for _ in 0..count {
            sum = sum.wrapping_add(self.steps.step()?.into());
        }
        let bytes = if count > 0 { self.steps.moved_bytes() - before } else { 0 };
        if self.pass.ends(&operations) {
            self.steps.end()?;
        }
        Ok(Moved { operations: count, bytes, sum })
    }

    fn rewind(&mut self) -> io::Result<()> {
        self.steps.end()?;
        self.pass.rewind()
    }

    fn finish(&mut self) -> io::Result<()> {
        self.steps.end()
    }
}
