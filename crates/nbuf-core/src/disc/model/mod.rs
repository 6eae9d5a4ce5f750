//! A rotating disc in virtual time.
//!
//! The model tracks the position of the arm and the angle of the disc ([`Drive`] has their speeds).
//! The drive may have a memory for prefetch and delayed writes, and requests wait in a queue with a
//! scheduler. It keeps no bytes. A request takes a tenth of a microsecond of real time, whatever
//! its size within a track.
//!
//! The model is from C. Ruemmler and J. Wilkes (*An Introduction to Disk Drive Modeling*, IEEE
//! Computer, March 1994) and from `DiskSim`. `docs/experiments/discs.md` compares it with five
//! measured drives. A read from the buffer does not wait for the arm; one that the prefetch has
//! started waits for the medium. For discs without moving parts, use [`super::latency`].

mod ahead;
mod buffer;
mod bus;
pub(crate) mod drive;
pub mod geometry;
mod mechanism;
mod queue;
pub mod seek;
#[cfg(test)]
mod tests;
mod zone;

use self::buffer::{Found, Memory};
use self::bus::Phases;
use self::drive::{Drive, Way};
use self::mechanism::{Access, Mechanism, Purpose, Supply};
use self::queue::{Queue, Waiting};
use super::{Breakdown, Completion, Disc, DiscError};
use crate::trace::request::{Op, Request};
use crate::units::Nanos;

pub use self::queue::Scheduler;

/// A rotating disc with its queue.
#[derive(Clone, Debug)]
pub struct Model {
    drive: Drive,
    queue: Queue,
    arm: Mechanism,
    memory: Memory,
    /// The time at which the controller finishes the previous request, and whether that was a
    /// write.
    free: Nanos,
    after_write: bool,
    /// The end of the last write.
    written: u64,
    in_service: Option<Completion>,
}

/// The time at which a request is done, and the part of the service that is accounted for.
struct Served {
    end: Nanos,
    overhead: Nanos,
    /// The wait for the arm's background work.
    queued: Nanos,
    access: Access,
}

impl Served {
    /// At once, and for nothing.
    fn at(end: Nanos) -> Self {
        Self { end, overhead: Nanos::ZERO, queued: Nanos::ZERO, access: Access::default() }
    }
}

impl Model {
    /// Makes an idle drive with its arm at the first cylinder.
    pub fn new(drive: Drive) -> Self {
        let queue = Queue::new(drive.scheduler);
        let (arm, memory) = (Mechanism::default(), Memory::default());
        let free = Nanos::ZERO;
        Self { drive, queue, arm, memory, free, after_write: false, written: 0, in_service: None }
    }

    /// The modelled drive.
    pub fn drive(&self) -> &Drive {
        &self.drive
    }

    /// The first sector and the one after the last. A request of no bytes covers one sector.
    fn sectors(&self, request: &Request) -> (u64, u64) {
        let sector = u64::from(self.drive.sector_bytes.max(1));
        let first = request.offset / sector;
        let end = (request.offset + request.length_bytes).div_ceil(sector);
        (first, end.max(first + 1))
    }

    fn serve(&mut self, begins: Nanos, Waiting { came, request, data }: Waiting) -> Completion {
        if let Err(error) = DiscError::check(&request, self.size_bytes()) {
            let breakdown = Breakdown { queued: begins - came, ..Breakdown::default() };
            return Completion { request, data, at: begins, breakdown, outcome: Err(error) };
        }
        let (first, end) = self.sectors(&request);
        self.memory.catch_up(&self.drive, &mut self.arm, begins);
        let served = match request.op {
            Op::Read => self.read(begins, first, end),
            Op::Write => self.write(begins, first, end),
            Op::Flush => self.flush(begins),
            // These drives know none: it is taken, and nothing comes of it.
            Op::Discard => Served::at(begins),
        };
        self.after_write = request.op == Op::Write;
        self.free = served.end;
        // Overlapping work counts once: mechanical time first, and the rest is transfer.
        let mut left = served.end - begins;
        let mut part = |time: Nanos| {
            let part = time.min(left);
            left = left - part;
            part
        };
        let overhead = part(served.overhead);
        let waited = part(served.queued);
        let seek = part(served.access.seek);
        let rotation = part(served.access.rotation);
        let queued = begins - came + waited;
        let breakdown = Breakdown { queued, overhead, seek, rotation, transfer: left };
        Completion { request, data, at: served.end, breakdown, outcome: Ok(()) }
    }

    fn flush(&mut self, begins: Nanos) -> Served {
        self.memory.stop();
        self.memory.write_all(&self.drive, &mut self.arm);
        let overhead = self.drive.controller.write.of(self.after_write);
        let queued = self.arm.free - begins;
        let end = begins + queued + overhead;
        Served { end, overhead, queued, access: Access::default() }
    }

