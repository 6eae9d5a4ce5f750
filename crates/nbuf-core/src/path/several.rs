//! One C stream for each stride, each read in sequence. This is the cheaper way to read with
//! strides.

use std::io;
use std::ops::Range;

use crate::sys::stdio::Stream;

use super::aligned::Aligned;
use super::pass::Pass;
use super::pattern::{Operation, Order, whole};
use super::standard::failed;
use super::table::open_file;
use super::{Error, Moved, Path, Request};

/// More streams would exceed the default limit of descriptors.
const STREAMS_MAX: u64 = 512;

pub(super) fn open(request: &Request<'_>) -> Result<Box<dyn Path>, Error> {
    let pattern = request.pattern;
    let wants = "it opens a file for each stride; give a stride of at least a block, and at most \
                 512 strides to a file";
    let wrong = Error::Order { path: "stdio-multi", wants };
    let Order::Strided { stride_bytes } = pattern.order else { return Err(wrong) };
    let count = pattern.size_bytes.div_ceil(stride_bytes);
    if stride_bytes < pattern.block_bytes || count > STREAMS_MAX {
        return Err(wrong);
    }
    let mut lanes = Vec::new();
    for _ in 0..count {
        lanes.push(Lane { stream: Stream::of(open_file(request)?, false)?, next: 0 });
    }
    let buffer = Aligned::new(pattern.longest_bytes());
    Ok(Box::new(Several { pass: Pass::of(request)?, lanes, stride_bytes, buffer }))
}

/// A stream and its position.
#[derive(Debug)]
struct Lane {
    stream: Stream,
    next: u64,
}

#[derive(Debug)]
struct Several {
    pass: Pass,
    lanes: Vec<Lane>,
    stride_bytes: u64,
    buffer: Aligned,
}

impl Path for Several {
    fn run(&mut self, operations: Range<u64>) -> io::Result<Moved> {
        let operations = self.pass.clip(operations);
        self.pass.begins(&operations)?;
        let moved = if self.pass.pattern.block_bytes == 1 {
            self.each(operations.clone(), |stream, _| stream.read_byte())
        } else {
            self.each(operations.clone(), |stream, buffer| {
                (stream.read(buffer) == buffer.len()).then(|| buffer[0])
            })
        };
        self.pass.ends(&operations);
        moved
    }
}

impl Several {
    fn each(
        &mut self,
        operations: Range<u64>,
        mut read: impl FnMut(&mut Stream, &mut [u8]) -> Option<u8>,
    ) -> io::Result<Moved> {
        let (lanes, buffer) = (&mut self.lanes, self.buffer.bytes_mut());
        let mut moved = Moved { operations: operations.end - operations.start, ..Moved::default() };
        let (mut number, mut last) = (None, 0);
        self.pass.pattern.each(operations, |Operation { offset_bytes, length_bytes }| {
            // A round goes up through the lanes, and the next round starts at the first.
            let lane = match number {
                None => whole(offset_bytes / self.stride_bytes),
                Some(number) if offset_bytes < last || number + 1 == lanes.len() => 0,
                Some(number) => number + 1,
            };
            (number, last) = (Some(lane), offset_bytes);
            let Lane { stream, next } = &mut lanes[lane];
            if *next != offset_bytes {
                stream.seek(offset_bytes)?;
            }
            *next = offset_bytes + length_bytes as u64;
            match read(stream, &mut buffer[..length_bytes]) {
                Some(byte) => moved.sum = moved.sum.wrapping_add(byte.into()),
                None => return Err(failed(stream)),
            }
            moved.bytes += length_bytes as u64;
            Ok(())
        })?;
        Ok(moved)
    }
}
