//! A disc that turns, in virtual time.
//!
//! The arm and the disc are somewhere at any moment ([`Drive`] says how fast they move), the drive may
//! have a memory in which it reads on and from which it writes later, and requests wait in a queue with a
//! scheduler. It keeps no bytes. A request costs a tenth of a microsecond to make up, whatever its size
//! within a track.
//!
//! The model is that of C. Ruemmler and J. Wilkes (*An Introduction to Disk Drive Modeling*, IEEE Computer, March
//! 1994) and of `DiskSim`; against five measured drives it is held in `docs/experiments/discs.md`. A read from the
//! buffer does not wait for the arm; one that the buffer has begun to read waits for the medium. Not for discs
//! without moving parts: those have [`super::latency`].

mod buffer;
pub mod drive;
pub mod geometry;
mod mechanism;
mod queue;
pub mod seek;
#[cfg(test)]
mod tests;

use self::buffer::{Found, Memory};
use self::drive::{Controller, Drive, Way};
use self::mechanism::{Access, Mechanism, Supply};
use self::queue::{Queue, Waiting};
use super::{Completion, Disc, Operation, Request, Spent};
use crate::units::Nanos;

pub use self::queue::Scheduler;

/// See the module.
#[derive(Clone, Debug)]
pub struct Model {
    drive: Drive,
    queue: Queue,
    arm: Mechanism,
    memory: Memory,
    /// When the controller is done with the request before, and whether that was a write.
    free: Nanos,
    after_write: bool,
    in_service: Option<Completion>,
}

/// When a request is done, and how much of the service is accounted for.
struct Served {
    end: Nanos,
    overhead: Nanos,
    /// Waiting for what the arm does in the background.
    queued: Nanos,
    access: Access,
}

impl Model {
    /// An idle drive, its arm at the first cylinder.
    pub fn new(drive: Drive) -> Self {
        let queue = Queue::new(drive.scheduler);
        let (arm, memory) = (Mechanism::default(), Memory::default());
        let (free, after_write, in_service) = (Nanos::ZERO, false, None);
        Self { drive, queue, arm, memory, free, after_write, in_service }
    }

    /// What it models.
    pub fn drive(&self) -> &Drive {
        &self.drive
    }

    /// First sector, and the one behind the last. Who moves nothing looks at a sector.
    fn sectors(&self, request: &Request) -> (u64, u64) {
        let sector = u64::from(self.drive.sector_bytes.max(1));
        let first = request.offset_bytes / sector;
        let end = (request.offset_bytes + u64::from(request.length_bytes)).div_ceil(sector);
        (first, end.max(first + 1))
    }

    fn serve(&mut self, begins: Nanos, Waiting { came, request }: Waiting) -> Completion {
        if let Err(error) = request.within(self.size_bytes()) {
            let spent = Spent { queued: begins - came, ..Spent::default() };
            return Completion { request, at: begins, spent, outcome: Err(error) };
        }
        let (first, end) = self.sectors(&request);
        self.memory.catch_up(&self.drive, &mut self.arm, begins);
        let served = match request.operation {
            Operation::Flush => self.flush(begins),
            Operation::Read => self.read(begins, first, end),
            Operation::Write => self.write(begins, first, end),
        };
        self.after_write = request.operation == Operation::Write;
        self.free = served.end;
        // What goes on at once is counted once: first what is mechanical, and the rest is transfer.
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
        let spent = Spent { queued, overhead, seek, rotation, transfer: left };
        Completion { request, at: served.end, spent, outcome: Ok(()) }
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
        let (start, access, queued, from_medium, kept);
        match self.memory.find(&self.drive, first, end) {
            Found::Hit { segment, until } => {
                start = begins + controller.read_hit.of(self.after_write);
                (access, queued) = if until < end {
                    self.read_rest(segment, until, end, may_seek)
                } else {
                    (Access::default(), Nanos::ZERO)
                };
                from_medium = end - until;
                self.after_hit(segment, end, until, may_seek, access);
                kept = true;
            }
            Found::Miss => {
                self.memory.stop();
                start = may_seek;
                let at = may_seek.max(self.arm.free);
                queued = at - may_seek;
                access = self.arm.access(&self.drive, at, first, count, None);
                from_medium = count;
                kept = self.keep(first, end, access);
            }
        }
        let done = if from_medium == 0 {
            start + controller.bus_sector * count
        } else if !kept || self.drive.way != Way::Turning {
            // Without a memory, and where all is means, a sector is there when it has passed.
            access.end
        } else {
            controller.delivered(start, count - from_medium, from_medium, access)
        };
        let overhead = start - begins + controller.read_end;
        Served { end: done + controller.read_end, overhead, queued, access }
    }