    fn read(&mut self, begins: Nanos, first: u64, end: u64) -> Served {
        let controller = self.drive.controller;
        let count = end - first;
        let may_seek = begins + controller.read_miss.of(self.after_write);
        let phases = Phases::of(&self.drive, begins, self.after_write);
        let (had, access, queued, kept, start);
        match self.memory.find(&self.drive, first, end) {
            Found::Hit { segment, until } => {
                had = until - first;
                let rest = phases.mark(had, count - had);
                (access, queued) = if until < end {
                    self.read_rest(segment, (until, end), may_seek, rest)
                } else {
                    (Access::default(), Nanos::ZERO)
                };
                self.after_hit(segment, end, until, may_seek, access);
                start = phases.hit;
                kept = true;
            }
            Found::Miss => {
                self.memory.stop();
                let at = may_seek.max(self.arm.free);
                had = 0;
                queued = at - may_seek;
                let purpose = Purpose::Read { mark: phases.mark(0, count) };
                access = self.arm.access(&self.drive, at, (first, count), purpose);
                kept = self.keep(first, end, access);
                start = may_seek;
            }
        }
        let done = if had < count && (!kept || self.drive.way != Way::Turning) {
            // Without a memory, and with means only, a sector is there once it has passed.
            access.end
        } else {
            phases.delivered(had, count - had, access)
        };
        let overhead = start - begins + controller.read_end;
        Served { end: done + controller.read_end, overhead, queued, access }
    }

    /// Reads the sectors from `until` on, which the buffer does not have yet.
    fn read_rest(
        &mut self,
        segment: usize,
        (until, end): (u64, u64),
        may_seek: Nanos,
        mark: u64,
    ) -> (Access, Nanos) {
        if self.memory.is_reading(segment) && self.drive.way == Way::Turning {
            self.memory.extend(&self.drive, end);
            let access = self.memory.read_on(&self.drive, &mut self.arm, Nanos::MAX, end);
            return (access.unwrap_or_default(), Nanos::ZERO);
        }
        self.memory.stop();
        let at = may_seek.max(self.arm.free);
        let purpose = Purpose::Read { mark };
        (self.arm.access(&self.drive, at, (until, end - until), purpose), at - may_seek)
    }

    fn after_hit(&mut self, segment: usize, end: u64, until: u64, may_seek: Nanos, access: Access) {
        let goes_on = self.memory.is_reading(segment);
        self.memory.touch(&self.drive, segment, end);
        if goes_on {
            self.memory.extend(&self.drive, end);
        } else if until < end {
            self.memory.start(&self.drive, segment, access.end, access.more);
        } else {
            self.memory.stop();
            if self.drive.buffer.ahead_after_hit && self.memory.end(segment) == end {
                self.memory.start(&self.drive, segment, may_seek, false);
            }
        }
    }

    /// Puts the read sectors into the buffer and prefetches; returns whether there is a buffer.
    fn keep(&mut self, first: u64, end: u64, access: Access) -> bool {
        let Some(segment) = self.memory.take(&self.drive, first, end) else { return false };
        self.memory.start(&self.drive, segment, access.end, access.more);
        true
    }

    fn write(&mut self, begins: Nanos, first: u64, end: u64) -> Served {
        let controller = self.drive.controller;
        let buffer = self.drive.buffer;
        self.memory.stop();
        self.memory.forget(first, end);
        if buffer.keeps_writes {
            self.memory.take(&self.drive, first, end);
        }
        let count = end - first;
        let continues = !self.after_write || first == self.written;
        self.written = end;
        if buffer.behind_segments > 0 {
            let overhead = controller.write.of(self.after_write) + controller.prepare;
            let start = begins + overhead;
            let room = self.memory.write_behind(&self.drive, &mut self.arm, (first, end), start);
            let queued = room - start;
            let done = start + queued + controller.bus_write_sector * count + controller.write_end;
            let overhead = overhead + controller.write_end;
            return Served { end: done, overhead, queued, access: Access::default() };
        }
        let phases = bus::Write::of(&controller, begins, self.after_write, continues);
        let at = phases.may_seek.max(self.arm.free);
        let supply = Supply { from: phases.data, sector: controller.bus_write_sector };
        let access = self.arm.access(&self.drive, at, (first, count), Purpose::Write(supply));
        let released = phases.data + controller.bus_write_sector * count + phases.disconnect;
        let done = access.end.max(released) + phases.reselect + controller.write_end;
        let overhead = phases.may_seek - begins + phases.reselect + controller.write_end;
        Served { end: done, overhead, queued: at - phases.may_seek, access }
    }
}

impl Disc for Model {
    fn size_bytes(&self) -> u64 {
        self.drive.geometry.sectors() * u64::from(self.drive.sector_bytes)
    }

    fn submit(&mut self, now: Nanos, request: Request, data: Vec<u8>) {
        let sector = request.offset / u64::from(self.drive.sector_bytes.max(1));
        let cylinder = match self.drive.scheduler {
            Scheduler::Fifo => 0,
            Scheduler::Sstf | Scheduler::Elevator => self.drive.geometry.cylinder(sector),
        };
        self.queue.push(cylinder, Waiting { came: now, request, data });
    }

    fn next_completion(&mut self, until: Nanos) -> Option<Completion> {
        if self.in_service.is_none() {
            let begins = self.queue.begins(self.free)?;
            if begins > until {
                return None;
            }
            let next = self.queue.pop(begins, self.arm.cylinder())?;
            self.in_service = Some(self.serve(begins, next));
        }
        if self.in_service.as_ref()?.at > until {
            return None;
        }
        self.in_service.take()
    }

    fn under_way(&self) -> usize {
        self.queue.len() + usize::from(self.in_service.is_some())
    }
}
