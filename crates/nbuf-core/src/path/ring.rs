//! `io_uring`: a path puts operations into a ring. One call submits those in the ring and waits,
//! and several may be in flight.
//!
//! A plain ring names file and memory for every operation. With a registered ring, the kernel
//! checks both once (like `IO_PERFORM` on VMS, where `QIO` is plain). With a polled ring, a kernel
//! thread looks for submissions, which occupies a processor.

use std::fs::File;
use std::io;
use std::ops::Range;

use rustix::fs::OFlags;

use crate::sys::file_ring::{FileRing, Setup, Transfer};

use super::call::ended;
use super::data::Data;
use super::direct::Direct;
use super::pass::Pass;
use super::pattern::{Direction, Operation, whole};
use super::table::open_file;
use super::{Error, Moved, Path, Request};

/// The options of a ring.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    /// Whether file and memory are registered once.
    pub(super) registered: bool,
    /// Whether the kernel polls for submissions.
    pub(super) polled: bool,
    /// Whether the ring bypasses the page cache.
    pub(super) direct: bool,
}

/// Names file and memory for every operation.
pub(super) const PLAIN: Kind = Kind { registered: false, polled: false, direct: false };
/// Registers file and memory once.
pub(super) const REGISTERED: Kind = Kind { registered: true, ..PLAIN };
/// Registers file and memory once, and makes no call to submit.
pub(super) const POLLED: Kind = Kind { polled: true, ..REGISTERED };

impl Kind {
    /// The same with `O_DIRECT`.
    pub(super) const fn past_cache(self) -> Self {
        Self { direct: true, ..self }
    }
}

pub(super) fn open(request: &Request<'_>, kind: Kind) -> Result<Box<dyn Path>, Error> {
    let pattern = request.pattern;
    let (file, unit_bytes) = if kind.direct {
        let direct = Direct::open(request, false, OFlags::empty())?;
        direct.fits(&pattern)?;
        (direct.file, direct.unit_bytes)
    } else {
        (open_file(request)?, 1)
    };
    let unit = whole(unit_bytes);
    // Every buffer starts at a page boundary.
    let room = pattern.longest_bytes().next_multiple_of(unit.max(4096));
    let writes = pattern.direction == Direction::Write;
    let data = Data::new(if writes { pattern.longest_bytes() } else { 0 });
    let memory_bytes = if writes { data.all().len() } else { room * request.depth as usize };
    let mut kernel = kernel(file, memory_bytes, request.depth, kind)?;
    if writes {
        kernel.fill(data.all());
    }
    let slots = vec![Slot::default(); request.depth as usize];
    let free = (0..request.depth as usize).rev().collect();
    let pass = Pass::of(request)?;
    Ok(Box::new(Queue { pass, kernel, slots, free, room, unit, writes }))
}

fn kernel(file: File, memory_bytes: usize, depth: u32, kind: Kind) -> Result<FileRing, Error> {
    let Kind { registered, polled, .. } = kind;
    FileRing::new(file, memory_bytes, Setup { depth, registered, polled }).map_err(|cause| {
        let instead = match cause.raw_os_error() {
            Some(libc::ENOMEM) => "allow more locked memory (ulimit -l), or take smaller blocks",
            _ => "see kernel.io_uring_disabled and the container's filter, or take another path",
        };
        Error::Refused { what: "io_uring", cause, instead }
    })
}

/// An operation in flight.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    offset_bytes: u64,
    length: usize,
    done: usize,
}

#[derive(Debug)]
struct Queue {
    pass: Pass,
    kernel: FileRing,
    slots: Vec<Slot>,
    /// The slots that are not in flight.
    free: Vec<usize>,
    /// The bytes of memory for each slot.
    room: usize,
    /// The lengths of reads are multiples of this.
    unit: usize,
    writes: bool,
}

impl Path for Queue {
    fn run(&mut self, operations: Range<u64>) -> io::Result<Moved> {
        let operations = self.pass.clip(operations);
        self.pass.begins(&operations)?;
        let mut moved = Moved { operations: operations.end - operations.start, ..Moved::default() };
        let pattern = self.pass.pattern;
        pattern.each(operations.clone(), |operation| {
            while self.free.is_empty() {
                self.reap(&mut moved)?;
            }
            self.start(operation)
        })?;
        while self.kernel.under_way() > 0 {
            self.reap(&mut moved)?;
        }
        self.pass.ends(&operations);
        Ok(moved)
    }

    fn rewind(&mut self) -> io::Result<()> {
        self.pass.rewind()
    }

    fn finish(&mut self) -> io::Result<()> {
        let mut moved = Moved::default();
        while self.kernel.under_way() > 0 {
            self.reap(&mut moved)?;
        }
        Ok(())
    }

    fn rung(&self) -> Option<u64> {
        Some(self.kernel.completed())
    }
}

impl Queue {
    #[inline]
    fn start(&mut self, Operation { offset_bytes, length_bytes }: Operation) -> io::Result<()> {
        let Some(number) = self.free.pop() else { return Err(io::ErrorKind::ResourceBusy.into()) };
        self.slots[number] = Slot { offset_bytes, length: length_bytes, done: 0 };
        self.push(number)
    }

    /// Submits the rest of an operation.
    #[inline]
    fn push(&mut self, number: usize) -> io::Result<()> {
        let Slot { offset_bytes, length, done } = self.slots[number];
        let left = length - done;
        let length = if self.writes { left } else { left.next_multiple_of(self.unit) };
        let transfer = Transfer {
            writes: self.writes,
            durable: false,
            begin: self.begin(number) + done,
            length: u32::try_from(length).map_err(io::Error::other)?,
            offset_bytes: offset_bytes + done as u64,
            tag: number as u64,
        };
        self.kernel.push(transfer)
    }

    /// The start of an operation's memory.
    #[inline]
    fn begin(&self, number: usize) -> usize {
        if self.writes { Data::begin(self.slots[number].offset_bytes) } else { number * self.room }
    }

    /// Waits for one completion, and takes all that have arrived.
    fn reap(&mut self, moved: &mut Moved) -> io::Result<()> {
        let (slots, free) = (&mut self.slots, &mut self.free);
        let (first, mut failure) = (free.len(), None);
        let mut short = Vec::new();
        self.kernel.wait(|tag, result| {
            let number = whole(tag);
            let slot = &mut slots[number];
            match result {
                Ok(0) => failure = Some(ended()),
                Ok(more) => slot.done = slot.length.min(slot.done + more as usize),
                Err(error) => failure = Some(error),
            }
            if slot.done < slot.length && failure.is_none() {
                short.push(number);
            } else {
                free.push(number);
            }
        })?;
        if let Some(failure) = failure {
            self.free.extend(short);
            return Err(failure);
        }
        for at in first..self.free.len() {
            let number = self.free[at];
            moved.bytes += self.slots[number].length as u64;
            let byte = self.kernel.byte(self.begin(number));
            moved.sum = moved.sum.wrapping_add(byte.into());
        }
        // An empty vector takes no memory until it is filled.
        short.into_iter().try_for_each(|number| self.push(number))
    }
}