    /// The sectors from `until` on that the buffer does not have yet.
    fn read_rest(
        &mut self,
        segment: usize,
        until: u64,
        end: u64,
        may_seek: Nanos,
    ) -> (Access, Nanos) {
        if self.memory.is_reading(segment) && self.drive.way == Way::Turning {
            self.memory.extend(&self.drive, end);
            let access = self.memory.read_on(&self.drive, &mut self.arm, Nanos::MAX, end);
            let mut access = access.unwrap_or_default();
            access.first = Nanos::ZERO;
            return (access, Nanos::ZERO);
        }
        self.memory.stop();
        let at = may_seek.max(self.arm.free);
        (self.arm.access(&self.drive, at, until, end - until, None), at - may_seek)
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

    /// Puts what was read into the buffer, and reads on; whether there is one.
    fn keep(&mut self, first: u64, end: u64, access: Access) -> bool {
        let Some(segment) = self.memory.take(&self.drive, first, end) else { return false };
        self.memory.start(&self.drive, segment, access.end, access.more);
        true
    }

    fn write(&mut self, begins: Nanos, first: u64, end: u64) -> Served {
        let controller = self.drive.controller;
        let overhead = controller.write.of(self.after_write);
        let start = begins + overhead;
        self.memory.stop();
        self.memory.forget(first, end);
        let buffer = self.drive.buffer;
        if buffer.keeps_writes {
            self.memory.take(&self.drive, first, end);
        }
        let count = end - first;
        if buffer.behind_segments > 0 {
            let room = self.memory.write_behind(&self.drive, &mut self.arm, (first, end), start);
            let queued = room - start;
            let end = start + queued + controller.bus_sector * count + controller.write_end;
            let overhead = overhead + controller.write_end;
            return Served { end, overhead, queued, access: Access::default() };
        }
        let at = start.max(self.arm.free);
        let supply = Supply { from: start, sector: controller.bus_sector };
        let access = self.arm.access(&self.drive, at, first, count, Some(supply));
        let overhead = overhead + controller.write_end;
        Served { end: access.end + controller.write_end, overhead, queued: at - start, access }
    }
}

impl Controller {
    /// When a read is on the other side of the bus, of which the buffer had some sectors at `start` and
    /// the others came from the medium.
    fn delivered(&self, start: Nanos, had: u64, others: u64, access: Access) -> Nanos {
        let bus = self.bus_sector;
        if self.whole_reads && had == 0 {
            return access.end + bus * others;
        }
        // What has been begun goes on as it comes: no faster than the bus, and the last sector last.
        ((start + bus * had).max(access.first) + bus * others).max(access.end + bus)
    }
}

impl Disc for Model {
    fn size_bytes(&self) -> u64 {
        self.drive.geometry.sectors() * u64::from(self.drive.sector_bytes)
    }

    fn submit(&mut self, now: Nanos, request: Request) {
        let sector = request.offset_bytes / u64::from(self.drive.sector_bytes.max(1));
        let cylinder = match self.drive.scheduler {
            Scheduler::Fifo => 0,
            Scheduler::Sstf | Scheduler::Elevator => self.drive.geometry.cylinder(sector),
        };
        self.queue.push(cylinder, Waiting { came: now, request });
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
